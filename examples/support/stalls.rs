//! On a machine that stands still for a moment bounds fall due that no peer has reached. What failed meanwhile is run
//! again, by itself; what failed on a machine that kept its time has failed.

use std::{
    future::Future,
    sync::{
        Once,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::RwLock,
    time::{Instant, sleep},
};

const TICK: Duration = Duration::from_millis(20);
/// More than a timer is late by where nothing is amiss. Several of these add up to what a test allows.
const LATE: Duration = Duration::from_millis(30);
/// A machine that never keeps its time gets no further.
const TRIES: usize = 6;

/// How often a tick came late so far.
static STALLS: AtomicU64 = AtomicU64::new(0);
static WATCHED: Once = Once::new();
/// Written by who is not to be disturbed by any other.
static ALONE: RwLock<()> = RwLock::const_new(());

/// Runs something, and again by itself while it fails because of the machine.
pub(crate) async fn steadily<T, F>(run: impl Fn() -> F, failed: impl Fn(&T) -> bool) -> T
where
    F: Future<Output = T>,
{
    WATCHED.call_once(|| drop(tokio::spawn(watch())));
    let mut before = STALLS.load(Ordering::Relaxed);
    let mut ended = {
        let _beside_others = ALONE.read().await;
        run().await
    };
    for _ in 1..TRIES {
        if !failed(&ended) || !stalled_since(before).await {
            break;
        }
        let _alone = ALONE.write().await;
        before = STALLS.load(Ordering::Relaxed);
        ended = run().await;
    }
    ended
}

async fn stalled_since(before: u64) -> bool {
    sleep(2 * TICK).await; // a stall shows in the tick behind it
    STALLS.load(Ordering::Relaxed) != before
}

async fn watch() {
    loop {
        let began = Instant::now();
        sleep(TICK).await;
        if began.elapsed() > TICK + LATE {
            STALLS.fetch_add(1, Ordering::Relaxed);
        }
    }
}
