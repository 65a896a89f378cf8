//! What is done about the task that a failed or abandoned call leaves behind.

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;

mod cancelling;
mod config;
mod reconciling;

use a2a_guard::{Limits, Recovery, TerminalStateLayer};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use mock::{Answer, Ended, Peer, call, frames_of, s};

/// The client that the layer's own requests go through.
type Aside = Peer<Full<Bytes>>;

/// Short bounds, so that the times of recoveries show.
fn limits() -> Limits {
    Limits::default().head(s(3)).blocking_head(s(4)).first_event(s(5)).idle(s(6)).event_gap(s(20))
}

/// Makes a call under a recovery.
async fn recovered(recovery: Recovery, request: Request<Full<Bytes>>, answer: Answer) -> Ended {
    call(TerminalStateLayer::builder().limits(limits()).recovery(recovery), request, answer).await
}

/// Lets what was spawned go on.
async fn settle() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

/// A request as one can compare it.
#[derive(Debug, PartialEq)]
struct Asked {
    method: String,
    uri: String,
    body: serde_json::Value,
}

impl Asked {
    fn new(method: &str, uri: &str, body: serde_json::Value) -> Self {
        Self { method: method.into(), uri: uri.into(), body }
    }
}

async fn asked(request: Request<Full<Bytes>>) -> Asked {
    let (head, body) = request.into_parts();
    let bytes = frames_of(body).await.0.concat();
    let body = if bytes.is_empty() { serde_json::Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
    Asked::new(head.method.as_str(), &head.uri.to_string(), body)
}
