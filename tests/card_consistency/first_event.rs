//! The bound on a stream's first event, as the agent's card states it.

use std::time::Duration;

use a2a_guard::{
    LimitOverrides,
    card_consistency::{CardConsistencyLayer, FirstEventExtension},
};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::{
    mock::{Answer, Dialect, Ended, MockBody, s},
    support::{Card, Cards, Page, agent, call, guard, layer, willing},
};

use Dialect::V1;

const URI: &str = "https://example.com/ext/first-event/v1";

fn stating(params: &str) -> Cards {
    Cards::of(Card::streaming().states(URI, params))
}

fn heeding(cards: &Cards) -> CardConsistencyLayer {
    layer(cards).first_event(FirstEventExtension::new(URI)).unwrap()
}

/// How a stream ends whose head comes and nothing else.
async fn hanging(layer: CardConsistencyLayer, request: Request<Full<Bytes>>) -> Ended {
    let agent = agent([Answer::sse(MockBody::new().hang())]);
    call(&mut guard(layer, &agent), request).await
}

async fn bound(layer: CardConsistencyLayer, request: Request<Full<Bytes>>) -> Duration {
    let ended = hanging(layer, request).await;
    assert_eq!(ended.word(), "timeout/first_event");
    assert_eq!(ended.error().bound(), Some(ended.elapsed));
    ended.elapsed
}

#[tokio::test(start_paused = true)]
async fn the_cards_statement_is_the_bound() {
    assert_eq!(bound(heeding(&stating(r#"{"firstEventTimeout":90}"#)), V1.stream()).await, s(90));
    assert_eq!(bound(heeding(&stating(r#"{"firstEventTimeout":2}"#)), V1.stream()).await, s(2));
    assert_eq!(bound(heeding(&stating(r#"{"firstEventTimeout":9000}"#)), V1.stream()).await, s(300), "the cap");
}

#[tokio::test(start_paused = true)]
async fn without_one_the_layer_below_decides() {
    for params in ["{}", r#"{"firstEventTimeout":"90"}"#, r#"{"firstEventTimeout":0}"#, r#"{"other":90}"#] {
        assert_eq!(bound(heeding(&stating(params)), V1.stream()).await, s(30), "{params}");
    }
    assert_eq!(bound(heeding(&Cards::of(Card::streaming())), V1.stream()).await, s(30));
    assert_eq!(bound(layer(&stating(r#"{"firstEventTimeout":90}"#)), V1.stream()).await, s(30), "off by default");
}

#[tokio::test(start_paused = true)]
async fn the_caller_wins_and_its_other_bounds_stay() {
    let cards = stating(r#"{"firstEventTimeout":90}"#);
    let with = |limits: LimitOverrides| {
        let mut request = V1.stream();
        request.extensions_mut().insert(limits);
        request
    };
    assert_eq!(bound(heeding(&cards), with(LimitOverrides::default().first_event(s(3)))).await, s(3));
    assert_eq!(bound(heeding(&cards), with(LimitOverrides::default().idle(s(500)))).await, s(90));
    let ended = hanging(heeding(&cards), with(LimitOverrides::default().total(s(10)))).await;
    assert_eq!(ended.fate(), ("timeout/total".into(), s(10)), "cut to the total");
}

#[tokio::test(start_paused = true)]
async fn only_streams_are_bounded_by_it() {
    let agent = willing(1);
    let mut service = guard(heeding(&stating(r#"{"firstEventTimeout":90}"#)), &agent);
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
    assert!(agent.requests().pop().unwrap().extensions().get::<LimitOverrides>().is_none());
}

/// A call that only repeats another one is bounded no less.
#[tokio::test(start_paused = true)]
async fn each_stream_of_a_handle_is_bounded_by_it() {
    let agent = agent((0..4).map(|_| Answer::sse(MockBody::new().hang())));
    let card = Card::streaming().states(URI, r#"{"firstEventTimeout":20}"#);
    let mut service = guard(heeding(&Cards::of(Page::from(card).max_age(300))), &agent);
    for _ in 0..4 {
        let ended = call(&mut service, V1.stream()).await;
        assert_eq!(ended.fate(), ("timeout/first_event".into(), s(20)));
    }
}

/// Two layers over one store read the card each in its own way.
#[tokio::test(start_paused = true)]
async fn one_layers_reading_is_not_anothers() {
    let store = stating(r#"{"firstEventTimeout":90,"ms":1500}"#).store();
    let seconds = CardConsistencyLayer::new(store.clone()).first_event(FirstEventExtension::new(URI)).unwrap();
    let ms = FirstEventExtension::new(URI).param("ms").unit(Duration::from_millis(1));
    let ms = CardConsistencyLayer::new(store.clone()).first_event(ms).unwrap();
    let capped = FirstEventExtension::new(URI).cap(s(20));
    let capped = CardConsistencyLayer::new(store).first_event(capped).unwrap();
    for _ in 0..2 {
        assert_eq!(bound(seconds.clone(), V1.stream()).await, s(90));
        assert_eq!(bound(ms.clone(), V1.stream()).await, Duration::from_millis(1500));
        assert_eq!(bound(capped.clone(), V1.stream()).await, s(20));
    }
}

#[test]
fn what_cannot_be_is_refused_when_it_is_set() {
    let cards = Cards::default();
    let error = layer(&cards).first_event(FirstEventExtension::new(URI).cap(Duration::ZERO)).unwrap_err();
    assert_eq!(error.to_string(), "first_event has a cap of zero: no stream could ever begin");
}
