//! The same handle, again: it remembers what its last call went by, and nothing that is no longer so.

use a2a_guard::card_consistency::{CardConsistencyLayer, CardKeyRef};
use bytes::Bytes;
use http::{HeaderName, Request, Uri};
use http_body_util::Full;

use crate::{
    mock::{Dialect, s},
    support::{AGENT, Card, Cards, Page, agent, call, done, guard, layer, streamed, willing},
};

use Dialect::V1;

fn target() -> Uri {
    Uri::from_static("https://agent.example.com/a2a")
}

fn held_long(card: Card) -> Page {
    Page::from(card).max_age(300)
}

fn with(name: &'static str, value: &'static str) -> Request<Full<Bytes>> {
    let mut request = V1.send();
    request.headers_mut().insert(HeaderName::from_static(name), value.parse().unwrap());
    request
}

/// Two calls, each of which goes well: the second goes by what the first one left.
async fn twice<S, B>(service: &mut S)
where
    S: tower::Service<Request<Full<Bytes>>, Response = http::Response<B>, Error = a2a_guard::CallError>,
    B: http_body::Body<Data = Bytes, Error = a2a_guard::CallError> + Unpin,
{
    for _ in 0..2 {
        assert_eq!(call(service, V1.send()).await.word(), "success/success");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_thrown_away_is_fetched_again() {
    let cards = Cards::of(held_long(Card::plain()));
    let store = cards.store();
    let mut service = guard(CardConsistencyLayer::new(store.clone()), &willing(10));
    twice(&mut service).await;
    assert_eq!(cards.count(), 1);
    assert!(store.forget(&target()));
    twice(&mut service).await;
    assert_eq!(cards.count(), 2);
    store.clear();
    twice(&mut service).await;
    assert_eq!(cards.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_card_that_was_put_in_counts_from_the_next_call_on() {
    let cards = Cards::of(held_long(Card::streaming()));
    let store = cards.store();
    let agent = agent([done(), done(), streamed(), streamed()]);
    let mut service = guard(CardConsistencyLayer::new(store.clone()), &agent);
    twice(&mut service).await;
    assert_eq!(call(&mut service, V1.stream()).await.word(), "success/success");
    store.put(&target(), Card::plain().json().into()).await.unwrap();
    assert_eq!(call(&mut service, V1.stream()).await.word(), "card/capability_missing");
    store.put(&target(), Card::streaming().json().into()).await.unwrap();
    assert_eq!(call(&mut service, V1.stream()).await.word(), "success/success");
    assert_eq!(cards.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_card_that_was_refreshed_counts_from_the_next_call_on() {
    let cards = Cards::of(held_long(Card::streaming()));
    let store = cards.store();
    let mut service = guard(CardConsistencyLayer::new(store.clone()), &agent([done(), done(), streamed()]));
    twice(&mut service).await;
    cards.change(held_long(Card::plain()));
    assert_eq!(call(&mut service, V1.stream()).await.word(), "success/success");
    let ask = a2a_guard::card_consistency::CardAsk::new(target(), V1.send().headers().clone());
    store.refresh(ask).await.unwrap();
    assert_eq!(call(&mut service, V1.stream()).await.word(), "card/capability_missing");
}

#[tokio::test(start_paused = true)]
async fn a_card_that_somebody_distrusts_is_read_anew_by_the_next_call() {
    let cards = Cards::of(held_long(Card::plain()));
    let store = cards.store();
    let mut service = guard(CardConsistencyLayer::new(store.clone()), &willing(10));
    twice(&mut service).await;
    let (target, headers) = (target(), http::HeaderMap::new());
    let held = store.held(&CardKeyRef::new(&target, &headers), tokio::time::Instant::now()).unwrap();
    store.distrust(&held);
    twice(&mut service).await;
    assert_eq!(cards.count(), 2);
}

/// To the second, and also after a renewal in place.
#[tokio::test(start_paused = true)]
async fn a_card_is_gone_by_for_as_long_as_it_is_fresh() {
    let cards = Cards::of(Page::from(Card::plain()).max_age(60).header("etag", "\"1\""));
    let mut service = guard(layer(&cards), &willing(14));
    twice(&mut service).await;
    tokio::time::advance(s(59)).await;
    twice(&mut service).await;
    assert_eq!(cards.count(), 1);
    cards.change(Page::status(304).max_age(10));
    tokio::time::advance(s(1)).await;
    twice(&mut service).await;
    assert_eq!(cards.count(), 2);
    tokio::time::advance(s(9)).await;
    twice(&mut service).await;
    assert_eq!(cards.count(), 2);
    tokio::time::advance(s(1)).await;
    twice(&mut service).await;
    assert_eq!(cards.count(), 3);
    tokio::time::advance(s(11)).await;
    twice(&mut service).await;
    assert_eq!(cards.count(), 4, "and also long after it");
}

#[tokio::test(start_paused = true)]
async fn calls_that_differ_are_told_apart_in_turn() {
    // Two agents on one host; one card is nowhere.
    let cards = Cards::of(held_long(Card::plain()));
    let mut service = guard(layer(&cards), &willing(20));
    let to = |uri: &str| {
        let mut request = V1.send();
        *request.uri_mut() = uri.parse().unwrap();
        request
    };
    for _ in 0..3 {
        for (uri, word) in [
            ("https://agent.example.com/a2a", "success/success"),
            ("https://AGENT.example.com:443/a2a", "success/success"),
            ("https://agent.example.com/a2b", "card/not_found"),
            ("https://agent.example.com:8443/a2a", "card/not_found"),
            ("http://agent.example.com/a2a", "card/not_found"),
        ] {
            assert_eq!(call(&mut service, to(uri)).await.word(), word, "{uri}");
        }
        // Another version, which the card does not have.
        assert_eq!(call(&mut service, Dialect::V03.send()).await.word(), "card/unsupported_version");
        // Another capability, which it does not declare.
        assert_eq!(call(&mut service, V1.stream()).await.word(), "card/capability_missing");
    }
}

#[tokio::test(start_paused = true)]
async fn each_tenant_and_each_credential_keeps_its_own_card() {
    let cards = Cards::default().put_for("a", AGENT, held_long(Card::streaming())).put_for(
        "b",
        AGENT,
        held_long(Card::plain()),
    );
    let store = cards.builder().tenant_headers([HeaderName::from_static("x-tenant")]).build().unwrap();
    let mut service = guard(CardConsistencyLayer::new(store), &agent((0..3).map(|_| streamed())));
    for _ in 0..3 {
        for (tenant, word) in [("a", "success/success"), ("b", "card/capability_missing")] {
            let mut request = V1.stream();
            request.headers_mut().insert("x-tenant", tenant.parse().unwrap());
            assert_eq!(call(&mut service, request).await.word(), word, "{tenant}");
        }
    }
    assert_eq!(cards.count(), 2);

    let private = |card: Card| Page::from(card).header("cache-control", "private, max-age=300");
    let cards = Cards::of(Page::status(401)).put_to("a", AGENT, private(Card::plain())).put_to(
        "b",
        AGENT,
        private(Card::plain().version("2")),
    );
    let mut service = guard(layer(&cards), &willing(10));
    for credential in ["a", "b", "a", "b", "a"] {
        assert_eq!(call(&mut service, with("authorization", credential)).await.word(), "success/success");
    }
    assert_eq!(call(&mut service, V1.send()).await.word(), "card/unauthorized");
}

/// Layers that share a store, and hold its cards to different rules.
#[tokio::test(start_paused = true)]
async fn one_layers_word_is_not_anothers() {
    use a2a_guard::{Binding, Capability, card_consistency::Admission};
    let cards = Cards::of(held_long(Card::streaming()));
    let store = cards.store();
    let lenient = CardConsistencyLayer::new(store.clone());
    let admission = Admission::new(Capability::Streaming).bindings([Binding::HttpJson]);
    let narrow = CardConsistencyLayer::new(store).admit(admission);
    let (mut lenient, mut narrow) =
        (guard(lenient, &agent([streamed(), streamed()])), guard(narrow, &agent([done(), done()])));
    for _ in 0..2 {
        assert_eq!(call(&mut narrow, V1.send()).await.word(), "success/success");
        assert_eq!(call(&mut lenient, V1.stream()).await.word(), "success/success");
        assert_eq!(call(&mut narrow, V1.stream()).await.word(), "card/shape_not_admitted");
    }
}
