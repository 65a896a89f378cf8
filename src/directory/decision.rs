//! Why whom: the record of one choice.

use std::{fmt, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    Match, Need, PeerId, StaleReason, Standing, Verification, bounds::DirectoryBounds, need::Written, peer::Peer,
    permission::Permit, version::VersionFlaw,
};
use crate::{
    card::AgentInterface,
    outcome::{Class, OutcomeKind},
    wire::text::escape,
};

/// What was needed, who was considered, how each was judged, who was chosen, and what became of it.
///
/// It displays on several lines: one for the need, one for each candidate, one for each attempt.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Decision {
    /// What was needed.
    pub need: Need,
    /// When.
    pub at: Instant,
    /// The number of the call, by which peers in their slow start take turns.
    pub call: u64,
    /// The [generation](super::Directory::generation) of the directory that was looked at.
    pub generation: u64,
    /// Those who fit: first those who may be asked, the best first, then those who may not, in the order in which they
    /// would have come: the first 64 of these.
    pub candidates: Vec<Candidate>,
    /// How many more may not be asked.
    pub omitted: usize,
    /// Whom the call went to, in this order, and what became of it.
    pub attempts: Vec<Attempt>,
    /// Whose answer the caller has.
    pub chosen: Option<PeerId>,
    /// Nobody could be asked, and the fallback was.
    pub fell_back: bool,
}

/// The most candidates in a record who may not be asked.
pub(super) const EXCLUDED: usize = 64;

impl Decision {
    /// Those who may be asked, the best first.
    pub fn eligible(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(|candidate| candidate.excluded.is_none())
    }

    /// The best of those who may be asked.
    #[must_use]
    pub fn best(&self) -> Option<&Candidate> {
        self.eligible().next()
    }
}

/// One who fits a need.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// Who.
    pub peer: PeerId,
    /// The skill by which it fits, as it calls it.
    pub skill: Arc<str>,
    /// How well it fits.
    pub fit: Match,
    /// Who stands for it.
    pub verification: Verification,
    /// What is known of it from calls.
    pub standing: Standing,
    /// The binding and version in which it would be called; `None` where the need says none.
    pub written: Option<Written>,
    /// It is its turn to be tried, whatever the others are trusted: see
    /// [`DirectoryBuilder::explore`](super::DirectoryBuilder::explore).
    pub explored: bool,
    /// A test call has to go well first.
    pub test: bool,
    /// Why it may not be asked.
    pub excluded: Option<Exclusion>,
    pub(super) at: Arc<Peer>,
    /// Its place in the peer's list.
    pub(super) interface: Option<usize>,
}

impl Candidate {
    pub(super) fn interface(&self) -> Option<&AgentInterface> {
        self.at.interfaces.get(self.interface?)
    }
}

/// Why one who fits may not be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exclusion {
    /// It was revoked or withdrawn meanwhile.
    Gone,
    /// It says something else meanwhile: the skill, or the interface that was chosen, is not there any longer; or a
    /// test was one of what it said before.
    Changed,
    /// What is known of it does not count any longer.
    Stale(StaleReason),
    /// It speaks nothing that the request is written in.
    Version(Box<VersionFlaw>),
    /// It failed, or claimed too much: it is let alone for a while.
    Quarantined,
    /// It comes back from that, and this call is none of its share.
    SlowStart,
    /// It is new, nobody stands for it, and the skill is none of low risk.
    Probation,
    /// The caller's permission was refused, with these words.
    Denied(Box<str>),
    /// Better ones are enough.
    NotShortlisted,
    /// A test call did not go well, in these words.
    TestFailed(Box<str>),
    /// The request cannot be made one to it, for this reason.
    Unwritable(Box<str>),
    /// No credentials for it, in these words.
    NoCredentials(Box<str>),
}

impl Exclusion {
    /// The stable word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Changed => "changed",
            Self::Stale(_) => "stale",
            Self::Version(_) => "version",
            Self::Quarantined => "quarantined",
            Self::SlowStart => "slow_start",
            Self::Probation => "probation",
            Self::Denied(_) => "denied",
            Self::NotShortlisted => "not_shortlisted",
            Self::TestFailed(_) => "test_failed",
            Self::Unwritable(_) => "unwritable",
            Self::NoCredentials(_) => "no_credentials",
        }
    }

    pub(super) fn of_permit(permit: &Permit) -> Option<Self> {
        match permit {
            Permit::Deny(why) => Some(Self::Denied(super::tokens::cut(why, 256).into())),
            Permit::Allow | Permit::AfterTest => None,
        }
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale(why) => write!(f, "stale: {why}"),
            Self::Version(flaw) => write!(f, "version: {flaw}"),
            Self::Denied(why) | Self::TestFailed(why) | Self::Unwritable(why) | Self::NoCredentials(why) => {
                write!(f, "{}: {}", self.as_str(), escape(why, DirectoryBounds::SHOWN))
            }
            _ => f.write_str(self.as_str()),
        }
    }
}

/// One candidate's turn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attempt {
    /// Whose.
    pub peer: PeerId,
    /// What became of it.
    pub ended: AttemptEnd,
    /// How long it took.
    pub elapsed: Duration,
}

/// What became of a candidate's turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttemptEnd {
    /// It did what was asked; a stream, so far.
    Success,
    /// It was called, and this came of it.
    Failed {
        /// The outcome.
        outcome: OutcomeKind,
        /// Its class.
        class: Class,
        /// Whether another one may be asked: nothing can have been done.
        may_go_on: bool,
    },
    /// It was not called after all.
    NotAsked(Exclusion),
    /// The caller let go of the call before it came to an end.
    Abandoned {
        /// Whether the request had gone out: then it may have been worked on.
        sent: bool,
    },
}

impl fmt::Display for AttemptEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success => f.write_str("success"),
            Self::Failed { outcome, class, may_go_on } => {
                write!(f, "{outcome}/{class}, {}", if *may_go_on { "nothing was done" } else { "not to be repeated" })
            }
            Self::NotAsked(why) => write!(f, "not asked: {why}"),
            Self::Abandoned { sent } => write!(f, "abandoned, {}", if *sent { "sent" } else { "not sent" }),
        }
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { peer, skill, fit, verification, standing, .. } = self;
        write!(f, "{peer} {}: fit {fit}, verified {verification}, trust {:.3}", escape(skill, 64), standing.trust)?;
        match standing.latency {
            Some(latency) => write!(f, ", latency {} ms", latency.as_millis())?,
            None => f.write_str(", latency unknown")?,
        }
        write!(f, ", {} calls, {}", standing.calls, standing.condition.as_str())?;
        if let Some(written) = &self.written {
            write!(f, ", {written}")?;
        }
        if self.explored {
            f.write_str(", its turn")?;
        }
        if self.test {
            f.write_str(", to be tested")?;
        }
        match &self.excluded {
            Some(why) => write!(f, "; not eligible: {why}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.need)?;
        for candidate in &self.candidates {
            write!(f, "\n  {candidate}")?;
        }
        if self.omitted > 0 {
            write!(f, "\n  and {} more who are not eligible", self.omitted)?;
        }
        for attempt in &self.attempts {
            write!(f, "\n  → {}, {} ms: {}", attempt.peer, attempt.elapsed.as_millis(), attempt.ended)?;
        }
        match (&self.chosen, self.fell_back) {
            (Some(chosen), _) => write!(f, "\n  answered by {chosen}"),
            (None, true) => f.write_str("\n  handed to the fallback"),
            (None, false) => Ok(()),
        }
    }
}
