//! Failures as the binding's own errors, so that any A2A client can sit above the stack.
//!
//! [`RefusalResponseLayer`] turns every [`CallError`](crate::CallError) into what a server of the call's binding and
//! version would have answered, before the response head or in the middle of a stream. Its service cannot fail
//! ([`Infallible`](std::convert::Infallible)): it goes straight into `axum::Router::fallback_service`, and below a
//! client that knows nothing of this crate.
//!
//! | outcome | JSON-RPC | HTTP | gRPC | `ErrorInfo.reason` |
//! | --- | --- | --- | --- | --- |
//! | `refused`, `stale` with the peer's answer | the peer's own answer, byte for byte | | | |
//! | `broken` | -32006 | 500 | INTERNAL | `INVALID_AGENT_RESPONSE` |
//! | `timeout` | -32603 | 504 | DEADLINE_EXCEEDED | `CAPABILITY_TIMEOUT` |
//! | `transport` | -32603 | 502 | UNAVAILABLE | `AGENT_UNREACHABLE` |
//! | `card`, a capability or extension | -32003, -32004, -32008 | 400 | FAILED_PRECONDITION | the specification's |
//! | `card`, a version | -32009 | 400 | FAILED_PRECONDITION | `VERSION_NOT_SUPPORTED` |
//! | `card`, anything else | -32603 | 502 | FAILED_PRECONDITION | `AGENT_CARD_RESOLUTION` |
//! | `stale/skill_unavailable`, remembered | -32004 | 400 | FAILED_PRECONDITION | `UNSUPPORTED_OPERATION` |
//! | `stale/endpoint_not_conforming` | -32603 | 502 | FAILED_PRECONDITION | `ENDPOINT_NOT_CONFORMING` |
//! | a layer in between shed the load | -32603 | 503 | UNAVAILABLE | `UNAVAILABLE` |
//! | another failure of a layer in between | -32603 | 500 | INTERNAL | `INTERNAL_ERROR` |
//!
//! The specification's reasons are under its domain, `a2a-protocol.org`; the others are under `a2a-guard`. The
//! `ErrorInfo` always has `outcome`, `class`, `capability`, `shape`, `retry` and `elapsed_ms` in its metadata, and,
//! where they are known, `retry_after` (seconds), `task_id`, `task_state`, `next` (operations to call next, best
//! first), `bound_ms`, `http_status` (the peer's), `region` and `availableSkills`. A `RetryInfo` follows if the peer
//! asked to wait.
//!
//! # Forms
//!
//! | binding | before the head | in a stream |
//! | --- | --- | --- |
//! | JSONRPC | HTTP 200 and an error response with the call's id (A2A 1.0 §9.5) | one last event with it, named `error` |
//! | HTTP+JSON | the HTTP status and a `google.rpc.Status` (§11.6) | one last event with it, named `error` |
//! | GRPC | a head that is its own trailers (§10.6) | trailers |
//!
//! In answers to calls of 0.3 or older, JSON-RPC's `data` is an object (`{"details": […]}`), and HTTP+JSON has
//! `{"code", "message", "data"}` with a JSON-RPC code, like the servers of that version. A stream over JSON-RPC whose
//! caller names `text/event-stream` in its `Accept`, and no JSON, is such a stream then even before the head, with the
//! error as its one event: those servers begin their streams at once, and the SDKs' clients read no other answer to
//! one. An HTTP+JSON call counts as 0.3 if neither it nor its card names a version (§3.6).
//!
//! # The peer's own refusals
//!
//! They go through as they came: status, headers, body, trailers. Left out are fields that concern one connection only
//! (RFC 9110 §7.6.1), and a length that is not the body's. An event that lacks its end gets it; a JSON document under
//! the media type of streams is labelled as JSON. If only the beginning of a refusal was kept (it was longer than
//! [`Limits::max_refusal`](crate::Limits::max_refusal), or its body broke off), there is nothing whole to pass on: it
//! is rendered from what was understood of it, under the peer's status, with its code, reason and message, and its
//! `Retry-After`, `Location` and challenges.
//!
//! # Example
//!
//! ```
//! use a2a_guard::{CallBody, Guard};
//! use bytes::Bytes;
//! use http_body_util::{BodyExt, Full};
//! use tower::{Layer, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // An agent that is not there.
//! let client = tower::service_fn(|_: http::Request<CallBody<Full<Bytes>>>| async {
//!     Err::<http::Response<Full<Bytes>>, _>(std::io::Error::from(std::io::ErrorKind::ConnectionRefused))
//! });
//! let request = http::Request::get("https://agent.example.com/tasks/t-1").header("a2a-version", "1.0");
//! let Ok(response) = Guard::new().rendered().layer(client).oneshot(request.body(Full::default())?).await;
//! assert_eq!(response.status(), 502);
//! let body: serde_json::Value = serde_json::from_slice(&response.into_body().collect().await?.to_bytes())?;
//! assert_eq!(body["error"]["details"][0]["reason"], "AGENT_UNREACHABLE");
//! # Ok(())
//! # }
//! ```

mod base64;
mod body;
mod event;
mod foreign;
mod future;
mod grpc;
mod json;
mod layer;
mod message;
mod own;
mod problem;
mod reply;
mod row;
mod service;
mod unfinished;

#[cfg(test)]
mod tests;

#[cfg(feature = "tonic")]
pub(crate) use self::grpc::trailers_of as grpc_trailers_of;
pub use self::{
    body::RefusalResponseBody, future::RefusalResponseFuture, layer::RefusalResponseLayer,
    service::RefusalResponseService,
};
