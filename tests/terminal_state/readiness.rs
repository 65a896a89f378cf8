//! The client below is waited for, but not without end, and its failures come out of `call`, typed.

use std::{
    future::poll_fn,
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll},
};

use a2a_guard::{Limits, Operation, Retry};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tokio::time::{Instant, sleep};
use tower::{Layer, Service, ServiceExt};

use crate::{
    mock::{Answer, BoxError, Dialect, HOUR, MockBody, Notes, Peer, ms, s, spend_budget, tick},
    with,
};

use Dialect::Rest;

type Guarded<S> = a2a_guard::TerminalStateService<S, Notes>;

/// Without a `CallLayer`: HTTP+JSON is named by its paths.
fn guarded<S>(limits: Limits, client: S) -> (Guarded<S>, Notes) {
    let notes = Notes::default();
    (with(limits).observe(notes.clone()).build().unwrap().layer(client), notes)
}

fn fine() -> Answer {
    Answer::json(Rest.bare_task("WORKING"))
}

async fn poll_once<S>(service: &mut Guarded<S>) -> bool
where
    Guarded<S>: Service<Request<Full<Bytes>>>,
{
    poll_fn(|cx| Poll::Ready(service.poll_ready(cx).is_ready())).await
}

#[tokio::test]
#[should_panic(expected = "called without having been polled ready")]
async fn the_mock_can_tell_that_it_was_not_polled_ready() {
    drop(Peer::new([fine()]).call(Rest.get()));
}

