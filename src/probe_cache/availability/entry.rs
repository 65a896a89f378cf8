//! What is known of one skill at one place.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use super::{
    Availability, Change, SkillKey,
    counters::{Counters, count},
    store::Outbox,
};
use crate::{
    clock::{Clock, Millis, span},
    probe_cache::lease::{Generation, Lease, Seen},
    wire::PeerError,
};

/// However long a peer asks to wait, its skill is not taken for unavailable for longer.
const LONGEST_UNAVAILABLE: Duration = Duration::from_secs(300);

/// What all entries of a handle go by.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) ttl: Millis,
    pub(super) unavailable_for: Option<Millis>,
    pub(super) counters: Counters,
    pub(super) outbox: Option<Outbox>,
}

impl Shared {
    pub(super) fn tell(&self, change: Change) {
        if let Some(outbox) = &self.outbox {
            count(if outbox.push(change) { &self.counters.told } else { &self.counters.untold });
        }
    }
}

#[derive(Debug)]
pub(in crate::probe_cache) struct Entry {
    key: SkillKey,
    shared: Arc<Shared>,
    available: Lease,
    unavailable_until: AtomicU64,
    /// What was said when it was last refused.
    said: Mutex<Option<Box<PeerError>>>,
    /// When the other replicas were last told that it is available, and one more; 0 for never.
    told: AtomicU64,
    /// It stands in no map any longer: what is said of its key would not reach it.
    evicted: AtomicBool,
}

impl Entry {
    pub(super) fn new(key: SkillKey, shared: &Arc<Shared>) -> Self {
        Self {
            key,
            shared: Arc::clone(shared),
            available: Lease::default(),
            unavailable_until: AtomicU64::new(0),
            said: Mutex::new(None),
            told: AtomicU64::new(0),
            evicted: AtomicBool::new(false),
        }
    }

    pub(super) fn evict(&self) {
        self.evicted.store(true, Relaxed);
        self.available.withdraw();
    }

    #[inline]
    pub(in crate::probe_cache) fn is_evicted(&self) -> bool {
        self.evicted.load(Relaxed)
    }

    /// Until when the skill is available, and what a success of now goes by.
    #[inline]
    pub(in crate::probe_cache) fn look(&self) -> Seen {
        self.available.seen()
    }

    /// Counts the look-up of one call.
    #[inline]
    pub(in crate::probe_cache) fn count(&self, hit: bool) {
        let counters = &self.shared.counters;
        if hit { counters.hits.count() } else { counters.misses.count() }
    }

    /// For how long the skill is still taken for unavailable, and what was said.
    pub(in crate::probe_cache) fn unavailable(&self, now: Millis) -> Option<(Duration, Option<Box<PeerError>>)> {
        self.shared.unavailable_for?;
        let left = self.unavailable_until.load(Relaxed).checked_sub(now).filter(|left| *left > 0)?;
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Some((Duration::from_millis(left), said))
    }

    pub(super) fn state(&self, now: Millis) -> Availability {
        if let Some((lasts, _)) = self.unavailable(now) {
            return Availability::Unavailable { lasts };
        }
        match self.available.until().checked_sub(now).filter(|left| *left > 0) {
            Some(left) => Availability::Available { lasts: Duration::from_millis(left) },
            None => Availability::Unknown,
        }
    }

    pub(in crate::probe_cache) fn ttl(&self) -> Millis {
        self.shared.ttl
    }

    /// A call that looked when the entry was of this generation went well.
    pub(in crate::probe_cache) fn succeed(&self, generation: Generation, now: Millis) {
        if !self.available.renew(now.saturating_add(self.shared.ttl), generation) || self.shared.outbox.is_none() {
            return;
        }
        let told = self.told.load(Relaxed);
        if told == 0 || now >= (told - 1).saturating_add(self.shared.ttl / 4) {
            self.told.store(now.saturating_add(1), Relaxed);
            let lasts = Duration::from_millis(self.shared.ttl);
            self.shared.tell(Change::Available { key: self.key.clone(), lasts });
        }
    }

    /// A call was refused: the skill is not here.
    pub(in crate::probe_cache) fn refuse(&self, said: Option<&PeerError>, wait: Option<Duration>, now: Millis) {
        self.withdraw();
        count(&self.shared.counters.invalidations);
        let change = match self.shared.unavailable_for {
            None => Change::Dropped { key: self.key.clone() },
            Some(short) => {
                let lasts = wait.map_or(short, |wait| span(wait.min(LONGEST_UNAVAILABLE)));
                *self.said.lock().unwrap_or_else(PoisonError::into_inner) = said.cloned().map(Box::new);
                self.unavailable_until.store(now.saturating_add(lasts), Relaxed);
                Change::Unavailable { key: self.key.clone(), lasts: Duration::from_millis(lasts) }
            }
        };
        self.shared.tell(change);
    }

    /// A call was refused, and nobody says whether for want of the skill.
    pub(in crate::probe_cache) fn doubt(&self) {
        self.withdraw();
        count(&self.shared.counters.invalidations);
        self.shared.tell(Change::Dropped { key: self.key.clone() });
    }

    /// Nothing is known any longer. Says whether anything was.
    pub(super) fn drop_now(&self, now: Millis) -> bool {
        let was = self.state(now) != Availability::Unknown;
        self.withdraw();
        if was {
            count(&self.shared.counters.invalidations);
        }
        was
    }

    /// Another replica found the skill available.
    pub(super) fn learn_available(&self, lasts: Duration, now: Millis) {
        self.unavailable_until.store(0, Relaxed);
        self.available.grant(now.saturating_add(span(lasts).min(self.shared.ttl)));
    }

    /// Another replica found it gone.
    pub(super) fn learn_unavailable(&self, lasts: Duration, now: Millis) {
        self.drop_now(now);
        if self.shared.unavailable_for.is_some() {
            let lasts = span(lasts.min(LONGEST_UNAVAILABLE));
            self.unavailable_until.store(now.saturating_add(lasts), Relaxed);
        }
    }

    fn withdraw(&self) {
        self.available.withdraw();
        self.unavailable_until.store(0, Relaxed);
        self.told.store(0, Relaxed);
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
