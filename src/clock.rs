//! Time as caches count it, and one reading of it for all layers that a call passes in one go.

use std::{
    cell::Cell,
    marker::PhantomData,
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

/// Milliseconds since the cache was made.
pub(crate) type Millis = u64;

/// Turns instants into [`Millis`], which fit into an atomic, and into the dates that headers are written in. Dates are
/// derived from one reading of the system's clock, so that a paused runtime pauses them too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch: Instant,
    system: SystemTime,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { epoch: Instant::now(), system: SystemTime::now() }
    }

    #[inline]
    pub(crate) fn millis(&self, at: Instant) -> Millis {
        let since = at.saturating_duration_since(self.epoch);
        since.as_secs().saturating_mul(1000).saturating_add(u64::from(since.subsec_millis()))
    }

    pub(crate) fn instant(&self, at: Millis) -> Instant {
        self.epoch.checked_add(Duration::from_millis(at)).unwrap_or(self.epoch)
    }

    pub(crate) fn date(&self, at: Millis) -> SystemTime {
        self.system.checked_add(Duration::from_millis(at)).unwrap_or(self.system)
    }
}

/// A span in [`Millis`].
pub(crate) fn span(duration: Duration) -> Millis {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

thread_local! {
    static READING: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The time: as the layer above read it that is calling down at this moment, else read anew.
///
/// It is never older than what that call down has taken so far, for nothing waits within one. A value handed on with
/// the request could be of any age: queues, retries and readiness stand between layers.
#[inline]
pub(crate) fn now() -> Instant {
    READING.get().unwrap_or_else(Instant::now)
}

/// Spares the layers below a reading of their own, for as long as this is held: while they are called, and no longer.
#[inline]
pub(crate) fn hand_down(now: Instant) -> HandedDown {
    HandedDown { before: READING.replace(Some(now)), _of_this_thread: PhantomData }
}

#[must_use = "it is handed down for as long as this is held"]
pub(crate) struct HandedDown {
    before: Option<Instant>,
    _of_this_thread: PhantomData<*const ()>,
}

impl Drop for HandedDown {
    #[inline]
    fn drop(&mut self) {
        READING.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_called_down_to_shares_the_reading_and_nobody_else() {
        let old = Instant::now() - Duration::from_millis(1);
        let older = old - Duration::from_millis(1);
        let handed_down = hand_down(old);
        assert_eq!(now(), old);
        {
            let _handed_down = hand_down(older);
            assert_eq!(now(), older);
        }
        assert_eq!(now(), old);
        drop(handed_down);
        assert!(now() > old);
        let panicked = std::panic::catch_unwind(|| {
            let _handed_down = hand_down(old);
            std::panic::resume_unwind(Box::new(()))
        });
        assert!(panicked.is_err() && now() > old);
    }
}
