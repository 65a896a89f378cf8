//! A client that tonic generated from the protocol, with the layers and without them.

#[allow(dead_code, reason = "shared with programs that use more of it")]
#[path = "../../../../examples/support/h2_peer.rs"]
mod h2_peer;
#[path = "../../../../examples/support/nobody.rs"]
mod nobody;
#[allow(dead_code, reason = "shared with programs that use more of it")]
#[path = "../../../../examples/support/peer.rs"]
mod peer;

mod live;
mod rerouted;
mod side_by_side;
mod unreadable;
mod untyped;

use a2a_guard::tonic::GuardedChannel;
use a2a_pb::proto::a2a_service_client::A2aServiceClient;
use a2a_pb::proto::{Message, Part, Role, SendMessageRequest, part};
use tonic::transport::{Channel, Endpoint};

/// A channel that connects when it is used.
fn channel(origin: &str) -> Channel {
    Endpoint::from_shared(origin.to_owned()).unwrap().connect_lazy()
}

/// The client as everybody has it.
fn bare(origin: &str) -> A2aServiceClient<Channel> {
    A2aServiceClient::new(channel(origin))
}

/// The same with the layers in between.
fn guarded(origin: &str) -> A2aServiceClient<GuardedChannel<Channel>> {
    A2aServiceClient::new(a2a_guard::tonic::channel(channel(origin), origin).unwrap())
}

fn send(text: &str) -> SendMessageRequest {
    let part = Part { content: Some(part::Content::Text(text.to_owned())), ..Part::default() };
    let message =
        Message { message_id: "m-1".to_owned(), role: Role::User.into(), parts: vec![part], ..Message::default() };
    SendMessageRequest { message: Some(message), ..SendMessageRequest::default() }
}
