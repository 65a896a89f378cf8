//! One fetch at a time for each key, whoever asks, and whoever stops asking.

use std::{
    collections::HashMap,
    future::Future,
    hash::Hash,
    pin::Pin,
    task::{Context, Poll, Waker},
};

#[cfg(all(test, shuttle))]
use shuttle::sync::{Arc, Mutex, MutexGuard};
use std::sync::PoisonError;
#[cfg(not(all(test, shuttle)))]
use std::sync::{Arc, Mutex, MutexGuard};

/// The fetches under way. An entry stands as long as its [`Landing`] does.
pub(crate) struct Flights<K: Eq + Hash, V> {
    map: Mutex<HashMap<K, Arc<Flight<V>>>>,
}

struct Flight<V> {
    state: Mutex<State<V>>,
}

enum State<V> {
    Flying(Vec<Option<Waker>>),
    Landed(V),
    /// Dropped before it landed.
    Lost {
        panicked: bool,
    },
}

/// How a flight ended, for one that waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// What was fetching panicked.
    Panicked,
    /// It was cancelled, by the end of its runtime.
    Cancelled,
}

/// What a call is to a fetch.
pub(crate) enum Joined<K: Eq + Hash, V> {
    /// The one who starts it.
    First(Landing<K, V>, Waiting<V>),
    /// One who waits for it.
    Later(Waiting<V>),
}

impl<K: Eq + Hash + Clone, V: Clone> Flights<K, V> {
    pub(crate) fn new() -> Self {
        Self { map: Mutex::new(HashMap::new()) }
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.map).len()
    }

    /// The flight with this key, if there is one.
    pub(crate) fn find(&self, key: &K) -> Option<Waiting<V>> {
        lock(&self.map).get(key).map(|flight| Waiting { flight: Arc::clone(flight), place: None })
    }
}

/// The flight with this key, or a new one.
pub(crate) fn join<K: Eq + Hash + Clone, V: Clone>(flights: &Arc<Flights<K, V>>, key: K) -> Joined<K, V> {
    let mut map = lock(&flights.map);
    if let Some(flight) = map.get(&key) {
        return Joined::Later(Waiting { flight: Arc::clone(flight), place: None });
    }
    let flight = Arc::new(Flight { state: Mutex::new(State::Flying(Vec::new())) });
    map.insert(key.clone(), Arc::clone(&flight));
    let waiting = Waiting { flight: Arc::clone(&flight), place: None };
    Joined::First(Landing { flights: Arc::clone(flights), key, flight, landed: false }, waiting)
}

/// The duty to land. Dropping it without is telling everybody who waits that nothing will come.
pub(crate) struct Landing<K: Eq + Hash, V> {
    flights: Arc<Flights<K, V>>,
    key: K,
    flight: Arc<Flight<V>>,
    landed: bool,
}

impl<K: Eq + Hash, V> Landing<K, V> {
    /// Hands `value` to everybody who waits. Who asks from now on starts anew, so what is to be kept is kept before.
    pub(crate) fn land(mut self, value: V) {
        self.landed = true;
        self.end(State::Landed(value));
    }

    fn end(&self, state: State<V>) {
        lock(&self.flights.map).remove(&self.key);
        let before = std::mem::replace(&mut *lock(&self.flight.state), state);
        if let State::Flying(wakers) = before {
            wakers.into_iter().flatten().for_each(Waker::wake);
        }
    }
}

impl<K: Eq + Hash, V> Drop for Landing<K, V> {
    fn drop(&mut self) {
        if !self.landed {
            self.end(State::Lost { panicked: std::thread::panicking() });
        }
    }
}

/// Waits for a flight. Dropping it changes nothing for anybody else.
pub(crate) struct Waiting<V> {
    flight: Arc<Flight<V>>,
    /// Where the waker stands.
    place: Option<usize>,
}

impl<V: Clone> Future for Waiting<V> {
    type Output = Result<V, Lost>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        match &mut *lock(&this.flight.state) {
            State::Landed(value) => Poll::Ready(Ok(value.clone())),
            State::Lost { panicked: true } => Poll::Ready(Err(Lost::Panicked)),
            State::Lost { panicked: false } => Poll::Ready(Err(Lost::Cancelled)),
            State::Flying(wakers) => {
                match this.place.and_then(|place| wakers.get_mut(place)) {
                    Some(Some(waker)) => waker.clone_from(cx.waker()),
                    Some(free) => *free = Some(cx.waker().clone()),
                    None => {
                        this.place = Some(wakers.len());
                        wakers.push(Some(cx.waker().clone()));
                    }
                }
                Poll::Pending
            }
        }
    }
}

impl<V> Drop for Waiting<V> {
    fn drop(&mut self) {
        let Some(place) = self.place else { return };
        let mut state = lock(&self.flight.state);
        let State::Flying(wakers) = &mut *state else { return };
        if let Some(waker) = wakers.get_mut(place) {
            *waker = None;
        }
    }
}

