//! A body that takes its time: the call waits for it, within bounds, and holds no place meanwhile.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use a2a_guard::{CallLayer, LimitOverrides, Operation, Outcome};
use bytes::Bytes;
use http::Request;
use tokio::time::{Instant, timeout};
use tower::{Layer, Service, ServiceExt, limit::ConcurrencyLimitLayer};

use crate::{
    call_of,
    mock::{Answer, HOUR, MockBody, Peer, frames_of, ms, s},
    named, passed, request, rpc,
};

const SEND: &str = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"taskId":"t-1"}}}"#;

/// A request whose body comes in two halves, so much apart.
fn slow(time: Duration) -> Request<MockBody> {
    let (first, second) = SEND.split_at(30);
    request("POST", "/a2a", MockBody::new().data(first).wait(time).data(second))
}

fn answer() -> Answer {
    Answer::json("{}")
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_is_waited_for() {
    let started = Instant::now();
    let passed = passed(&CallLayer::new(), slow(s(20))).await;
    assert_eq!(started.elapsed(), s(20));
    assert_eq!(call_of(&passed).task_id(), Some("t-1"));
    assert_eq!(call_of(&passed).began(), Some(started));
    assert_eq!(frames_of(passed.into_body()).await.0.concat(), SEND.as_bytes());
}

#[tokio::test(start_paused = true)]
async fn after_its_time_a_body_passes_on_as_far_as_it_came() {
    let started = Instant::now();
    let (first, second) = SEND.split_at(SEND.find("params").unwrap());
    let body = MockBody::new().data(first).at(s(50)).data(second).trailers("x-checksum", "c0ffee");
    let passed = passed(&CallLayer::new().read_timeout(s(7)), request("POST", "/a2a", body)).await;
    assert_eq!(started.elapsed(), s(7));
    assert_eq!((call_of(&passed).operation(), call_of(&passed).task_id()), (Some(Operation::SendMessage), None));
    let (frames, trailers) = frames_of(passed.into_body()).await;
    assert_eq!((frames.concat(), started.elapsed()), (SEND.as_bytes().to_vec(), s(50)));
    assert_eq!(trailers.unwrap()["x-checksum"], "c0ffee");
}

/// Reading the request is part of the call: it is cut to what the call has of its total.
#[tokio::test(start_paused = true)]
async fn reading_is_cut_to_the_total_of_the_call() {
    let mut request = request("POST", "/a2a", MockBody::new().hang());
    let total = LimitOverrides::default().total_unary(s(7)).total_stream(s(7));
    request.extensions_mut().insert(total);
    let started = Instant::now();
    named(&CallLayer::new().read_timeout(s(30)), request).await;
    assert_eq!(started.elapsed(), s(7));
}

#[tokio::test(start_paused = true)]
async fn and_to_the_total_that_the_layer_was_told() {
    let started = Instant::now();
    named(&CallLayer::new().total(s(3)), request("POST", "/a2a", MockBody::new().hang())).await;
    assert_eq!(started.elapsed(), s(3));
}

/// In whatever order, and however often, they are set: the last of each counts, and of both the shorter.
#[tokio::test(start_paused = true)]
async fn the_total_and_the_read_timeout_are_set_apart() {
    let layer = CallLayer::new;
    for (layer, bound) in [
        (layer().total(s(3)).read_timeout(s(9)), 3),
        (layer().read_timeout(s(9)).total(s(3)), 3),
        (layer().total(s(9)).read_timeout(s(3)), 3),
        (layer().total(s(3)).total(s(9)), 9),
    ] {
        let started = Instant::now();
        named(&layer, request("POST", "/a2a", MockBody::new().hang())).await;
        assert_eq!(started.elapsed(), s(bound));
    }
}

/// A total that a call has of its own stands in the place of the layer's.
#[tokio::test(start_paused = true)]
async fn the_total_of_one_call_counts_and_not_that_of_the_layer() {
    for own in [2, 9] {
        let mut request = request("POST", "/a2a", MockBody::new().hang());
        request.extensions_mut().insert(LimitOverrides::default().total_unary(s(own)));
        let started = Instant::now();
        named(&CallLayer::new().total(s(4)), request).await;
        assert_eq!(started.elapsed(), s(own));
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_of_which_nothing_comes_passes_on_after_its_time() {
    let started = Instant::now();
    let call = named(&CallLayer::new().read_timeout(s(7)), request("POST", "/a2a", MockBody::new().hang())).await;
    assert_eq!((call.operation(), started.elapsed()), (None, s(7)));
}

#[tokio::test(start_paused = true)]
async fn what_came_by_the_time_is_read_however_late_the_poll() {
    let peer = Peer::new([answer()]);
    let mut service = CallLayer::new().read_timeout(s(7)).layer(peer.clone());
    let (first, second) = SEND.split_at(30);
    let body = MockBody::new().data(first).at(s(1)).data(second);
    let future = service.ready().await.unwrap().call(request("POST", "/a2a", body));
    tokio::time::sleep(HOUR).await;
    future.await.unwrap();
    assert_eq!(call_of(&peer.requests()[0]).task_id(), Some("t-1"));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_spends_the_budget_passes_on_after_its_time() {
    let body = MockBody::new().data("{").busy(ms(10));
    let started = Instant::now();
    named(&CallLayer::new().read_timeout(s(5)), request("POST", "/a2a", body)).await;
    assert!(started.elapsed() >= s(5) && started.elapsed() < s(6), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_eternal_read_timeout_is_no_panic() {
    let layer = CallLayer::new().read_timeout(Duration::MAX);
    assert_eq!(named(&layer, slow(HOUR)).await.task_id(), Some("t-1"));
}

/// [`Peer`] panics when it is called without having been polled ready: so it was, after the body came.
#[tokio::test(start_paused = true)]
async fn readiness_is_awaited_again_after_the_body() {
    let peer = Peer::new([answer(), answer()]).ready_after(s(3));
    let mut service = CallLayer::new().layer(peer.clone());
    for _ in 0..2 {
        let ready = service.ready().await.unwrap();
        let started = Instant::now();
        ready.call(slow(s(4))).await.unwrap();
        assert_eq!(started.elapsed(), s(4 + 3));
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_at_hand_is_called_on_the_service_that_was_polled() {
    let peer = Peer::new([answer()]).ready_after(s(3));
    let mut service = CallLayer::new().layer(peer.clone());
    let ready = service.ready().await.unwrap();
    let started = Instant::now();
    ready.call(rpc("GetTask", "")).await.unwrap();
    assert_eq!(started.elapsed(), s(0));
}

#[tokio::test(start_paused = true)]
async fn a_failure_to_become_ready_again_is_the_calls() {
    /// Ready once, by its first handle.
    #[derive(Debug)]
    struct Once(bool);

    impl Clone for Once {
        fn clone(&self) -> Self {
            Self(false)
        }
    }

    impl<B> Service<Request<B>> for Once {
        type Response = ();
        type Error = &'static str;
        type Future = std::future::Pending<Result<(), &'static str>>;

        fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), &'static str>> {
            std::task::Poll::Ready(if self.0 { Ok(()) } else { Err("gone") })
        }

        fn call(&mut self, _: Request<B>) -> Self::Future {
            unreachable!("its handles are not ready")
        }
    }

    let abandoned = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&abandoned);
    let observer = Arc::new(move |_: &Outcome<'_>| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let mut service = CallLayer::new().observe(observer).layer(Once(true));
    let ready = ServiceExt::<Request<MockBody>>::ready(&mut service).await.unwrap();
    assert_eq!(ready.call(slow(s(1))).await, Err("gone"));
    assert_eq!(abandoned.load(Ordering::Relaxed), 0, "its caller was there to the end");
}

/// The ready handle is given back before the wait: or two slow bodies would wait for each other's place.
#[tokio::test(start_paused = true)]
async fn slow_bodies_hold_no_place_in_a_concurrency_limit() {
    let peer = Peer::new([answer(), answer(), answer()]);
    let limited = ConcurrencyLimitLayer::new(1).layer(peer.clone());
    let service = CallLayer::new().layer(limited);
    let (mut one, mut two, mut three) = (service.clone(), service.clone(), service);

    let started = Instant::now();
    let first = timeout(HOUR, one.ready()).await.expect("a place").unwrap().call(slow(s(5)));
    let second = timeout(HOUR, two.ready()).await.expect("the place that was given back").unwrap().call(slow(s(4)));
    // Meanwhile a call whose body is there goes through.
    let third = timeout(HOUR, three.ready()).await.expect("that place again").unwrap().call(rpc("GetTask", ""));
    timeout(HOUR, third).await.expect("no deadlock").unwrap();
    assert_eq!(started.elapsed(), s(0));

    let both = async { tokio::join!(first, second) };
    let (first, second) = timeout(HOUR, both).await.expect("no deadlock");
    assert!(first.is_ok() && second.is_ok());
    assert_eq!((started.elapsed(), peer.requests().len()), (s(5), 3));
}

/// One handle, polled ready once, called with a slow body, and then again: the first call's place is its own.
#[tokio::test(start_paused = true)]
async fn one_handle_may_have_several_slow_calls() {
    let peer: Peer<a2a_guard::CallBody<MockBody>> = Peer::new([answer(), answer()]);
    let mut service = CallLayer::new().layer(ConcurrencyLimitLayer::new(1).layer(peer));
    let first = timeout(HOUR, service.ready()).await.unwrap().unwrap().call(slow(s(5)));
    let second = timeout(HOUR, service.ready()).await.unwrap().unwrap().call(slow(s(5)));
    let (first, second) = timeout(HOUR, async { tokio::join!(first, second) }).await.expect("no deadlock");
    assert!(first.is_ok() && second.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_while_its_body_comes_reaches_nobody() {
    let peer = Peer::new([]);
    let mut service = CallLayer::new().layer(peer.clone());
    let future = service.ready().await.unwrap().call(slow(s(5)));
    assert!(timeout(s(1), future).await.is_err());
    assert!(peer.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_body_cut_into_bytes_that_come_one_by_one_is_read() {
    let body = SEND.bytes().fold(MockBody::new(), |body, byte| body.wait(ms(1)).data(Bytes::copy_from_slice(&[byte])));
    let passed = passed(&CallLayer::new(), request("POST", "/a2a", body)).await;
    assert_eq!(call_of(&passed).task_id(), Some("t-1"));
    assert_eq!(frames_of(passed.into_body()).await.0.len(), SEND.len());
}
