//! So many searches at once, and of one origin not all of them: an agent that hangs, with many credentials to hang by,
//! must not keep the cards of others from being fetched.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use http::Uri;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::key::port;

/// So many origins are remembered that nobody waits for any longer, before they are looked through.
const FORGOTTEN_AT: usize = 64;

pub(super) struct Turns {
    all: Arc<Semaphore>,
    of_each: usize,
    /// As long as somebody has a turn there, or waits for one.
    origins: Mutex<HashMap<Box<str>, Weak<Semaphore>>>,
}

/// Held for as long as a search takes.
pub(super) struct Turn {
    _of_all: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
}

impl Turns {
    /// One origin has up to three quarters of them; of three or fewer, all.
    pub(super) fn new(max: usize) -> Self {
        let max = max.min(Semaphore::MAX_PERMITS);
        Self { all: Arc::new(Semaphore::new(max)), of_each: max - max / 4, origins: Mutex::default() }
    }

    /// Waits for one. Who waits for its own origin's holds none of the others'. `None` is never given: nobody closes them.
    pub(super) async fn take(&self, target: &Uri) -> Option<Turn> {
        let own = self.of(target).acquire_owned().await.ok()?;
        let of_all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Turn { _of_all: of_all, _own: own })
    }

    /// One that is free now.
    pub(super) fn try_take(&self, target: &Uri) -> Option<Turn> {
        let own = self.of(target).try_acquire_owned().ok()?;
        let of_all = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(Turn { _of_all: of_all, _own: own })
    }

    fn of(&self, target: &Uri) -> Arc<Semaphore> {
        let origin = format!("{}:{}", target.host().unwrap_or_default().to_ascii_lowercase(), port(target));
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = origins.get(&*origin).and_then(Weak::upgrade) {
            return known;
        }
        if origins.len() >= FORGOTTEN_AT {
            origins.retain(|_, turns| turns.strong_count() > 0);
        }
        let turns = Arc::new(Semaphore::new(self.of_each));
        origins.insert(origin.into(), Arc::downgrade(&turns));
        turns
    }

    #[cfg(all(test, not(shuttle)))]
    pub(super) fn targets(&self) -> usize {
        self.origins.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    #[cfg(all(test, not(shuttle)))]
    pub(super) fn are_all_free(&self) -> bool {
        Arc::strong_count(&self.all) == 1
    }
}
