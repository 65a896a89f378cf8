//! Whether a card is the target's at all. Each call is judged as if it were the first.

use a2a_guard::{CardFailure, card::UrlPolicy, card_consistency::CardConsistencyLayer};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::{
    mock::Dialect,
    support::{AGENT, Card, Cards, Page, ROOT, call, failure, guard, layer, once, through, willing},
};

use Dialect::{Rest, V1};

fn at(mut request: Request<Full<Bytes>>, uri: &str) -> Request<Full<Bytes>> {
    *request.uri_mut() = uri.parse().unwrap();
    request
}

#[tokio::test(start_paused = true)]
async fn a_card_that_is_another_agents_does_not_count() {
    for (url, field) in [
        ("http://agent.example.com/a2a", "scheme"),
        ("https://other.example.com/a2a", "authority"),
        ("https://agent.example.com:8443/a2a", "authority"),
        ("https://agent.example.com/other", "path"),
        ("https://agent.example.com/A2A", "path"),
    ] {
        let (ended, sent) = once(Card::default().at(url), V1.send()).await;
        assert_eq!((ended.word().as_str(), failure(&ended).field()), ("card/url_mismatch", Some(field)), "{url}");
        assert!(sent.is_none());
    }
    for url in ["https://AGENT.example.com/a2a", "https://agent.example.com:443/a2a"] {
        assert_eq!(once(Card::default().at(url), V1.send()).await.0.word(), "success/success", "{url}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_location_may_have_the_right_one() {
    let cards = Cards::of(Card::default().at("https://agent.example.com/other")).put(ROOT, Card::plain());
    let (ended, _) = through(layer(&cards), V1.send()).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(cards.urls(), [AGENT, ROOT]);
}

#[tokio::test(start_paused = true)]
async fn another_binding_is_another_interface() {
    let (ended, sent) =
        once(Card::default().interface("https://agent.example.com/a2a", "HTTP+JSON", "1.0"), V1.send()).await;
    assert_eq!(ended.word(), "card/no_compatible_interface");
    let CardFailure::NoCompatibleInterface { offered, wanted, .. } = failure(&ended) else { panic!("{ended:?}") };
    assert_eq!((offered[0].0.as_str(), wanted[0].0.as_str()), ("HTTP+JSON", "JSONRPC"));
    assert!(sent.is_none());
}

/// Both bindings at one host: a call over the one, refused, says nothing about calls over the other.
#[tokio::test(start_paused = true)]
async fn a_card_counts_for_all_bindings_or_for_none() {
    let card = Card::default().at("https://agent.example.com/rpc").interface(
        "https://agent.example.com/a2a",
        "HTTP+JSON",
        "1.0",
    );
    let cards = Cards::of(Page::from(card).max_age(300));
    let agent = crate::support::agent([crate::support::rest_done()]);
    let mut service = guard(layer(&cards), &agent);
    let ended = call(&mut service, V1.send()).await;
    assert!(ended.word().starts_with("card/"), "{}", ended.word());
    let rest = at(Rest.send(), "https://agent.example.com/a2a/message:send");
    assert_eq!(call(&mut service, rest).await.word(), "success/success");
    assert_eq!(cards.count(), 1, "what the first found is kept for the second");
}

/// They find the same card, and are not the same place.
#[tokio::test(start_paused = true)]
async fn a_call_does_not_pass_for_one_that_passed_before_it() {
    for uri in ["https://user:pw@agent.example.com/a2a", "https://agent.example.com/a2a/"] {
        let fresh = through(layer(&Cards::of(Card::plain())), at(V1.send(), uri)).await.0.word();
        let cards = Cards::of(Page::from(Card::plain()).max_age(300));
        let agent = willing(2);
        let mut service = guard(layer(&cards), &agent);
        assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
        assert_eq!(call(&mut service, at(V1.send(), uri)).await.word(), fresh, "{uri} after another call");
    }
    let card = || Card::default().interface("https://agent.example.com/a2a", "HTTP+JSON", "1.0");
    let good = "https://agent.example.com/a2a/message:send";
    for uri in ["https://agent.example.com/a2a//message:send", "https://user:pw@agent.example.com/a2a/message:send"] {
        let fresh = through(layer(&Cards::of(card())), at(Rest.send(), uri)).await.0.word();
        let agent = crate::support::agent([crate::support::rest_done(), crate::support::rest_done()]);
        let mut service = guard(layer(&Cards::of(Page::from(card()).max_age(300))), &agent);
        assert_eq!(call(&mut service, at(Rest.send(), good)).await.word(), "success/success");
        assert_eq!(call(&mut service, at(Rest.send(), uri)).await.word(), fresh, "{uri} after another call");
    }
}

/// A store is shared, its layers' policies are not.
#[tokio::test(start_paused = true)]
async fn what_one_layer_allows_another_does_not() {
    let store = Cards::of(Page::from(Card::default().at("http://agent.example.com/a2a")).max_age(300)).store();
    let strict = CardConsistencyLayer::new(store);
    let lenient = strict.clone().urls(UrlPolicy::strict().allow_plaintext());
    let agent = willing(3);
    for (layer, word) in [(&lenient, "success/success"), (&strict, "card/url_mismatch"), (&lenient, "success/success")]
    {
        assert_eq!(call(&mut guard(layer.clone(), &agent), V1.send()).await.word(), word);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_card_is_told_apart() {
    for (page, word) in [
        (Page::status(404), "card/not_found"),
        (Page::status(401), "card/unauthorized"),
        (Page::status(403), "card/unauthorized"),
        (Page::status(500), "card/http_status"),
        (Page::status(302).header("location", "https://agent.example.com/x"), "card/http_status"),
        (Page::text("<h1>", "text/html"), "card/not_json"),
        (Page::text("{", "application/json"), "card/not_json"),
        (Page::text("{}", "application/json"), "card/missing_field"),
        (Page::text("x".repeat(300_000), "application/json"), "card/too_large"),
        (Page::fails(std::io::ErrorKind::ConnectionRefused), "transport/connect"),
        (Page::fails(std::io::ErrorKind::ConnectionReset), "transport/connection_lost"),
    ] {
        let (ended, sent) = once(page, V1.send()).await;
        assert_eq!(ended.word(), word);
        assert!(!ended.error().work_may_have_started(), "{word}");
        assert!(sent.is_none());
    }
}
