//! What changed in a directory, by whom: one event for each change.

use std::{fmt, sync::Arc};

use tokio::time::Instant;

use super::{PeerId, Verification, bounds::DirectoryBounds, skill::SkillSource};
use crate::wire::text::escape;

/// A change of what a directory holds, or one that was asked for and refused.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuditEvent {
    /// Counts up by one with each event of a directory.
    pub sequence: u64,
    /// When.
    pub at: Instant,
    /// About whom.
    pub peer: PeerId,
    /// Who registered the peer, or wanted to.
    pub owner: Arc<str>,
    /// What.
    pub change: Change,
}

/// What changed about a peer. Texts out of cards display escaped and cut.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// It is there now, on probation.
    Registered {
        /// By its card or its tools.
        source: SkillSource,
        /// How many skills it can be found by.
        skills: usize,
        /// How many of what it says was left out: above the bounds, or of no use.
        left_out: usize,
    },
    /// It says something else than before.
    Updated {
        /// In its card or its tools.
        source: SkillSource,
        /// How many skills it can be found by.
        skills: usize,
        /// How many of what it says was left out.
        left_out: usize,
    },
    /// What one source said of it does not count until it is asked again.
    Stale {
        /// Which.
        source: SkillSource,
        /// Why.
        why: StaleReason,
    },
    /// Counts again, after it was stale or expired: it says what it said before.
    Renewed {
        /// Which source.
        source: SkillSource,
    },
    /// Somebody has reason to doubt its card: it is read again as soon as may be.
    Doubted {
        /// What was seen, in a stable word.
        why: &'static str,
    },
    /// An operator vouches for it, or does no longer.
    Vouched {
        /// Who.
        by: Box<str>,
        /// Whether.
        stands: bool,
    },
    /// Its card is verified now by other means than before.
    Verified {
        /// By these.
        verification: Verification,
    },
    /// It is gone, by its owner's will.
    Withdrawn,
    /// It must not be called, nor come back.
    Revoked {
        /// Why, in the words of who revoked it.
        why: Box<str>,
    },
    /// It may be registered again.
    Reinstated,
    /// What was asked for was not done.
    Refused {
        /// Why, on one line.
        why: Box<str>,
    },
}

/// Why what is known of a peer does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StaleReason {
    /// Its time is over, and it was not confirmed since.
    Expired,
    /// The peer said that its list changed (MCP `notifications/tools/list_changed`).
    ListChanged,
    /// When it was asked for again, there was no card that is the peer's.
    Gone,
}

impl StaleReason {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::ListChanged => "list_changed",
            Self::Gone => "gone",
        }
    }
}

impl fmt::Display for StaleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = |source: &SkillSource| match source {
            SkillSource::Card => "card",
            SkillSource::Tools => "tools",
        };
        match self {
            Self::Registered { source: of, skills, left_out } => {
                write!(f, "registered by {}: skills {skills}, left out {left_out}", source(of))
            }
            Self::Updated { source: of, skills, left_out } => {
                write!(f, "{} changed: skills {skills}, left out {left_out}", source(of))
            }
            Self::Stale { source: of, why } => write!(f, "{} stale: {why}", source(of)),
            Self::Renewed { source: of } => write!(f, "{} fresh again", source(of)),
            Self::Doubted { why } => write!(f, "card doubted: {why}"),
            Self::Vouched { by, stands } => {
                let verb = if *stands { "vouched for" } else { "no longer vouched for" };
                write!(f, "{verb} by {}", escape(by, DirectoryBounds::SHOWN))
            }
            Self::Verified { verification } => write!(f, "verified by {verification}"),
            Self::Withdrawn => f.write_str("withdrawn"),
            Self::Revoked { why } => write!(f, "revoked: {}", escape(why, DirectoryBounds::SHOWN)),
            Self::Reinstated => f.write_str("reinstated"),
            Self::Refused { why } => write!(f, "refused: {}", escape(why, DirectoryBounds::SHOWN)),
        }
    }
}

/// On one line: `#7 https://agent.example.com of team-a: withdrawn`.
impl fmt::Display for AuditEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = escape(&self.owner, DirectoryBounds::SHOWN);
        write!(f, "#{} {} of {owner}: {}", self.sequence, self.peer, self.change)
    }
}
