//! An observer of what the layer ends itself: beside that of `TerminalStateLayer`, exactly one is told of each call.

use std::time::Duration;

use a2a_guard::{CallBody, CallLayer, TerminalStateLayer, card_consistency::CardConsistencyLayer};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tower::{Layer, Service, ServiceExt};

use crate::{
    mock::{Answer, Dialect, Notes, s},
    support::{Card, Cards, Page, agent, call, done, willing},
};

use Dialect::{V1, V03};

/// What the layer's own observer was told, and the one below.
async fn told(
    page: impl Into<Page>,
    request: Request<Full<Bytes>>,
    answer: Answer,
) -> (Vec<String>, Vec<String>, String) {
    let (ours, below) = (Notes::default(), Notes::default());
    let cards = CardConsistencyLayer::new(Cards::of(page).store()).observe(ours.clone());
    let ending = TerminalStateLayer::builder().observe(below.clone()).build().unwrap();
    let agent = agent([answer]);
    let mut service = CallLayer::new().layer(cards.layer(ending.layer(agent)));
    let word = call(&mut service, request).await.word();
    (ours.words(), below.words(), word)
}

#[tokio::test(start_paused = true)]
async fn each_call_is_told_of_once_by_whoever_ends_it() {
    let rows = [
        (Page::from(Card::plain()), V1.send(), done(), false),
        (Page::from(Card::plain()), V1.stream(), done(), true),
        (Page::from(Card::plain()), V03.send(), done(), true),
        (Page::status(404), V1.send(), done(), true),
        (Page::status(401), V1.send(), done(), true),
        (Page::from(Card::plain()).after(s(60)), V1.send(), done(), true),
        (Page::fails(std::io::ErrorKind::ConnectionRefused), V1.send(), done(), true),
        (Page::from(Card::plain()), V1.send(), Answer::json(V1.error(-32004)), false),
        (Page::from(Card::plain()), V1.send(), Answer::lost(std::io::ErrorKind::ConnectionReset), false),
    ];
    for (page, request, answer, is_ours) in rows {
        let (ours, below, word) = told(page, request, answer).await;
        let (told, silent) = if is_ours { (ours, below) } else { (below, ours) };
        assert_eq!((told, silent), (vec![word.clone()], Vec::new()), "{word}");
    }
}

#[tokio::test(start_paused = true)]
async fn it_is_given_the_callers_error_and_the_facts() {
    let notes = Notes::default();
    let layer = CardConsistencyLayer::new(Cards::of(Page::status(404).after(s(2))).store()).observe(notes.clone());
    let mut service = CallLayer::new().layer(layer.layer(willing(0)));
    let ended = call(&mut service, V1.get()).await;
    assert_eq!(ended.word(), "card/not_found");
    let noted = notes.one();
    assert!(noted.error);
    assert_eq!((noted.status, noted.events, noted.elapsed), (None, 0, s(2)));
    assert_eq!(noted.task_id.as_deref(), Some("task-1"));
}

#[tokio::test(start_paused = true)]
async fn who_is_dropped_while_it_waits_is_abandoned() {
    let cards = || Cards::of(Page::from(Card::plain()).after(s(5)));
    // While its card is on the way, and while it waits for its turn again.
    for (agent, wait) in [(willing(1), s(1)), (willing(1).ready_after(s(5)), s(7))] {
        let (ours, below) = (Notes::default(), Notes::default());
        let layer = CardConsistencyLayer::new(cards().store()).observe(ours.clone());
        let ending = TerminalStateLayer::builder()
            .limits(a2a_guard::Limits::default().ready(Duration::from_secs(60)))
            .observe(below.clone())
            .build()
            .unwrap();
        let mut service = CallLayer::new().layer(layer.layer(ending.layer(agent.clone())));
        let future = service.ready().await.unwrap().call(V1.send());
        assert!(tokio::time::timeout(wait, future).await.is_err());
        assert_eq!(ours.words(), ["abandoned/abandoned"], "after {wait:?}");
        assert!(below.words().is_empty() && agent.requests().is_empty());
    }
}

/// It never came down, whatever the client below is.
#[tokio::test(start_paused = true)]
async fn a_client_that_fails_to_be_ready_again_ends_the_call_here() {
    let notes = Notes::default();
    let layer = CardConsistencyLayer::new(Cards::of(Card::plain()).store()).observe(notes.clone());
    let mut service = layer.layer(Turns { ready: true });
    let mut request = V1.send().map(CallBody::<Full<Bytes>>::unread);
    request.extensions_mut().insert(
        a2a_guard::Call::new()
            .with_operation(a2a_guard::Operation::SendMessage)
            .with_binding(a2a_guard::Binding::JsonRpc)
            .with_version(a2a_guard::ProtocolVersion::V1_0),
    );
    let error = ServiceExt::<Request<CallBody<Full<Bytes>>>>::ready(&mut service).await.unwrap().call(request).await;
    let error = error.unwrap_err();
    assert_eq!((error.outcome().as_str(), error.class().as_str()), ("transport", "connect"));
    assert_eq!(notes.words(), ["transport/connect"]);
}

/// Ready once; each further handle fails.
struct Turns {
    ready: bool,
}

impl Clone for Turns {
    fn clone(&self) -> Self {
        Self { ready: false }
    }
}

impl<B> tower::Service<http::Request<B>> for Turns {
    type Response = http::Response<http_body_util::Empty<bytes::Bytes>>;
    type Error = std::io::Error;
    type Future = std::future::Pending<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        let ready = if self.ready { Ok(()) } else { Err(std::io::ErrorKind::ConnectionRefused.into()) };
        std::task::Poll::Ready(ready)
    }

    fn call(&mut self, _: http::Request<B>) -> Self::Future {
        panic!("not sent")
    }
}
