//! Builds an [`Evidence`].

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize},
    },
    time::Duration,
};

use super::{Evidence, inner::Inner};
use crate::directory::{
    evidence::{EvidenceStore, peers::Peers, store::Outbox},
    trust::{TrustError, TrustPolicy},
};

/// Evidence of so many half-lives ago weighs a thousandth.
const HALF_LIVES: u32 = 10;

/// And nobody keeps it for longer.
const LONGEST_KEPT: Duration = Duration::from_secs(30 * 86_400);

/// Builds an [`Evidence`].
#[derive(Clone)]
#[must_use = "a builder does nothing before `build`"]
pub struct EvidenceBuilder {
    policy: TrustPolicy,
    capacity: usize,
    store: Option<Arc<dyn EvidenceStore>>,
    share_every: Duration,
}

impl EvidenceBuilder {
    pub(super) fn new() -> Self {
        Self { policy: TrustPolicy::default(), capacity: 4096, store: None, share_every: Duration::from_millis(250) }
    }

    /// How evidence becomes trust. Default: [`TrustPolicy::default`].
    pub fn policy(mut self, policy: TrustPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Of how many peers anything is known, at most. Beyond that, those that were called longest ago are forgotten, and
    /// of those in quarantine none while there are others. Default: 4,096.
    pub fn capacity(mut self, peers: usize) -> Self {
        self.capacity = peers;
        self
    }

    /// Where other replicas are told what was counted, and learnt from. Default: nowhere; the process is on its own.
    pub fn store(mut self, store: Arc<dyn EvidenceStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// How often the [`store`](Self::store) is told, at most. What puts a peer into quarantine is told at once. Up to
    /// 60 s; zero: with each call. Default: 250 ms.
    pub fn share_every(mut self, pause: Duration) -> Self {
        self.share_every = pause;
        self
    }

    /// The handle.
    ///
    /// # Errors
    ///
    /// If a setting cannot be. The error names it.
    pub fn build(self) -> Result<Evidence, TrustError> {
        if self.capacity == 0 {
            return Err(TrustError::new("capacity", "must not be zero: nobody would ever be known"));
        }
        if self.share_every > Duration::from_secs(60) {
            return Err(TrustError::new("share_every", format!("is {:?}: it must be at most 60 s", self.share_every)));
        }
        let built = self.made();
        built.serve();
        Ok(built)
    }

    pub(super) fn made(self) -> Evidence {
        let Self { policy, capacity, store, share_every } = self;
        let keep = policy.half_life().saturating_mul(HALF_LIVES).min(LONGEST_KEPT);
        let inner = Inner {
            policy,
            peers: Peers::new(capacity),
            me: name(),
            registered: AtomicUsize::new(0),
            present: Mutex::default(),
            bench: Mutex::default(),
            keep,
            outbox: store.as_ref().map(|_| Arc::new(Outbox::new(share_every, capacity))),
            is_served: AtomicBool::new(store.is_none()),
            unserved: Mutex::new(store),
        };
        Evidence { inner: Arc::new(inner) }
    }
}

/// Each hasher of the standard library's has random keys of its own.
fn name() -> u128 {
    let half = |n: u8| u128::from(RandomState::new().hash_one(n));
    (half(0) << 64) | half(1)
}

impl fmt::Debug for EvidenceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvidenceBuilder")
            .field("policy", &self.policy)
            .field("capacity", &self.capacity)
            .field("store", &self.store.is_some())
            .field("share_every", &self.share_every)
            .finish()
    }
}
