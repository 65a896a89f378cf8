//! The whole stack as one layer.
//!
//! ```text
//! GuardService         completes relative URIs, if an origin was given; sends all to an upstream, if one was
//! CallLayer            names the call
//! RefusalResponseLayer only in a RenderedGuard
//! ObserveLayer         tells the observer of calls that the layers below refuse
//! a retry layer        if one was given; here it sees bodies that can be sent again
//! CardConsistencyLayer if cards were given
//! ProbeCacheLayer      if one was given
//! TerminalStateLayer
//! ```
//!
//! ```
//! use a2a_guard::{CallBody, Guard, Limits};
//! use bytes::Bytes;
//! use http_body_util::Full;
//! use std::time::Duration;
//! use tower::{Layer, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // An agent that hangs.
//! let client = tower::service_fn(|_: http::Request<CallBody<Full<Bytes>>>| {
//!     std::future::pending::<Result<http::Response<Full<Bytes>>, std::io::Error>>()
//! });
//! let guard = Guard::builder().limits(Limits::within(Duration::from_secs(60)).head(Duration::from_secs(5))).build()?;
//! let call = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}"#;
//! let request = http::Request::post("https://agent.example.com/a2a").body(Full::from(call))?;
//! let error = guard.layer(client).oneshot(request).await.unwrap_err();
//! assert!(error.to_string().starts_with("timeout/head: "));
//! # Ok(())
//! # }
//! ```

mod builder;
mod cards;
mod error;
mod layer;
mod probes;
mod service;

pub use self::{
    builder::GuardBuilder,
    cards::{CardPart, Cards, GuardCards, NoCards},
    error::GuardError,
    layer::{Guard, RenderedGuard},
    probes::{GuardProbes, ProbePart},
    service::GuardService,
};
