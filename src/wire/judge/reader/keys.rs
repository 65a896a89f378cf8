//! Which names matter, and where.

use super::Reader;
use super::member::Member;
use super::places::{
    ARTIFACT_UPDATE, BARE, CODE, DETAIL, ERROR, KIND, LAST_SEEN, MESSAGE, STATUS_UPDATE, TASK, TEXT, TYPE, member_of,
};
use crate::wire::json::Slot;
use crate::wire::judge::name::Name;
use crate::wire::judge::{Envelope, Wrapping};

impl Reader {
    #[inline]
    pub(super) fn payload_key(&mut self, name: Option<Name>) -> Slot {
        if !self.is_typed() {
            return self.untyped_key(name);
        }
        match name {
            Some(Name::Error) if self.expected.envelope == Envelope::Bare => ERROR,
            Some(Name::Code) if self.expected.envelope == Envelope::Bare => CODE,
            Some(Name::Type) if self.expected.envelope == Envelope::Bare => TYPE,
            Some(Name::Task) => TASK,
            Some(Name::Message) => MESSAGE,
            Some(Name::StatusUpdate) => STATUS_UPDATE,
            Some(Name::ArtifactUpdate) => ARTIFACT_UPDATE,
            Some(Name::Kind) => KIND,
            Some(Name::SessionId) if self.expected.wrapping == Wrapping::Legacy => Slot(BARE + Member::ContextId as u8),
            Some(name) => Self::member_key(BARE, name),
            None => Slot::IGNORED,
        }
    }

    /// Of a payload whose members are not looked at, except that it may be an error instead.
    #[inline(never)]
    fn untyped_key(&mut self, name: Option<Name>) -> Slot {
        match name {
            Some(Name::Error) if self.expected.envelope == Envelope::Bare => return ERROR,
            Some(Name::Code) if self.expected.envelope == Envelope::Bare => return CODE,
            Some(Name::Message) => return TEXT,
            Some(Name::Detail) => return DETAIL,
            Some(Name::Type) => return TYPE,
            Some(Name::Title | Name::Status | Name::Instance | Name::Details) => {}
            _ => self.notes.other = true,
        }
        Slot::IGNORED
    }

    #[inline]
    pub(super) fn member_key(base: u8, name: Name) -> Slot {
        match Member::named(name) {
            Some(member) => Slot(base + member as u8),
            None => Slot::IGNORED,
        }
    }

    pub(super) fn note_duplicate(&mut self, slot: Slot) {
        match member_of(slot) {
            Some((member, is_inner)) => {
                let members = self.members(is_inner);
                let twice = members.names(member);
                members.present |= member.bit();
                self.notes.duplicate |= twice;
            }
            None if slot.0 <= LAST_SEEN => {
                let bit = 1 << slot.0;
                self.notes.duplicate |= self.notes.seen & bit != 0;
                self.notes.seen |= bit;
            }
            None => {}
        }
    }
}
