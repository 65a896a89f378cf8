//! What the scanner comes upon is noted.

use super::Reader;
use super::member::Member;
use super::notes::{KindMember, Wrapper};
use super::places::{
    ARTIFACT_UPDATE, BARE, CODE, DETAIL, ENVELOPE, ERROR, ID, INNER, JSONRPC, KIND, MESSAGE, PAYLOAD, RESULT, STATUS,
    STATUS_UPDATE, TASK, TEXT, TYPE, WRAPPED, member_of, wrapper_of,
};
use crate::wire::json::{JsonKind, JsonVisitor, Scope, Slot};
use crate::wire::judge::Envelope;
use crate::wire::judge::name::Name;
use crate::wire::peer_error::{A2aError, integer_of};

impl JsonVisitor for Reader {
    fn key(&mut self, scope: Scope, key: &[u8]) -> Slot {
        let name = Name::of(key);
        let slot = match (scope, name) {
            (PAYLOAD, _) => self.payload_key(name),
            (WRAPPED, Some(name)) => Self::member_key(INNER, name),
            (ENVELOPE, Some(name)) => match name {
                Name::JsonRpc => JSONRPC,
                Name::Id => ID,
                Name::Result => RESULT,
                Name::Error => ERROR,
                Name::Code => CODE,
                Name::Message => TEXT,
                Name::Type => TYPE,
                _ => Slot::IGNORED,
            },
            (STATUS, Some(Name::State)) => {
                let base = if self.notes.status_is_inner { INNER } else { BARE };
                Slot(base + Member::State as u8)
            }
            _ => Slot::IGNORED,
        };
        if slot != Slot::IGNORED {
            self.note_duplicate(slot);
        }
        slot
    }

    fn begin(&mut self, slot: Slot, kind: JsonKind) -> Scope {
        match slot {
            Slot::ROOT => {
                self.notes.root = Some(kind);
                match self.expected.envelope {
                    Envelope::JsonRpc => ENVELOPE,
                    Envelope::Bare => PAYLOAD,
                }
            }
            RESULT => {
                self.notes.result = Some(kind);
                if self.is_typed() { PAYLOAD } else { Scope::SKIPPED }
            }
            ERROR => {
                self.notes.error = Some(kind);
                Scope::SKIPPED
            }
            ID => {
                self.id.set(kind, &[], false);
                Scope::SKIPPED
            }
            JSONRPC => {
                self.notes.jsonrpc = Some(false);
                Scope::SKIPPED
            }
            KIND => {
                self.notes.kind = Some(KindMember::Other);
                Scope::SKIPPED
            }
            _ => match (wrapper_of(slot), member_of(slot)) {
                (Some(wrapper), _) => self.begin_wrapper(wrapper, kind),
                (_, Some((member, is_inner))) => self.begin_member(member, is_inner, kind),
                _ => Scope::SKIPPED,
            },
        }
    }

    fn scalar(&mut self, slot: Slot, kind: JsonKind, text: &[u8], cut: bool) {
        let is_string = kind == JsonKind::String;
        match slot {
            Slot::ROOT => self.notes.root = Some(kind),
            JSONRPC => self.notes.jsonrpc = Some(is_string && text == b"2.0"),
            ID => self.id.set(kind, text, cut),
            RESULT => self.notes.result = Some(kind),
            ERROR => self.notes.error = Some(kind),
            CODE if kind == JsonKind::Number => {
                self.notes.code = std::str::from_utf8(text).ok().and_then(integer_of).filter(|_| !cut);
            }
            TEXT => self.notes.text = is_string,
            DETAIL => self.notes.detail = is_string,
            TYPE => {
                let uri = std::str::from_utf8(text).unwrap_or_default();
                self.notes.problem_type = is_string && !cut && A2aError::from_problem_type(uri).is_some();
            }
            KIND => {
                self.notes.kind = Some(match text {
                    _ if !is_string => KindMember::Other,
                    b"task" => KindMember::Task,
                    b"message" => KindMember::Message,
                    b"status-update" => KindMember::StatusUpdate,
                    b"artifact-update" => KindMember::ArtifactUpdate,
                    _ => KindMember::Other,
                });
            }
            MESSAGE if is_string => {
                // `{code, message}` is an error; a message would be an object.
                self.notes.text = true;
                self.notes.improper_wrapper = true;
            }
            TASK | MESSAGE | STATUS_UPDATE | ARTIFACT_UPDATE => {
                self.notes.improper_wrapper |= kind != JsonKind::Null;
            }
            _ => {
                if let Some((member, is_inner)) = member_of(slot) {
                    self.member(member, is_inner, kind, text, cut);
                }
            }
        }
    }
}

impl Reader {
    fn begin_wrapper(&mut self, wrapper: Wrapper, kind: JsonKind) -> Scope {
        if kind != JsonKind::Object {
            self.notes.improper_wrapper = true;
            return Scope::SKIPPED;
        }
        if self.notes.wrapper.is_some() {
            self.notes.second_wrapper = true;
            return Scope::SKIPPED;
        }
        self.notes.wrapper = Some(wrapper);
        if self.is_wrapped() && self.notes.bare.present != 0 {
            // What stood before it is not its own.
            self.facts.clear();
        }
        WRAPPED
    }

    fn begin_member(&mut self, member: Member, is_inner: bool, kind: JsonKind) -> Scope {
        let is_proper = match member {
            Member::Status | Member::Artifact => kind == JsonKind::Object,
            Member::Parts => kind == JsonKind::Array,
            _ => false,
        };
        if !is_proper {
            return Scope::SKIPPED;
        }
        self.members(is_inner).proper |= member.bit();
        if member == Member::Status {
            self.notes.status_is_inner = is_inner;
            return STATUS;
        }
        Scope::SKIPPED
    }
}
