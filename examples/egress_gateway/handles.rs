//! Handles of a service that were used, to be used again.
//!
//! A service is mostly cloned for each request. Of a whole stack that takes an allocation and a count for each thing
//! that its layers share, and what a handle remembers of its last call, such as the card that it went by, is gone with
//! it.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// So many are kept at most: more than are between their readiness and their call at any moment.
const MOST: usize = 64;

pub(crate) struct Handles<S> {
    first: S,
    used: Mutex<Vec<S>>,
}

impl<S> Handles<S> {
    pub(crate) fn new(first: S) -> Self {
        Self { first, used: Mutex::default() }
    }

    /// One that was used, or else a new one. It has to be polled ready before it is called.
    pub(crate) fn take(&self) -> S
    where
        S: Clone,
    {
        let used = self.used().pop();
        used.unwrap_or_else(|| self.first.clone())
    }

    /// One that was called. What it was called for goes on without it.
    pub(crate) fn give_back(&self, handle: S) {
        let mut used = self.used();
        if used.len() < MOST {
            used.push(handle);
        }
    }

    fn used(&self) -> MutexGuard<'_, Vec<S>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> fmt::Debug for Handles<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handles").field("used", &self.used().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use super::*;

    /// Counts how often it was cloned.
    struct Counts(Arc<AtomicUsize>);

    impl Clone for Counts {
        fn clone(&self) -> Self {
            self.0.fetch_add(1, Ordering::Relaxed);
            Self(Arc::clone(&self.0))
        }
    }

    #[test]
    fn as_many_are_made_as_are_out_at_once() {
        let count = Arc::new(AtomicUsize::new(0));
        let handles = Handles::new(Counts(Arc::clone(&count)));
        for _ in 0..10 {
            let out = [handles.take(), handles.take()];
            out.into_iter().for_each(|handle| handles.give_back(handle));
        }
        assert_eq!(count.load(Ordering::Relaxed), 2);
        let many: Vec<_> = (0..3 * MOST).map(|_| handles.take()).collect();
        many.into_iter().for_each(|handle| handles.give_back(handle));
        assert_eq!(handles.used().len(), MOST);
    }
}
