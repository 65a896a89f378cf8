//! What an answer's fields mean. The table of field numbers stands in the [module's](super) documentation.

use super::utf8::Utf8;
use super::varint::Malformed;
use super::walk::{Reader, Scope, Slot, Take};
use crate::wire::judge::{Facts, Flaw, PayloadKind};
use crate::wire::task_state::TaskState;
use crate::wire::text::SmallText;
use crate::wire::tolerated::Tolerated;

/// What an answer's messages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GrpcPayload {
    /// `SendMessageResponse`.
    SendResult,
    /// `StreamResponse`.
    StreamEvent,
    /// `Task`.
    Task,
    /// Any other: a list, a card, a push configuration, `google.protobuf.Empty`.
    Other,
}

/// Whose messages they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GrpcDialect {
    /// Package `lf.a2a.v1`: A2A 1.0.
    V1,
    /// Package `a2a.v1`: A2A 0.3.
    V03,
}

/// What an answer should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GrpcExpected {
    /// The messages' type.
    pub payload: GrpcPayload,
    /// The package it is of.
    pub dialect: GrpcDialect,
}

// The outermost message is scope 0. What it is says `payload`, but for these it is the scope itself.
const ROOT: Scope = 0;
const TASK: Scope = 1;
const MESSAGE: Scope = 2;
const STATUS_UPDATE: Scope = 3;
const ARTIFACT_UPDATE: Scope = 4;
const STATUS: Scope = 5;

const TASK_ID: Slot = 0;
const CONTEXT_ID: Slot = 1;
const STATE: Slot = 2;
const FINAL: Slot = 3;

/// Notes what an answer says of its task.
#[derive(Clone, Debug)]
pub(super) struct AnswerReader {
    expected: GrpcExpected,
    /// The texts in it may be those of an earlier message, as long as `texts` does not say otherwise: the next one
    /// mostly has the same.
    facts: Facts,
    /// By slot, whether the text was in this message.
    texts: [bool; 2],
    has_status: bool,
    has_content: bool,
    /// Of the text that is coming.
    utf8: Utf8,
}

impl AnswerReader {
    pub(super) fn new(expected: GrpcExpected) -> Self {
        Self {
            expected,
            facts: Facts::default(),
            texts: [false; 2],
            has_status: false,
            has_content: false,
            utf8: Utf8::default(),
        }
    }

    /// What the message says, as far as it came.
    pub(super) fn facts(&mut self) -> &Facts {
        self.forget_others();
        &self.facts
    }

    /// The same of a message that was [judged](Self::judge).
    #[inline]
    pub(super) fn judged_facts(&self) -> &Facts {
        &self.facts
    }

    #[inline]
    fn forget_others(&mut self) {
        if !self.texts[usize::from(TASK_ID)] {
            self.facts.task_id.clear();
        }
        if !self.texts[usize::from(CONTEXT_ID)] {
            self.facts.context_id.clear();
        }
    }

    pub(super) fn tolerate(&mut self, what: Tolerated) {
        self.facts.tolerated.insert(what);
    }

