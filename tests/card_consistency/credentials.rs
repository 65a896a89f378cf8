//! Credentials go to the call's own target, and for a card only where they are asked for there.

use a2a_guard::{
    card::{Origin, UrlPolicy},
    card_consistency::{CardConsistencyLayer, Route},
};
use bytes::Bytes;
use http::{HeaderName, Request};
use http_body_util::Full;

use crate::{
    mock::Dialect,
    support::{AGENT, Card, Cards, Page, ROOT, layer, through},
};

use Dialect::V1;

const SECRETS: [(&str, &str); 4] = [
    ("authorization", "Bearer s3cret"),
    ("proxy-authorization", "Basic s3cret"),
    ("cookie", "id=s3cret"),
    ("x-api-key", "s3cret"),
];

fn with_secrets() -> Request<Full<Bytes>> {
    let mut request = V1.send();
    for (name, value) in SECRETS {
        request.headers_mut().insert(HeaderName::from_static(name), value.parse().unwrap());
    }
    request
}

/// Where requests for a card had a secret in them.
fn told(cards: &Cards) -> Vec<String> {
    let secret = |asked: &crate::support::Asked| {
        asked.url.contains("s3cret") || asked.headers.values().any(|value| value.to_str().unwrap().contains("s3cret"))
    };
    cards.asked().iter().filter(|asked| secret(asked)).map(|asked| asked.url.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_public_card_is_fetched_without_them_and_the_call_has_them() {
    let cards = Cards::of(Card::plain());
    let (_, sent) = through(layer(&cards), with_secrets()).await;
    assert!(told(&cards).is_empty());
    let sent = sent.unwrap();
    for (name, value) in SECRETS {
        assert_eq!(sent.headers()[name], value);
    }
}

#[tokio::test(start_paused = true)]
async fn a_401_of_the_target_is_answered_with_them() {
    let cards = Cards::of(Page::status(401));
    let (ended, sent) = through(layer(&cards), with_secrets()).await;
    assert_eq!(ended.word(), "card/unauthorized");
    assert_eq!(told(&cards), [AGENT], "the second time, and nowhere else");
    assert_eq!(cards.urls(), [AGENT, AGENT]);
    assert!(sent.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_401_of_anybody_else_is_not() {
    let host = "https://cards.example.net/agent.example.com/agent-card.json";
    let cards = Cards::of(Card::plain()).put(host, Page::status(401));
    let store = cards.builder().location_template("https://cards.example.net/{host}/agent-card.json").build().unwrap();
    through(CardConsistencyLayer::new(store), with_secrets()).await;
    assert!(cards.urls().contains(&host.to_owned()));
    assert!(told(&cards).is_empty());
}

/// Neither the card that is a hint nor the card of the place that it names gets them, whatever they answer.
#[tokio::test(start_paused = true)]
async fn a_hint_does_not_lead_them_astray() {
    let evil = "https://evil.example.net/a2a";
    let evil_card = "https://evil.example.net/a2a/.well-known/agent-card.json";
    let cards = Cards::default().put(ROOT, Card::default().at(evil)).put(evil_card, Page::status(401));
    let base = "https://agent.example.com".parse().unwrap();
    let routed = layer(&cards).resolver(Route::new(cards.store(), base));
    let (ended, sent) = through(routed, with_secrets()).await;
    assert_eq!(ended.word(), "card/url_mismatch");
    assert!(sent.is_none());
    assert!(told(&cards).is_empty());
    assert_eq!(cards.urls(), [ROOT]);
}

/// That origin was named by the user.
#[tokio::test(start_paused = true)]
async fn a_named_origin_is_asked_as_any_target() {
    let there = "https://agents.example.net/a2a";
    let own = "https://agents.example.net/a2a/.well-known/agent-card.json";
    let cards = Cards::default().put(ROOT, Card::default().at(there)).put(own, Card::default().at(there));
    let urls = UrlPolicy::strict().allow_other_origin(Origin::parse("https://agents.example.net").unwrap());
    let base = "https://agent.example.com".parse().unwrap();
    let (ended, sent) =
        through(layer(&cards).resolver(Route::new(cards.store(), base).urls(urls)), with_secrets()).await;
    assert_eq!(ended.word(), "success/success");
    assert!(told(&cards).is_empty());
    assert!(sent.unwrap().headers().contains_key("authorization"));
}

#[tokio::test(start_paused = true)]
async fn redirects_are_not_followed() {
    let cards = Cards::of(Page::status(307).header("location", "https://evil.example.net/card.json"));
    let (ended, _) = through(layer(&cards), with_secrets()).await;
    assert_eq!(ended.word(), "card/http_status");
    assert_eq!(cards.urls(), [AGENT]);
}

/// A card that is shown to one credential is nobody else's.
#[tokio::test(start_paused = true)]
async fn a_private_card_is_not_shared() {
    use crate::support::{call, guard, willing};
    let cards = Cards::of(Page::from(Card::plain()).header("cache-control", "private, max-age=300"));
    let agent = willing(3);
    let mut service = guard(layer(&cards), &agent);
    for (who, fetches) in [("one", 1), ("one", 1), ("two", 2)] {
        let mut request = V1.send();
        request.headers_mut().insert("authorization", format!("Bearer {who}").parse().unwrap());
        assert_eq!(call(&mut service, request).await.word(), "success/success");
        assert_eq!(cards.count(), fetches, "{who}");
    }
}

#[tokio::test(start_paused = true)]
async fn errors_tell_no_secret() {
    let cards = Cards::default();
    let mut request = with_secrets();
    *request.uri_mut() = "https://agent.example.com/a2a?key=s3cret".parse().unwrap();
    let (ended, _) = through(layer(&cards), request).await;
    let error = ended.error();
    for text in [error.to_string(), format!("{error:?}"), format!("{:?}", error.call())] {
        assert!(!text.contains("s3cret"), "{text}");
    }
}
