//! Unary calls: 1 KiB there and back in each binding, and 1 MiB back.

use std::time::Duration;

use a2a_guard::{Binding, CallLayer, RefusalResponseLayer, TerminalStateLayer};
use a2a_guard_compare::{
    corpus::{self, Filling},
    peer::Peer,
};
use http::StatusCode;
use tower::{Layer, ServiceBuilder};
use tower_http::timeout::{ResponseBodyTimeoutLayer, TimeoutLayer};
use tower_resilience::{circuitbreaker::CircuitBreakerLayer, timelimiter::TimeLimiterLayer};

use crate::{agent, guard, kit::Kit, row::Row};

const CALLS: usize = 50;
const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const BOUND: Duration = Duration::from_secs(30);

pub(crate) fn rows(kit: &Kit, binding: Binding) -> Vec<Row> {
    let peer = || agent::unary(binding, Filling::Prose, KIB);
    let named = move || agent::named(binding, false);
    let plain = move || agent::plain(binding, false);
    let name = |what: &str| format!("{binding}, 1 KiB: {what}");
    let (bare, bare_plain, ending) = (name("bare"), name("bare, not named"), name("TerminalStateLayer"));
    let (whole, rendered) = (guard::whole(), guard::whole().rendered());
    vec![
        kit.calls(&bare, CALLS, peer(), named, |peer| peer).anchor(),
        kit.calls(&ending, CALLS, peer(), named, |peer| TerminalStateLayer::new().layer(peer)).over(bare),
        kit.calls(name("RefusalResponseLayer over it"), CALLS, peer(), named, |peer| {
            RefusalResponseLayer::new().layer(TerminalStateLayer::new().layer(peer))
        })
        .over(ending),
        kit.calls(&bare_plain, CALLS, peer(), plain, |peer| peer).anchor(),
        kit.calls(name("CallLayer"), CALLS, peer(), plain, |peer| CallLayer::new().layer(peer)).over(&bare_plain),
        kit.calls(name("CallLayer + TerminalStateLayer"), CALLS, peer(), plain, |peer| {
            CallLayer::new().layer(TerminalStateLayer::new().layer(peer))
        })
        .over(&bare_plain),
        kit.calls(name("Guard"), CALLS, peer(), plain, move |peer| whole.layer(peer)).over(&bare_plain),
        kit.calls(name("RenderedGuard"), CALLS, peer(), plain, move |peer| rendered.layer(peer)).over(bare_plain),
    ]
}

/// What others take for the same call.
pub(crate) fn others(kit: &Kit) -> Vec<Row> {
    const BARE: &str = "JSONRPC, 1 KiB: bare";
    let peer = || agent::unary(Binding::JsonRpc, Filling::Prose, KIB);
    let asked = || agent::named(Binding::JsonRpc, false);
    vec![
        kit.calls("others: tower-http Timeout + ResponseBodyTimeout", CALLS, peer(), asked, |peer: Peer| {
            ServiceBuilder::new()
                .layer(ResponseBodyTimeoutLayer::new(BOUND))
                .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, BOUND))
                .service(peer)
        })
        .over(BARE)
        .anchor(),
        kit.calls("others: tower-resilience timelimiter + circuitbreaker", CALLS, peer(), asked, |peer: Peer| {
            ServiceBuilder::new()
                .layer(TimeLimiterLayer::builder().timeout_duration(BOUND).build())
                .layer(CircuitBreakerLayer::builder().build().expect("the breaker's defaults"))
                .service(peer)
        })
        .over(BARE)
        .anchor(),
    ]
}

pub(crate) fn large(kit: &Kit) -> Vec<Row> {
    let kinds = [
        ("text", Filling::Base64, MIB),
        ("prose", Filling::Prose, MIB),
        ("prose in 16 KiB frames", Filling::Prose, 16 << 10),
        ("records", Filling::Records, MIB),
        ("records in 16 KiB frames", Filling::Records, 16 << 10),
        ("records in 1,460 B frames", Filling::Records, 1_460),
    ];
    let pair = |(what, filling, frame): (&str, Filling, usize)| {
        let peer = agent::in_frames(&corpus::result(filling, MIB), frame);
        let asked = || agent::named(Binding::JsonRpc, false);
        let bare = format!("JSONRPC, 1 MiB of {what}: bare");
        [
            kit.calls(&bare, 1, peer.clone(), asked, |peer| peer).anchor(),
            kit.calls(format!("JSONRPC, 1 MiB of {what}: TerminalStateLayer"), 1, peer, asked, |peer| {
                TerminalStateLayer::new().layer(peer)
            })
            .over(bare),
        ]
    };
    kinds.into_iter().flat_map(pair).collect()
}
