//! A tonic client behind the layers, against an agent that behaves and two that do not.
//!
//! ```text
//! cargo run --example tonic_client --features tonic
//! ```

use std::time::Duration;

use a2a_guard::{CallLayer, Limits, TerminalStateLayer};
use tonic::transport::Endpoint;

#[path = "support/generated.rs"]
mod generated;
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "support/h2_peer.rs"]
mod h2_peer;
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "support/messages.rs"]
mod messages;
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "support/peer.rs"]
mod peer;

use generated::{A2aServiceClient, Message, SendMessageRequest};
use h2_peer::{End, Peer, Script};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (working, completed) = (messages::task(messages::WORKING), messages::update(messages::COMPLETED));
    let good = Script::grpc().message(&working).message(completed).status(0, "");
    let stuck = Script::grpc().message(&working).end(End::Hang);
    let lost = Script::grpc().message(&working); // no trailers: a proxy cut it
    let agent = Peer::serve([good, stuck, lost]).await?;

    let origin = format!("http://{}", agent.addr());
    let limits = Limits::within(Duration::from_secs(30)).idle(Duration::from_millis(500));
    let layers = (CallLayer::new(), TerminalStateLayer::builder().limits(limits).build()?);
    let channel = Endpoint::from_shared(origin.clone())?.connect_lazy();
    // With the default bounds: a2a_guard::tonic::channel(channel, origin)?
    let mut client = A2aServiceClient::new(a2a_guard::tonic::channel_with(channel, origin, layers)?);

    for expected in ["success", "timeout/idle", "broken/truncated"] {
        let message = Message { message_id: "m-1".into(), role: 1 };
        let mut events =
            client.send_streaming_message(SendMessageRequest { message: Some(message) }).await?.into_inner();
        let ended = loop {
            match events.message().await {
                Ok(Some(event)) => println!("  {}", if event.task.is_some() { "the task" } else { "an update" }),
                Ok(None) => break "success".to_owned(),
                Err(status) => {
                    let error = a2a_guard::tonic::call_error(&status).ok_or("a status of somebody else's")?;
                    println!("  {:?}: {error}", status.code());
                    break format!("{}/{}", error.outcome(), error.class());
                }
            }
        };
        println!("{ended}");
        assert_eq!(ended, expected);
    }
    Ok(())
}
