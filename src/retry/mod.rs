//! A ready-made policy for tower's `RetryLayer`.
//!
//! [`RetryPolicy`] sends a call again only if that is safe and may help:
//!
//! - **Safe**: [`CallError::retry`](crate::CallError::retry) says `safe` or `after`. A send whose work may have begun
//!   is never sent twice, nor is a stream after its first event, nor a request whose body is not whole in memory.
//! - **May help**: the failure may be gone by the next attempt. A task that does not exist, a missing route or a card
//!   that does not cover the call will still be so.
//! - **In time**: the pause grows from one attempt to the next, on top of what the peer asked for. If it does not fit
//!   into what is left of the call's total, the caller gets the failure at once.
//! - **Within a budget**: a limit on the attempts of one call, and on retries per success over all calls, so that
//!   retries do not keep an agent down.
//!
//! ```
//! use a2a_guard::{CallBody, CallLayer, TerminalStateLayer, retry::RetryPolicy};
//! use bytes::Bytes;
//! use http_body_util::Full;
//! use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
//! use tower::{ServiceBuilder, ServiceExt, retry::RetryLayer};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // An agent that nobody gets a connection to.
//! let attempts = Arc::new(AtomicUsize::new(0));
//! let counted = Arc::clone(&attempts);
//! let client = tower::service_fn(move |_: http::Request<CallBody<Full<Bytes>>>| {
//!     counted.fetch_add(1, Ordering::Relaxed);
//!     async { Err::<http::Response<Full<Bytes>>, _>(std::io::Error::from(std::io::ErrorKind::ConnectionRefused)) }
//! });
//! let agent = ServiceBuilder::new()
//!     .layer(CallLayer::new())
//!     .layer(RetryLayer::new(RetryPolicy::new().attempts(4)))
//!     .layer(TerminalStateLayer::new())
//!     .service(client);
//! let call = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}"#;
//! let request = http::Request::post("https://agent.example.com/a2a").body(Full::from(call))?;
//! assert!(agent.oneshot(request).await.is_err());
//! assert_eq!(attempts.load(Ordering::Relaxed), 4);
//! # Ok(())
//! # }
//! ```

mod pause;
mod policy;
mod transient;

pub use self::policy::RetryPolicy;
