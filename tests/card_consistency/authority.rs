//! Whether a card is more than a hint: the report of each condition.

use std::sync::Arc;

use a2a_guard::{
    CallLayer, ProtocolVersion,
    card_consistency::{
        Authority, AuthorityCondition, AuthorityGap, CardConsistencyLayer, CardKeyRef, CardStore, TransportProof,
        VerifiedTransport,
    },
};
use bytes::Bytes;
use http::{HeaderMap, Request, Uri};
use http_body_util::Full;
use tokio::time::Instant;
use tower::{Layer, ServiceExt};

use crate::{
    mock::{Answer, Dialect, MockBody, s},
    support::{Card, Cards, Page, agent, call, guard, streamed, willing},
};

use Dialect::V1;

fn target() -> Uri {
    Uri::from_static("https://agent.example.com/a2a")
}

/// A store whose client's connector says that it verified this host.
fn verified(cards: &Cards, host: &'static str) -> CardStore {
    let client = cards.clone().map_response(move |mut response| {
        response.extensions_mut().insert(VerifiedTransport::new(host, TransportProof::SubjectAltName));
        response
    });
    CardStore::builder::<_, Full<Bytes>, _>(client).build().unwrap()
}

fn report_for(store: &CardStore, version: ProtocolVersion) -> Authority {
    let (target, none) = (target(), HeaderMap::new());
    let card = store.peek(&CardKeyRef::new(&target, &none)).unwrap();
    card.authority(&target, version, Instant::now())
}

fn report(store: &CardStore) -> String {
    report_for(store, ProtocolVersion::V1_0).to_string()
}

async fn fetched(store: &CardStore, answer: Answer, request: Request<Full<Bytes>>) {
    let agent = agent([answer]);
    let word = call(&mut guard(CardConsistencyLayer::new(store.clone()), &agent), request).await.word();
    assert_eq!(word, "success/success");
}

#[tokio::test(start_paused = true)]
async fn all_conditions_together_make_authority() {
    let store = verified(&Cards::of(Page::from(Card::streaming()).max_age(300)), "agent.example.com");
    fetched(&store, crate::support::done(), V1.send()).await;
    assert_eq!(report(&store), "a hint: probe_missing, streaming_unseen");
    fetched(&store, streamed(), V1.stream()).await;
    assert_eq!(report(&store), "a hint: probe_missing");
    let (target, none) = (target(), HeaderMap::new());
    let key = CardKeyRef::new(&target, &none);
    assert!(store.note_probe(&key, false));
    assert_eq!(report(&store), "a hint: probe_failed");
    assert!(store.note_probe(&key, true));
    assert_eq!(report(&store), "authoritative");
    let authority = report_for(&store, ProtocolVersion::V1_0);
    assert!(authority.is_authoritative() && authority.gaps().is_empty());
    let other = report_for(&store, ProtocolVersion::V0_3);
    assert_eq!(other.to_string(), "a hint: version_differs");
    assert_eq!(other.gaps(), [AuthorityGap::VersionDiffers]);
    assert!(!other.holds(AuthorityCondition::Version) && other.holds(AuthorityCondition::Probe));
    // 300 s from the fetch, whatever traffic there was.
    tokio::time::advance(s(300)).await;
    assert_eq!(report(&store), "a hint: expired");
}

#[tokio::test(start_paused = true)]
async fn the_transport_must_be_verified_for_the_targets_host() {
    let page = || Page::from(Card::plain()).max_age(300);
    let unsaid = Cards::of(page()).store();
    fetched(&unsaid, crate::support::done(), V1.send()).await;
    assert_eq!(report(&unsaid), "a hint: transport_unverified, probe_missing");
    let other = verified(&Cards::of(page()), "cards.example.net");
    fetched(&other, crate::support::done(), V1.send()).await;
    assert_eq!(report(&other), "a hint: transport_of_another_host, probe_missing");
    let same = verified(&Cards::of(page()), "AGENT.example.com");
    fetched(&same, crate::support::done(), V1.send()).await;
    assert_eq!(report(&same), "a hint: probe_missing", "it does not claim to stream");
    // Whoever puts a card in vouches for it.
    let put = Cards::default().store();
    put.put(&target(), Card::plain().json().into()).await.unwrap();
    assert_eq!(report(&put), "a hint: probe_missing");
}

