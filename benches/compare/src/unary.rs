//! A call of 1 KiB there and 1 KiB back.

use std::hint::black_box;
use std::time::Duration;

use a2a_guard::{CallLayer, Operation, TerminalStateLayer};
use bytes::Bytes;
use http::StatusCode;
use tower::{Layer, ServiceBuilder};
use tower_http::timeout::{ResponseBodyTimeoutLayer, TimeoutLayer};
use tower_resilience::circuitbreaker::CircuitBreakerLayer;
use tower_resilience::timelimiter::TimeLimiterLayer;

use crate::corpus::{self, Filling};
use crate::group::{Budget, Group, Row};
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
    let body = corpus::request(SIZE);
    let stacks =
        Stacks::new(peer(), move |calls| (0..calls).map(|_| stacks::named(&body, Operation::SendMessage)).collect());
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

/// The layers together, over requests of which nothing is known.
pub fn plain() -> Group {
    let body = corpus::request(SIZE);
    let stacks = Stacks::new(peer(), move |calls| (0..calls).map(|_| stacks::plain(&body)).collect());
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
                // The budget of the whole Guard, of which these two are a part.
                .budget(Budget::Ratio(RESILIENCE, 1.5))
                .budget(Budget::Allocations(6.0)),
        ],
    }
}

fn peer() -> impl Fn(usize) -> Peer {
    let script = Script::json(vec![corpus::result(Filling::Prose, SIZE)]);
    move |_| Peer(script.clone())
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
