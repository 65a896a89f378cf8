//! What an answer says of its task, and which of the objects in it has the word.

use super::Reader;
use super::member::Member;
use super::notes::Wrapper;
use crate::wire::json::JsonKind;
use crate::wire::judge::{Payload, PayloadKind};
use crate::wire::task_state::TaskState;
use crate::wire::tolerated::Tolerated;

/// What may have to be tolerated of a state.
const STATE_FLAGS: Tolerated = Tolerated::NUMERIC_STATE.union(Tolerated::UNKNOWN_STATE);

impl Reader {
    pub(super) fn member(&mut self, member: Member, is_inner: bool, kind: JsonKind, text: &[u8], cut: bool) {
        let is_proper = member.scalars() & (1 << kind as u8) != 0;
        if !is_proper || (text.is_empty() && member.is_never_empty()) {
            return;
        }
        self.members(is_inner).proper |= member.bit();
        if !self.counts(member, is_inner) {
            return;
        }
        match member {
            Member::Id | Member::TaskId => self.facts.task_id.set(text, cut),
            Member::ContextId => self.facts.context_id.set(text, cut),
            Member::State => self.state(kind, text),
            Member::Final => self.facts.is_final = text == b"true",
            _ => {}
        }
    }

    /// Members of the result itself come before those of an object in it or around it, in whatever order they stand. As
    /// long as there is no such member, the other one's is what is known.
    fn counts(&self, member: Member, is_inner: bool) -> bool {
        let bare = self.notes.bare;
        let is_id = matches!(member, Member::Id | Member::TaskId);
        if is_inner {
            // A task's own id is `id`, all others point to it by `taskId`.
            let names = !is_id || (member == Member::Id) == (self.notes.wrapper == Some(Wrapper::Task));
            let is_told = bare.has(member) || (is_id && (bare.has(Member::Id) || bare.has(Member::TaskId)));
            return names && (self.is_wrapped() || !is_told);
        }
        if self.is_wrapped() && self.notes.wrapper.is_some() {
            return false;
        }
        match member {
            Member::TaskId if self.expected.payload == Payload::Task => !bare.has(Member::Id),
            // It may be either, and its kind may be told later.
            Member::Id if self.expected.payload != Payload::Task => !bare.has(Member::TaskId),
            _ => true,
        }
    }

    /// The result is of this kind: forgets what came from an object in it, and a state that is none of its own.
    pub(in crate::wire::judge) fn forget_others(&mut self, kind: PayloadKind) {
        let has_state = matches!(kind, PayloadKind::Task | PayloadKind::StatusUpdate);
        let mut keeps_state = has_state;
        if !self.is_wrapped() && self.notes.wrapper.is_some() {
            let bare = self.notes.bare;
            if !bare.has(Member::Id) && !bare.has(Member::TaskId) {
                self.facts.task_id.clear();
            }
            if !bare.has(Member::ContextId) {
                self.facts.context_id.clear();
            }
            self.facts.is_final &= bare.has(Member::Final);
            keeps_state &= bare.has(Member::State);
        }
        if !keeps_state {
            self.facts.state = None;
            self.facts.tolerated.remove(STATE_FLAGS);
        }
    }

    fn state(&mut self, kind: JsonKind, text: &[u8]) {
        self.facts.tolerated.remove(STATE_FLAGS);
        if kind == JsonKind::Number {
            self.facts.tolerated.insert(Tolerated::NUMERIC_STATE);
            self.facts.state =
                std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).and_then(TaskState::from_number);
        } else {
            self.facts.state = TaskState::from_wire(text);
        }
        if self.facts.state.is_none() {
            self.facts.tolerated.insert(Tolerated::UNKNOWN_STATE);
        }
    }
}
