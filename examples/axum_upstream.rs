//! An axum agent that delegates to another one. Whatever that one does, its own callers get A2A's answers.
//!
//! The agent has its own card and its own address; what is asked of it goes through the layers to the agent behind. The
//! service cannot fail, so it is an axum service as it is.
//!
//! ```text
//! cargo run --example axum_upstream --features hyper
//! ```

use std::time::Duration;

use a2a_guard::{CallBody, CallLayer, Limits, RefusalResponseLayer, TerminalStateLayer};
use axum::{Router, body::Body, http::Request, routing::get};
use bytes::Bytes;
use http::uri::{Authority, Scheme};
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tower::ServiceBuilder;

#[allow(dead_code, reason = "shared with others that use more of it")]
#[path = "support/peer.rs"]
mod peer;

use peer::{End, Peer, Script};

/// An agent that asks the one at `upstream`.
fn agent(upstream: Authority) -> Result<Router, a2a_guard::ConfigError> {
    let client = Client::builder(TokioExecutor::new()).build_http::<CallBody<Body>>();
    let limits = Limits::within(Duration::from_secs(10)).head(Duration::from_millis(500));
    let delegate = ServiceBuilder::new()
        .map_request(move |mut request: Request<Body>| {
            let mut to = std::mem::take(request.uri_mut()).into_parts();
            (to.scheme, to.authority) = (Some(Scheme::HTTP), Some(upstream.clone()));
            *request.uri_mut() = to.try_into().unwrap_or_default();
            request.headers_mut().remove("host");
            request
        })
        .layer(CallLayer::new())
        .layer(RefusalResponseLayer::new())
        .layer(TerminalStateLayer::builder().limits(limits).build()?)
        .service(client);
    let card = || async { r#"{"name":"the front of another agent"}"# }; // in life, a whole card
    Ok(Router::new().route("/.well-known/agent-card.json", get(card)).fallback_service(delegate))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let task = r#"{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}"#;
    let good = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{task}}}"#);
    let upstream = Peer::serve([
        Script::json(good.clone()),
        Script::new(500).header("content-type", "text/html").chunk("<h1>oops</h1>"),
        Script::silent(End::Hang),
    ])
    .await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/a2a", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, agent(upstream.addr().to_string().parse()?)?).into_future());

    // Any A2A client, in any language.
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    for due in [None, Some(-32006), Some(-32603)] {
        let call = r#"{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"t-1"}}"#;
        let response = client.request(Request::post(&url).body(Full::from(call))?).await?;
        let (status, body) = (response.status(), response.into_body().collect().await?.to_bytes());
        let answer: serde_json::Value = serde_json::from_slice(&body)?;
        println!("HTTP {status}: {answer}");
        assert_eq!((status.as_u16(), &answer["id"]), (200, &7.into()));
        assert_eq!(answer["error"]["code"].as_i64(), due);
        assert!(due.is_some() || body == good, "a good answer is passed on byte for byte");
    }
    Ok(())
}
