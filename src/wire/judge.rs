//! Judges one answer: is it a valid result, an error, or neither?
//!
//! A [`Judge`] is told what is [`Expected`], fed the bytes of one JSON document in any cut, and gives a [`Verdict`]. On
//! the way it notes the [`Facts`] that a caller needs whatever the verdict: the task's id and state.

mod name;
mod payload;
mod reader;

#[cfg(test)]
mod tests;

use std::fmt;

use super::id::{IdMatch, JsonRpcId};
use super::json::{JsonFlaw, JsonKind, JsonScanner};
use super::task_state::TaskState;
use super::template::{Read, Value};
use super::text::SmallText;
use super::tolerated::Tolerated;
use reader::Reader;

/// What is around a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Envelope {
    /// A JSON-RPC 2.0 response object (§5).
    JsonRpc,
    /// Nothing: HTTP+JSON.
    Bare,
}

/// How a dialect says which of several objects a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrapping {
    /// By the name of the one member around it, `task`, `message`, `statusUpdate` or `artifactUpdate`: JSON-RPC 1.0
    /// (A2A 1.0 §9.4), and HTTP+JSON in 1.0 and 0.3.
    Member,
    /// By its own member `kind`: JSON-RPC 0.3.
    Kind,
    /// Not at all, it is told by its members: `tasks/*` of 0.2.
    Legacy,
}

/// What a valid result holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Payload {
    /// The answer to a send: a task or a message (A2A 1.0 §3.1.1).
    SendResult,
    /// A task, bare in every dialect (A2A 1.0 §3.1.3).
    Task,
    /// Any object: a list, a card, a push configuration.
    Object,
    /// Any object or array: 0.3 lists push configurations in an array.
    ObjectOrArray,
    /// Anything, and nothing too: deletions.
    Anything,
    /// One event of a stream (A2A 1.0 §3.2.3).
    StreamEvent,
}

/// What an answer should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expected {
    /// What is around the result.
    pub envelope: Envelope,
    /// How the dialect names the result.
    pub wrapping: Wrapping,
    /// What the result holds.
    pub payload: Payload,
}

/// What a result was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PayloadKind {
    /// There was none, or none that can be told.
    #[default]
    None,
    /// A task.
    Task,
    /// A message.
    Message,
    /// A change of a task's status.
    StatusUpdate,
    /// A piece of a task's output.
    ArtifactUpdate,
    /// What the operation gives is none of these.
    Other,
}

/// What an answer says of its task. Filled in as the bytes come, so that a broken answer still names the task that it
/// left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// What the result is.
    pub kind: PayloadKind,
    /// The task's state, if it has a known name.
    pub state: Option<TaskState>,
    /// The task's id.
    pub task_id: SmallText,
    /// The context's id (0.2: the session's).
    pub context_id: SmallText,
    /// `final` of a status update (0.3). Not every server sets it: go by the state.
    pub is_final: bool,
    /// What was accepted although it is not quite right.
    pub tolerated: Tolerated,
}

impl Facts {
    pub(in crate::wire) fn clear(&mut self) {
        self.kind = PayloadKind::None;
        self.state = None;
        self.task_id.clear();
        self.context_id.clear();
        self.is_final = false;
        self.tolerated = Tolerated::default();
    }
}

/// Why an answer is neither a result nor an error. The texts are the library's own, short and in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// Nothing came.
    Empty,
    /// No JSON: this is wrong with it.
    Malformed(&'static str),
    /// JSON, but not what the protocol calls for: this is wrong with it.
    Violation(&'static str),
    /// More came than the caller holds.
    TooLarge,
}

impl Flaw {
    /// The answer is another call's (JSON-RPC 2.0 §5).
    pub const OTHER_CALL: Self = Self::Violation("the id of another call");
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "nothing in it",
            Self::Malformed(text) | Self::Violation(text) => text,
            Self::TooLarge => "larger than allowed",
        })
    }
}

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// A valid result.
    Valid,
    /// An error, in whatever shape: [`PeerError`](super::peer_error::PeerError) reads it.
    Error,
    /// Neither.
    Flawed(Flaw),
}

/// Judges one JSON document. See the [module](self).
#[derive(Clone, Debug)]
pub struct Judge {
    scanner: JsonScanner,
    reader: Reader,
}

impl Judge {
    /// A judge before the first byte.
    #[must_use]
    #[inline]
    pub fn new(expected: Expected) -> Self {
        Self { scanner: JsonScanner::new(), reader: Reader::new(expected) }
    }

    /// Begins a new document of the same kind.
    pub fn reset(&mut self) {
        self.scanner.reset();
        self.reader.clear();
    }

    /// Reads on. What is wrong is said by [`finish`](Self::finish).
    pub fn feed(&mut self, bytes: &[u8]) {
        let _kept_by_the_scanner = self.scanner.feed(bytes, &mut self.reader);
    }

    /// The document is at its end.
    ///
    /// `id` is the request's; it makes no difference outside of JSON-RPC.
    pub fn finish(&mut self, id: &JsonRpcId) -> Verdict {
        let verdict = match self.scanner.finish(&mut self.reader) {
            Ok(()) => self.judge(id),
            Err(JsonFlaw::Empty) => self.judge_nothing(),
            Err(flaw) => Err(Flaw::Malformed(flaw.as_str())),
        };
        self.reader.complete_facts();
        match verdict {
            Ok(verdict) => verdict,
            Err(flaw) => Verdict::Flawed(flaw),
        }
    }

