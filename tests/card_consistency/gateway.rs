//! A gateway's card speaks for many tenants. What counts is the card of the place that a call goes to.

use a2a_guard::{
    Capability, CardFailure,
    card_consistency::{CardConsistencyLayer, Route},
};

use crate::{
    mock::{Answer, Dialect, s},
    support::{Card, Cards, Page, agent, call, failure, guard, layer, streamed, willing},
};

use Dialect::V1;

const GATEWAY: &str = "https://agent.example.com/.well-known/agent-card.json";
const OWN: &str = "https://agent.example.com/a2a/.well-known/agent-card.json";

/// The gateway says that all of its tenants stream.
fn union() -> Card {
    Card::streaming().at("https://agent.example.com/other")
}

/// By way of the gateway's card to the place that it names.
fn routed(cards: &Cards) -> CardConsistencyLayer<Route> {
    let base = "https://agent.example.com".parse().unwrap();
    layer(cards).resolver(Route::new(cards.store(), base))
}

#[tokio::test(start_paused = true)]
async fn what_the_gateway_says_and_the_tenants_own_card_does_not_is_not_sent() {
    let cards = Cards::default().put(GATEWAY, union()).put(OWN, Card::plain());
    let agent = willing(1);
    let mut service = guard(routed(&cards), &agent);

    let ended = call(&mut service, V1.stream()).await;
    assert_eq!(ended.word(), "card/capability_missing");
    assert!(matches!(failure(&ended), CardFailure::CapabilityMissing { capability: Capability::Streaming, .. }));
    assert!(agent.requests().is_empty(), "a request was dispatched");
    assert_eq!(cards.urls(), [GATEWAY, OWN], "the hint, then the target's own card");

    // What its card does declare goes through.
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
    assert_eq!(agent.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_both_say_is_sent() {
    let cards = Cards::default().put(GATEWAY, union()).put(OWN, Card::streaming());
    let agent = agent([streamed()]);
    let ended = call(&mut guard(routed(&cards), &agent), V1.stream()).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(agent.requests().len(), 1);
}

/// One URL for all; a header says whose call it is, and whose card is shown.
#[tokio::test(start_paused = true)]
async fn a_tenant_header_shows_each_tenants_own_card() {
    let cards = Cards::default().put(OWN, Card::streaming()).put_for("acme", OWN, Card::plain()).put_for(
        "globex",
        OWN,
        Card::streaming(),
    );
    let store = cards.builder().tenant_headers([http::HeaderName::from_static("x-tenant")]).build().unwrap();
    let agent = agent([streamed(), streamed()]);
    let mut service = guard(CardConsistencyLayer::new(store), &agent);
    for (tenant, word) in [
        (None, "success/success"),
        (Some("acme"), "card/capability_missing"),
        (Some("globex"), "success/success"),
        (Some("acme"), "card/capability_missing"),
        (Some("initech"), "card/not_found"),
    ] {
        let mut request = V1.stream();
        if let Some(tenant) = tenant {
            request.headers_mut().insert("x-tenant", tenant.parse().unwrap());
        }
        assert_eq!(call(&mut service, request).await.word(), word, "{tenant:?}");
    }
    assert_eq!(agent.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn without_a_card_of_its_own_the_gateways_does_not_stand_in() {
    // The gateway's card names another place only.
    let cards = Cards::default().put(GATEWAY, Card::default().at("https://agent.example.com/other").with("streaming"));
    let agent = willing(1);
    let ended = call(&mut guard(layer(&cards), &agent), V1.send()).await;
    assert_eq!(ended.word(), "card/url_mismatch");
    let CardFailure::UrlMismatch { field, card_url, target_url, .. } = failure(&ended) else { panic!("{ended:?}") };
    assert_eq!(
        (*field, &**card_url, &**target_url),
        ("path", "https://agent.example.com/other", "https://agent.example.com/a2a")
    );
    assert!(agent.requests().is_empty());
}

/// Its card may be kept for a day, and the capability is gone within the hour.
#[tokio::test(start_paused = true)]
async fn a_capability_that_is_withdrawn_is_refused_after_300_s_at_most() {
    for (after, word) in [(Page::from(Card::plain()), "card/capability_missing"), (Page::status(404), "card/not_found")]
    {
        let cards = Cards::of(Page::from(Card::streaming()).max_age(86_400));
        let agent = agent([streamed(), streamed()]);
        let mut service = guard(layer(&cards), &agent);
        assert_eq!(call(&mut service, V1.stream()).await.word(), "success/success");
        cards.change(after);

        tokio::time::advance(s(299)).await;
        assert_eq!(call(&mut service, V1.stream()).await.word(), "success/success", "nobody was told");
        let asked = cards.count();
        assert_eq!(asked, 1);
        tokio::time::advance(s(1)).await;
        assert_eq!(call(&mut service, V1.stream()).await.word(), word);
        assert!(cards.count() > asked);
        assert_eq!(agent.requests().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_capability_that_is_withdrawn_is_refused_at_once_after_a_contradicting_refusal() {
    let cards = Cards::of(Page::from(Card::streaming()).max_age(86_400).header("etag", "\"1\""));
    let agent = agent([streamed(), Answer::json(V1.error(-32004))]);
    let mut service = guard(layer(&cards), &agent);
    assert_eq!(call(&mut service, V1.stream()).await.word(), "success/success");
    cards.change(Card::plain());
    assert_eq!(call(&mut service, V1.stream()).await.word(), "refused/peer_error", "nobody was told before");
    assert_eq!(call(&mut service, V1.stream()).await.word(), "card/capability_missing");
    assert_eq!(agent.requests().len(), 2);

    let asked = cards.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!((asked[1].header("cache-control"), asked[1].header("if-none-match")), (Some("no-cache"), None));
}
