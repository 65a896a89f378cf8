//! What batches came to.

use std::time::Duration;

/// One batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    /// Calls or events a second.
    pub(crate) by_clock: f64,
    /// The same, for each second of CPU time of callers and agent.
    pub(crate) by_cpu: Option<f64>,
    /// CPU time of the callers alone, in microseconds a call or event.
    pub(crate) own_us: Option<f64>,
    /// How long a call took, in microseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

impl Batch {
    pub(crate) fn of(
        mut took: Vec<Duration>,
        each: f64,
        elapsed: Duration,
        own: Option<Duration>,
        theirs: Option<Duration>,
    ) -> Self {
        took.sort_unstable();
        let count = took.len() as f64 * each;
        let at = |part: f64| took[((took.len() - 1) as f64 * part).round() as usize].as_secs_f64() * 1e6;
        Self {
            by_clock: count / elapsed.as_secs_f64(),
            by_cpu: own.zip(theirs).map(|(own, theirs)| count / (own + theirs).as_secs_f64()),
            own_us: own.map(|own| own.as_secs_f64() * 1e6 / count),
            p50: at(0.5),
            p99: at(0.99),
        }
    }
}

/// Batches of one client, turn after turn.
#[derive(Debug, Default)]
pub(crate) struct Turns(Vec<Batch>);

impl Turns {
    pub(crate) fn push(&mut self, batch: Batch) {
        self.0.push(batch);
    }

    /// The median of all turns.
    pub(crate) fn median(&self, of: impl Fn(&Batch) -> Option<f64>) -> Option<f64> {
        median(self.0.iter().filter_map(of).collect())
    }

    /// The median of this one's part of the other's, turn by turn: what the machine does meanwhile, it does to both.
    pub(crate) fn ratio(&self, other: &Self, of: impl Fn(&Batch) -> Option<f64>) -> Option<f64> {
        let both = self.0.iter().zip(&other.0);
        median(both.filter_map(|(one, other)| Some(of(one)? / of(other)?)).collect())
    }
}

fn median(mut all: Vec<f64>) -> Option<f64> {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}
