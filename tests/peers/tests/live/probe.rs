//! Endpoints are probed as they are called, and skills are known from the calls.

use std::net::{Ipv4Addr, SocketAddr};

use a2a_guard::probe_cache::{Availability, EndpointState, ProbeCacheBuilder, SkillKey};
use a2a_guard::{Binding, Call, CallBody, CallError, CallLayer, ProbeCacheLayer, TerminalStateLayer};
use a2a_guard_peers::Profile;
use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tower::{ServiceBuilder, ServiceExt};

use crate::ask::Ask;
use crate::caller::{Peer, client};

over_both_bindings! {
    a_server_is_trusted_after_one_probe
    so_it_is_after_a_message_probe
    a_refusal_about_a_task_leaves_the_skill
    a_stream_that_is_refused_drops_it
    a_page_is_no_agent
}

fn builder() -> ProbeCacheBuilder {
    ProbeCacheLayer::builder(client::<CallBody<Full<Bytes>>>())
}

/// One call, its body read.
async fn call(layer: &ProbeCacheLayer, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, CallError> {
    let agent = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(layer.clone())
        .layer(TerminalStateLayer::new())
        .service(client::<CallBody<Full<Bytes>>>());
    let (head, body) = agent.oneshot(request).await?.into_parts();
    Ok(Response::from_parts(head, body.collect().await?.to_bytes()))
}

fn skilled(mut request: Request<Full<Bytes>>) -> (Request<Full<Bytes>>, SkillKey) {
    request.extensions_mut().insert(Call::new().with_skill("work").with_region("here"));
    let key = SkillKey::of(request.uri(), "work").unwrap().in_region("here");
    (request, key)
}

async fn a_server_is_trusted_after_one_probe(binding: Binding) {
    let peer = Peer::full(binding).await;
    let layer = builder().build().unwrap();
    for ask in [Ask::Send("task"), Ask::Stream("task"), Ask::Send("message"), Ask::List("nothing")] {
        call(&layer, ask.request(&peer.server, binding)).await.unwrap();
    }
    assert_eq!(layer.availability().stats().probes, 1);
    let endpoints = layer.endpoints();
    assert!(matches!(endpoints[..], [ref one] if matches!(one.state, EndpointState::Trusted { .. })), "{endpoints:?}");
    // Not by the calls alone: one that fails finds it trusted as well.
    let layer = builder().build().unwrap();
    call(&layer, Ask::Get("nobody").request(&peer.server, binding)).await.unwrap_err();
    assert!(matches!(layer.endpoints()[0].state, EndpointState::Trusted { .. }));
}

async fn so_it_is_after_a_message_probe(binding: Binding) {
    let peer = Peer::full(binding).await;
    let layer = builder().message_probe().build().unwrap();
    call(&layer, Ask::Get("nobody").request(&peer.server, binding)).await.unwrap_err();
    assert!(matches!(layer.endpoints()[0].state, EndpointState::Trusted { .. }));
}

async fn a_refusal_about_a_task_leaves_the_skill(binding: Binding) {
    let peer = Peer::full(binding).await;
    let layer = builder().build().unwrap();
    let task = &peer.task("task").await;
    let (request, key) = skilled(Ask::Send("task").request(&peer.server, binding));
    call(&layer, request).await.unwrap();
    for ask in [Ask::Subscribe(task), Ask::FollowUp { task, text: "more" }] {
        let error = call(&layer, skilled(ask.request(&peer.server, binding)).0).await.unwrap_err();
        assert_eq!((error.outcome().as_str(), error.code().unwrap_or(-32004)), ("refused", -32004), "{error}");
        assert!(matches!(layer.availability().get(&key), Availability::Available { .. }));
    }
}

async fn a_stream_that_is_refused_drops_it(binding: Binding) {
    let peer = Peer::start(Profile::Bare, binding).await;
    let layer = builder().build().unwrap();
    let (request, key) = skilled(Ask::Send("task").request(&peer.server, binding));
    call(&layer, request).await.unwrap();
    assert!(matches!(layer.availability().get(&key), Availability::Available { .. }));
    let error = call(&layer, skilled(Ask::Stream("task").request(&peer.server, binding)).0).await.unwrap_err();
    assert_eq!((error.outcome().as_str(), error.class().as_str()), ("refused", "peer_error"), "{error}");
    assert_eq!(layer.availability().get(&key), Availability::Unknown);
}

/// What nginx shows who has not set it up yet.
async fn a_page_is_no_agent(binding: Binding) {
    let (address, _serving) = page().await;
    let layer = builder().build().unwrap();
    let request = || {
        let (path, body) = match binding {
            Binding::JsonRpc => (
                "/rpc",
                r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}}"#,
            ),
            _ => ("/message:send", r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}"#),
        };
        let mut request = Request::post(format!("http://{address}{path}")).body(Full::from(body)).unwrap();
        request.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
        request.headers_mut().insert("a2a-version", HeaderValue::from_static("1.0"));
        request
    };
    for _ in 0..2 {
        let error = call(&layer, request()).await.unwrap_err();
        let CallError::Stale(stale) = &error else { panic!("{error}") };
        assert_eq!(
            (stale.class().as_str(), stale.seen()),
            ("endpoint_not_conforming", Some("HTTP 200 text/html; charset=utf-8"))
        );
    }
    assert_eq!(layer.availability().stats().probes, 1);
    assert!(matches!(layer.endpoints()[0].state, EndpointState::Distrusted { .. }));
}

/// A page with 200 for whoever asks whatever.
async fn page() -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let page = || async { axum::response::Html("<!DOCTYPE html><title>Welcome to nginx!</title>") };
    let serving = tokio::spawn(async move {
        axum::serve(listener, axum::Router::new().fallback(page)).await.unwrap();
    });
    (address, serving)
}
