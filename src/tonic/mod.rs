//! For clients made with tonic: one line between a generated client and its channel, and the errors of calls
//! as [`Status`](::tonic::Status).
//!
//! ```
//! # #[derive(Clone)] struct AgentClient<T>(T);
//! # impl<T> AgentClient<T> where T: tonic::client::GrpcService<tonic::body::Body> { fn new(channel: T) -> Self { Self(channel) } }
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let channel = tonic::transport::Endpoint::from_static("http://127.0.0.1:50051").connect_lazy();
//! // The client that tonic generated from the protocol; it is used as it would be without the layers.
//! let client = AgentClient::new(a2a_guard::tonic::channel(channel, "http://127.0.0.1:50051")?);
//! # let _ = client; Ok(()) }
//! ```
//!
//! # What a caller sees
//!
//! A refusal that the agent typed is the [`Status`](::tonic::Status) that a tonic client sees without the layers: the
//! same code, message, details and metadata. Everything else is a status that says what happened:
//!
//! | the call ended as | code | reason of its `ErrorInfo` |
//! | --- | --- | --- |
//! | `broken` | INTERNAL | `INVALID_AGENT_RESPONSE` |
//! | `timeout` | DEADLINE_EXCEEDED | `CAPABILITY_TIMEOUT` |
//! | `transport` | UNAVAILABLE | `AGENT_UNREACHABLE` |
//! | `card` | FAILED_PRECONDITION | the specification's where it has one (`UNSUPPORTED_OPERATION`, say), else `AGENT_CARD_RESOLUTION` |
//! | `stale`, without an answer of the agent's | FAILED_PRECONDITION | `UNSUPPORTED_OPERATION`; `ENDPOINT_NOT_CONFORMING` |
//! | `refused` by an HTTP status alone | UNAUTHENTICATED, PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNAVAILABLE, UNIMPLEMENTED, … | the class, or what the code says |
//!
//! It is the status that [`RefusalResponseLayer`](crate::RefusalResponseLayer) renders, with the same details: the
//! metadata of the `ErrorInfo` has `outcome`, `class`, `capability`, `shape` and more. Its message may be shown to
//! anybody. The error itself, with the line that an operator can act on, is a source of the status: [`call_error`]
//! finds it.
//!
//! # Time
//!
//! A `grpc-timeout` on a request (`Request::set_timeout`) bounds the call as its total does, and ends it as
//! `timeout/total`, DEADLINE_EXCEEDED. tonic's channel has a timer of its own for the same header, and for
//! `Endpoint::timeout`; it ends at the response head, and says CANCELLED. If it fires first, below the layers, the call
//! ends as `timeout/total` too.

mod channel;
mod status;

pub(crate) use self::status::StatusCell;
pub use self::{
    channel::{GuardedChannel, TonicBody, WithOrigin, channel, channel_with},
    status::call_error,
};
