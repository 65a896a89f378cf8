//! Notes what stands in an answer, member by member; nothing is decided here.
//!
//! There are four places of interest, one inside the other: the JSON-RPC envelope, the payload (a JSON-RPC result, or
//! the whole of an HTTP+JSON body), the object that the payload wraps, and a status.

mod facts;
mod keys;
mod member;
mod notes;
mod places;
mod visit;

use self::places::{ID, member_of};
pub(super) use self::{
    member::{Member, Members},
    notes::{KindMember, Notes, Wrapper},
};
use super::{Envelope, Expected, Facts, Payload, Wrapping};
use crate::wire::id::AnswerId;
use crate::wire::json::Slot;
use crate::wire::peer_error::is_json_rpc_code;
use crate::wire::template::Value;

/// What stands in one answer.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    pub(super) expected: Expected,
    pub(super) facts: Facts,
    pub(super) id: AnswerId,
    pub(super) notes: Notes,
}

impl Reader {
    #[inline]
    pub(super) fn new(expected: Expected) -> Self {
        Self { expected, facts: Facts::default(), id: AnswerId::default(), notes: Notes::default() }
    }

    pub(super) fn clear(&mut self) {
        self.facts.clear();
        self.id.clear();
        self.notes = Notes::default();
    }

    /// What a string or a number in this slot is to the verdict.
    pub(super) fn value_in(slot: Slot) -> Value {
        match (slot, member_of(slot)) {
            // Of these it is only asked whether they are there, and strings.
            (Slot::IGNORED, _) | (_, Some((Member::MessageId | Member::Role, _))) => Value::Ignored,
            (ID, _) => Value::Id,
            (_, Some((Member::Id | Member::TaskId, _))) => Value::TaskId,
            (_, Some((Member::ContextId, _))) => Value::ContextId,
            _ => Value::Minded,
        }
    }

    /// Does the payload have members that are looked at?
    pub(super) fn is_typed(&self) -> bool {
        matches!(self.expected.payload, Payload::SendResult | Payload::Task | Payload::StreamEvent)
    }

    /// `{code, message}` where an envelope or a result is due. In JSON-RPC the code must be one of its own (§5.1).
    pub(super) fn is_code_and_message(&self, json_rpc: bool) -> bool {
        self.notes.text && self.notes.code.is_some_and(|code| !json_rpc || is_json_rpc_code(code))
    }

    /// Words, and nothing but words, where some object was due: `{"message": …}`, `{"detail": …}`. In an envelope they
    /// stand beside the result, and say nothing of it.
    pub(super) fn is_mere_words(&self) -> bool {
        let Notes { text, detail, other, .. } = self.notes;
        self.expected.envelope == Envelope::Bare && (text || detail) && !other
    }

    /// Is the result the object that it wraps, and not the one around that?
    pub(super) fn is_wrapped(&self) -> bool {
        self.expected.wrapping == Wrapping::Member && self.expected.payload != Payload::Task
    }

    fn members(&mut self, is_inner: bool) -> &mut Members {
        if is_inner { &mut self.notes.inner } else { &mut self.notes.bare }
    }
}
