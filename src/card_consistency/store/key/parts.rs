//! What else than the target is a part of a key: each a number, so that keys stay small and hold no secret.

use crate::call::ProtocolVersion;

/// The rules by which a card counts as the target's: a hash, keyed anew by each store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::card_consistency) struct Judge(pub(super) u64);

/// What an entry is to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Beside(pub(super) u64);

impl Beside {
    /// Its card.
    pub(super) const CARD: Self = Self(0);
    /// Its extended card.
    pub(super) const EXTENDED: Self = Self(1);

    /// The word of a judge that its card is none.
    pub(super) fn of(judge: Judge) -> Self {
        Self(judge.0.max(2))
    }
}

/// Whose credentials a card was shown to. The credentials themselves are not kept: a hash, keyed anew by each store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::card_consistency::store) struct Credential(pub(super) u64);

impl Credential {
    /// Everybody's.
    pub(super) const ANY: Self = Self(0);
    /// Shown to a call without credentials, and for nobody else.
    pub(in crate::card_consistency::store) const NONE: Self = Self(1);
}

/// A version as a part of a key: one that makes no difference is not one that was not stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct VersionPart(pub(super) u32);

impl VersionPart {
    pub(super) const ANY: Self = Self(0);

    pub(super) fn of(version: Option<ProtocolVersion>) -> Self {
        match version {
            None => Self(1),
            Some(version) => Self(1 << 16 | u32::from(version.major()) << 8 | u32::from(version.minor())),
        }
    }
}
