//! Time as the store counts it.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// Milliseconds since the store was made.
pub(super) type Millis = u64;

/// Turns instants into [`Millis`], which fit into an atomic, and into the dates that headers are written in. Dates are
/// derived from one reading of the system's clock, so that a paused runtime pauses them too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    epoch: Instant,
    system: SystemTime,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self { epoch: Instant::now(), system: SystemTime::now() }
    }

    pub(super) fn millis(&self, at: Instant) -> Millis {
        let since = at.saturating_duration_since(self.epoch);
        since.as_secs().saturating_mul(1000).saturating_add(u64::from(since.subsec_millis()))
    }

    pub(super) fn instant(&self, at: Millis) -> Instant {
        self.epoch.checked_add(Duration::from_millis(at)).unwrap_or(self.epoch)
    }

    pub(super) fn date(&self, at: Millis) -> SystemTime {
        self.system.checked_add(Duration::from_millis(at)).unwrap_or(self.system)
    }
}

/// A span in [`Millis`].
pub(super) fn span(duration: Duration) -> Millis {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