    /// Before the first byte of a message.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.facts.state = None;
        self.facts.is_final = false;
        self.facts.tolerated = Tolerated::default();
        self.texts = [false; 2];
        self.has_status = false;
        self.has_content = false;
        self.facts.kind = match self.expected.payload {
            GrpcPayload::Task => PayloadKind::Task,
            _ => PayloadKind::None,
        };
    }

    /// The message is whole: is it what it should be?
    #[inline]
    pub(super) fn judge(&mut self) -> Result<(), Flaw> {
        self.forget_others();
        let facts = &mut self.facts;
        if self.expected.payload == GrpcPayload::Other {
            facts.kind = PayloadKind::Other;
            return Ok(());
        }
        // A field that is not there has its default (proto3): a status without a state says that it is unspecified.
        if self.has_status && facts.state.is_none() && !facts.tolerated.contains(Tolerated::UNKNOWN_STATE) {
            facts.state = TaskState::from_number(0);
        }
        let missing = match facts.kind {
            PayloadKind::None | PayloadKind::Other if self.expected.payload == GrpcPayload::StreamEvent => {
                "none of task, message, status update and artifact update"
            }
            PayloadKind::None | PayloadKind::Other => "neither a task nor a message",
            PayloadKind::Task if facts.task_id.is_empty() => "a task without its id",
            PayloadKind::Task if !self.has_status => "a task without its state",
            PayloadKind::StatusUpdate | PayloadKind::ArtifactUpdate if facts.task_id.is_empty() => {
                "an update without its task's id"
            }
            PayloadKind::StatusUpdate if !self.has_status => "a status update without a state",
            PayloadKind::Message if !self.has_content => "a message with nothing in it",
            _ => return Ok(()),
        };
        Err(Flaw::Violation(missing))
    }

    /// A member of the `oneof`: the last of them counts, and takes the place of what another one said. Of one that
    /// comes twice, both are merged (Protocol Buffers, "Last One Wins").
    #[inline]
    fn payload(&mut self, kind: PayloadKind, scope: Scope) -> Take {
        if self.facts.kind != kind {
            if self.facts.kind != PayloadKind::None {
                self.begin();
                self.forget_others();
            }
            self.facts.kind = kind;
        }
        Take::Into(scope)
    }

    fn status(&mut self) -> Take {
        self.has_status = true;
        Take::Into(STATUS)
    }

    fn content(&mut self) -> Take {
        self.has_content = true;
        Take::Skip
    }

    /// Of the outermost message.
    #[inline]
    fn root(&mut self, number: u32) -> Take {
        match (self.expected.payload, number) {
            (GrpcPayload::Task, _) => self.task(number),
            (GrpcPayload::Other, _) => Take::Skip,
            (_, 1) => self.payload(PayloadKind::Task, TASK),
            (_, 2) => self.payload(PayloadKind::Message, MESSAGE),
            (GrpcPayload::StreamEvent, 3) => self.payload(PayloadKind::StatusUpdate, STATUS_UPDATE),
            (GrpcPayload::StreamEvent, 4) => self.payload(PayloadKind::ArtifactUpdate, ARTIFACT_UPDATE),
            _ => Take::Skip,
        }
    }

    #[inline]
    fn task(&mut self, number: u32) -> Take {
        match number {
            1 => Take::Text(TASK_ID),
            2 => Take::Text(CONTEXT_ID),
            3 => self.status(),
            _ => Take::Skip,
        }
    }
}

impl Reader for AnswerReader {
    #[inline(always)]
    fn field(&mut self, scope: Scope, number: u32) -> Take {
        match (scope, number) {
            (ROOT, _) => self.root(number),
            (TASK, _) => self.task(number),
            (STATUS, 1) => Take::Number(STATE),
            (STATUS_UPDATE | ARTIFACT_UPDATE, 1) => Take::Text(TASK_ID),
            (STATUS_UPDATE | ARTIFACT_UPDATE | MESSAGE, 2) => Take::Text(CONTEXT_ID),
            (STATUS_UPDATE, 3) => self.status(),
            (STATUS_UPDATE, 4) if self.expected.dialect == GrpcDialect::V03 => Take::Number(FINAL),
            (MESSAGE, 3) => Take::Text(TASK_ID),
            (MESSAGE, 1 | 4 | 5) => self.content(),
            _ => Take::Skip,
        }
    }

    #[inline(always)]
    fn number(&mut self, slot: Slot, value: u64) {
        if slot == FINAL {
            self.facts.is_final = value != 0;
            return;
        }
        // An enum has the bits of an int32 that count (Protocol Buffers, "Encoding"); what it does not name is open.
        self.facts.state = state_of(value as u32, self.expected.dialect);
        if self.facts.state.is_none() {
            self.facts.tolerated.insert(Tolerated::UNKNOWN_STATE);
        }
    }

    #[inline(always)]
    fn text(&mut self, slot: Slot, piece: &[u8], first: bool, last: bool) -> Result<(), Malformed> {
        let place = if slot == TASK_ID { &mut self.facts.task_id } else { &mut self.facts.context_id };
        if let Some(seen) = self.texts.get_mut(usize::from(slot)) {
            *seen = true;
        }
        // What is there already was found good.
        if first && last && (place.is(piece) || (piece.is_ascii() && place.set_short(piece))) {
            return Ok(());
        }
        take_text(place, &mut self.utf8, piece, first, last)
    }
}

/// Collects a string, which until its last piece is one that was cut, and which has to be UTF-8 (Protocol Buffers,
/// "Scalar Value Types"), also where it is longer than what is kept of it.
#[inline]
pub(super) fn take_text(
    place: &mut SmallText,
    utf8: &mut Utf8,
    piece: &[u8],
    first: bool,
    last: bool,
) -> Result<(), Malformed> {
    if first {
        place.clear();
        *utf8 = Utf8::default();
    }
    if !utf8.read(piece, last) {
        place.clear();
        return Err("a string that is no UTF-8");
    }
    place.push_part(piece, last);
    Ok(())
}

fn state_of(number: u32, dialect: GrpcDialect) -> Option<TaskState> {
    match (dialect, number) {
        // 0.3 spells it with two l.
        (GrpcDialect::V03, 5) => TaskState::from_wire(b"TASK_STATE_CANCELLED"),
        _ => TaskState::from_number(number),
    }
}
