//! A ready service is called on a hit, and given back wherever a call waits or is refused.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use a2a_guard::{CallLayer, card_consistency::CardConsistencyLayer};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tower::{Layer, Service, ServiceExt, limit::ConcurrencyLimitLayer};

use crate::{
    mock::{Dialect, ms, s},
    support::{Agent, Card, Cards, Page, agent, call, guard, layer, willing},
};

use Dialect::V1;

/// Counts how often it is cloned.
struct Counting<S> {
    inner: S,
    clones: Arc<AtomicUsize>,
}

impl<S: Clone> Clone for Counting<S> {
    fn clone(&self) -> Self {
        self.clones.fetch_add(1, Relaxed);
        Self { inner: self.inner.clone(), clones: Arc::clone(&self.clones) }
    }
}

impl<S: Service<R>, R> Service<R> for Counting<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> S::Future {
        self.inner.call(request)
    }
}

/// Without `CallLayer`, whose own clones would count too. HTTP+JSON is named by its head alone.
fn request() -> Request<a2a_guard::CallBody<Full<Bytes>>> {
    Dialect::Rest.get().map(a2a_guard::CallBody::unread)
}

fn rest() -> Cards {
    Cards::default().put(crate::support::ROOT, Page::from(Card::rest()).after(s(1)))
}

fn answers() -> Agent {
    agent((0..3).map(|_| crate::mock::Answer::json(Dialect::Rest.bare_task("WORKING"))))
}

#[tokio::test(start_paused = true)]
async fn on_a_hit_the_ready_service_is_called_and_not_cloned() {
    let clones = Arc::new(AtomicUsize::new(0));
    let counting = Counting { inner: answers(), clones: Arc::clone(&clones) };
    let mut service = layer(&rest()).layer(counting);
    service.ready().await.unwrap().call(request()).await.unwrap();
    let after_the_miss = clones.load(Relaxed);
    assert!(after_the_miss > 0, "readiness that is given back takes a clone");
    // The mock panics if it is called without having been polled ready.
    for _ in 0..2 {
        service.ready().await.unwrap().call(request()).await.unwrap();
    }
    assert_eq!(clones.load(Relaxed), after_the_miss);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_its_card_holds_no_place() {
    let mut service = layer(&rest()).layer(ConcurrencyLimitLayer::new(1).layer(answers()));
    let mut other = service.clone();
    let waiting = service.ready().await.unwrap().call(request());
    let place = tokio::time::timeout(ms(1), other.ready()).await;
    assert!(place.is_ok(), "the place is held while the call waits");
    drop(other);
    waiting.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_refused_holds_no_place() {
    let relative = || {
        let mut request = request();
        *request.uri_mut() = "/tasks/task-1".parse().unwrap();
        request
    };
    let streaming = || Dialect::Rest.stream().map(a2a_guard::CallBody::unread);
    // Refused for the request alone, then on a hit.
    let rows: [&dyn Fn() -> Request<a2a_guard::CallBody<Full<Bytes>>>; 2] = [&relative, &streaming];
    for refused in rows {
        let mut service = layer(&rest()).layer(ConcurrencyLimitLayer::new(1).layer(answers()));
        service.ready().await.unwrap().call(request()).await.unwrap();
        let mut other = service.clone();
        service.ready().await.unwrap().call(refused()).await.unwrap_err();
        // The handle is still there, idle.
        let place = tokio::time::timeout(s(60), other.ready()).await;
        assert!(place.is_ok(), "the place is held by a handle that nobody calls");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_readiness_again_after_its_card_came() {
    let cards = Cards::of(Page::from(Card::plain()).after(s(1)));
    let agent = willing(1).ready_after(s(2));
    let limited = CallLayer::new().layer(CardConsistencyLayer::new(cards.store()).layer(agent.clone()));
    let started = tokio::time::Instant::now();
    limited.oneshot(V1.send()).await.unwrap();
    // Ready, then the card, then ready again.
    assert_eq!(started.elapsed(), s(2 + 1 + 2));
    assert_eq!(agent.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_fails_to_be_ready_is_a_typed_error() {
    let cards = Cards::of(Card::plain());
    let failing = willing(0).fails_to_be_ready(std::io::ErrorKind::ConnectionRefused);
    let bare = CallLayer::new().layer(layer(&cards).layer(failing.clone()));
    let error = bare.oneshot(V1.send()).await.unwrap_err();
    assert_eq!((error.outcome().as_str(), error.class().as_str()), ("transport", "connect"));
    assert_eq!(error.retry().as_str(), "safe");

    let ended = call(&mut guard(layer(&cards), &failing), V1.send()).await;
    assert_eq!(ended.word(), "transport/connect");
}

/// A wait longer than any clock has no end of its own, and no sum of instants overflows.
#[tokio::test(start_paused = true)]
async fn a_wait_without_end_lasts_as_long_as_the_fetch() {
    for (page, word, elapsed) in [
        (Page::from(Card::plain()).after(s(1)), "success/success", s(1)),
        (Page::from(Card::plain()).after(s(3600)), "card/fetch_timeout", s(10)),
    ] {
        let layer = CardConsistencyLayer::new(Cards::of(page).store()).wait(std::time::Duration::MAX);
        let ended = call(&mut guard(layer, &willing(1)), V1.send()).await;
        assert_eq!(ended.fate(), (word.into(), elapsed));
    }
}
