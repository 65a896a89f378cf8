//! What something costs: the time for which its thread had a processor. What others do on the machine meanwhile adds
//! nothing to it.

use std::{
    fs,
    time::{Duration, Instant},
};

#[derive(Debug)]
pub(crate) struct Spent {
    began: Instant,
    before: Option<Duration>,
}

impl Spent {
    pub(crate) fn from_now() -> Self {
        Self { began: Instant::now(), before: on_a_processor() }
    }

    /// Until now, on the same thread. Where no system tells, it is the time that went by.
    pub(crate) fn so_far(&self) -> Duration {
        match (self.before, on_a_processor()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.began.elapsed(),
        }
    }
}

/// Of this thread, so far.
fn on_a_processor() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    // Nothing at all, if it is not counted.
    (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds))
}

/// The measure can tell: who works spends, who waits for it does not.
#[test]
fn work_is_spent_and_waiting_is_not() {
    const WORK: Duration = Duration::from_millis(100);
    let waited = Spent::from_now();
    if waited.before.is_none() {
        return;
    }
    let work = || {
        let (spent, mut sum) = (Spent::from_now(), 0_u64);
        while spent.so_far() < WORK {
            (0..10_000).for_each(|n| sum = std::hint::black_box(sum.wrapping_add(n)));
        }
        spent.began.elapsed()
    };
    let worked = std::thread::spawn(work).join().unwrap();
    assert!(waited.so_far() < WORK / 2 && worked >= WORK / 2, "{:?} of {worked:?}", waited.so_far());
}