#[tokio::test(start_paused = true)]
async fn each_handle_is_polled_ready_before_each_call() {
    let (mut service, notes) = guarded(Limits::default(), Peer::new([fine(), fine(), fine()]));
    service.ready().await.unwrap().call(Rest.get()).await.unwrap();
    let mut clone = service.clone();
    clone.ready().await.unwrap().call(Rest.get()).await.unwrap();
    service.ready().await.unwrap().call(Rest.get()).await.unwrap();
    assert_eq!(notes.words(), ["success/success"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_to_become_ready_comes_out_of_the_call_typed() {
    let peer = Peer::new([]).fails_to_be_ready(io::ErrorKind::ConnectionReset);
    let (mut service, notes) = guarded(Limits::default(), peer);
    let ready = service.ready().await.expect("poll_ready has no call to tell of");
    let error = ready.call(Rest.send()).await.unwrap_err();
    assert_eq!((error.outcome().as_str(), error.class().as_str()), ("transport", "connection_lost"));
    assert_eq!(error.call().operation(), Some(Operation::SendMessage));
    assert_eq!(error.retry(), Retry::Safe);
    assert!(!error.work_may_have_started());
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.downcast_ref::<io::Error>().unwrap().kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(notes.words(), ["transport/connection_lost"]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_becomes_ready_ends_the_call_at_ready() {
    let (mut service, notes) = guarded(Limits::default().ready(s(7)), Peer::new([]).never_ready());
    let started = Instant::now();
    let ready = service.ready().await.expect("poll_ready has no call to tell of");
    assert_eq!(started.elapsed(), s(7));
    let error = ready.call(Rest.send()).await.unwrap_err();
    assert_eq!((error.outcome().as_str(), error.class().as_str()), ("timeout", "ready"));
    assert_eq!((error.bound(), error.retry()), (Some(s(7)), Retry::Safe));
    assert_eq!(started.elapsed(), s(7));
    assert_eq!(notes.words(), ["timeout/ready"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_readiness_ends_one_call_only() {
    let peer = Peer::new([fine()]).ready_after(s(8));
    let (mut service, notes) = guarded(Limits::default().ready(s(5)), peer);
    assert!(service.ready().await.unwrap().call(Rest.get()).await.is_err());
    assert!(service.ready().await.unwrap().call(Rest.get()).await.is_ok());
    assert_eq!(notes.words(), ["timeout/ready", "success/success"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_readiness_is_not_that_of_a_clone() {
    let peer = Peer::new([fine()]).ready_after(s(4));
    let (mut service, _) = guarded(Limits::default().ready(s(3)), peer);
    service.ready().await.unwrap();
    let mut clone = service.clone();
    let started = Instant::now();
    assert!(clone.ready().await.unwrap().call(Rest.get()).await.is_err());
    assert_eq!(started.elapsed(), s(3));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_ready_with_the_bound_is_ready() {
    let (mut service, _) = guarded(Limits::default().ready(s(5)), Peer::new([fine()]).ready_after(s(5)));
    let started = Instant::now();
    assert!(service.ready().await.unwrap().call(Rest.get()).await.is_ok());
    assert_eq!(started.elapsed(), s(5));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_became_ready_while_nobody_polled_is_ready() {
    let (mut service, _) = guarded(Limits::default().ready(s(5)), Peer::new([fine()]).ready_after(s(60)));
    assert!(!poll_once(&mut service).await);
    sleep(HOUR).await;
    assert!(service.ready().await.unwrap().call(Rest.get()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_was_left_alone_for_an_hour_starts_again() {
    let (mut service, _) = guarded(Limits::default().ready(s(5)), Peer::new([fine()]).ready_after(HOUR + s(4)));
    assert!(!poll_once(&mut service).await);
    sleep(HOUR).await;
    assert!(service.ready().await.unwrap().call(Rest.get()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_was_left_alone_is_bounded_all_the_same() {
    let (mut service, _) = guarded(Limits::default().ready(s(5)), Peer::new([]).never_ready());
    assert!(!poll_once(&mut service).await);
    sleep(HOUR).await;
    let back = Instant::now();
    assert!(service.ready().await.unwrap().call(Rest.get()).await.is_err());
    assert_eq!(back.elapsed(), s(5));
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_was_never_polled_has_not_begun_to_wait() {
    let (mut service, _) = guarded(Limits::default().ready(s(5)), Peer::new([fine()]).ready_after(s(4)));
    sleep(HOUR).await;
    assert!(service.ready().await.unwrap().call(Rest.get()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn each_wait_of_a_handle_has_the_whole_bound() {
    let (mut service, notes) = guarded(Limits::default().ready(s(5)), Peer::new([fine(), fine()]).ready_after(s(4)));
    for _ in 0..2 {
        service.ready().await.unwrap().call(Rest.get()).await.unwrap();
    }
    assert_eq!(notes.words(), ["success/success"; 2]);
}

/// Its readiness costs time and budget, and never comes.
#[derive(Clone)]
struct Busy(Arc<AtomicU32>);

impl Service<Request<Full<Bytes>>> for Busy {
    type Response = Response<MockBody>;
    type Error = BoxError;
    type Future = std::future::Pending<Result<Response<MockBody>, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        assert!(self.0.fetch_add(1, Ordering::Relaxed) < 20_000, "polled without end");
        tick(ms(10), cx);
        spend_budget(cx);
        Poll::Pending
    }

    fn call(&mut self, _: Request<Full<Bytes>>) -> Self::Future {
        unreachable!("it is never ready")
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_spends_the_budget_on_no_readiness_ends_the_call() {
    let (mut service, _) = guarded(Limits::default().ready(s(5)), Busy(Arc::default()));
    let error = service.ready().await.unwrap().call(Rest.get()).await.unwrap_err();
    assert_eq!(error.class().as_str(), "ready");
}

/// Which operation it will be is not known before the client is ready.
#[tokio::test(start_paused = true)]
async fn the_bound_of_readiness_is_the_layers() {
    let notes = Notes::default();
    let layer = with(Limits::default().ready(s(4))).observe(notes.clone()).build().unwrap();
    let mut service = layer.layer(Peer::new([]).never_ready());
    let request = Rest.get();
    let started = Instant::now();
    assert!(service.ready().await.unwrap().call(request).await.is_err());
    assert_eq!(started.elapsed(), s(4));
}
