//! What a probe comes to: at these servers, and at a web server that is none of A2A's.

use std::time::Duration;

use a2a_guard::Binding;
use a2a_guard::ProbeCacheLayer;
use a2a_guard::probe_cache::EndpointState;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use axum::{Json, Router};
use futures::future::join_all;
use http::{StatusCode, Uri};
use serde_json::json;
use tokio::net::TcpListener;
use tower::Layer;

use crate::ask::Ask;
use crate::call::{Ended, Patience, Stack};
use crate::client::http;
use crate::line::{Endpoint, Line};
use crate::sdk::{Ports, Server};
use crate::table::{Check, Section};
use crate::tap::Tap;

/// A stack whose probes are seen.
fn watched(at: &Endpoint) -> (Stack, Tap) {
    let tap = Tap::default();
    // However long the calls take, the second probe is none of theirs.
    let long = Duration::from_secs(300);
    let probes = ProbeCacheLayer::builder(tap.layer(http())).back_off(long, long).build().unwrap();
    let mut stack = Stack::new(at);
    stack.probes = probes;
    (stack, tap)
}

async fn call(stack: &Stack, at: &Endpoint, binding: Binding, ask: Ask) -> Ended {
    stack.call(ask.request(at, binding, None), Patience::Long).await
}

fn what(ended: &Ended) -> String {
    if ended.violations.is_empty() { ended.what.clone() } else { ended.violations.join(", ") }
}

/// How the one endpoint stands that the layer has heard of.
fn standing(stack: &Stack) -> String {
    match &stack.probes.endpoints()[..] {
        [entry] => match entry.state {
            EndpointState::Unknown => "unknown".into(),
            EndpointState::Trusted { .. } => "trusted".into(),
            EndpointState::Distrusted { .. } => "distrusted".into(),
            other => format!("{other:?}"),
        },
        others => format!("{others:?}"),
    }
}

/// Each server is trusted after one probe, which it answers as A2A has it.
pub(crate) async fn section(line: Line, server: &Server) -> Section {
    let at = &line.endpoint(server.ports(line.profile()));
    let checks = join_all(at.bindings().iter().map(|binding| trusted(at, *binding))).await;
    Section { title: format!("{}: probed", line.title()), checks: checks.concat(), ..Section::default() }
}

async fn trusted(at: &Endpoint, binding: Binding) -> Vec<Check> {
    let (stack, probes) = watched(at);
    let mut checks = Vec::new();
    let mut check = |about: &str, is: String, must_be: &str| {
        checks.push(Check::same(format!("{}: {about}", binding.as_str()), &*is, must_be));
    };
    // Of calls that come at once, all wait for the one probe.
    let calls = join_all((0..5).map(|_| call(&stack, at, binding, Ask::send("message")))).await;
    let words: Vec<_> = calls.iter().map(what).collect();
    check("five calls to an endpoint that nobody knows", words.join(" "), &["success/success"; 5].join(" "));
    let sent = probes.exchanges();
    let asked: Vec<_> = sent.iter().map(|probe| probe.request.uri.to_string().starts_with(at.base(binding))).collect();
    check("one probe for all, to where they go", format!("{asked:?}"), "[true]");
    check("it is trusted", standing(&stack), "trusted");
    for ask in [Ask::send("task"), Ask::stream("task")] {
        check("a call that follows", what(&call(&stack, at, binding, ask).await), "success/success");
    }
    check("needs no probe", probes.exchanges().len().to_string(), "1");
    checks
}

/// A web server with the card of an agent, and where that was a page for everyone, and 200.
pub(crate) async fn page() -> Result<Section, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| error.to_string())?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    let ports = Ports { http: port, grpc: port, old_grpc: None };
    let wanted = [Line::Lf, Line::Py03].map(|line| line.endpoint(ports));
    let card = Json(card(&wanted));
    let answer = async |uri: Uri| match uri.path().ends_with(".json") {
        true => StatusCode::NOT_FOUND.into_response(),
        false => Html("<!DOCTYPE html><title>Welcome to nginx!</title>").into_response(),
    };
    let app = Router::new().route("/.well-known/agent-card.json", get(card)).fallback(answer);
    let serving = tokio::spawn(async move { axum::serve(listener, app).await });
    // One that speaks HTTP/1.1 alone: over gRPC nobody gets as far as its page.
    let bindings = [Binding::JsonRpc, Binding::HttpJson];
    let wanted = wanted.iter().flat_map(|at| bindings.map(|binding| (at, binding)));
    let checks = join_all(wanted.map(|(at, binding)| distrusted(at, binding))).await;
    serving.abort();
    Ok(Section { title: "A web server where an agent was".into(), checks: checks.concat(), ..Section::default() })
}

async fn distrusted(at: &Endpoint, binding: Binding) -> Vec<Check> {
    let (stack, probes) = watched(at);
    let mut checks = Vec::new();
    let mut check = |about: &str, is: String, must_be: &str| {
        let what = format!("{} {}: {about}", binding.as_str(), at.version);
        checks.push(Check::same(what, &*is, must_be));
    };
    for _ in 0..3 {
        let ended = call(&stack, at, binding, Ask::send("message")).await;
        check("a call", what(&ended), "stale/endpoint_not_conforming");
        check("is not sent", ended.exchanges.len().to_string(), "0");
    }
    check("one probe for all", probes.exchanges().len().to_string(), "1");
    check("it is distrusted", standing(&stack), "distrusted");
    checks
}

fn card(at: &[Endpoint]) -> serde_json::Value {
    let interfaces = at.iter().flat_map(|at| {
        let version = at.version.to_string();
        [
            json!({ "url": at.rpc, "protocolBinding": "JSONRPC", "protocolVersion": version }),
            json!({
                "url": at.rest.trim_end_matches("/v1"), "protocolBinding": "HTTP+JSON", "protocolVersion": version,
            }),
        ]
    });
    json!({
        "name": "an agent", "description": "that moved away", "version": "1.0.0",
        "capabilities": {},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{ "id": "s", "name": "s", "description": "s", "tags": ["s"] }],
        "supportedInterfaces": interfaces.collect::<Vec<_>>(),
    })
}
