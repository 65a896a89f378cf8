//! The places of interest in an answer, by their numbers.

use super::member::Member;
use super::notes::Wrapper;
use crate::wire::json::{Scope, Slot};

pub(super) const ENVELOPE: Scope = Scope(1);
pub(super) const PAYLOAD: Scope = Scope(2);
pub(super) const WRAPPED: Scope = Scope(3);
pub(super) const STATUS: Scope = Scope(4);

// Slots of the envelope, each a bit of `Notes::seen`.
pub(super) const JSONRPC: Slot = Slot(1);
pub(super) const ID: Slot = Slot(2);
pub(super) const RESULT: Slot = Slot(3);
pub(super) const ERROR: Slot = Slot(4);
pub(super) const CODE: Slot = Slot(5);
pub(super) const TEXT: Slot = Slot(6);
// Slots of the payload.
pub(super) const TASK: Slot = Slot(7);
pub(super) const MESSAGE: Slot = Slot(8);
pub(super) const STATUS_UPDATE: Slot = Slot(9);
pub(super) const ARTIFACT_UPDATE: Slot = Slot(10);
pub(super) const KIND: Slot = Slot(11);
// Slots of a payload that is not looked at otherwise.
pub(super) const DETAIL: Slot = Slot(12);
pub(super) const TYPE: Slot = Slot(13);
pub(super) const LAST_SEEN: u8 = 13;
/// Slots of members of a task, message or update that stands bare in the payload begin here …
pub(super) const BARE: u8 = 32;
/// … and of a wrapped one here.
pub(super) const INNER: u8 = 64;
pub(super) const LAST_INNER: u8 = 95;

pub(super) fn member_of(slot: Slot) -> Option<(Member, bool)> {
    let (base, is_inner) = match slot.0 {
        BARE..INNER => (BARE, false),
        INNER..=LAST_INNER => (INNER, true),
        _ => return None,
    };
    let member = Member::ALL.get(usize::from(slot.0 - base))?;
    Some((*member, is_inner))
}

pub(super) fn wrapper_of(slot: Slot) -> Option<Wrapper> {
    Some(match slot {
        TASK => Wrapper::Task,
        MESSAGE => Wrapper::Message,
        STATUS_UPDATE => Wrapper::StatusUpdate,
        ARTIFACT_UPDATE => Wrapper::ArtifactUpdate,
        _ => return None,
    })
}
