//! What is held: cards, failures, and the knowledge which facts of a call decide between them.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use http::Uri;
use quick_cache::{UnitWeighter, sync::Cache};

use super::{
    CardKeyRef, HeldCard,
    key::{CardKey, Keying, Scope},
    refused::Refused,
};
use crate::{clock::Millis, error::CardFailure};

/// What stands under a key.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    Card(Arc<HeldCard>),
    Refused(Arc<Refused>),
    /// Look again, with more of the call in the key.
    Split(Arc<Split>),
}

impl Slot {
    fn asked(&self) -> Millis {
        match self {
            Self::Card(card) => card.asked,
            Self::Refused(refused) => refused.asked,
            Self::Split(split) => split.asked,
        }
    }
}

/// Stands under a target whose cards are not the same for all calls.
#[derive(Debug)]
pub(super) struct Split {
    pub(super) scope: Scope,
    pub(super) challenge: Option<Challenge>,
    asked: Millis,
}

/// A location answered 401 to a request without credentials. While that is remembered, it is not asked without again.
#[derive(Clone, Debug)]
pub(super) struct Challenge {
    pub(super) location: Uri,
    pub(super) failure: CardFailure,
    pub(super) until: Millis,
}

/// What a look-up finds.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// What of the call was in the key.
    pub(super) scope: Scope,
    pub(super) card: Option<Arc<HeldCard>>,
    pub(super) refused: Option<Arc<Refused>>,
    pub(super) challenge: Option<Challenge>,
}

/// A bounded map. Looking up takes a shared lock; only what was fetched, or failed, is written.
pub(super) struct Shelf {
    map: Cache<CardKey, Slot, UnitWeighter>,
    keying: Keying,
    /// Writes go one by one, for each compares with what stands. Counts how often something was thrown away, so that
    /// what was on its way then is not put back.
    writes: Mutex<u64>,
    /// Counts the changes to the map: between two that are the same, who looks finds the same.
    epoch: AtomicU64,
}

impl Shelf {
    pub(super) fn new(capacity: usize, keying: Keying) -> Self {
        let map = Cache::with_weighter(capacity, capacity as u64, UnitWeighter);
        Self { map, keying, writes: Mutex::new(0), epoch: AtomicU64::new(0) }
    }

    pub(super) fn keying(&self) -> &Keying {
        &self.keying
    }

    pub(super) fn key(&self, at: &CardKeyRef<'_>, scope: Scope) -> CardKey {
        self.keying.borrow(at, scope).to_key()
    }

    fn slot(&self, at: &CardKeyRef<'_>, scope: Scope) -> Option<Slot> {
        self.keying.borrow(at, scope).find(|key| self.map.get(key))
    }

    /// The card that a call may use as it is, and what of the call was in the key.
    pub(super) fn held(&self, at: &CardKeyRef<'_>, now: Millis) -> Option<(Arc<HeldCard>, Scope)> {
        let (slot, scope) = match self.slot(at, Scope::default())? {
            Slot::Split(split) => (self.slot(at, split.scope)?, split.scope),
            slot => (slot, Scope::default()),
        };
        match slot {
            Slot::Card(card) if card.is_fresh_at(now) => Some((card, scope)),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Behind each change: until then it has not been.
    fn changed(&self) {
        self.epoch.fetch_add(1, Ordering::Release);
    }

    pub(super) fn find(&self, at: &CardKeyRef<'_>) -> Found {
        let mut found = Found::default();
        let slot = match self.slot(at, Scope::default()) {
            Some(Slot::Split(split)) => {
                found.scope = split.scope;
                found.challenge = split.challenge.clone();
                self.slot(at, split.scope)
            }
            slot => slot,
        };
        match slot {
            Some(Slot::Card(card)) => found.card = Some(card),
            Some(Slot::Refused(refused)) => found.refused = Some(refused),
            Some(Slot::Split(_)) | None => {}
        }
        found
    }

    /// What stands for the extended card of a call's agent.
    pub(super) fn extended(&self, at: &CardKeyRef<'_>) -> Option<Slot> {
        self.slot(at, Scope::EXTENDED)
    }

    /// What was thrown away so far, to be handed to [`write`](Self::write).
    pub(super) fn generation(&self) -> u64 {
        *self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `write` while no other write is under way: with the shelf, or with `None` if something was thrown away
    /// since `generation`.
    pub(super) fn write<T>(&self, generation: u64, write: impl FnOnce(Option<&Self>) -> T) -> T {
        let writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        write((*writes == generation).then_some(self))
    }

    /// For everybody.
    pub(super) fn put_public(&self, at: &CardKeyRef<'_>, slot: Slot) {
        self.put(at, Scope::default(), slot);
    }

    /// Beside what stands for everybody.
    pub(super) fn put_extended(&self, at: &CardKeyRef<'_>, slot: Slot) {
        self.put(at, Scope::EXTENDED, slot);
    }

    /// For calls that are like this one within the scope.
    pub(super) fn put_within(&self, at: &CardKeyRef<'_>, scope: Scope, slot: Slot, challenge: Option<Challenge>) {
        if !scope.is_narrow() {
            return self.put_public(at, slot);
        }
        let standing = match self.slot(at, Scope::default()) {
            Some(Slot::Split(split)) => Some(split),
            _ => None,
        };
        let unchanged = challenge.is_none() && standing.as_ref().is_some_and(|split| split.scope == scope);
        if !unchanged {
            let challenge = challenge.or_else(|| standing.and_then(|split| split.challenge.clone()));
            let split = Split { scope, challenge, asked: slot.asked() };
            self.put(at, Scope::default(), Slot::Split(Arc::new(split)));
        }
        self.put(at, scope, slot);
    }

    fn put(&self, at: &CardKeyRef<'_>, scope: Scope, slot: Slot) {
        let standing = self.slot(at, scope);
        match (&standing, &slot) {
            // Renewed in place.
            (Some(Slot::Card(old)), Slot::Card(new)) if Arc::ptr_eq(old, new) => {}
            (Some(standing), _) if standing.asked() > slot.asked() => {}
            _ => self.map.insert(self.key(at, scope), slot),
        }
        self.changed();
    }

    /// Drops what stands for calls like this one.
    pub(super) fn drop_within(&self, at: &CardKeyRef<'_>, scope: Scope) {
        self.map.remove(&self.key(at, scope));
        self.changed();
    }

    /// Drops all that is held for a target, and says whether there was a card.
    pub(super) fn forget(&self, target: &Uri) -> bool {
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        *writes += 1;
        let held = self.map.iter().any(|(key, slot)| key.is_of(target) && matches!(slot, Slot::Card(_)));
        self.map.retain(|key, _| !key.is_of(target));
        self.changed();
        held
    }

    pub(super) fn clear(&self) {
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        *writes += 1;
        self.map.clear();
        self.changed();
    }

    pub(super) fn len(&self) -> usize {
        self.map.len()
    }

    pub(super) fn all(&self) -> Vec<(CardKey, Slot)> {
        self.map.iter().collect()
    }
}
