use std::fmt;

use tracing::{Level, field};

use super::{
    TARGET, level,
    span::{Slips, escaped},
};
use crate::{
    call::Operation,
    observability::words,
    outcome::{Observe, Outcome},
};

/// Tells of each call's end in one event, and fills the span that a [`TracingLayer`](super::TracingLayer) opened for
/// it.
///
/// The event's target is `a2a_guard::call`; its level says who has to do something about it:
///
/// | level | what ended so |
/// | --- | --- |
/// | `ERROR` | `broken`: the agent broke the protocol |
/// | `WARN` | `timeout`, `transport`, `card`; `refused` as `auth`, `rate_limited`, `unavailable`, `endpoint_not_found` or `redirected` |
/// | `INFO` | any other `refused`: the agent said no to what was asked; `stale`; `abandoned` |
/// | `DEBUG` | `success` |
///
/// Its message is the error's own line. Peers' texts in it are escaped and cut; no header, no body, no query and no
/// user information of a URL is told.
///
/// ```
/// use a2a_guard::{TerminalStateLayer, observability::TracingObserver};
///
/// let layer = TerminalStateLayer::builder().observe(TracingObserver::new()).build()?;
/// # let _ = layer;
/// # Ok::<(), a2a_guard::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TracingObserver;

impl TracingObserver {
    /// One that tells of every call.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

/// A level is part of the place in the source that an event comes from.
macro_rules! tell {
    ($level:expr, $outcome:ident) => {
        tracing::event!(
            target: TARGET,
            $level,
            a2a.outcome = $outcome.kind().as_str(),
            a2a.class = $outcome.class().as_str(),
            a2a.method = $outcome.call().operation().map(Operation::as_str),
            a2a.binding = $outcome.call().binding().map(|binding| binding.as_str()),
            a2a.task.id = $outcome.task_id().map(escaped),
            a2a.task.state = $outcome.task_state().map(|state| words::state(state.kind())),
            a2a.events = $outcome.call().is_streaming().then(|| $outcome.events()),
            a2a.tolerated = (!$outcome.tolerated().is_empty()).then(|| field::display(Slips($outcome.tolerated()))),
            server.address = $outcome.target().and_then(http::Uri::host).map(escaped),
            http.response.status_code = $outcome.http_status().map(|status| status.as_u16()),
            elapsed_seconds = $outcome.elapsed().as_secs_f64(),
            "{}",
            Line($outcome),
        )
    };
}

impl Observe for TracingObserver {
    fn observe(&self, outcome: &Outcome<'_>) {
        if let Some(span) = outcome.span {
            span.fill(outcome);
        }
        if let Some(error) = outcome.error() {
            error.failure().traced.set();
        }
        // What others opened in between need not be around the event.
        let _entered = outcome.span.map(|span| span.get().enter());
        match level::of(outcome.kind(), outcome.class()) {
            Level::ERROR => tell!(Level::ERROR, outcome),
            Level::WARN => tell!(Level::WARN, outcome),
            Level::INFO => tell!(Level::INFO, outcome),
            _ => tell!(Level::DEBUG, outcome),
        }
    }
}

/// What the event says: the error's line, in which peers' texts are escaped and cut.
struct Line<'a>(&'a Outcome<'a>);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.error() {
            Some(error) => error.fmt(f),
            None => write!(f, "{}/{}: {}", self.0.kind(), self.0.class(), self.0.call().shape()),
        }
    }
}
