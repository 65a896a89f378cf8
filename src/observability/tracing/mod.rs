//! Spans and events of calls.

mod body;
mod future;
mod layer;
mod level;
mod observer;
mod service;
mod span;

pub(crate) use self::span::CallSpan;
pub use self::{
    body::TracingBody, future::TracingFuture, layer::TracingLayer, observer::TracingObserver, service::TracingService,
};

/// The target of all spans and events.
const TARGET: &str = "a2a_guard::call";
