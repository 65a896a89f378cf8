use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

/// So many threads have a place of their own at a time; the others share the last one.
const STRIPES: usize = 64;

/// A counter for the path of every call. A thread that has its place for itself counts there without a word to other
/// processors.
#[derive(Debug)]
pub(super) struct Striped(Box<[Stripe]>);

/// On a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Stripe(AtomicU64);

/// A thread's place, given back when the thread ends.
struct Place(usize);

static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());
static USED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static PLACE: Place = Place::take();
}

impl Place {
    fn take() -> Self {
        if let Some(free) = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Self(free);
        }
        // Beyond the last one, all are the last one.
        let fresh = USED.fetch_update(Relaxed, Relaxed, |used| (used < STRIPES).then_some(used + 1));
        Self(fresh.unwrap_or(STRIPES))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.0 < STRIPES {
            FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
        }
    }
}

impl Default for Striped {
    fn default() -> Self {
        Self((0..=STRIPES).map(|_| Stripe::default()).collect())
    }
}

impl Striped {
    #[inline]
    pub(super) fn count(&self) {
        // A thread that is ending has no place any longer.
        let place = PLACE.try_with(|place| place.0).unwrap_or(STRIPES);
        if let Some(Stripe(count)) = self.0.get(place) {
            if place < STRIPES {
                count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
            } else {
                count.fetch_add(1, Relaxed);
            }
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

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, Barrier},
        thread,
    };

    use super::*;

    /// Places are the process's: one test takes all of them.
    static ALONE: Mutex<()> = Mutex::new(());

    /// Whatever other tests do meanwhile, these are fewer than there are places.
    #[test]
    fn threads_have_places_of_their_own_and_give_them_back() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let barrier = Arc::new(Barrier::new(8));
        for _ in 0..STRIPES {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    let barrier = Arc::clone(&barrier);
                    thread::spawn(move || {
                        let place = PLACE.with(|place| place.0);
                        barrier.wait();
                        place
                    })
                })
                .collect();
            let mut places: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            places.sort_unstable();
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]) && places[7] < STRIPES, "{places:?}");
        }
    }

    /// More threads than there are places, all at once, and more than once: none is lost.
    #[test]
    fn each_is_counted() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let (counter, barrier) = (Arc::new(Striped::default()), Arc::new(Barrier::new(STRIPES + 8)));
        for round in 1..=2 {
            let threads: Vec<_> = (0..STRIPES + 8)
                .map(|_| {
                    let (counter, barrier) = (Arc::clone(&counter), Arc::clone(&barrier));
                    thread::spawn(move || {
                        counter.count();
                        barrier.wait();
                        (1..10_000).for_each(|_| counter.count());
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(counter.read(), round * 10_000 * (STRIPES as u64 + 8));
        }
    }
}
