//! A call to a trusted endpoint, for a skill that is known to be available, beside look-ups of the same key in other
//! caches, with one and two threads; alone, and below a card that is held.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, Ready, ready};
use std::hash::Hash;
use std::hint::black_box;
use std::pin::pin;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use a2a_guard::card_consistency::{CardConsistencyLayer, CardStore};
use a2a_guard::{CallBody, Operation, ProbeCacheLayer};
use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::{Empty, Full};
use quick_cache::Equivalent;
use tower::{Layer, Service};

use crate::company::{Batch, cost_among};
use crate::group::{Budget, Group, Row};
use crate::least::Holding;
use crate::{corpus, ours, stacks};

/// Calls in a batch.
const CALLS: usize = 1_000;

/// Endpoints beside the one that is called.
const OTHERS: u16 = 100;

const BARE: &str = "bare";
const QUICK_CACHE: &str = "quick_cache look-up";
const MOKA: &str = "moka look-up";

/// One for each number of threads.
pub fn groups() -> Vec<Group> {
    vec![group(1), group(2)]
}

fn group(threads: usize) -> Group {
    let row = |name, work: fn(usize) -> Batch| Row::new(name, move |calls| cost_among(threads, calls, work));
    let hit = |name, budget, work| {
        let row = row(name, work).over(BARE).budget(Budget::Allocations(0.0));
        // Two threads wait for each other's cache lines, which is no matter of this code's length.
        if threads == 1 { row.budget(Budget::Nanoseconds(budget)) } else { row }
    };
    let plural = if threads == 1 { "" } else { "s" };
    Group {
        title: format!("a call to a trusted endpoint for a known skill, {threads} thread{plural}"),
        unit: "call",
        units: CALLS,
        rows: vec![
            row(BARE, |calls| called(calls, at_once(), Answers)),
            row(QUICK_CACHE, |calls| looked_up(calls, |key| KNOWN.quick_cache.get(key))).anchor(),
            row(MOKA, |calls| looked_up(calls, |key| KNOWN.moka.get(key))).anchor(),
            row("the least of a layer, nothing looked up", |calls| called(calls, at_once(), Holding::new(Answers)))
                .over(BARE),
            hit("ProbeCacheLayer", 60.0, |calls| called(calls, at_once(), KNOWN.probing.layer(Answers))),
            // Such calls take seconds or more, and pay for a reading of the clock at their end.
            row("ProbeCacheLayer, a send that waits for its task", |calls| {
                called(calls, waiting(), KNOWN.probing.layer(Answers))
            })
            .over(BARE)
            .budget(Budget::Allocations(0.0)),
            hit("CardConsistencyLayer", 60.0, |calls| called(calls, at_once(), KNOWN.matching.layer(Answers))),
            // Less than both by themselves: the clock is read once.
            hit("CardConsistencyLayer + ProbeCacheLayer", 120.0, |calls| {
                called(calls, at_once(), KNOWN.matching.layer(KNOWN.probing.layer(Answers)))
            }),
        ],
    }
}

/// A send that does not wait for its task.
fn at_once() -> Call {
    request(0, false)
}

/// One that does.
fn waiting() -> Call {
    request(0, true)
}

/// The call named already, as `CallLayer` would have it.
fn request(n: u16, blocking: bool) -> Call {
    let mut request = stacks::plain(&corpus::request(1024)).map(CallBody::unread);
    *request.uri_mut() = target(n);
    let call = ours::call(Operation::SendMessage).with_skill("translate").with_region("eu-west-1");
    request.extensions_mut().insert(call.with_blocking(blocking));
    request
}

fn again(request: &Call) -> Call {
    let mut copy = Request::new(CallBody::from(request.body().as_bytes().cloned().unwrap_or_default()));
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    *copy.extensions_mut() = request.extensions().clone();
    copy
}

/// Sends calls. Each is polled once, and is done then.
fn called<S>(calls: usize, request: Call, mut service: S) -> Batch
where
    S: Service<Call, Error: fmt::Debug>,
{
    KNOWN.refresh();
    Batch::of(|| {
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..calls {
            assert!(service.poll_ready(&mut context).is_ready());
            let response = pin!(service.call(again(&request))).poll(&mut context);
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
            let key = KeyRef::of(black_box(&target));
            black_box(get(&key).expect("an entry that is held"));
        }
    })
}

/// What is known, in each cache alike.
struct Known {
    store: CardStore,
    matching: CardConsistencyLayer,
    probing: ProbeCacheLayer,
    quick_cache: quick_cache::sync::Cache<Key, Arc<str>>,
    moka: moka::sync::Cache<Key, Arc<str>>,
    put: Mutex<Option<Instant>>,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let store = CardStore::builder(Answers).build().expect("a store");
    let matching = CardConsistencyLayer::new(store.clone());
    // The endpoints are trusted by the calls that go well.
    let probing = ProbeCacheLayer::without_probes().build().expect("a layer");
    let (quick_cache, moka) = (quick_cache::sync::Cache::new(1_024), moka::sync::Cache::new(1_024));
    let mut service = probing.layer(Answers);
    for n in 0..=OTHERS {
        let (key, state): (_, Arc<str>) = (KeyRef::of(&target(n)).to_key(), "trusted".into());
        quick_cache.insert(key.clone(), Arc::clone(&state));
        moka.insert(key, state);
        let mut context = Context::from_waker(Waker::noop());
        assert!(Service::<Call>::poll_ready(&mut service, &mut context).is_ready());
        assert!(matches!(pin!(service.call(request(n, true))).poll(&mut context), Poll::Ready(Ok(_))));
    }
    Known { store, matching, probing, quick_cache, moka, put: Mutex::default() }
});

impl Known {
    /// No card is held for ever. It is put in anew now and then: the next call is matched with it anew as well, and
    /// where another thread did that all the time, calls here would pay for it.
    fn refresh(&self) {
        let mut last = self.put.lock().expect("nobody panics with it");
        if last.is_some_and(|last| last.elapsed() <= Duration::from_secs(100)) {
            return;
        }
        *last = Some(Instant::now());
        let target = target(0);
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

/// What makes an entry, in one order for both kinds of keys.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    authority: Box<str>,
    path: Box<str>,
    skill: Box<str>,
    region: Box<str>,
}

#[derive(Hash)]
struct KeyRef<'a> {
    authority: &'a str,
    path: &'a str,
    skill: &'a str,
    region: &'a str,
}

impl<'a> KeyRef<'a> {
    fn of(target: &'a Uri) -> Self {
        let authority = target.authority().map_or("", |authority| authority.as_str());
        Self { authority, path: target.path(), skill: black_box("translate"), region: black_box("eu-west-1") }
    }

    fn to_key(&self) -> Key {
        let Self { authority, path, skill, region } = *self;
        Key { authority: authority.into(), path: path.into(), skill: skill.into(), region: region.into() }
    }
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self.authority == *key.authority
            && *self.path == *key.path
            && *self.skill == *key.skill
            && *self.region == *key.region
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