/// Nothing is left half done under these locks, so that a poisoned one is as good as new.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::task::Waker;

    use super::*;

    type Shared = Arc<Flights<&'static str, u32>>;

    fn first(flights: &Shared) -> (Landing<&'static str, u32>, Waiting<u32>) {
        match join(flights, "key") {
            Joined::First(landing, waiting) => (landing, waiting),
            Joined::Later(_) => panic!("somebody else's"),
        }
    }

    fn later(flights: &Shared) -> Waiting<u32> {
        match join(flights, "key") {
            Joined::First(..) => panic!("nobody else's"),
            Joined::Later(waiting) => waiting,
        }
    }

    fn poll(waiting: &mut Waiting<u32>) -> Poll<Result<u32, Lost>> {
        Pin::new(waiting).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn all_who_wait_get_what_landed_and_the_next_starts_anew() {
        let flights = Arc::new(Flights::new());
        let (landing, mut one) = first(&flights);
        let mut two = later(&flights);
        assert_eq!(poll(&mut one), Poll::Pending);
        landing.land(7);
        assert_eq!(poll(&mut one), Poll::Ready(Ok(7)));
        assert_eq!(poll(&mut two), Poll::Ready(Ok(7)));
        assert_eq!(flights.len(), 0);
        drop(first(&flights));
    }

    #[test]
    fn who_stops_waiting_leaves_nothing() {
        let flights = Arc::new(Flights::new());
        let (landing, mut one) = first(&flights);
        let mut two = later(&flights);
        assert!(poll(&mut one).is_pending() && poll(&mut two).is_pending() && poll(&mut one).is_pending());
        drop(one);
        match &*lock(&two.flight.state) {
            State::Flying(wakers) => assert_eq!(wakers.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]),
            _ => panic!("not under way"),
        }
        landing.land(1);
        assert_eq!(poll(&mut two), Poll::Ready(Ok(1)));
    }

    #[test]
    fn a_flight_that_is_dropped_is_lost_to_all() {
        let flights: Shared = Arc::new(Flights::new());
        let (landing, mut waiting) = first(&flights);
        drop(landing);
        assert_eq!(poll(&mut waiting), Poll::Ready(Err(Lost::Cancelled)));
        let (landing, mut waiting) = first(&flights);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _landing = landing;
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(panicked.is_err());
        assert_eq!(poll(&mut waiting), Poll::Ready(Err(Lost::Panicked)));
        assert_eq!(flights.len(), 0);
    }
}

/// Under random interleavings: `RUSTFLAGS="--cfg shuttle" cargo test --lib flights`.
#[cfg(all(test, shuttle))]
mod interleavings {
    use shuttle::{check_random, future, sync::atomic::AtomicU32, sync::atomic::Ordering, thread};

    use super::*;

    /// What the store does: look, join, look again, fetch, keep, land.
    async fn get(flights: Arc<Flights<u8, u32>>, kept: Arc<Mutex<Option<u32>>>, fetches: Arc<AtomicU32>) -> u32 {
        if let Some(kept) = *lock(&kept) {
            return kept;
        }
        match join(&flights, 0) {
            Joined::Later(waiting) => waiting.await.unwrap(),
            Joined::First(landing, waiting) => {
                let before = *lock(&kept);
                future::spawn(async move {
                    let value = match before {
                        Some(value) => value,
                        None => {
                            thread::yield_now();
                            fetches.fetch_add(1, Ordering::SeqCst) + 1
                        }
                    };
                    *lock(&kept) = Some(value);
                    landing.land(value);
                });
                waiting.await.unwrap()
            }
        }
    }

    #[test]
    fn one_fetch_however_calls_interleave() {
        check_random(
            || {
                let flights = Arc::new(Flights::new());
                let kept = Arc::new(Mutex::new(None));
                let fetches = Arc::new(AtomicU32::new(0));
                let calls: Vec<_> = (0..4)
                    .map(|_| future::spawn(get(Arc::clone(&flights), Arc::clone(&kept), Arc::clone(&fetches))))
                    .collect();
                for call in calls {
                    assert_eq!(future::block_on(call).unwrap(), 1);
                }
                assert_eq!(fetches.load(Ordering::SeqCst), 1);
                assert_eq!(flights.len(), 0);
            },
            5_000,
        );
    }

    #[test]
    fn nobody_waits_for_ever_for_a_flight_that_was_dropped() {
        check_random(
            || {
                let flights: Arc<Flights<u8, u32>> = Arc::new(Flights::new());
                let waits: Vec<_> = (0..3)
                    .map(|index| {
                        let flights = Arc::clone(&flights);
                        thread::spawn(move || match join(&flights, 0) {
                            Joined::First(landing, waiting) => {
                                thread::yield_now();
                                if index == 0 {
                                    drop(waiting);
                                    landing.land(1);
                                } else {
                                    drop(landing);
                                    assert_eq!(future::block_on(waiting), Err(Lost::Cancelled));
                                }
                            }
                            Joined::Later(waiting) => drop(future::block_on(waiting)),
                        })
                    })
                    .collect();
                waits.into_iter().for_each(|wait| wait.join().unwrap());
                assert_eq!(flights.len(), 0);
            },
            5_000,
        );
    }
}
