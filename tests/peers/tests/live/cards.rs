//! The server's card, as the card layer finds it, keeps it, asks for it again, and ceases to trust it.

use std::time::Duration;

use a2a_guard::card_consistency::{CardConsistencyLayer, CardStore};
use a2a_guard::{Binding, CallBody, CallError, CallLayer, TerminalStateLayer};
use a2a_guard_peers::Profile;
use bytes::Bytes;
use futures::future::join_all;
use http::header::{CACHE_CONTROL, IF_NONE_MATCH};
use http_body_util::{BodyExt, Full};
use tower::{Layer, ServiceBuilder, ServiceExt};

use crate::ask::Ask;
use crate::caller::{Peer, client};
use crate::tap::Tap;

over_both_bindings! {
    found_and_kept
    one_fetch_for_all
    asked_for_again_with_its_etag
    what_it_does_not_declare_is_not_sent
    a_refusal_that_contradicts_it
}

const CURRENT: &str = "/.well-known/agent-card.json";

/// A store, and what it asked.
fn watched(max_age: Duration) -> (CardStore, Tap) {
    let tap = Tap::default();
    let store = CardStore::builder(tap.layer(client::<CallBody<Full<Bytes>>>())).max_age(max_age).build().unwrap();
    (store, tap)
}

/// Through all layers; what was sent to the agent is in `tap`.
async fn call(peer: &Peer, store: &CardStore, tap: &Tap, ask: Ask<'_>) -> Result<Bytes, CallError> {
    let response = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(CardConsistencyLayer::new(store.clone()))
        .layer(TerminalStateLayer::builder().limits(peer.limits.clone()).build().unwrap())
        .layer(tap.clone())
        .service(client::<CallBody<Full<Bytes>>>())
        .oneshot(ask.request(&peer.server, peer.binding))
        .await?;
    Ok(response.into_body().collect().await?.to_bytes())
}

fn base(binding: Binding) -> &'static str {
    if binding == Binding::JsonRpc { "/rpc" } else { "/rest" }
}

/// First below the path of the target, which this server does not know, then at its origin.
async fn found_and_kept(binding: Binding) {
    let peer = Peer::full(binding).await;
    let (store, cards) = watched(Duration::from_secs(60));
    for ask in [Ask::Send("task"), Ask::Stream("task"), Ask::ExtendedCard] {
        call(&peer, &store, &Tap::default(), ask).await.unwrap();
    }
    let asked: Vec<_> = cards.requests().iter().map(|request| request.uri.path().to_owned()).collect();
    assert_eq!(asked, [format!("{}{CURRENT}", base(binding)), CURRENT.to_owned()]);
    let [entry] = &store.snapshot()[..] else { panic!("one card: {:?}", store.snapshot()) };
    assert_eq!(entry.location.as_ref().map(|location| location.path()), Some(CURRENT));
    assert!(entry.failure.is_none() && !entry.distrusted && !entry.by_credential);
}

async fn one_fetch_for_all(binding: Binding) {
    let peer = Peer::full(binding).await;
    let (store, cards) = watched(Duration::from_secs(60));
    let calls = (0..50).map(|_| async { call(&peer, &store, &Tap::default(), Ask::Send("message")).await });
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    assert_eq!((store.stats().searches, cards.requests().len()), (1, 2));
}

/// The server writes an ETag of the card's version, and answers with all of it whatever it is asked: no 304 to count
/// on.
async fn asked_for_again_with_its_etag(binding: Binding) {
    let peer = Peer::full(binding).await;
    let age = Duration::from_millis(1_500);
    let (store, cards) = watched(age);
    call(&peer, &store, &Tap::default(), Ask::Send("message")).await.unwrap();
    tokio::time::sleep(age).await;
    call(&peer, &store, &Tap::default(), Ask::Send("message")).await.unwrap();
    let requests = cards.requests();
    let conditions: Vec<_> = requests.iter().map(|request| request.headers.get(IF_NONE_MATCH)).collect();
    assert_eq!(conditions[..2], [None, None]);
    assert_eq!(conditions.last().unwrap().unwrap(), "\"1.0.0\"");
    let stats = store.stats();
    assert_eq!((stats.searches, stats.not_modified, stats.failures), (2, 0, 0));
}

async fn what_it_does_not_declare_is_not_sent(binding: Binding) {
    let peer = Peer::start(Profile::Bare, binding).await;
    let (store, _) = watched(Duration::from_secs(60));
    for ask in [Ask::Stream("task"), Ask::Subscribe("task-1"), Ask::CreatePush("task-1"), Ask::ExtendedCard] {
        let sent = Tap::default();
        let error = call(&peer, &store, &sent, ask).await.unwrap_err();
        assert_eq!((error.outcome().as_str(), error.class().as_str()), ("card", "capability_missing"), "{error}");
        assert!(sent.requests().is_empty(), "{ask:?} was sent");
    }
    let sent = Tap::default();
    call(&peer, &store, &sent, Ask::Send("task")).await.unwrap();
    assert_eq!(sent.requests().len(), 1);
}

/// The card is asked for anew by the next call, past every cache and without a validator; not by those that follow.
async fn a_refusal_that_contradicts_it(binding: Binding) {
    let peer = Peer::start(Profile::ExtendedCardMissing, binding).await;
    let (store, cards) = watched(Duration::from_secs(60));
    let error = call(&peer, &store, &Tap::default(), Ask::ExtendedCard).await.unwrap_err();
    assert_eq!(error.reason(), Some("EXTENDED_AGENT_CARD_NOT_CONFIGURED"), "{error}");
    assert_eq!(store.stats().distrusted, 1);
    let before = cards.requests().len();
    for _ in 0..3 {
        call(&peer, &store, &Tap::default(), Ask::Send("message")).await.unwrap();
    }
    let anew = cards.requests().split_off(before);
    let at_origin: Vec<_> = anew.iter().filter(|request| request.uri.path() == CURRENT).collect();
    let [request] = at_origin[..] else { panic!("once: {anew:?}") };
    assert_eq!(request.headers[CACHE_CONTROL], "no-cache");
    assert!(!request.headers.contains_key(IF_NONE_MATCH));
    assert_eq!(store.stats().forced, 1);
}
