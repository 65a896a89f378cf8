use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use quick_cache::{DefaultHashBuilder, Lifecycle, UnitWeighter, sync::Cache};
use tokio::{
    runtime::Handle,
    sync::{Semaphore, mpsc},
    time::Instant,
};

use super::{
    Change, Link, SkillKey, Store,
    counters::{Counters, count, read},
    entry::{Entry, Shared},
    store::Outbox,
};
use crate::{
    card::Origin,
    clock::{Clock, Millis, span},
    probe_cache::ProbeCacheError,
};

/// What is known of skills, by origin, skill and region. Clones are the same; any number of layers can share one.
///
/// Written by calls that went well, and never by probes. An entry holds for 60 s after the last such call, and is
/// dropped by a refusal that says the skill is not there.
///
/// ```
/// use a2a_guard::probe_cache::{Availability, SkillAvailability, SkillKey};
///
/// let skills = SkillAvailability::new();
/// // … give clones of it to layers, make calls …
/// let key = SkillKey::of(&"https://agent.example.com/a2a".parse()?, "translate")?.in_region("eu");
/// assert_eq!(skills.get(&key), Availability::Unknown);
/// // A deployment was rolled back: the next call asks the agent anew.
/// skills.invalidate_host(key.origin());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SkillAvailability {
    inner: Arc<Inner>,
}

/// What is known of one skill at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Availability {
    /// A call for it went well.
    Available {
        /// How long that still counts.
        lasts: Duration,
    },
    /// A call for it was refused, and [`unavailable_for`](SkillAvailabilityBuilder::unavailable_for) is set.
    Unavailable {
        /// How long calls for it are still not sent.
        lasts: Duration,
    },
    /// Nothing. The next call is sent, and its outcome tells.
    Unknown,
}

/// One entry of a [`SkillAvailability`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AvailabilityEntry {
    /// Which skill, where.
    pub key: SkillKey,
    /// What is known of it.
    pub availability: Availability,
}

/// What a [`SkillAvailability`] has seen since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AvailabilityStats {
    /// Calls for a skill that was known to be available.
    pub hits: u64,
    /// Calls for a skill of which nothing was known, or that was known to be unavailable.
    pub misses: u64,
    /// Entries that were dropped: by a refusal, by hand, or by another replica.
    pub invalidations: u64,
    /// Probes that layers with this handle sent.
    pub probes: u64,
    /// Changes that were handed to the [`Store`].
    pub told: u64,
    /// Changes for which its queue had no room. Other replicas find out for themselves.
    pub untold: u64,
    /// Entries held, of skills that calls named.
    pub entries: usize,
}

/// Builds a [`SkillAvailability`].
#[derive(Clone)]
#[must_use = "a builder does nothing before `build`"]
pub struct SkillAvailabilityBuilder {
    ttl: Duration,
    capacity: usize,
    unavailable_for: Option<Duration>,
    queue: usize,
    store: Option<Arc<dyn Store>>,
}

pub(super) struct Inner {
    map: Cache<SkillKey, Arc<Entry>, UnitWeighter, DefaultHashBuilder, MarkEvicted>,
    shared: Arc<Shared>,
    store: Option<Arc<dyn Store>>,
    /// What the store is to be served with, until it is.
    unserved: Mutex<Option<mpsc::Receiver<Change>>>,
    served: AtomicBool,
}

#[derive(Clone, Copy, Debug, Default)]
struct MarkEvicted;

impl Lifecycle<SkillKey, Arc<Entry>> for MarkEvicted {
    type RequestState = ();

    fn on_evict(&self, (): &mut (), _: SkillKey, entry: Arc<Entry>) {
        entry.evict();
    }
}

