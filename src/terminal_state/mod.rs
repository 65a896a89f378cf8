//! Makes every call end: bounds on time and size, and a judgement of what came.
//!
//! ```
//! use a2a_guard::{CallLayer, Limits, TerminalStateLayer};
//! # use a2a_guard::CallBody;
//! # use bytes::Bytes;
//! use http_body_util::{BodyExt, Full};
//! use std::time::Duration;
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # const WORKING: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"task\":{\"id\":\"t-1\",\"contextId\":\"c-1\",\"status\":{\"state\":\"TASK_STATE_WORKING\"}}}}\n\n";
//! # let client = tower::service_fn(|_: http::Request<CallBody<Full<Bytes>>>| async {
//! #     let stream = http::Response::builder().header("content-type", "text/event-stream");
//! #     Ok::<_, std::convert::Infallible>(stream.body(Full::<Bytes>::from(WORKING)).unwrap())
//! # });
//! // An agent whose stream ends while its task is at work.
//! let agent = ServiceBuilder::new()
//!     .layer(CallLayer::new())
//!     .layer(TerminalStateLayer::builder().limits(Limits::within(Duration::from_secs(60))).build()?)
//!     .service(client);
//! let call = r#"{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"t-1"}}"#;
//! let request = http::Request::post("https://agent.example.com/a2a").header("a2a-version", "1.0").body(Full::from(call))?;
//! let response = agent.oneshot(request).await?; // its first event is in hand,
//! let error = response.into_body().collect().await.unwrap_err(); // and its end is no success
//! assert_eq!((error.class().as_str(), error.task_id()), ("truncated", Some("t-1")));
//! # Ok(())
//! # }
//! ```

mod answer;
mod body;
mod contained;
mod deadline;
mod flight;
mod future;
mod grpc;
mod judging;
mod layer;
mod live;
mod passing;
mod pieces;
mod recovery;
mod rescue;
mod service;
mod shape;
mod status;
mod timer;
mod whole;

pub use self::{
    body::TerminalStateBody,
    future::TerminalStateFuture,
    layer::{ConfigError, TerminalStateBuilder, TerminalStateLayer},
    recovery::Recovery,
    service::TerminalStateService,
};
