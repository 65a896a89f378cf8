//! All peers of which anything is known: so many, and no more.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use tokio::time::Instant;

use super::entry::Entry;
use crate::directory::{PeerId, trust::Record};

/// The part that is let go of at once when all places are taken, so that looking for it is rare.
const PART: usize = 16;

#[derive(Debug)]
pub(super) struct Peers {
    /// Written when a peer comes or goes, and not by calls to known ones.
    map: RwLock<HashMap<PeerId, Arc<Entry>>>,
    capacity: usize,
}

impl Peers {
    pub(super) fn new(capacity: usize) -> Self {
        Self { map: RwLock::default(), capacity }
    }

    pub(super) fn get(&self, peer: &PeerId) -> Option<Arc<Entry>> {
        self.map.read().unwrap_or_else(PoisonError::into_inner).get(peer).cloned()
    }

    /// What `read` makes of a peer's entry, if there is one.
    pub(super) fn with<T>(&self, peer: &PeerId, read: impl FnOnce(&Entry) -> T) -> Option<T> {
        self.map.read().unwrap_or_else(PoisonError::into_inner).get(peer).map(|entry| read(entry))
    }

    pub(super) fn get_or_new(&self, peer: &PeerId, new: impl FnOnce() -> Record, now: Instant) -> Arc<Entry> {
        if let Some(entry) = self.get(peer) {
            return entry;
        }
        let mut map = self.map.write().unwrap_or_else(PoisonError::into_inner);
        if !map.contains_key(peer) && map.len() >= self.capacity {
            shrink(&mut map, self.capacity, now);
        }
        let entry = || Arc::new(Entry::new(peer.clone(), new()));
        Arc::clone(map.entry(peer.clone()).or_insert_with(entry))
    }

    pub(super) fn remove(&self, peer: &PeerId) -> Option<Arc<Entry>> {
        let entry = self.map.write().unwrap_or_else(PoisonError::into_inner).remove(peer)?;
        entry.go();
        Some(entry)
    }

    pub(super) fn len(&self) -> usize {
        self.map.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// By peer, in order.
    pub(super) fn all(&self) -> Vec<Arc<Entry>> {
        let mut all: Vec<_> = self.map.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        all.sort_unstable_by(|one, other| one.peer.cmp(&other.peer));
        all
    }
}

/// Lets go of those that were called longest ago. Whoever is to be in quarantine stays, or else it would come out of it
/// by making others known.
fn shrink(map: &mut HashMap<PeerId, Arc<Entry>>, capacity: usize, now: Instant) {
    let age = |entry: &Arc<Entry>| {
        let record = entry.read();
        (record.is_sentenced(now), record.last_seen(), entry.peer.clone())
    };
    let mut oldest: Vec<_> = map.values().map(age).collect();
    oldest.sort_unstable();
    for (_, _, peer) in oldest.into_iter().take(capacity / PART + 1) {
        if let Some(entry) = map.remove(&peer) {
            entry.go();
        }
    }
}