    /// What is known of the task so far.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.reader.facts
    }

    /// True if what came is the beginning of a document, with nothing wrong so far.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.scanner.is_unfinished()
    }

    /// True if the document is an object.
    pub(crate) fn is_object(&self) -> bool {
        self.reader.notes.root == Some(JsonKind::Object)
    }

    fn judge_nothing(&self) -> Result<Verdict, Flaw> {
        let Expected { envelope, payload, .. } = self.reader.expected;
        if envelope == Envelope::Bare && payload == Payload::Anything {
            return Ok(Verdict::Valid);
        }
        Err(Flaw::Empty)
    }

    fn judge(&mut self, id: &JsonRpcId) -> Result<Verdict, Flaw> {
        if self.reader.notes.duplicate {
            return Err(Flaw::Violation("duplicate member"));
        }
        match self.reader.expected.envelope {
            Envelope::JsonRpc => self.judge_json_rpc(id),
            Envelope::Bare => self.judge_bare(),
        }
    }

    /// JSON-RPC 2.0 §5, error first: whoever says that it failed did fail.
    fn judge_json_rpc(&mut self, id: &JsonRpcId) -> Result<Verdict, Flaw> {
        match self.reader.notes.root {
            Some(JsonKind::Object) => {}
            Some(JsonKind::Array) => {
                return Err(Flaw::Violation("a batch where one answer is due"));
            }
            _ => return Err(Flaw::Violation("no JSON-RPC object")),
        }
        match self.reader.notes.jsonrpc {
            None => self.tolerate(Tolerated::JSONRPC_MEMBER_MISSING),
            Some(true) => {}
            Some(false) => return Err(Flaw::Violation("jsonrpc is not 2.0")),
        }
        let result = self.reader.notes.result;
        match self.reader.notes.error {
            None => {}
            Some(JsonKind::Null) => self.tolerate(Tolerated::NULL_ERROR_MEMBER),
            Some(JsonKind::Object) => {
                match result {
                    None => {}
                    Some(JsonKind::Null) => self.tolerate(Tolerated::NULL_RESULT_MEMBER),
                    Some(_) => return Err(Flaw::Violation("both a result and an error")),
                }
                return self.judge_error_id(id);
            }
            Some(_) => return Err(Flaw::Violation("an error that is no object")),
        }
        let is_anything = self.reader.expected.payload == Payload::Anything;
        match result {
            None if self.reader.is_code_and_message(true) || self.reader.notes.problem_type => self.judge_error_id(id),
            None if !is_anything => Err(Flaw::Violation("neither a result nor an error")),
            Some(JsonKind::Null) if !is_anything => Err(Flaw::Violation("a result that is null")),
            _ => {
                self.judge_result_id(id)?;
                self.reader.judge_payload(result)
            }
        }
    }

    /// An error may have no id: its writer may not have come so far as to read it.
    fn judge_error_id(&mut self, id: &JsonRpcId) -> Result<Verdict, Flaw> {
        match self.reader.id.compare(id) {
            IdMatch::Same | IdMatch::Null | IdMatch::Absent => {}
            IdMatch::TypeChanged => self.tolerate(Tolerated::ID_TYPE_CHANGED),
            IdMatch::Different => return Err(Flaw::OTHER_CALL),
        }
        Ok(Verdict::Error)
    }

    fn judge_result_id(&mut self, id: &JsonRpcId) -> Result<(), Flaw> {
        let asked = !matches!(id, JsonRpcId::Absent | JsonRpcId::Null);
        match self.reader.id.compare(id) {
            IdMatch::Same => Ok(()),
            IdMatch::TypeChanged => {
                self.tolerate(Tolerated::ID_TYPE_CHANGED);
                Ok(())
            }
            IdMatch::Null | IdMatch::Absent if !asked => Ok(()),
            IdMatch::Null | IdMatch::Absent => Err(Flaw::Violation("a result without the call's id")),
            IdMatch::Different => Err(Flaw::OTHER_CALL),
        }
    }

    /// HTTP+JSON (A2A 1.0 §11): the body is the result or an error.
    fn judge_bare(&mut self) -> Result<Verdict, Flaw> {
        let has_result = self.reader.has_result();
        match self.reader.notes.error {
            None => {}
            Some(JsonKind::Null) => self.tolerate(Tolerated::NULL_ERROR_MEMBER),
            Some(_) if has_result => return Err(Flaw::Violation("both a result and an error")),
            Some(JsonKind::Object | JsonKind::String | JsonKind::Number) => {
                return Ok(Verdict::Error);
            }
            Some(_) => return Err(Flaw::Violation("an error that is no object")),
        }
        if !has_result && (self.reader.is_code_and_message(false) || self.reader.notes.problem_type) {
            return Ok(Verdict::Error);
        }
        self.reader.judge_payload(self.reader.notes.root)
    }

    fn tolerate(&mut self, what: Tolerated) {
        self.reader.facts.tolerated.insert(what);
    }
}

impl Read for Judge {
    fn feed(&mut self, bytes: &[u8]) {
        Self::feed(self, bytes);
    }

    fn value_here(&self) -> Value {
        self.scanner.slot_here().map_or(Value::Minded, Reader::value_in)
    }
}
