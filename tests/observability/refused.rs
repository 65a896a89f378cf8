//! Calls that are refused before they come down to where ends are judged.

use std::sync::{Arc, Mutex};

use a2a_guard::{
    CallBody, CallLayer, Observe, Outcome, ProbeCacheLayer, TerminalStateLayer,
    card_consistency::CardConsistencyLayer,
    observability::{MetricsObserver, ObserveLayer, TracingLayer, TracingObserver},
};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use tower::{ServiceBuilder, ServiceExt};
use tracing::Level;

use crate::{
    answer,
    mock::{Answer, Dialect::V1, MockBody, Notes, Peer},
    no_cards,
    recorder::Recorded,
    subscriber::Subscribed,
};

#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_card_layer_is_told_once() {
    let (notes, peer) = (Notes::default(), Peer::new([]));
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(ObserveLayer::new(notes.clone()))
        .layer(ObserveLayer::new(notes.clone()))
        .layer(CardConsistencyLayer::new(no_cards()))
        .layer(TerminalStateLayer::builder().observe(notes.clone()).build().unwrap())
        .service(peer);
    let error = stack.oneshot(V1.get()).await.unwrap_err();
    assert_eq!(error.to_string().split(':').next(), Some("card/not_found"));
    let noted = notes.one();
    assert_eq!((noted.word().as_str(), noted.error, noted.status), ("card/not_found", true, None));
}

#[tokio::test(start_paused = true)]
async fn what_the_judge_told_of_is_not_told_again() {
    let notes = Notes::default();
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(ObserveLayer::new(notes.clone()))
        .layer(TerminalStateLayer::builder().observe(notes.clone()).build().unwrap())
        .service(Peer::new([
            Answer::never(),
            Answer::json(answer("COMPLETED")),
            Answer::sse(MockBody::of([V1.task_event("WORKING")])),
        ]));
    assert!(stack.clone().oneshot(V1.get()).await.is_err());
    assert_eq!(notes.words(), ["timeout/head"]);
    stack.clone().oneshot(V1.get()).await.unwrap();
    assert!(stack.oneshot(V1.stream()).await.unwrap().into_body().collect().await.is_err());
    assert_eq!(notes.words(), ["timeout/head", "success/success", "broken/truncated"]);
}

/// An observer that nobody listens to tells nobody.
#[tokio::test(start_paused = true)]
async fn what_nobody_was_told_of_is_told() {
    let notes = Notes::default();
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(ObserveLayer::new(notes.clone()))
        .layer(TerminalStateLayer::new())
        .service(Peer::new([Answer::never()]));
    assert!(stack.oneshot(V1.get()).await.is_err());
    assert_eq!(notes.words(), ["timeout/head"]);
}

#[tokio::test(start_paused = true)]
async fn spans_and_metrics_know_of_it() {
    let (subscribed, _subscriber) = Subscribed::all();
    let (recorded, _recorder) = Recorded::new();
    let observer = Arc::new(MetricsObserver::new().and(TracingObserver::new()));
    for by_observer in [true, false] {
        let observe = by_observer.then(|| ObserveLayer::new(observer.clone()));
        let stack = ServiceBuilder::new()
            .layer(CallLayer::new())
            .layer(TracingLayer::new())
            .option_layer(observe)
            .layer(CardConsistencyLayer::new(no_cards()))
            .layer(TerminalStateLayer::builder().observe(observer.clone()).build().unwrap())
            .service(Peer::new([]));
        assert!(stack.oneshot(V1.get()).await.is_err());
    }
    let spans = subscribed.spans();
    let ends = subscribed.events();
    assert_eq!((spans.len(), ends.len()), (2, 2), "{ends:#?}");
    for (number, (span, end)) in (1..).zip(spans.iter().zip(&ends)) {
        assert_eq!((span.fields["a2a.outcome"].as_str(), span.fields["a2a.class"].as_str()), ("card", "not_found"));
        assert!(!span.fields.contains_key("http.response.status_code"));
        assert_eq!((end.span, end.level), (Some(number), Level::WARN));
    }
    let calls = r#"a2a_guard_calls_total{operation="GetTask",binding="JSONRPC",outcome="card",class="not_found"}"#;
    assert_eq!(recorded.counter(calls), Some(1), "only `ObserveLayer` told the metrics");
}

/// `ProbeCacheLayer` has an observer of its own, who knows of no span.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_its_own_layer_told_of_is_told_once() {
    let (subscribed, _subscriber) = Subscribed::all();
    let notes = Notes::default();
    let page = || Answer::new(200, "text/html", MockBody::new().data("<p>"));
    let peer = Peer::<CallBody<Full<Bytes>>>::new([page()]);
    let observer = notes.clone().and(TracingObserver::new());
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(TracingLayer::new())
        .layer(ObserveLayer::new(observer.clone()))
        .layer(ProbeCacheLayer::builder(peer.clone()).observe(observer.clone()).build().unwrap())
        .layer(TerminalStateLayer::builder().observe(observer).build().unwrap())
        .service(peer);
    let error = stack.oneshot(V1.get()).await.unwrap_err();
    assert_eq!(error.class().as_str(), "endpoint_not_conforming");
    assert_eq!(notes.words(), ["stale/endpoint_not_conforming"]);
    let (call, span) = subscribed.call();
    assert_eq!((span.fields["a2a.outcome"].as_str(), span.is_closed()), ("stale", true));
    assert_eq!((subscribed.end().span, subscribed.end().level), (Some(call), Level::INFO));
}

#[tokio::test(start_paused = true)]
async fn errors_of_others_are_left_to_others() {
    let told = Arc::new(Mutex::new(0));
    let count = Arc::clone(&told);
    let observer = Arc::new(move |_: &Outcome<'_>| *count.lock().unwrap() += 1);
    let stack = ServiceBuilder::new()
        .layer(ObserveLayer::new(observer))
        .service(Peer::<Full<Bytes>>::new([Answer::fails("none of ours")]));
    assert!(stack.oneshot(V1.get()).await.is_err());
    assert_eq!(*told.lock().unwrap(), 0);
}
