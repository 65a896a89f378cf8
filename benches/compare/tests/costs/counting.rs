//! Allocations of a stack, by difference.

use std::fmt::Debug;

use a2a_guard_compare::{
    alloc::Allocations,
    measure::{Drain, batch, runtime},
    peer::Peer,
};
use bytes::Bytes;
use http::Response;
use http_body::Body;
use tokio::runtime::Runtime;
use tower::Service;

use crate::agent::Asked;

/// What of each call or event, over what the bare peer takes for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Each {
    pub(crate) allocations: f64,
    pub(crate) bytes: f64,
}

/// Of calls that are all alike, so many in the smaller batch.
pub(crate) fn of_calls<S, B>(calls: usize, peer: &Peer, asked: impl Fn() -> Asked, stack: impl Fn(Peer) -> S) -> Each
where
    S: Service<Asked, Response = Response<B>, Error: Debug, Future: Send> + Send + 'static,
    B: Body<Data = Bytes, Error: Debug> + Send + 'static,
{
    let runtime = runtime();
    let made = |calls: usize| (0..calls).map(|_| asked()).collect();
    let own = by_difference(calls, |calls| run(&runtime, stack(peer.clone()), made(calls)));
    let bare = by_difference(calls, |calls| run(&runtime, peer.clone(), made(calls)));
    Each { allocations: own.allocations - bare.allocations, bytes: own.bytes - bare.bytes }
}

/// Of the events of one stream, so many in the shorter one.
pub(crate) fn of_events<S, B>(
    events: usize,
    peer: impl Fn(usize) -> Peer,
    asked: impl Fn() -> Asked,
    stack: impl Fn(Peer) -> S,
) -> Each
where
    S: Service<Asked, Response = Response<B>, Error: Debug, Future: Send> + Send + 'static,
    B: Body<Data = Bytes, Error: Debug> + Send + 'static,
{
    let runtime = runtime();
    let own = by_difference(events, |events| run(&runtime, stack(peer(events)), vec![asked()]));
    let bare = by_difference(events, |events| run(&runtime, peer(events), vec![asked()]));
    Each { allocations: own.allocations - bare.allocations, bytes: own.bytes - bare.bytes }
}

/// What each takes, of a batch of so many and one of twice as many.
pub(crate) fn by_difference(units: usize, mut batch: impl FnMut(usize) -> Allocations) -> Each {
    // Both once before, for what is made at the first call and kept.
    batch(units * 2);
    batch(units);
    let (few, twice) = (batch(units), batch(units * 2));
    let more = units as f64;
    Each {
        allocations: (twice.count as f64 - few.count as f64) / more,
        bytes: (twice.bytes as f64 - few.bytes as f64) / more,
    }
}

fn run<S, B>(runtime: &Runtime, stack: S, asked: Vec<Asked>) -> Allocations
where
    S: Service<Asked, Response = Response<B>, Error: Debug, Future: Send> + Send + 'static,
    B: Body<Data = Bytes, Error: Debug> + Send + 'static,
{
    batch(runtime, stack, asked, Drain).allocations
}

/// The measure can tell: a layer that copies each frame is seen to.
#[test]
fn what_a_layer_allocates_is_seen() {
    use a2a_guard::Binding;
    use a2a_guard_compare::{
        corpus::{self, Filling},
        peer::Answer,
    };
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    let peer = crate::agent::in_frames(&corpus::result(Filling::Prose, 1024), 1024);
    let asked = || crate::agent::named(Binding::JsonRpc, false);
    let copying = of_calls(20, &peer, asked, |peer| {
        let copied = |response: Response<Answer>| {
            response.map(|body| body.map_frame(|frame| frame.map_data(|data| Bytes::from(data.to_vec()))))
        };
        ServiceExt::<Asked>::map_response(peer, copied)
    });
    assert_eq!(copying, Each { allocations: 1.0, bytes: 1024.0 });
}
