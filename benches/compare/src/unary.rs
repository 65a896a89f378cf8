//! A call of 1 KiB there and 1 KiB back.

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use a2a_guard::card_consistency::CardStore;
use a2a_guard::guard::{GuardCards, GuardProbes};
use a2a_guard::{CallLayer, Guard, Operation, ProbeCacheLayer, RefusalResponseLayer, TerminalStateLayer};
use bytes::Bytes;
use http::StatusCode;
use http_body_util::Full;
use tower::{Layer, ServiceBuilder};
use tower_http::timeout::{ResponseBodyTimeoutLayer, TimeoutLayer};
use tower_resilience::circuitbreaker::CircuitBreakerLayer;
use tower_resilience::timelimiter::TimeLimiterLayer;

use crate::corpus::{self, Filling};
use crate::group::{Budget, Group, Row};
use crate::least::Timing;
use crate::measure::cost_of;
use crate::ours::{self, JUDGE, TERMINAL_STATE};
use crate::peer::{Peer, Script};
use crate::stacks::{self, Stacks};

/// Above every timer that a batch could reach.
const BOUND: Duration = Duration::from_secs(30);

const SIZE: usize = 1024;

/// Calls in a batch.
const CALLS: usize = 200;

/// The row that the others stand over.
pub(crate) const BARE: &str = "bare";
/// The parser that builds nothing.
pub(crate) const IGNORED_ANY: &str = "serde IgnoredAny";
const TOWER_HTTP: &str = "tower-http Timeout + ResponseBodyTimeout";
const RESILIENCE: &str = "tower-resilience timelimiter + circuitbreaker";

/// Parses and forgets, as a caller would who only wants to know whether it is JSON.
pub(crate) fn ignored_any(bytes: &Bytes) {
    let seen: serde::de::IgnoredAny = serde_json::from_slice(bytes).expect("valid JSON");
    black_box(seen);
}

/// Each layer by itself, over requests that are named already.
pub fn named() -> Group {
    let bodies = corpus::requests(SIZE);
    let stacks = Stacks::new(peer(), move |calls| {
        bodies.iter().cycle().take(calls).map(|body| stacks::named(body, Operation::SendMessage)).collect()
    });
    let result = corpus::result(Filling::Prose, SIZE);
    let frames = [result.clone()];
    Group {
        title: "unary, 1 KiB there and 1 KiB back, the call named already".into(),
        unit: "call",
        units: CALLS,
        rows: vec![
            stacks.bare(BARE).anchor(),
            stacks.row("tower Timeout", |peer| ServiceBuilder::new().timeout(BOUND).service(peer)).over(BARE).anchor(),
            stacks
                .row(TOWER_HTTP, |peer| {
                    ServiceBuilder::new()
                        .layer(ResponseBodyTimeoutLayer::new(BOUND))
                        .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, BOUND))
                        .service(peer)
                })
                .over(BARE)
                .anchor(),
            resilience(&stacks),
            stacks.row("the least of a layer with a timer, unjudged", Timing).over(BARE),
            Row::new(IGNORED_ANY, move |count| cost_of(|| (0..count).for_each(|_| ignored_any(&result)))).anchor(),
            Row::new(JUDGE, move |count| cost_of(|| (0..count).for_each(|_| ours::judge(&frames)))),
            stacks
                .row(TERMINAL_STATE, |peer| TerminalStateLayer::new().layer(peer))
                .over(BARE)
                .budget(Budget::Ratio(TOWER_HTTP, 1.0))
                .budget(Budget::Allocations(1.0)),
        ],
    }
}

/// Rendering, where nothing fails and it has nothing to do.
pub fn rendered() -> Group {
    let bodies = corpus::requests(SIZE);
    let stacks = Stacks::new(peer(), move |calls| {
        bodies.iter().cycle().take(calls).map(|body| stacks::named(body, Operation::SendMessage)).collect()
    });
    Group {
        title: "unary, 1 KiB there and 1 KiB back, rendered where nothing fails".into(),
        unit: "call",
        units: CALLS,
        rows: vec![
            stacks.row(TERMINAL_STATE, |peer| TerminalStateLayer::new().layer(peer)),
            stacks
                .row("RefusalResponseLayer over it", |peer| {
                    RefusalResponseLayer::new().layer(TerminalStateLayer::new().layer(peer))
                })
                .over(TERMINAL_STATE)
                .budget(Budget::Nanoseconds(60.0))
                .budget(Budget::Allocations(0.0)),
        ],
    }
}

/// The layers together, over requests of which nothing is known.
pub fn plain() -> Group {
    let bodies = corpus::requests(SIZE);
    let stacks = Stacks::new(peer(), move |calls| bodies.iter().cycle().take(calls).map(stacks::plain).collect());
    Group {
        title: "unary, 1 KiB there and 1 KiB back, the request read and named".into(),
        unit: "call",
        units: CALLS,
        rows: vec![
            stacks.bare(BARE).anchor(),
            resilience(&stacks),
            stacks
                .row("CallLayer + TerminalStateLayer", |peer| {
                    ServiceBuilder::new().layer(CallLayer::new()).layer(TerminalStateLayer::new()).service(peer)
                })
                .over(BARE)
                .budget(Budget::Allocations(6.0)),
            within_budget(stacks.row("Guard: its card held, its endpoint trusted", |peer| guard(&peer).layer(peer))),
            within_budget(stacks.row("the same, rendered", |peer| guard(&peer).rendered().layer(peer))),
        ],
    }
}

/// The budget of the whole stack.
fn within_budget(row: Row) -> Row {
    row.over(BARE).budget(Budget::Ratio(RESILIENCE, 1.5)).budget(Budget::Allocations(6.0))
}

type WholeGuard = Guard<(), GuardCards, GuardProbes>;

/// All layers, with the card of the agent in the store. What its first calls bring makes its endpoint a trusted one.
fn guard(peer: &Peer) -> WholeGuard {
    let store = CardStore::builder::<_, Full<Bytes>, _>(peer.clone()).build().expect("a store");
    let card = r#"{"name":"A","description":"d","version":"1","supportedInterfaces":[{"url":"http://127.0.0.1:4110/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"s","tags":["t"]}]}"#;
    let target = stacks::plain(&Bytes::new()).uri().clone();
    {
        let put = pin!(store.put(&target, card.into()));
        let put = put.poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(put, Poll::Ready(Ok(()))), "{put:?}");
    }
    let probes = ProbeCacheLayer::without_probes().build().expect("a layer");
    Guard::builder().card_store(store).availability(probes).build().expect("a guard")
}

fn peer() -> impl Fn(usize) -> Peer {
    let answers = corpus::results(Filling::Prose, SIZE).into_iter().map(|answer| Script::json(vec![answer]));
    let peer = Peer::in_turn(answers);
    move |_| peer.clone()
}

fn resilience(stacks: &Stacks) -> Row {
    let stack = |peer| {
        ServiceBuilder::new()
            .layer(TimeLimiterLayer::builder().timeout_duration(BOUND).build())
            .layer(CircuitBreakerLayer::builder().build().expect("the breaker's defaults"))
            .service(peer)
    };
    stacks.row(RESILIENCE, stack).over(BARE).anchor()
}
