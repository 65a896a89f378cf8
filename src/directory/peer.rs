//! One peer as a directory holds it: what it says, which never changes in place, and what happens to it, which does.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
    },
};

use http::Uri;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::{PeerId, audit::StaleReason, skill::Skill, skill::SkillSource};
use crate::{card::AgentInterface, clock::Millis};

/// Who, besides the peer itself, stands for what its card says. More is greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Verification {
    /// Nobody.
    #[default]
    None,
    /// The connector: the card came from the host that it is the card of. Everybody can have a certificate, so that
    /// this alone ends no probation.
    Transport,
    /// The verifier of the card store, by a signature say.
    Card,
    /// An operator vouches for the peer.
    Operator,
}

impl Verification {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Transport => "transport",
            Self::Card => "card",
            Self::Operator => "operator",
        }
    }

    /// Whether the peer counts as verified: somebody vouches for it, by its card or by name.
    #[must_use]
    pub fn is_verified(self) -> bool {
        self >= Self::Card
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A peer that was registered, as it says it is.
pub(super) struct Peer {
    pub(super) id: PeerId,
    pub(super) owner: Arc<str>,
    pub(super) base: Uri,
    /// Of its card and of its tools.
    pub(super) skills: Arc<[Skill]>,
    /// Those that may be called, in its card's order.
    pub(super) interfaces: Arc<[AgentInterface]>,
    /// By its card; an operator's word stands in the state.
    pub(super) by_card: Verification,
    /// Counts up when it says something else; from 1 on.
    pub(super) said: u64,
    pub(super) state: Arc<State>,
}

/// What happens to a peer, shared by all versions of what it says: whoever still holds an older one sees it too.
#[derive(Debug)]
pub(super) struct State {
    card: Lease,
    tools: Lease,
    last_seen: AtomicU64,
    /// How often it said that its list of tools changed.
    tools_changed: AtomicU64,
    doubted: AtomicBool,
    gone: AtomicBool,
    vouched: AtomicBool,
    /// What it said when a test call went well. 0: none did.
    tested: AtomicU64,
    /// Held while a test call is made: one is enough for all that come together. In it, why the last one failed that
    /// told something bad of the peer.
    testing: Arc<Mutex<Box<str>>>,
    /// How many tests told something bad of it.
    failed_tests: AtomicU64,
}

/// Until when one source counts.
#[derive(Debug, Default)]
struct Lease {
    /// 0: it never told anything.
    until: AtomicU64,
    /// A [`StaleReason`], as a number.
    stale: AtomicU8,
}

impl Lease {
    fn standing(&self, now: Millis) -> Result<(), StaleReason> {
        match self.stale.load(Ordering::Relaxed) {
            0 if now < self.until.load(Ordering::Relaxed) => Ok(()),
            1 => Err(StaleReason::ListChanged),
            2 => Err(StaleReason::Gone),
            _ => Err(StaleReason::Expired),
        }
    }

    fn mark(&self, why: StaleReason) -> bool {
        let code = match why {
            StaleReason::ListChanged => 1,
            StaleReason::Gone => 2,
            StaleReason::Expired => 3,
        };
        self.stale.swap(code, Ordering::SeqCst) == 0
    }

    fn renew(&self, until: Millis) {
        self.until.store(until.max(1), Ordering::Relaxed);
        self.stale.store(0, Ordering::SeqCst);
    }
}

impl State {
    pub(super) fn new(now: Millis) -> Self {
        Self {
            card: Lease::default(),
            tools: Lease::default(),
            last_seen: AtomicU64::new(now),
            tools_changed: AtomicU64::new(0),
            doubted: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            vouched: AtomicBool::new(false),
            tested: AtomicU64::new(0),
            testing: Arc::default(),
            failed_tests: AtomicU64::new(0),
        }
    }

    fn lease(&self, source: SkillSource) -> &Lease {
        match source {
            SkillSource::Card => &self.card,
            SkillSource::Tools => &self.tools,
        }
    }

    /// Whether what a source says counts.
    pub(super) fn standing(&self, source: SkillSource, now: Millis) -> Result<(), StaleReason> {
        self.lease(source).standing(now)
    }

    /// Until when it counts, if it ever told anything.
    pub(super) fn until(&self, source: SkillSource) -> Option<Millis> {
        Some(self.lease(source).until.load(Ordering::Relaxed)).filter(|until| *until > 0)
    }

    /// It does not count, until it is renewed; whether that is new.
    pub(super) fn mark_stale(&self, source: SkillSource, why: StaleReason) -> bool {
        self.lease(source).mark(why)
    }

    pub(super) fn renew(&self, source: SkillSource, until: Millis, now: Millis) {
        self.lease(source).renew(until);
        self.note_seen(now);
    }

    /// It said that its list of tools changed.
    pub(super) fn note_tools_changed(&self) {
        self.tools_changed.fetch_add(1, Ordering::SeqCst);
    }

    /// How often it did.
    pub(super) fn tools_changes(&self) -> u64 {
        self.tools_changed.load(Ordering::SeqCst)
    }

    /// It answered.
    pub(super) fn note_seen(&self, now: Millis) {
        self.last_seen.fetch_max(now, Ordering::Relaxed);
    }

    pub(super) fn last_seen(&self) -> Millis {
        self.last_seen.load(Ordering::Relaxed)
    }

    /// Whether that is new.
    pub(super) fn doubt(&self) -> bool {
        !self.doubted.swap(true, Ordering::Relaxed)
    }

    pub(super) fn is_doubted(&self) -> bool {
        self.doubted.load(Ordering::Relaxed)
    }

    /// Its card is about to be read anew. What is doubted from now on, it may not tell.
    pub(super) fn take_doubt(&self) -> bool {
        self.doubted.swap(false, Ordering::Relaxed)
    }

    /// Revoked or withdrawn: whoever still holds it must not call it.
    pub(super) fn set_gone(&self) {
        self.gone.store(true, Ordering::Release);
    }

    pub(super) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// The turn to test it, with what the last test came to that told something bad of it.
    pub(super) async fn testing(&self) -> OwnedMutexGuard<Box<str>> {
        Arc::clone(&self.testing).lock_owned().await
    }

    /// How many of those there were.
    pub(super) fn failed_tests(&self) -> u64 {
        self.failed_tests.load(Ordering::Acquire)
    }

    /// There was one more.
    pub(super) fn note_failed_test(&self) {
        self.failed_tests.fetch_add(1, Ordering::Release);
    }

    /// Whether that is new.
    pub(super) fn vouch(&self, stands: bool) -> bool {
        self.vouched.swap(stands, Ordering::Relaxed) != stands
    }
}

impl Peer {
    pub(super) fn verification(&self) -> Verification {
        if self.state.vouched.load(Ordering::Relaxed) { Verification::Operator } else { self.by_card }
    }

    /// Whether a test call went well of what it says here.
    pub(super) fn is_tested(&self) -> bool {
        self.state.tested.load(Ordering::Relaxed) == self.said
    }

    /// One did: of what it says here, whatever it says by now.
    pub(super) fn set_tested(&self) {
        self.state.tested.fetch_max(self.said, Ordering::Relaxed);
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("id", &self.id)
            .field("skills", &self.skills)
            .field("verification", &self.verification())
            .finish_non_exhaustive()
    }
}
