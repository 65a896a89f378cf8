//! What the clones of one [`Evidence`](super::Evidence) share.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::time::Instant;

use crate::directory::{
    PeerId,
    evidence::{EvidenceChange, EvidenceStore, entry::Entry, peers::Peers, store::Outbox},
    trust::{Case, Record, Report, ReportKind, TrustPolicy, places},
};

/// So many characters of a skill are kept.
const LONGEST_SKILL: usize = 128;

pub(in crate::directory::evidence) struct Inner {
    pub(super) policy: TrustPolicy,
    pub(super) peers: Peers,
    /// Who this is among the replicas.
    pub(super) me: u128,
    /// How many peers there are to choose from, where somebody said it.
    pub(super) registered: AtomicUsize,
    /// Which they are, where a directory says it. Taken when a peer comes or goes.
    pub(super) present: Mutex<Option<HashSet<PeerId>>>,
    /// Those that are to be in quarantine. Taken when one is to go into it, and never by readers.
    pub(super) bench: Mutex<Vec<Arc<Entry>>>,
    /// How long evidence is kept that other replicas told.
    pub(super) keep: Duration,
    pub(super) outbox: Option<Arc<Outbox>>,
    /// What is to be served, until it is.
    pub(super) unserved: Mutex<Option<Arc<dyn EvidenceStore>>>,
    pub(super) is_served: AtomicBool,
}

impl Inner {
    pub(super) fn record(&self, peer: &PeerId, skill: Option<&str>, report: Report, now: Instant) {
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

    pub(super) fn present(&self) -> MutexGuard<'_, Option<HashSet<PeerId>>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn forget(&self, peer: &PeerId, now: Instant) -> bool {
        let was_known = self.peers.remove(peer).is_some();
        if was_known {
            self.settle(now);
        }
        was_known
    }

    /// Takes in what another replica tells.
    pub(in crate::directory::evidence) fn apply(&self, change: &EvidenceChange, now: Instant) {
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
    pub(in crate::directory::evidence) fn known(&self, now: Instant) -> Vec<EvidenceChange> {
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
    pub(super) fn settle(&self, now: Instant) {
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

/// What is left is told, and then the store's work is done.
impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(outbox) = &self.outbox {
            outbox.close();
        }
    }
}
