//! Judges the answer to a unary call: exactly one message.

use super::answer::{AnswerReader, GrpcExpected};
use super::frame::{Framing, PREFIX, Part, Prefix};
use super::walk::{Walk, walk_whole};
use crate::wire::judge::{Facts, Flaw};
use crate::wire::tolerated::Tolerated;

/// What the bytes of an answer come to. Whether it succeeded says its `grpc-status` besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GrpcEnd {
    /// One whole, valid message.
    Message,
    /// Nothing came.
    Empty,
    /// The message, or its prefix, is not whole.
    Cut,
    /// Neither.
    Flawed(Flaw),
}

/// More than one message answers a unary call.
pub(super) const SECOND: Flaw = Flaw::Violation("more than one message answers a unary call");
pub(super) const NO_GRPC: Flaw = Flaw::Malformed("no gRPC message: its flag byte is none");
pub(super) const NO_CODING: Flaw = Flaw::Violation("a compressed message, and no grpc-encoding");

/// Judges one unary answer, fed in any cut. It keeps none of the bytes.
#[derive(Clone, Debug)]
pub struct GrpcJudge {
    framing: Framing,
    walk: Walk,
    reader: AnswerReader,
    max_message: usize,
    has_coding: bool,
    compressed: bool,
    messages: u8,
    flaw: Option<Flaw>,
}

impl GrpcJudge {
    /// A judge before the first byte. `max_message` bounds the message by what its prefix says.
    #[must_use]
    pub fn new(expected: GrpcExpected, max_message: usize) -> Self {
        Self {
            framing: Framing::new(),
            walk: Walk::new(0),
            reader: AnswerReader::new(expected),
            max_message,
            has_coding: false,
            compressed: false,
            messages: 0,
            flaw: None,
        }
    }

    /// The head has a `grpc-encoding` that is none of `identity`: messages may be compressed. They are not inspected.
    pub fn allow_compressed(&mut self) {
        self.has_coding = true;
    }

    /// Reads on. A flaw is given where reading on makes no sense: it is no gRPC, or larger than allowed.
    pub fn feed(&mut self, bytes: &[u8]) -> Option<Flaw> {
        let mut rest = bytes;
        if self.messages == 0
            && self.flaw.is_none()
            && let Some((prefix, message)) = self.framing.whole(bytes)
            && !prefix.compressed
            && message.len() <= self.max_message
        {
            self.reader.begin();
            let walked = walk_whole(message, &mut self.reader).map_err(Flaw::Malformed);
            self.flaw = walked.and_then(|()| self.reader.judge()).err();
            self.messages = 1;
            rest = bytes.get(PREFIX + message.len()..).unwrap_or_default();
            if rest.is_empty() {
                return None;
            }
        }
        loop {
            let (used, part) = self.framing.next(rest);
            rest = rest.get(used..).unwrap_or_default();
            match part {
                Part::Begin(prefix) => {
                    if let Some(flaw) = self.begin(prefix) {
                        self.flaw = Some(flaw);
                        return Some(flaw);
                    }
                }
                Part::Data(piece) if self.is_walked() => {
                    if let Err(what) = self.walk.feed(piece, &mut self.reader) {
                        self.flaw = Some(Flaw::Malformed(what));
                    }
                }
                Part::Data(_) => {}
                Part::End => self.end(),
                Part::More => return None,
                Part::Bad => {
                    self.flaw = Some(NO_GRPC);
                    return self.flaw;
                }
            }
        }
    }

    /// The body is at its end.
    #[must_use]
    pub fn finish(&self) -> GrpcEnd {
        match self.flaw {
            Some(flaw) => GrpcEnd::Flawed(flaw),
            None if !self.framing.is_between() => GrpcEnd::Cut,
            None if self.messages == 0 => GrpcEnd::Empty,
            None => GrpcEnd::Message,
        }
    }

    /// What the answer says of its task, as far as it came.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        // A fresh reader has no texts of earlier messages, and this one reads a single message.
        self.reader.judged_facts()
    }

    fn is_walked(&self) -> bool {
        !self.compressed && self.flaw.is_none()
    }

    /// A message begins: a flaw is one that ends the reading.
    fn begin(&mut self, prefix: Prefix) -> Option<Flaw> {
        if usize::try_from(prefix.len).is_ok_and(|len| len > self.max_message) {
            return Some(Flaw::TooLarge);
        }
        if self.messages > 0 {
            // What its status says is still worth knowing.
            self.flaw = self.flaw.or(Some(SECOND));
            return None;
        }
        self.compressed = prefix.compressed;
        if prefix.compressed && !self.has_coding {
            self.flaw = Some(NO_CODING);
        }
        self.reader.begin();
        self.walk.begin(prefix.len);
        if prefix.compressed {
            self.reader.tolerate(Tolerated::COMPRESSED_MESSAGE);
        }
        None
    }

    fn end(&mut self) {
        self.messages = self.messages.saturating_add(1);
        if !self.is_walked() {
            return;
        }
        let whole = self.walk.finish(&mut self.reader).map_err(Flaw::Malformed);
        self.flaw = whole.and_then(|()| self.reader.judge()).err();
    }
}
