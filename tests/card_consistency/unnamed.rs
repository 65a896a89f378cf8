//! What nobody can name passes, and no card is asked for it.

use a2a_guard::CallLayer;
use tower::{Layer, ServiceExt};

use crate::{
    mock::{Answer, Dialect, MockBody},
    support::{Card, Cards, agent, call, guard, layer, willing},
};

use Dialect::V1;

#[tokio::test(start_paused = true)]
async fn it_passes_without_a_fetch_and_unchanged() {
    let rows = [
        V1.request("GET", "/.well-known/agent-card.json", String::new()),
        V1.request("GET", "/health", String::new()),
        V1.rpc("vendor/describe", ""),
        V1.request("POST", "/a2a", "not json".into()),
    ];
    for request in rows {
        let (uri, cards) = (request.uri().clone(), Cards::default());
        let agent = agent([Answer::new(418, "text/plain", MockBody::new().data("short and stout"))]);
        let ended = call(&mut guard(layer(&cards), &agent), request).await;
        assert_eq!(ended.status.unwrap().as_u16(), 418, "{uri}");
        assert_eq!(ended.bytes(), b"short and stout");
        let sent = agent.requests().pop().unwrap();
        assert_eq!(*sent.uri(), uri);
        assert!(!sent.headers().contains_key("a2a-version"));
        assert_eq!(cards.count(), 0, "{uri}");
    }
}

#[tokio::test(start_paused = true)]
async fn also_where_its_uri_is_relative() {
    let mut request = V1.request("GET", "/health", String::new());
    *request.uri_mut() = "/health".parse().unwrap();
    let agent = agent([Answer::new(200, "text/plain", MockBody::new())]);
    let ended = call(&mut guard(layer(&Cards::default()), &agent), request).await;
    assert_eq!(ended.status.unwrap().as_u16(), 200);
}

/// Over HTTP+JSON the head alone names a call; over JSON-RPC that takes `CallLayer`.
#[tokio::test(start_paused = true)]
async fn without_call_layer_http_json_is_matched_all_the_same() {
    let cards = Cards::default().put(crate::support::ROOT, Card::rest());
    let agent = agent([]);
    let bare = layer(&cards).layer(agent.clone());
    let request = Dialect::Rest.stream().map(a2a_guard::CallBody::unread);
    let error = bare.oneshot(request).await.unwrap_err();
    assert_eq!(error.class().as_str(), "capability_missing");
    assert!(agent.requests().is_empty());

    let agent = willing(1);
    let bare = layer(&Cards::default()).layer(agent.clone());
    bare.oneshot(V1.stream().map(a2a_guard::CallBody::unread)).await.unwrap();
    assert_eq!(agent.requests().len(), 1, "nobody knows what it is");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_its_caller_names_is_matched() {
    let mut request = V1.request("POST", "/a2a", "opaque".into());
    let named = a2a_guard::Call::new()
        .with_operation(a2a_guard::Operation::SendStreamingMessage)
        .with_binding(a2a_guard::Binding::JsonRpc);
    request.extensions_mut().insert(named);
    let agent = willing(0);
    let stack = CallLayer::new().layer(layer(&Cards::of(Card::plain())).layer(agent));
    assert_eq!(stack.oneshot(request).await.unwrap_err().class().as_str(), "capability_missing");
}
