//! A tonic client behind the layers, against an agent that behaves and one that does not.
//!
//! ```text
//! cargo run --example tonic_client --features tonic
//! ```

use std::time::Duration;

use a2a_guard::{CallLayer, Limits, TerminalStateLayer};
use http::uri::PathAndQuery;
use tonic::{IntoRequest, client::Grpc, transport::Endpoint};
use tonic_prost::ProstCodec;

#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "support/h2_peer.rs"]
mod h2_peer;
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "support/messages.rs"]
mod messages;
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "support/peer.rs"]
mod peer;

use h2_peer::{End, Peer, Script};

// What tonic generates from the protocol, as far as it is needed here.
#[derive(Clone, PartialEq, prost::Message)]
struct SendMessageRequest {
    #[prost(message, optional, tag = 2)]
    message: Option<Message>,
}
#[derive(Clone, PartialEq, prost::Message)]
struct Message {
    #[prost(string, tag = 1)]
    message_id: String,
    #[prost(int32, tag = 4)]
    role: i32,
}
#[derive(Clone, PartialEq, prost::Message)]
struct StreamResponse {
    #[prost(bytes = "vec", optional, tag = 1)]
    task: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = 3)]
    status_update: Option<Vec<u8>>,
}

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
    let channel = a2a_guard::tonic::channel_with(channel, origin, layers)?;
    let mut client = Grpc::new(channel); // or a generated client: A2aServiceClient::new(channel)

    for expected in ["success", "timeout/idle", "broken/truncated"] {
        let message = Message { message_id: "m-1".into(), role: 1 };
        let request = SendMessageRequest { message: Some(message) }.into_request();
        let path = PathAndQuery::from_static("/lf.a2a.v1.A2AService/SendStreamingMessage");
        client.ready().await?;
        let codec = ProstCodec::<SendMessageRequest, StreamResponse>::default();
        let mut events = client.server_streaming(request, path, codec).await?.into_inner();
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
