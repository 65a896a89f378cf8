//! A batch of calls, while other threads do the same.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::measure::{Cost, cost_of};

/// How often a batch is done again at most that had no company.
const AGAIN: usize = 200;

/// Calls of all threads that are company. The benches run one row at a time.
static DONE: AtomicU64 = AtomicU64::new(0);

/// What a batch took, and how many calls the other threads did meanwhile.
pub(crate) struct Batch {
    cost: Cost,
    company: u64,
    elapsed: Duration,
}

impl Batch {
    pub(crate) fn of(work: impl FnOnce()) -> Self {
        let (before, began) = (DONE.load(Ordering::Relaxed), Instant::now());
        let cost = cost_of(work);
        let company = DONE.load(Ordering::Relaxed) - before;
        Self { cost, company, elapsed: began.elapsed() }
    }

    /// Each of the others did half as much at least, on a processor of its own.
    fn had(&self, others: usize, calls: usize) -> bool {
        others == 0 || (self.company * 2 >= (calls * others) as u64 && !self.is_interrupted())
    }

    /// It took turns with others on one processor, and so had no company while it ran.
    fn is_interrupted(&self) -> bool {
        self.elapsed > self.cost.time.mul_f64(1.5)
    }
}

/// What so many calls take while `threads - 1` others do the same for as long as that lasts.
pub(crate) fn cost_among(threads: usize, calls: usize, work: fn(usize) -> Batch) -> Cost {
    let others = threads - 1;
    let company = Company::of(others, calls, work);
    // On a busy machine they may not have run at all, and a batch alone is another row's.
    let mut batch = work(calls);
    for _ in 0..AGAIN {
        if batch.had(others, calls) {
            break;
        }
        batch = work(calls);
    }
    if !batch.had(others, calls) {
        // No better than what went by meanwhile, so that it is not the least.
        batch.cost.time = batch.elapsed;
    }
    drop(company);
    batch.cost
}

/// Threads that do the same, until this is dropped.
struct Company {
    enough: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Company {
    fn of(threads: usize, calls: usize, work: fn(usize) -> Batch) -> Self {
        let (enough, at_work) = (Arc::new(AtomicBool::new(false)), Arc::new(Barrier::new(threads + 1)));
        // A few at a time, to be counted while they are done.
        let few = calls.div_ceil(20);
        let threads = (0..threads).map(|_| {
            let (enough, at_work) = (Arc::clone(&enough), Arc::clone(&at_work));
            thread::spawn(move || {
                work(calls);
                at_work.wait();
                while !enough.load(Ordering::Relaxed) {
                    work(few);
                    DONE.fetch_add(few as u64, Ordering::Relaxed);
                }
            })
        });
        let threads = threads.collect();
        at_work.wait();
        Self { enough, threads }
    }
}

impl Drop for Company {
    fn drop(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().expect("a thread that does not panic");
        }
    }
}
