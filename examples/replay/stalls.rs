//! On a machine that stands still for a moment bounds fall due that no peer has reached. A case that failed meanwhile is
//! run again; one that failed on a machine that kept its time has failed.

use std::{
    future::Future,
    sync::{
        Once,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep};

use crate::run::Line;

const TICK: Duration = Duration::from_millis(20);
/// The shortest bounds of cases are some times this.
const LATE: Duration = Duration::from_millis(80);
/// A machine that never keeps its time gets no further.
const TRIES: usize = 4;

/// How often a tick came late so far.
static STALLS: AtomicU64 = AtomicU64::new(0);
static WATCHED: Once = Once::new();

/// Runs a case, and once more while it fails because of the machine.
pub(crate) async fn steadily<F>(run: impl Fn() -> F) -> Line
where
    F: Future<Output = Line>,
{
    WATCHED.call_once(|| drop(tokio::spawn(watch())));
    let mut line = Line::default();
    for _ in 0..TRIES {
        let stalls = STALLS.load(Ordering::Relaxed);
        line = run().await;
        if line.pass != Some(false) {
            break;
        }
        sleep(2 * TICK).await; // a stall shows in the tick behind it
        if STALLS.load(Ordering::Relaxed) == stalls {
            break;
        }
    }
    line
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
