use metrics::Key;

use super::{
    names::{self, METADATA},
    series::{Labels, Table},
};
use crate::outcome::{Observe, Outcome};

/// Counts and times calls, through the recorder of the [`metrics`] facade that is installed.
///
/// | series | kind, unit | labels |
/// | --- | --- | --- |
/// | `a2a_guard_calls_total` | counter | `operation`, `binding`, `outcome`, `class` |
/// | `a2a_guard_call_duration_seconds` | histogram, seconds: from the call's beginning (in [`CallLayer`](crate::CallLayer), where there is one) to its end, its stream's included | `operation`, `binding`, `outcome` |
/// | `a2a_guard_first_event_seconds` | histogram, seconds: of streams, from the call's beginning to their first event | `operation`, `binding` |
/// | `a2a_guard_events_total` | counter: of streams, events found good | `operation`, `binding` |
/// | `a2a_guard_received_bytes_total` | counter, bytes: of answers' bodies, decoded if a decompression layer is below | `operation`, `binding` |
/// | `a2a_guard_task_states_total` | counter: of calls that told of a task | `operation`, `binding`, `state`: the last one seen, as 1.0 spells it |
/// | `a2a_guard_tolerated_total` | counter | `slip`: the words of [`Tolerated`](crate::wire::Tolerated) |
///
/// Every value of every label is of a closed set: no target, no tenant, no task and no text of a peer becomes a label.
/// What cannot be named is `unknown`. Durations reach from a few milliseconds to an hour: give them buckets to match.
///
/// All of it is counted when a call ends, and once: a stream at its terminal event. An attempt of a retry policy above
/// is a call of its own.
///
/// ```
/// use a2a_guard::{TerminalStateLayer, observability::MetricsObserver};
///
/// // Install the recorder first: it is then told what everything is.
/// let layer = TerminalStateLayer::builder().observe(MetricsObserver::new()).build()?;
/// # let _ = layer;
/// # Ok::<(), a2a_guard::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct MetricsObserver {
    table: Table,
}

impl MetricsObserver {
    /// One that counts calls. Units and descriptions go to the recorder that is installed now.
    #[must_use]
    pub fn new() -> Self {
        names::describe();
        Self { table: Table::default() }
    }
}

impl Default for MetricsObserver {
    fn default() -> Self {
        Self::new()
    }
}

impl Observe for MetricsObserver {
    fn observe(&self, outcome: &Outcome<'_>) {
        let series = self.table.of(Labels::of(outcome));
        metrics::with_recorder(|recorder| {
            let count = |key: &Key, by| recorder.register_counter(key, &METADATA).increment(by);
            let time = |key: &Key, seconds| recorder.register_histogram(key, &METADATA).record(seconds);
            count(&series.calls, 1);
            time(&series.duration, outcome.elapsed().as_secs_f64());
            if let Some(latency) = outcome.first_event() {
                time(&series.first_event, latency.as_secs_f64());
            }
            if outcome.events() > 0 {
                count(&series.events, outcome.events());
            }
            if outcome.bytes() > 0 {
                count(&series.bytes, outcome.bytes());
            }
            if let Some(task_states) = &series.task_states {
                count(task_states, 1);
            }
            for slip in outcome.tolerated().iter() {
                count(&names::key(names::TOLERATED, &[("slip", slip)]), 1);
            }
        });
    }
}
