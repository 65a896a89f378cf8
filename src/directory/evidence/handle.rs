//! The handle that all share who record what calls showed, or ask where a peer stands.

mod builder;
mod inner;

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, PoisonError, atomic::Ordering::Relaxed},
};

use tokio::{runtime::Handle, time::Instant};

pub use self::builder::EvidenceBuilder;
pub(super) use self::inner::Inner;
use super::{EvidenceLink, entry::Entry};
use crate::directory::{
    PeerId,
    trust::{Report, Standing, TrustPolicy},
};

/// What calls showed of peers. Clones are the same; whoever delegates and whoever observes share one.
///
/// Reading takes no lock that anybody holds for longer than the arithmetic of one call.
///
/// ```
/// use std::time::Duration;
/// use a2a_guard::directory::{Condition, Evidence, PeerId, Report};
///
/// let evidence = Evidence::new();
/// let peer = PeerId::parse("https://agent.example.com/a2a")?;
/// assert_eq!(evidence.standing(&peer, false).trust, 0.5);
/// evidence.record(&peer, Some("translate"), Report::success(Duration::from_millis(40)));
/// let standing = evidence.standing(&peer, false);
/// assert!(standing.trust > 0.99 && standing.condition == Condition::Good);
/// # Ok::<(), a2a_guard::directory::PeerIdFault>(())
/// ```
#[derive(Clone)]
pub struct Evidence {
    inner: Arc<Inner>,
}

/// What is known of one peer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PeerEvidence {
    /// Whom.
    pub peer: PeerId,
    /// Where it stands, if it is not verified.
    pub standing: Standing,
    /// How many strikes are left of its overclaims, here and in other replicas.
    pub strikes: u32,
    /// The skill that it overclaimed last, as seen here: up to 128 characters of it.
    pub overclaimed: Option<Box<str>>,
    /// How many calls ended in what says nothing of it, as seen here.
    pub neutral: u64,
}

impl Evidence {
    /// By the default policy, of at most 4,096 peers, shared with nobody.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().made()
    }

    /// Sets the policy, how many peers there may be, and with whom they are shared.
    pub fn builder() -> EvidenceBuilder {
        EvidenceBuilder::new()
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &TrustPolicy {
        &self.inner.policy
    }

    /// Takes note of a call that ended just now. `skill`: what it was for.
    pub fn record(&self, peer: &PeerId, skill: Option<&str>, report: Report) {
        self.record_at(peer, skill, report, Instant::now());
    }

    /// The same of a call that ended then.
    pub fn record_at(&self, peer: &PeerId, skill: Option<&str>, report: Report, now: Instant) {
        self.serve();
        self.inner.record(peer, skill, report, now);
    }

    /// Where a peer stands now. Whether it is verified is not evidence, and is for the caller to say.
    #[must_use]
    pub fn standing(&self, peer: &PeerId, verified: bool) -> Standing {
        self.standing_at(peer, verified, Instant::now())
    }

    /// Where it stands then: who compares many reads the clock once.
    #[must_use]
    pub fn standing_at(&self, peer: &PeerId, verified: bool, now: Instant) -> Standing {
        let Inner { policy, peers, .. } = &*self.inner;
        let standing = peers.with(peer, |entry| entry.read().standing(policy, verified, now));
        standing.unwrap_or_else(|| Standing::unknown(policy))
    }

    /// Everything that is known, by peer.
    #[must_use]
    pub fn snapshot(&self) -> Vec<PeerEvidence> {
        let now = Instant::now();
        let policy = &self.inner.policy;
        let evidence = |entry: Arc<Entry>| {
            let record = entry.read();
            PeerEvidence {
                peer: entry.peer.clone(),
                standing: record.standing(policy, false, now),
                strikes: record.strikes(policy, now),
                overclaimed: record.overclaimed.clone(),
                neutral: record.neutral,
            }
        };
        self.inner.peers.all().into_iter().map(evidence).collect()
    }

    /// Forgets what is known of a peer, good and bad, here and in other replicas that are connected, and says whether
    /// anything was known here. To be done by hand: a peer that is withdrawn and comes again is still the same.
    pub fn forget(&self, peer: &PeerId) -> bool {
        let was_known = self.inner.forget(peer, Instant::now());
        if let Some(outbox) = &self.inner.outbox {
            outbox.push_forgotten(peer.clone());
        }
        was_known
    }

    /// Says how many peers there are to choose from, known by calls or not: the share that may be in quarantine is one
    /// of these. Until somebody does, it is one of those that were called.
    pub fn set_registered(&self, peers: usize) {
        if self.inner.registered.swap(peers, Relaxed) != peers {
            self.inner.settle(Instant::now());
        }
    }

    /// Says whether a peer is among those. Who is not takes no place in quarantine from those that are; what there is
    /// to be said of it stays.
    pub(in crate::directory) fn set_present(&self, peer: &PeerId, is_present: bool) {
        let changed = {
            let mut present = self.inner.present();
            let known = present.get_or_insert_with(|| {
                // Whoever is not named is a stranger from now on.
                self.inner.peers.all().iter().for_each(|entry| _ = entry.set_absent(true));
                HashSet::new()
            });
            if is_present {
                known.insert(peer.clone());
            } else {
                known.remove(peer);
            }
            self.inner.peers.with(peer, |entry| entry.set_absent(!is_present))
        };
        if changed == Some(true) {
            self.inner.settle(Instant::now());
        }
    }

    /// Starts serving the store, if that has not been done, and if there is a runtime to do it in.
    pub(super) fn serve(&self) {
        if self.inner.is_served.load(Relaxed) {
            return;
        }
        let (Some(outbox), Ok(runtime)) = (&self.inner.outbox, Handle::try_current()) else { return };
        let unserved = self.inner.unserved.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(store) = unserved {
            self.inner.is_served.store(true, Relaxed);
            let handle = Arc::downgrade(&self.inner);
            let link = EvidenceLink::new(Arc::clone(outbox), handle, self.inner.me, self.inner.keep);
            runtime.spawn(store.serve(link));
        }
    }
}

impl Default for Evidence {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evidence").field("peers", &self.inner.peers.len()).finish_non_exhaustive()
    }
}
