//! What a source said of a peer: its card, or its list of tools.

use crate::directory::{
    reading::Read,
    skill::{Skill, SkillSource},
};

/// What a source said.
pub(in crate::directory) enum Said {
    Card(Read),
    Tools {
        skills: Vec<Skill>,
        left_out: usize,
        /// How often the list had changed when it was asked for, where that is known.
        as_of: Option<u64>,
    },
}

impl Said {
    pub(super) fn source(&self) -> SkillSource {
        match self {
            Self::Card(_) => SkillSource::Card,
            Self::Tools { .. } => SkillSource::Tools,
        }
    }

    pub(super) fn left_out(&self) -> usize {
        match self {
            Self::Card(read) => read.left_out,
            Self::Tools { left_out, .. } => *left_out,
        }
    }

    pub(super) fn as_of(&self) -> Option<u64> {
        match self {
            Self::Card(_) => None,
            Self::Tools { as_of, .. } => *as_of,
        }
    }
}
