use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

/// So many threads count without meeting each other.
const STRIPES: usize = 16;

/// A counter for the path of every call: each thread has a place of its own, most of the time.
#[derive(Debug, Default)]
pub(super) struct Striped([Stripe; STRIPES]);

/// On a cache line of its own, and off the next one's neighbour, which processors fetch along.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe(AtomicU64);

thread_local! {
    static PLACE: Cell<usize> = const { Cell::new(usize::MAX) };
}

fn place() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let place = PLACE.get();
    if place != usize::MAX {
        return place;
    }
    let place = NEXT.fetch_add(1, Relaxed) % STRIPES;
    PLACE.set(place);
    place
}

impl Striped {
    #[inline]
    pub(super) fn count(&self) {
        if let Some(Stripe(count)) = self.0.get(place()) {
            count.fetch_add(1, Relaxed);
        }
    }

    pub(super) fn read(&self) -> u64 {
        self.0.iter().map(|Stripe(count)| count.load(Relaxed)).sum()
    }
}

/// What has been done so far.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) hits: Striped,
    pub(super) misses: Striped,
    pub(super) invalidations: AtomicU64,
    pub(super) probes: AtomicU64,
    pub(super) told: AtomicU64,
    pub(super) untold: AtomicU64,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

pub(super) fn read(counter: &AtomicU64) -> u64 {
    counter.load(Relaxed)
}
