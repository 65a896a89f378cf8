//! A `CallError` is recognised behind foreign middleware, and never wrapped twice.

use std::{error::Error, fmt, io, time::Duration};

use a2a_guard::{CallError, CapabilityTimeout, Limits};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tokio::time::Instant;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, buffer::Buffer, service_fn, util::BoxCloneSyncService};

use crate::{
    mock::{Answer, BoxError, Dialect, Ended, MockBody, Notes, Peer, read, s},
    plain, with,
};

use Dialect::Rest;

/// A foreign layer's error, with ours behind it.
#[derive(Debug)]
struct Foreign(BoxError);

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("some middleware failed")
    }
}

impl Error for Foreign {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

fn peer(answer: Answer) -> Peer<Full<Bytes>> {
    Peer::new([answer])
}

/// What a call through `client` and a layer above it ends as.
async fn above<S>(client: S, request: Request<Full<Bytes>>) -> Ended
where
    S: Service<Request<Full<Bytes>>, Response = Response<MockBody>>,
    S::Error: Into<BoxError>,
{
    let notes = Notes::default();
    let mut service = plain().observe(notes.clone()).build().unwrap().layer(client);
    let started = Instant::now();
    let response = service.ready().await.unwrap().call(request).await;
    read(started, response, notes).await
}

/// How often a `CallError` stands in the chain, the error itself included.
fn depth(error: &CallError) -> usize {
    let chain = std::iter::successors(Some(error as &(dyn Error + 'static)), |&error| error.source());
    chain.filter(|error| error.is::<CallError>()).count()
}

async fn timeout_below() -> CallError {
    let below = with(Limits::default().head(s(3))).build().unwrap().layer(peer(Answer::never()));
    below.oneshot(Rest.get()).await.unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn boxed_as_it_is_it_comes_out_as_it_went_in() {
    let error = timeout_below().await;
    let ended = above(peer(Answer::fails(error)), Rest.get()).await;
    let error = ended.error();
    assert_eq!((ended.word().as_str(), error.bound(), error.elapsed()), ("timeout/head", Some(s(3)), s(3)));
    assert!(error.source().is_none());
    assert_eq!(ended.notes.words(), ["timeout/head"]);
}

#[tokio::test(start_paused = true)]
async fn behind_a_foreign_error_its_facts_are_kept_and_that_error_is_the_source() {
    let error = timeout_below().await;
    let foreign = Foreign(Box::new(Foreign(Box::new(error))));
    let ended = above(peer(Answer::fails(foreign)), Rest.get()).await;
    let error = ended.error();
    assert_eq!((ended.word().as_str(), error.bound()), ("timeout/head", Some(s(3))));
    assert!(error.source().unwrap().is::<Foreign>());
    assert_eq!(depth(error), 2, "itself, and the one that the foreign error holds");
}

#[tokio::test(start_paused = true)]
async fn one_of_its_kinds_is_recognised_too() {
    let CallError::Timeout(timeout) = timeout_below().await else { panic!("no timeout") };
    let ended = above(peer(Answer::fails(timeout)), Rest.get()).await;
    assert_eq!(ended.word(), "timeout/head");
    assert!(ended.error().source().is_none_or(|source| !source.is::<CapabilityTimeout>()), "it is not its own source");
}

/// As body adapters make them: the source of such an error is that of what is in it.
#[tokio::test(start_paused = true)]
async fn within_an_io_error_it_is_recognised() {
    let error = timeout_below().await;
    let ended = above(peer(Answer::fails(io::Error::other(error))), Rest.get()).await;
    assert_eq!(ended.word(), "timeout/head");
}

#[tokio::test(start_paused = true)]
async fn a_foreign_error_stays_foreign_and_is_the_source() {
    let ended = above(peer(Answer::fails(Foreign("no".into()))), Rest.get()).await;
    assert_eq!(ended.word(), "transport/connection_lost");
    assert!(ended.error().source().unwrap().is::<Foreign>());
}

#[tokio::test(start_paused = true)]
async fn tower_buffer_does_not_hide_it() {
    let below = with(Limits::default().head(s(3))).build().unwrap().layer(peer(Answer::never()));
    let (buffer, worker) = Buffer::pair(below, 4);
    tokio::spawn(worker);
    let notes = Notes::default();
    let mut service = plain().observe(notes.clone()).build().unwrap().layer(buffer);
    let started = Instant::now();
    let response = service.ready().await.unwrap().call(Rest.get()).await;
    let ended = read(started, response, notes).await;
    assert_eq!(ended.fate(), crate::fate("timeout/head", s(3)));
    assert_eq!(ended.notes.words(), ["timeout/head"]);
}

/// A buffer whose service failed to become ready tells it to every caller, wrapped.
#[tokio::test(start_paused = true)]
async fn a_buffer_that_failed_ends_the_call_typed() {
    let failing = Peer::<Full<Bytes>>::new([]).fails_to_be_ready(io::ErrorKind::ConnectionRefused);
    let (buffer, worker) = Buffer::pair(failing, 4);
    tokio::spawn(worker);
    let notes = Notes::default();
    let mut service = plain().observe(notes.clone()).build().unwrap().layer(buffer);
    let response = service.ready().await.unwrap().call(Rest.get()).await;
    let ended = read(Instant::now(), response, notes).await;
    assert_eq!(ended.word(), "transport/connect");
}

#[tokio::test(start_paused = true)]
async fn a_boxed_foreign_layer_does_not_hide_it() {
    let below = with(Limits::default().head(s(3))).build().unwrap();
    let foreign = ServiceBuilder::new()
        .layer(BoxCloneSyncService::layer())
        .map_err(|error: BoxError| -> BoxError { Box::new(Foreign(error)) })
        .timeout(Duration::from_secs(60))
        .layer(below)
        .service(peer(Answer::never()));
    let notes = Notes::default();
    let mut service = plain().observe(notes.clone()).build().unwrap().layer(foreign);
    let response = service.ready().await.unwrap().call(Rest.get()).await;
    let ended = read(Instant::now(), response, notes).await;
    assert_eq!(ended.word(), "timeout/head");
    assert!(ended.error().source().unwrap().is::<Foreign>());
}

/// Two layers, one directly above the other.
async fn twice(request: Request<Full<Bytes>>, answer: Answer) -> (Ended, Notes) {
    let (inner, outer) = (Notes::default(), Notes::default());
    let below = plain().observe(inner.clone()).build().unwrap();
    let above = with(Limits::default().linger(s(1))).observe(outer.clone()).build().unwrap();
    let mut service = ServiceBuilder::new().layer(above).layer(below).service(peer(answer));
    let started = Instant::now();
    let response = service.ready().await.unwrap().call(request).await;
    (read(started, response, outer).await, inner)
}

#[tokio::test(start_paused = true)]
async fn two_layers_agree_and_each_has_one_outcome() {
    let begun = || MockBody::of([Rest.task_event("WORKING")]);
    let done = || MockBody::of([Rest.task_event("WORKING"), Rest.update_event("COMPLETED")]);
    let rows = [
        (Rest.get(), Answer::json(Rest.bare_task("WORKING")), "success/success"),
        (Rest.get(), Answer::new(400, "application/json", MockBody::new().data(Rest.error(0))), "refused/peer_error"),
        (Rest.get(), Answer::json("{"), "broken/malformed"),
        (Rest.get(), Answer::never(), "timeout/head"),
        (Rest.get(), Answer::lost(io::ErrorKind::ConnectionRefused), "transport/connect"),
        (Rest.stream(), Answer::sse(done()), "success/success"),
        (Rest.stream(), Answer::sse(done().hang()), "success/success"),
        (Rest.stream(), Answer::sse(begun()), "broken/truncated"),
        (Rest.stream(), Answer::sse(begun().hang()), "timeout/idle"),
        (Rest.stream(), Answer::sse(begun().data("data: 7\n\n")), "broken/protocol_violation"),
    ];
    for (request, answer, word) in rows {
        let (ended, inner) = twice(request, answer).await;
        assert_eq!(ended.word(), word);
        assert_eq!((inner.words(), ended.notes.words()), (vec![word.into()], vec![word.into()]));
        if let Some(error) = &ended.error {
            assert_eq!(depth(error), 1, "wrapped twice: {error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_below_that_fails_with_one_is_recognised() {
    // A client that reads the inner layer's body through an adapter, which wraps its errors.
    let inner = plain().build().unwrap().layer(peer(Answer::sse(MockBody::of([Rest.task_event("WORKING")]))));
    let adapter = service_fn(move |request: Request<Full<Bytes>>| {
        let inner = inner.clone();
        async move {
            let response = inner.oneshot(request).await?;
            let wrapped = |error: CallError| -> BoxError { Box::new(Foreign(Box::new(error))) };
            Ok::<_, CallError>(response.map(|body| http_body_util::BodyExt::map_err(body, wrapped)))
        }
    });
    let notes = Notes::default();
    let mut service = plain().observe(notes.clone()).build().unwrap().layer(adapter);
    let response = service.ready().await.unwrap().call(Rest.stream()).await;
    let ended = read(Instant::now(), response.map(|response| response.map(Box::pin)), notes).await;
    assert_eq!(ended.word(), "broken/truncated");
    assert_eq!((ended.error().events(), ended.error().task_id()), (1, Some("task-1")));
    assert!(ended.error().source().unwrap().is::<Foreign>());
}
