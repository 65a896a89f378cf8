//! The layers around an agent's own axum router. Its panics, hangs, 500s and streams that end too early reach its
//! callers as A2A's own errors: what the agent declares it does, or it refuses in a defined way.
//!
//! ```text
//! cargo run --example axum_agent --features hyper
//! ```

use std::time::Duration;

use a2a_guard::{Guard, GuardError, Limits};
use axum::{Router, body::Body, http::StatusCode, response::IntoResponse, routing::post};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tower::Layer;

const DONE: &str =
    r#"{"jsonrpc":"2.0","id":7,"result":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}}"#;
const WORKING: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"task\":{\"id\":\"t-1\",\"contextId\":\"c-1\",\"status\":{\"state\":\"TASK_STATE_WORKING\"}}}}\n\n";

async fn good() -> impl IntoResponse {
    ([("content-type", "application/json")], DONE)
}

async fn panics() -> StatusCode {
    panic!("index out of bounds")
}

/// One event, and then whatever `then` does.
fn stream(then: impl Future<Output = ()> + Send + 'static) -> impl IntoResponse {
    let body = Full::<Bytes>::from(WORKING).with_trailers(async {
        then.await;
        None
    });
    ([("content-type", "text/event-stream")], Body::new(body))
}

/// The agent, good at one path, and at each of the others bad in a way of its own.
fn agent() -> Result<Router, GuardError> {
    let router = Router::new()
        .route("/good", post(good))
        .route("/panics", post(panics))
        .route("/hangs", post(std::future::pending::<StatusCode>))
        .route("/fails", post(async || (StatusCode::INTERNAL_SERVER_ERROR, "oops")))
        .route("/ends-early", post(async || stream(async {})))
        .route("/panics-late", post(async || stream(async { panic!("the model is gone") })));
    let limits = Limits::within(Duration::from_secs(5)).head(Duration::from_millis(300));
    let guard = Guard::builder().limits(limits).catch_panics(true).build()?.rendered();
    Ok(Router::new().fallback_service(guard.layer(router)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let addr = listener.local_addr()?;
    tokio::spawn(axum::serve(listener, agent()?).into_future());
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    for (path, method, code, class) in [
        ("good", "GetTask", None, None),
        ("panics", "GetTask", Some(-32006), Some("http_status")),
        ("hangs", "GetTask", Some(-32603), Some("head")),
        ("fails", "GetTask", Some(-32006), Some("http_status")),
        ("ends-early", "SubscribeToTask", Some(-32006), Some("truncated")),
        ("panics-late", "SubscribeToTask", Some(-32006), Some("truncated")),
    ] {
        let call = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{"id":"t-1"}}}}"#);
        let request = http::Request::post(format!("http://{addr}/{path}")).body(Full::from(call))?;
        let response = client.request(request).await?;
        assert_eq!(response.status(), 200, "JSON-RPC has its errors in the body");
        let body = String::from_utf8(response.into_body().collect().await?.to_bytes().into())?;
        let last = body.rsplit("data: ").next().unwrap_or_default().trim_end();
        println!("{path}: {last}");
        let answer: serde_json::Value = serde_json::from_str(last)?;
        assert!(method == "GetTask" || body.starts_with(WORKING), "what was good of a stream is there");
        assert_eq!((&answer["id"], answer["error"]["code"].as_i64()), (&7.into(), code));
        assert_eq!(answer["error"]["data"][0]["metadata"]["class"].as_str(), class, "the class of what happened");
    }
    Ok(())
}
