//! A reqwest client behind the layers, by way of tower-reqwest. It follows no redirects: where a call goes is its
//! caller's choice, credentials and all.
//!
//! ```text
//! cargo run --example reqwest_client --features reqwest
//! ```

use a2a_guard::{CallBody, CallError, CallLayer, TerminalStateLayer};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use tower::{ServiceBuilder, ServiceExt};
use tower_reqwest::HttpClientLayer;

#[allow(dead_code, reason = "shared with others that use more of it")]
#[path = "support/peer.rs"]
mod peer;

use peer::{Peer, Script};

fn get_task(to: std::net::SocketAddr) -> Result<Request<Full<Bytes>>, http::Error> {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}"#;
    Request::post(format!("http://{to}/a2a")).header("authorization", "Bearer secret").body(Full::from(call))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let task = r#"{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}"#;
    let answer = || Script::json(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{task}}}"#));
    let elsewhere = Peer::serve([answer()]).await?;
    let moved = Script::new(307).header("location", format!("http://{}/a2a", elsewhere.addr()));
    let agent = Peer::serve([answer(), moved]).await?;
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.local_addr()?
    };

    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build()?;
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(TerminalStateLayer::new())
        .map_request(|request: Request<CallBody<Full<Bytes>>>| request.map(reqwest::Body::wrap))
        .layer(HttpClientLayer)
        .service(client);

    for (to, due) in [
        (agent.addr(), "success"),
        (agent.addr(), "refused/redirected"),
        // Without feature `reqwest` this would be `connection_lost`, and nobody could say that a retry is safe.
        (gone, "transport/connect"),
    ] {
        let request = get_task(to)?;
        let ended: Result<Bytes, CallError> = async {
            let body = stack.clone().oneshot(request).await?.into_body();
            Ok(body.collect().await?.to_bytes())
        }
        .await;
        let word = match &ended {
            Ok(body) => {
                println!("success, {} bytes", body.len());
                "success".to_owned()
            }
            Err(error) => {
                println!("{error}; location {:?}", error.location());
                format!("{}/{}", error.outcome(), error.class())
            }
        };
        assert_eq!(word, due);
    }
    assert!(elsewhere.requests().is_empty(), "credentials went where their owner did not send them");
    Ok(())
}