impl SkillAvailability {
    /// Entries hold for 60 s; at most 4,096 are kept; what is refused is unknown from then on; nobody is told.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().made()
    }

    /// Sets how long entries hold, how many there may be, and with whom they are shared.
    pub fn builder() -> SkillAvailabilityBuilder {
        SkillAvailabilityBuilder {
            ttl: Duration::from_secs(60),
            capacity: 4096,
            unavailable_for: None,
            queue: 1024,
            store: None,
        }
    }

    /// What is known. It is no look-up of a call's, and is not counted as one.
    #[must_use]
    pub fn get(&self, key: &SkillKey) -> Availability {
        self.inner.map.peek(key).map_or(Availability::Unknown, |entry| entry.state(self.inner.now()))
    }

    /// Everything that is known.
    #[must_use]
    pub fn snapshot(&self) -> Vec<AvailabilityEntry> {
        let now = self.inner.now();
        let entry = |(key, entry): (SkillKey, Arc<Entry>)| {
            let availability = entry.state(now);
            (availability != Availability::Unknown).then_some(AvailabilityEntry { key, availability })
        };
        self.inner.map.iter().filter_map(entry).collect()
    }

    /// Forgets what is known of a key, here and in other replicas, and says whether anything was known here. Calls
    /// under way do not bring it back.
    pub fn invalidate(&self, key: &SkillKey) -> bool {
        let known = self.inner.drop_key(key);
        self.inner.tell(Change::Dropped { key: key.clone() });
        known
    }

    /// Forgets what is known of all skills of a host, here and in other replicas, and says of how many anything was
    /// known here.
    pub fn invalidate_host(&self, origin: &Origin) -> usize {
        let known = self.inner.drop_where(|key| key.origin() == origin);
        self.inner.tell(Change::DroppedHost { origin: origin.clone() });
        known
    }

    /// Forgets everything, here and in other replicas, and says of how many skills anything was known here.
    pub fn invalidate_all(&self) -> usize {
        let known = self.inner.drop_where(|_| true);
        self.inner.tell(Change::DroppedAll);
        known
    }

    /// What was seen so far.
    #[must_use]
    pub fn stats(&self) -> AvailabilityStats {
        let Counters { hits, misses, invalidations, probes, told, untold } = &self.inner.shared.counters;
        AvailabilityStats {
            hits: hits.read(),
            misses: misses.read(),
            invalidations: read(invalidations),
            probes: read(probes),
            told: read(told),
            untold: read(untold),
            entries: self.inner.map.len(),
        }
    }

    pub(in crate::probe_cache) fn clock(&self) -> Clock {
        self.inner.shared.clock
    }

    pub(in crate::probe_cache) fn count_probe(&self) {
        count(&self.inner.shared.counters.probes);
    }

    /// The entry of a key, made if there is none. Once for each place that calls go to, not for each call.
    pub(in crate::probe_cache) fn entry(&self, key: SkillKey) -> Arc<Entry> {
        self.serve();
        self.inner.entry(key)
    }

    /// Starts serving the store, if that has not been done, and if there is a runtime to do it in.
    fn serve(&self) {
        if self.inner.served.load(Relaxed) {
            return;
        }
        let (Some(store), Ok(runtime)) = (&self.inner.store, Handle::try_current()) else { return };
        let unserved = self.inner.unserved.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(changes) = unserved {
            self.inner.served.store(true, Relaxed);
            runtime.spawn(Arc::clone(store).serve(Link::new(changes, Arc::downgrade(&self.inner))));
        }
    }
}

impl Inner {
    fn now(&self) -> Millis {
        self.shared.clock.millis(Instant::now())
    }

    fn entry(&self, key: SkillKey) -> Arc<Entry> {
        let made = || Ok::<_, std::convert::Infallible>(Arc::new(Entry::new(key.clone(), &self.shared)));
        match self.map.get_or_insert_with(&key, made) {
            Ok(entry) => entry,
            Err(never) => match never {},
        }
    }

    fn tell(&self, change: Change) {
        self.shared.tell(change);
    }

    fn drop_key(&self, key: &SkillKey) -> bool {
        let now = self.now();
        self.map.peek(key).is_some_and(|entry| entry.drop_now(now))
    }

    fn drop_where(&self, which: impl Fn(&SkillKey) -> bool) -> usize {
        let now = self.now();
        self.map.iter().filter(|(key, entry)| which(key) && entry.drop_now(now)).count()
    }

