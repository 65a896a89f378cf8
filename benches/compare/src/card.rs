//! A call whose card is held, beside look-ups of the same key in other caches, with one and two threads.
//!
//! The calls are named already, and made one by one, so that each is as warm as one that `CallLayer` hands down. The
//! layer's reading of the clock is its own here; below `CallLayer` it is that layer's.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, Ready, ready};
use std::hash::Hash;
use std::hint::black_box;
use std::pin::pin;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use a2a_guard::card::{Origin, UrlPolicy};
use a2a_guard::card_consistency::{CardConsistencyLayer, CardStore};
use a2a_guard::{CallBody, Operation};
use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::{Empty, Full};
use quick_cache::Equivalent;
use tower::{Layer, Service};

use crate::company::{Batch, cost_among};
use crate::group::{Budget, Group, Row};
use crate::least::Holding;
use crate::{corpus, stacks};

/// Calls in a batch.
const CALLS: usize = 1_000;

/// Cards of other agents beside the one that is called.
const OTHERS: u16 = 100;

const BARE: &str = "bare";
const QUICK_CACHE: &str = "quick_cache look-up";
const MOKA: &str = "moka look-up";

/// One row for each number of threads.
pub fn groups() -> Vec<Group> {
    vec![group(1), group(2)]
}

fn group(threads: usize) -> Group {
    let row = |name, work: fn(usize) -> Batch| Row::new(name, move |calls| cost_among(threads, calls, work));
    let hit = |name, work| {
        let row = row(name, work).over(BARE).budget(Budget::Allocations(0.0));
        // Two threads wait for each other's cache lines, which is no matter of this code's length.
        if threads == 1 { row.budget(Budget::Nanoseconds(60.0)) } else { row }
    };
    let plural = if threads == 1 { "" } else { "s" };
    Group {
        title: format!("a call whose card is held, {threads} thread{plural}"),
        unit: "call",
        units: CALLS,
        rows: vec![
            row(BARE, |calls| called(calls, Answers)),
            row(QUICK_CACHE, |calls| looked_up(calls, |key| SHELF.quick_cache.get(key))).anchor(),
            row(MOKA, |calls| looked_up(calls, |key| SHELF.moka.get(key))).anchor(),
            row("the least of a layer, nothing looked up", |calls| called(calls, Holding::new(Answers))).over(BARE),
            hit("CardConsistencyLayer", |calls| called(calls, SHELF.strict.layer(Answers))),
            hit("CardConsistencyLayer, with a policy", |calls| called(calls, SHELF.lenient.layer(Answers))),
        ],
    }
}

/// Sends calls. Each is polled once, and is done then.
fn called<S>(calls: usize, mut service: S) -> Batch
where
    S: Service<Call, Error: fmt::Debug>,
{
    SHELF.put();
    let body = corpus::request(1024);
    // Whose first clone it is that allocates what clones share, is nobody's cost.
    drop(body.clone());
    let named = stacks::named(&body, Operation::SendMessage).map(|_| ());
    Batch::of(|| {
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..calls {
            assert!(service.poll_ready(&mut context).is_ready());
            let request = named.clone().map(|()| CallBody::from(body.clone()));
            let response = pin!(service.call(request)).poll(&mut context);
            let Poll::Ready(Ok(response)) = response else { panic!("a call that waits, or is refused") };
            black_box(response);
        }
    })
}

/// Looks the key up, as it is made of a request.
fn looked_up<V>(calls: usize, get: impl Fn(&KeyRef<'_>) -> Option<V>) -> Batch {
    let target = target(0);
    Batch::of(|| {
        for _ in 0..calls {
            let target = black_box(&target);
            black_box(get(&KeyRef::of(target)).expect("a card that is held"));
        }
    })
}

/// What is looked up in, with the same cards.
struct Shelf {
    store: CardStore,
    strict: CardConsistencyLayer,
    lenient: CardConsistencyLayer,
    quick_cache: quick_cache::sync::Cache<Key, Arc<str>>,
    moka: moka::sync::Cache<Key, Arc<str>>,
    put: Mutex<Option<Instant>>,
}

static SHELF: LazyLock<Shelf> = LazyLock::new(|| {
    let store = CardStore::builder(Answers).build().expect("a store");
    let strict = CardConsistencyLayer::new(store.clone());
    let elsewhere = Origin::parse("https://agents.example.com").expect("an origin");
    let lenient = strict.clone().urls(UrlPolicy::strict().allow_private().allow_other_origin(elsewhere));
    let (quick_cache, moka) = (quick_cache::sync::Cache::new(1_024), moka::sync::Cache::new(1_024));
    for n in 0..=OTHERS {
        let (key, card): (_, Arc<str>) = (KeyRef::of(&target(n)).to_key(), card(&target(n)).into());
        quick_cache.insert(key.clone(), Arc::clone(&card));
        moka.insert(key, card);
    }
    let shelf = Shelf { store, strict, lenient, quick_cache, moka, put: Mutex::default() };
    (1..=OTHERS).for_each(|n| shelf.put_card(n));
    shelf
});

impl Shelf {
    /// The card that is called for, anew now and then: no card is held for ever.
    fn put(&self) {
        let mut last = self.put.lock().expect("nobody panics with it");
        if last.is_none_or(|last| last.elapsed() > Duration::from_secs(100)) {
            self.put_card(0);
            *last = Some(Instant::now());
        }
    }

    fn put_card(&self, n: u16) {
        let target = target(n);
        let put = pin!(self.store.put(&target, card(&target).into()));
        let put = put.poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(put, Poll::Ready(Ok(()))), "{put:?}");
    }
}

fn target(n: u16) -> Uri {
    format!("http://127.0.0.1:{}/rpc", 4110 + n).parse().expect("a URI")
}

fn card(target: &Uri) -> String {
    format!(
        r#"{{"name":"A","description":"d","version":"1","supportedInterfaces":[{{"url":"{target}","protocolBinding":"JSONRPC","protocolVersion":"1.0"}}],"capabilities":{{"streaming":true}},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{{"id":"s","name":"S","description":"s","tags":["t"]}}]}}"#
    )
}

/// What makes a target, in one order for both kinds of keys.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    scheme: Box<str>,
    authority: Box<str>,
    path: Box<str>,
}

#[derive(Hash)]
struct KeyRef<'a> {
    scheme: &'a str,
    authority: &'a str,
    path: &'a str,
}

impl<'a> KeyRef<'a> {
    fn of(target: &'a Uri) -> Self {
        let authority = target.authority().map_or("", |authority| authority.as_str());
        Self { scheme: target.scheme_str().unwrap_or_default(), authority, path: target.path() }
    }

    fn to_key(&self) -> Key {
        Key { scheme: self.scheme.into(), authority: self.authority.into(), path: self.path.into() }
    }
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self.scheme == *key.scheme && *self.authority == *key.authority && *self.path == *key.path
    }
}

type Call = Request<CallBody<Full<Bytes>>>;

/// An agent that is ready at once, and answers nothing at once.
#[derive(Clone, Copy, Debug)]
struct Answers;

impl Service<Call> for Answers {
    type Response = Response<Empty<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Call) -> Self::Future {
        drop(black_box(request));
        ready(Ok(Response::new(Empty::new())))
    }
}