#[tokio::test(start_paused = true)]
async fn a_contradiction_ends_it_and_what_was_seen_is_to_be_seen_again() {
    let cards = Cards::of(Page::from(Card::streaming()).max_age(300));
    let store = verified(&cards, "agent.example.com");
    fetched(&store, streamed(), V1.stream()).await;
    let (target, none) = (target(), HeaderMap::new());
    store.note_probe(&CardKeyRef::new(&target, &none), true);
    assert_eq!(report(&store), "authoritative");
    let refusing = agent([Answer::json(V1.error(-32004))]);
    call(&mut guard(CardConsistencyLayer::new(store.clone()), &refusing), V1.stream()).await;
    assert_eq!(report(&store), "a hint: contradicted");
    fetched(&store, crate::support::done(), V1.send()).await;
    assert_eq!(cards.count(), 2);
    assert_eq!(report(&store), "a hint: probe_missing, streaming_unseen");
}

#[tokio::test(start_paused = true)]
async fn a_renewal_keeps_what_was_seen() {
    let cards = Cards::of(Page::from(Card::streaming()).max_age(10));
    let store = verified(&cards, "agent.example.com");
    fetched(&store, streamed(), V1.stream()).await;
    let (target, none) = (target(), HeaderMap::new());
    store.note_probe(&CardKeyRef::new(&target, &none), true);
    tokio::time::advance(s(10)).await;
    fetched(&store, crate::support::done(), V1.send()).await;
    assert_eq!((cards.count(), report(&store).as_str()), (2, "authoritative"));
}

/// One result that is handed on as a stream is no stream of the agent's.
#[tokio::test(start_paused = true)]
async fn only_a_stream_is_seen_to_stream() {
    use a2a_guard::{CallLayer, TerminalStateLayer};
    use tower::Layer;
    let store = verified(&Cards::of(Page::from(Card::streaming()).max_age(300)), "agent.example.com");
    let ending = TerminalStateLayer::builder().adapt_downgrade(true).build().unwrap();
    let layer = CardConsistencyLayer::new(store.clone());
    let mut service = CallLayer::new().layer(layer.layer(ending.layer(willing(1))));
    assert_eq!(call(&mut service, V1.stream()).await.word(), "success/success");
    assert_eq!(report(&store), "a hint: probe_missing, streaming_unseen");
}

#[tokio::test(start_paused = true)]
async fn no_card_no_report() {
    let store = Arc::new(Cards::default().store());
    let (target, none) = (target(), HeaderMap::new());
    assert!(!store.note_probe(&CardKeyRef::new(&target, &none), true));
}

/// Whatever stands below, only what comes in pieces of an event stream shows that the agent streams.
#[tokio::test(start_paused = true)]
async fn a_stream_is_seen_by_its_first_event() {
    let pieces = |data: &'static str| MockBody::new().wait(s(0)).data(data);
    let whole = |data: &'static str| MockBody::new().data(data);
    let sse = "text/event-stream";
    for (request, status, media, body, seen) in [
        (V1.stream(), 200, sse, pieces("data: {}\n\n"), true),
        (V1.stream(), 200, "application/grpc", pieces("\0\0\0\0\0"), true),
        (V1.stream(), 200, sse, pieces(": be patient\n\n").data("data: {}\n\n"), true),
        (V1.stream(), 200, sse, pieces(": be patient\n\n"), false),
        (V1.stream(), 200, sse, pieces(""), false),
        (V1.stream(), 200, sse, MockBody::new().wait(s(0)).trailers("a", "b"), false),
        (V1.stream(), 200, sse, whole("data: {}\n\n"), false),
        (V1.stream(), 200, "application/json", pieces("{}"), false),
        (V1.stream(), 202, sse, pieces("data: {}\n\n"), false),
        (V1.send(), 200, sse, pieces("data: {}\n\n"), false),
    ] {
        let store = Cards::of(Page::from(Card::streaming()).max_age(300)).store();
        let what = format!("{status} {media} {body:?}");
        let agent = agent([Answer::new(status, media, body)]);
        let layer = CardConsistencyLayer::new(store.clone());
        call(&mut CallLayer::new().layer(layer.layer(agent)), request).await;
        let (target, none) = (target(), HeaderMap::new());
        let card = store.peek(&CardKeyRef::new(&target, &none)).unwrap();
        assert_eq!(card.was_seen_to_stream(), seen, "{what}");
    }
}
