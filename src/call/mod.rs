//! What is known of a call: which operation, over which binding, in which version, about which task.
//!
//! A [`Call`] is one request with what can be told of it before an answer comes. [`CallLayer`] reads it off the
//! request (method, path, headers and body, none of them changed) and puts it into the request's extensions, where
//! every layer below finds it. A caller that knows better puts a `Call` of its own there first: what it set wins.
//!
//! ```
//! use a2a_guard::{Binding, Call, CallBody, CallError, CallLayer, Operation};
//! use bytes::Bytes;
//! use http_body_util::Full;
//! use tower::{Layer, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let below = service_fn(|request: http::Request<CallBody<Full<Bytes>>>| async move {
//!     let call = request.extensions().get::<Call>().expect("a call that is named");
//!     assert_eq!((call.operation(), call.binding()), (Some(Operation::GetTask), Some(Binding::JsonRpc)));
//!     assert_eq!((call.task_id(), call.skill()), (Some("t-1"), Some("translate")));
//!     Ok::<_, CallError>(http::Response::new(Full::<Bytes>::default()))
//! });
//! let mut request = http::Request::post("https://agent.example.com/a2a")
//!     .body(Full::from(r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}"#))?;
//! // What the request does not say itself.
//! request.extensions_mut().insert(Call::new().with_skill("translate"));
//! CallLayer::new().layer(below).oneshot(request).await?;
//! # Ok(())
//! # }
//! ```

mod body;
mod facts;
mod grpc_path;
mod http_path;
mod json_rpc_method;
mod layer;
mod naming;
mod operation;
mod order;
mod reading;
mod relative;
mod service;
mod version;

#[cfg(feature = "directory")]
pub(crate) use self::naming::of_whole;
pub use self::{
    body::CallBody,
    facts::Call,
    layer::CallLayer,
    operation::{Binding, Capability, Operation, Shape},
    order::OrderMistake,
    service::{CallFuture, CallService},
    version::ProtocolVersion,
};
pub(crate) use self::{
    grpc_path::{
        dialect_at as grpc_dialect_at, dialect_of as grpc_dialect_of, layout_of as grpc_layout_of,
        path_beside as grpc_path_beside, split as split_grpc_path,
    },
    http_path::{operation_prefix, tenant_of_body, with_query},
    json_rpc_method::method_of,
    naming::{from_head, grpc_timeout},
    order::{Order, Rank, come_past},
    relative::is_relative,
};
