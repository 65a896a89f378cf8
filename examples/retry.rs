//! tower's retry with the ready-made policy: what is sent again, when, and what never is.
//!
//! ```text
//! cargo run --example retry --features retry,hyper
//! ```

use std::time::{Duration, Instant};

use a2a_guard::{CallBody, CallError, CallLayer, Limits, TerminalStateLayer, retry::RetryPolicy};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tower::{ServiceBuilder, ServiceExt, retry::RetryLayer};

#[allow(dead_code, reason = "shared with others that use more of it")]
#[path = "support/peer.rs"]
mod peer;

use peer::{End, Peer, Script};

const GET: &str = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}"#;
const SEND: &str = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m-1",
    "role":"ROLE_USER","parts":[{"text":"pay the invoice"}]}}}"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let task = r#"{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}"#;
    let got = Script::json(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{task}}}"#));
    let sent = Script::json(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"task":{task}}}}}"#));
    let busy = |seconds: &str| Script::new(429).header("retry-after", seconds);
    let lost = Script::silent(End::Reset);

    let client = Client::builder(TokioExecutor::new()).build_http::<CallBody<Full<Bytes>>>();
    let limits = Limits::within(Duration::from_secs(20));
    let policy = RetryPolicy::new().attempts(4).limits(limits.clone());
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(RetryLayer::new(policy))
        .layer(TerminalStateLayer::builder().limits(limits).build()?)
        .service(client);

    for (what, call, answers, due, attempts, least) in [
        ("asking again does no harm", GET, vec![lost.clone(), lost.clone(), got], "success", 3, 0),
        ("a send was turned away unread", SEND, vec![busy("1"), sent.clone()], "success", 2, 1),
        ("a send may have been worked on", SEND, vec![lost, sent.clone()], "transport/connection_lost", 1, 0),
        ("the pause does not fit into the total", SEND, vec![busy("20"), sent], "refused/rate_limited", 1, 0),
    ] {
        let agent = Peer::serve(answers).await?;
        let request = Request::post(format!("http://{}/a2a", agent.addr())).body(Full::from(call))?;
        let began = Instant::now();
        let ended: Result<Bytes, CallError> = async {
            let body = stack.clone().oneshot(request).await?.into_body();
            Ok(body.collect().await?.to_bytes())
        }
        .await;
        let elapsed = began.elapsed();
        let word = match &ended {
            Ok(_) => "success".to_owned(),
            Err(error) => format!("{}/{}", error.outcome(), error.class()),
        };
        let made = agent.requests().len();
        println!("{what}: {word} after {made} attempts and {:.1} s", elapsed.as_secs_f64());
        assert_eq!((word.as_str(), made), (due, attempts));
        assert!(elapsed >= Duration::from_secs(least) && elapsed < Duration::from_secs(least + 3), "{elapsed:?}");
    }
    Ok(())
}
