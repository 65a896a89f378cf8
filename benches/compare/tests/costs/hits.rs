//! A call whose card is held, or whose endpoint and skill are known, takes no allocation.

use std::{
    fmt::Debug,
    future::Future,
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
};

use a2a_guard::ProbeCacheLayer;
use a2a_guard_compare::measure::cost_of;
use http::Response;
use tower::{Layer, Service};

use crate::{
    counting::{Each, by_difference},
    known::{Answers, Asked, asked, cards},
};

const CALLS: usize = 50;

/// What each call takes: it is polled once, and is done then.
fn each<S, B>(mut service: S) -> Each
where
    S: Service<Asked, Response = Response<B>, Error: Debug>,
{
    by_difference(CALLS, |calls| {
        let asked: Vec<Asked> = (0..calls).map(|_| asked()).collect();
        let calling = || {
            let mut cx = Context::from_waker(Waker::noop());
            for asked in asked {
                assert!(service.poll_ready(&mut cx).is_ready());
                let answered = pin!(service.call(asked)).poll(&mut cx);
                let Poll::Ready(Ok(response)) = answered else { panic!("a call that waits, or is refused") };
                black_box(response);
            }
        };
        cost_of(calling).allocations
    })
}

#[test]
fn a_hit_takes_no_allocation() {
    let probes = ProbeCacheLayer::without_probes().build().unwrap();
    let bare = each(Answers);
    let hits = [
        ("card", each(cards().layer(Answers))),
        ("probe", each(probes.layer(Answers))),
        ("card and probe", each(cards().layer(probes.layer(Answers)))),
    ];
    for (name, taken) in hits {
        assert_eq!(taken, bare, "{name}");
    }
}
