//! The members of a task, message or update, and which of them an object has.

use crate::wire::json::JsonKind;
use crate::wire::judge::name::Name;

/// A member of a task, message or update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::wire::judge) enum Member {
    Id,
    TaskId,
    ContextId,
    Status,
    State,
    Artifact,
    Final,
    MessageId,
    Parts,
    Role,
}

impl Member {
    pub(super) const ALL: [Self; 10] = [
        Self::Id,
        Self::TaskId,
        Self::ContextId,
        Self::Status,
        Self::State,
        Self::Artifact,
        Self::Final,
        Self::MessageId,
        Self::Parts,
        Self::Role,
    ];

    pub(super) fn named(name: Name) -> Option<Self> {
        Some(match name {
            Name::Id => Self::Id,
            Name::TaskId => Self::TaskId,
            Name::ContextId => Self::ContextId,
            Name::Status => Self::Status,
            Name::Artifact => Self::Artifact,
            Name::Final => Self::Final,
            Name::MessageId => Self::MessageId,
            Name::Parts => Self::Parts,
            Name::Role => Self::Role,
            _ => return None,
        })
    }

    /// The kinds of scalar that it may be, a bit for each.
    pub(super) fn scalars(self) -> u8 {
        const STRING: u8 = 1 << JsonKind::String as u8;
        const NUMBER: u8 = 1 << JsonKind::Number as u8;
        const BOOL: u8 = 1 << JsonKind::Bool as u8;
        match self {
            Self::Id | Self::TaskId | Self::ContextId | Self::MessageId | Self::Role => STRING,
            Self::State => STRING | NUMBER,
            Self::Final => BOOL,
            Self::Status | Self::Artifact | Self::Parts => 0,
        }
    }

    pub(super) fn is_never_empty(self) -> bool {
        matches!(self, Self::Id | Self::TaskId | Self::State)
    }

    pub(super) fn bit(self) -> u16 {
        1 << self as u8
    }
}

/// Which members an object has, and which of them are of the right type and not empty.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::wire::judge) struct Members {
    pub(super) present: u16,
    pub(super) proper: u16,
}

impl Members {
    /// Is it there, as what it should be?
    pub(in crate::wire::judge) fn has(self, member: Member) -> bool {
        self.proper & member.bit() != 0
    }

    /// Is it there at all?
    pub(in crate::wire::judge) fn names(self, member: Member) -> bool {
        self.present & member.bit() != 0
    }
}
