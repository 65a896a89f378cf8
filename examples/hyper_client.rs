//! A hyper-util client behind the layers: how calls end at an agent that behaves, and at ones that do not.
//!
//! ```text
//! cargo run --example hyper_client --features hyper
//! ```

use std::time::Duration;

use a2a_guard::{CallBody, CallError, CallLayer, Limits, TerminalStateLayer};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tower::{ServiceBuilder, ServiceExt};

#[allow(dead_code, reason = "shared with others that use more of it")]
#[path = "support/peer.rs"]
mod peer;

use peer::{End, Peer, Script};

fn event(result: &str) -> String {
    format!("data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{{result}}}}}\n\n")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let task = r#"{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}"#;
    let working = event(r#""task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}"#);
    let completed =
        event(r#""statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}"#);
    let agent = Peer::serve([
        Script::json(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{task}}}"#)),
        Script::sse().chunk(working.clone()).chunk(completed),
        Script::sse().chunk(working.clone()).end(End::Hang),
        Script::sse().chunk(working),
        Script::new(200).header("content-type", "text/html").chunk("<h1>Sign in</h1>"),
        Script::new(401).header("www-authenticate", "Bearer"),
        Script::silent(End::Reset),
    ])
    .await?;

    let client = Client::builder(TokioExecutor::new()).build_http::<CallBody<Full<Bytes>>>();
    let limits = Limits::within(Duration::from_secs(10)).idle(Duration::from_millis(300));
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(TerminalStateLayer::builder().limits(limits).build()?)
        .service(client);

    for (method, due) in [
        ("GetTask", "success"),
        ("SubscribeToTask", "success"),
        ("SubscribeToTask", "timeout/idle"),
        ("SubscribeToTask", "broken/truncated"),
        ("GetTask", "broken/wrong_media_type"),
        ("GetTask", "refused/auth"),
        ("GetTask", "transport/connection_lost"),
    ] {
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"id":"t-1"}}}}"#);
        let request = Request::post(format!("http://{}/a2a", agent.addr())).body(Full::from(call))?;
        let ended: Result<Bytes, CallError> = async {
            let body = stack.clone().oneshot(request).await?.into_body();
            Ok(body.collect().await?.to_bytes())
        }
        .await;
        let word = match &ended {
            Ok(_) => "success".to_owned(),
            Err(error) => format!("{}/{}", error.outcome(), error.class()),
        };
        match ended {
            Ok(body) => println!("{method}: success, {} bytes", body.len()),
            Err(error) => println!("{method}: {error}"),
        }
        assert_eq!(word, due);
    }
    Ok(())
}
