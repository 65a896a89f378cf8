//! Services, futures and bodies are small: they are moved with each call, and held by each call in flight. Services may
//! remember the last card and place, so that a hit compares with what lies in the handle.

use a2a_guard::{CallBody, CallLayer, ProbeCacheLayer, RefusalResponseLayer, TerminalStateLayer};
use a2a_guard_compare::peer::{Answer, Answering, Peer};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower::{Layer, Service};

use crate::{
    agent::{self, Asked},
    guard,
    known::{self, cards},
};

/// Bytes of a service without the client's, of its future, and of its body without the client's.
type Sizes = [usize; 3];

fn sizes<S, A, B>(_: S) -> Sizes
where
    S: Service<Request<A>, Response = Response<B>>,
{
    [size_of::<S>() - size_of::<Peer>(), size_of::<S::Future>(), size_of::<B>() - size_of::<Answer>()]
}

/// Below `CallLayer`, whose bodies it takes.
fn below<S, B>(service: S) -> Sizes
where
    S: Service<known::Asked, Response = Response<B>>,
{
    sizes::<S, CallBody<Full<Bytes>>, B>(service)
}

/// At the outside of a stack.
fn outer<S, B>(service: S) -> Sizes
where
    S: Service<Asked, Response = Response<B>>,
{
    sizes::<S, Full<Bytes>, B>(service)
}

#[test]
fn none_has_grown() {
    let peer = || agent::unary(a2a_guard::Binding::JsonRpc, a2a_guard_compare::corpus::Filling::Prose, 1024);
    let probes = ProbeCacheLayer::without_probes().build().unwrap();
    let ending = TerminalStateLayer::new();
    let all = [
        ("CallLayer", outer(CallLayer::new().layer(peer())), [8, 128, 0]),
        ("RefusalResponseLayer", outer(RefusalResponseLayer::new().layer(peer())), [24, 72, 40]),
        ("CardConsistencyLayer", below(cards().layer(peer())), [40, 192, 32]),
        ("ProbeCacheLayer", below(probes.layer(peer())), [48, 184, 48]),
        ("TerminalStateLayer", below(ending.layer(peer())), [48, 144, 40]),
        ("Guard", outer(guard::whole().layer(peer())), [168, 296, 120]),
        ("RenderedGuard", outer(guard::whole().rendered().layer(peer())), [192, 320, 160]),
    ];
    println!("bytes of service, future (with {} of the client's) and body", size_of::<Answering<Full<Bytes>>>());
    let mut grown = Vec::new();
    for (name, sizes, most) in all {
        println!("{name}: {sizes:?}, at most {most:?}");
        if sizes.iter().zip(most).any(|(size, most)| *size > most) {
            grown.push(name);
        }
    }
    assert!(grown.is_empty(), "grown: {grown:?}");
}