    pub(super) fn apply(&self, change: Change) {
        let now = self.now();
        match change {
            Change::Available { key, lasts } => self.entry(key).learn_available(lasts, now),
            Change::Unavailable { key, lasts } => self.entry(key).learn_unavailable(lasts, now),
            Change::Dropped { key } => {
                self.drop_key(&key);
            }
            Change::DroppedHost { origin } => {
                self.drop_where(|key| *key.origin() == origin);
            }
            Change::DroppedAll => {
                self.drop_where(|_| true);
            }
        }
    }

    pub(super) fn known(&self) -> Vec<Change> {
        let now = self.now();
        let known = |(key, entry): (SkillKey, Arc<Entry>)| match entry.state(now) {
            Availability::Available { lasts } => Some(Change::Available { key, lasts }),
            Availability::Unavailable { lasts } => Some(Change::Unavailable { key, lasts }),
            Availability::Unknown => None,
        };
        self.map.iter().filter_map(known).collect()
    }
}

impl SkillAvailabilityBuilder {
    /// How long an entry holds after the last call for its skill that went well. Default: 60 s.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// How many entries there may be. Default: 4,096.
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }

    /// After a refusal, takes the skill for unavailable for this long, or for as long as the refusal asks to wait (at
    /// most 300 s): calls for it are refused as `stale/skill_unavailable`, and not sent. Default: off, and the next
    /// call is a real one.
    pub fn unavailable_for(mut self, short: Duration) -> Self {
        self.unavailable_for = Some(short);
        self
    }

    /// Where other replicas are told of changes, and learnt from. Default: nowhere; the process is on its own.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// How many changes wait for a [`store`](Self::store) that is slow or away. Beyond that they are not told, and
    /// counted. Default: 1,024.
    pub fn shared_queue(mut self, changes: usize) -> Self {
        self.queue = changes;
        self
    }

    /// The handle.
    ///
    /// # Errors
    ///
    /// If a setting cannot be. The error names it.
    pub fn build(self) -> Result<SkillAvailability, ProbeCacheError> {
        let zero = [
            ("ttl", self.ttl < Duration::from_millis(1), "is below 1 ms: no entry would ever hold"),
            ("capacity", self.capacity == 0, "must not be zero: no entry would ever be kept"),
            ("shared_queue", self.queue == 0, "must not be zero: nobody would ever be told"),
            (
                "unavailable_for",
                self.unavailable_for.is_some_and(|short| short < Duration::from_millis(1)),
                "is below 1 ms: leave it out instead",
            ),
        ];
        if let Some((setting, _, why)) = zero.into_iter().find(|(_, is_zero, _)| *is_zero) {
            return Err(ProbeCacheError::new(setting, why));
        }
        if self.queue > Semaphore::MAX_PERMITS {
            return Err(ProbeCacheError::new("shared_queue", "is larger than any queue can be"));
        }
        let built = self.made();
        built.serve();
        Ok(built)
    }

    fn made(self) -> SkillAvailability {
        let Self { ttl, capacity, unavailable_for, queue, store } = self;
        let (outbox, unserved) = match store {
            Some(_) => {
                let (outbox, changes) = Outbox::new(queue);
                (Some(outbox), Some(changes))
            }
            None => (None, None),
        };
        let shared = Arc::new(Shared {
            clock: Clock::new(),
            ttl: span(ttl),
            unavailable_for: unavailable_for.map(span),
            counters: Counters::default(),
            outbox,
        });
        let map = Cache::with(capacity, capacity as u64, UnitWeighter, DefaultHashBuilder::default(), MarkEvicted);
        let served = AtomicBool::new(store.is_none());
        let inner = Inner { map, shared, store, unserved: Mutex::new(unserved), served };
        SkillAvailability { inner: Arc::new(inner) }
    }
}

impl Default for SkillAvailability {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SkillAvailability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillAvailability").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

impl fmt::Debug for SkillAvailabilityBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillAvailabilityBuilder")
            .field("ttl", &self.ttl)
            .field("capacity", &self.capacity)
            .field("unavailable_for", &self.unavailable_for)
            .field("shared_queue", &self.queue)
            .field("store", &self.store.is_some())
            .finish()
    }
}
