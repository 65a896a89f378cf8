use std::{
    collections::HashSet,
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{runtime::Handle, time::Instant};

use super::{EvidenceChange, EvidenceLink, EvidenceStore, entry::Entry, peers::Peers, store::Outbox};
use crate::directory::{
    PeerId,
    trust::{Case, Record, Report, ReportKind, Standing, TrustError, TrustPolicy, places},
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

pub(super) struct Inner {
    policy: TrustPolicy,
    peers: Peers,
    /// Who this is among the replicas.
    me: u128,
    /// How many peers there are to choose from, where somebody said it.
    registered: AtomicUsize,
    /// Which they are, where a directory says it. Taken when a peer comes or goes.
    present: Mutex<Option<HashSet<PeerId>>>,
    /// Those that are to be in quarantine. Taken when one is to go into it, and never by readers.
    bench: Mutex<Vec<Arc<Entry>>>,
    /// How long evidence is kept that other replicas told.
    keep: Duration,
    outbox: Option<Arc<Outbox>>,
    /// What is to be served, until it is.
    unserved: Mutex<Option<Arc<dyn EvidenceStore>>>,
    is_served: AtomicBool,
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

/// Builds an [`Evidence`].
#[derive(Clone)]
#[must_use = "a builder does nothing before `build`"]
pub struct EvidenceBuilder {
    policy: TrustPolicy,
    capacity: usize,
    store: Option<Arc<dyn EvidenceStore>>,
    share_every: Duration,
}

/// Evidence of so many half-lives ago weighs a thousandth.
const HALF_LIVES: u32 = 10;

/// And nobody keeps it for longer.
const LONGEST_KEPT: Duration = Duration::from_secs(30 * 86_400);

/// So many characters of a skill are kept.
const LONGEST_SKILL: usize = 128;

impl Evidence {
    /// By the default policy, of at most 4,096 peers, shared with nobody.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().made()
    }

    /// Sets the policy, how many peers there may be, and with whom they are shared.
    pub fn builder() -> EvidenceBuilder {
        EvidenceBuilder {
            policy: TrustPolicy::default(),
            capacity: 4096,
            store: None,
            share_every: Duration::from_millis(250),
        }
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

    /// Says whether a peer is among those. Who is not takes no place in quarantine from those that are; what there is to be
    /// said of it stays.
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
    fn serve(&self) {
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

impl Inner {
    fn record(&self, peer: &PeerId, skill: Option<&str>, report: Report, now: Instant) {
        // What says nothing makes nobody known.
        let entry = match report.kind() {
            ReportKind::Neutral => match self.peers.get(peer) {
                Some(entry) => entry,
                None => return,
            },
            _ => self.entry(peer, now, now),
        };
        let is_sentenced = {
            let mut record = entry.write();
            if report.kind() == ReportKind::Overclaim
                && let Some(skill) = skill
            {
                record.overclaimed = Some(skill.chars().take(LONGEST_SKILL).collect());
            }
            record.report(&self.policy, report, now)
        };
        if let Some(outbox) = &self.outbox
            && report.kind() != ReportKind::Neutral
        {
            outbox.push(&entry, is_sentenced);
        }
        if is_sentenced {
            self.bench().push(entry);
            self.settle(now);
        }
    }

    /// A peer's entry, made as of `since` if there is none.
    fn entry(&self, peer: &PeerId, since: Instant, now: Instant) -> Arc<Entry> {
        if let Some(entry) = self.peers.get(peer) {
            return entry;
        }
        // Held meanwhile, so that who registers it just now finds the entry, or is found.
        let present = self.present();
        let entry = self.peers.get_or_new(peer, || Record::new(self.me, since), now);
        entry.set_absent(present.as_ref().is_some_and(|present| !present.contains(peer)));
        entry
    }

    fn present(&self) -> MutexGuard<'_, Option<HashSet<PeerId>>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, peer: &PeerId, now: Instant) -> bool {
        let was_known = self.peers.remove(peer).is_some();
        if was_known {
            self.settle(now);
        }
        was_known
    }

    /// Takes in what another replica tells.
    pub(super) fn apply(&self, change: &EvidenceChange, now: Instant) {
        if change.from == self.me {
            return;
        }
        let Some(seen) = &change.seen else {
            self.forget(&change.peer, now);
            return;
        };
        let Some(learnt) = seen.learnt(&self.policy, self.keep, now) else { return };
        let entry = self.entry(&change.peer, learnt.tally.at, now);
        let is_sentenced = entry.write().learn(&self.policy, change.from, &learnt, self.keep, now);
        if is_sentenced {
            // What counted here before weighs less from now on.
            if let Some(outbox) = &self.outbox
                && entry.read().has_own()
            {
                outbox.push(&entry, false);
            }
            self.bench().push(entry);
            self.settle(now);
        }
    }

    /// What this replica counted.
    pub(super) fn known(&self, now: Instant) -> Vec<EvidenceChange> {
        let change = |entry: Arc<Entry>| {
            let record = entry.read();
            let is_told = record.has_own() && now.saturating_duration_since(record.last_seen()) <= self.keep;
            is_told.then(|| EvidenceChange::seen(self.me, entry.peer.clone(), &record.told(now), now))
        };
        self.peers.all().into_iter().filter_map(change).collect()
    }

    fn bench(&self) -> MutexGuard<'_, Vec<Arc<Entry>>> {
        self.bench.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the places that there are to the worst.
    fn settle(&self, now: Instant) {
        let mut bench = self.bench();
        bench.retain(|entry| !entry.is_gone() && entry.read().is_sentenced(now));
        let registered = match self.registered.load(Relaxed) {
            0 => self.peers.len(),
            registered => registered,
        };
        let room = places(self.policy.max_quarantined(), registered);
        let case = |entry: &Arc<Entry>| {
            let record = entry.read();
            (record.rate(&self.policy, now), record.level(), Arc::clone(entry))
        };
        let mut cases: Vec<_> = bench.iter().map(case).collect();
        cases.sort_unstable_by(|(rate, level, entry), (other_rate, other_level, other)| {
            let case = Case { rate: *rate, level: *level, peer: &entry.peer };
            case.worst_first(&Case { rate: *other_rate, level: *other_level, peer: &other.peer })
        });
        cases.dedup_by(|(_, _, one), (_, _, other)| Arc::ptr_eq(one, other));
        for (place, (_, _, entry)) in cases.iter().filter(|(_, _, entry)| !entry.is_absent()).enumerate() {
            if entry.read().is_served() != (place < room) {
                entry.write().serve(place < room);
            }
        }
        *bench = cases.into_iter().map(|(_, _, entry)| entry).collect();
    }
}

impl EvidenceBuilder {
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

    fn made(self) -> Evidence {
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

/// What is left is told, and then the store's work is done.
impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(outbox) = &self.outbox {
            outbox.close();
        }
    }
}

/// Each hasher of the standard library's has random keys of its own.
fn name() -> u128 {
    let half = |n: u8| u128::from(RandomState::new().hash_one(n));
    (half(0) << 64) | half(1)
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
