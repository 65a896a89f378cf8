//! Observers: they hear how calls end, besides the callers.
//!
//! An observer is anything that implements [`Observe`](crate::Observe); a closure does. The observers here are built on
//! that trait as one of yours would be, and are combined with it by [`and`](crate::Observe::and):
//!
//! - [`ObserveLayer`] tells an observer of calls that a layer above `TerminalStateLayer` refused, and that therefore
//!   never reached it: those that their target's card does not cover, for example.
//! - feature `tracing`: `TracingLayer` opens a span for each call, around its body too; `TracingObserver` fills it and
//!   reports each call's end in an event.
//! - feature `metrics`: `MetricsObserver` counts and times calls through the `metrics` facade; `record_card_store` and
//!   `record_availability` publish what the caches did.
#![cfg_attr(
    all(feature = "tracing", feature = "metrics"),
    doc = r#"
```
use a2a_guard::{CallLayer, Observe, TerminalStateLayer, card_consistency::{CardConsistencyLayer, CardStore}};
use a2a_guard::observability::{MetricsObserver, ObserveLayer, TracingLayer, TracingObserver};
# use a2a_guard::CallBody;
# use bytes::Bytes;
# use http_body_util::Full;
# use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tower::ServiceBuilder;

# let client = Client::builder(TokioExecutor::new()).build_http::<CallBody<Full<Bytes>>>();
# let cards = CardStore::builder(client.clone()).build()?;
let metrics = std::sync::Arc::new(MetricsObserver::new());
let agent = ServiceBuilder::new()
    .layer(CallLayer::new())
    .layer(TracingLayer::new())
    .layer(ObserveLayer::new(metrics.clone()))
    .layer(CardConsistencyLayer::new(cards))
    .layer(TerminalStateLayer::builder().observe(metrics.and(TracingObserver::new())).build()?)
    .service(client);
# let _ = agent;
# Ok::<_, Box<dyn std::error::Error>>(())
```
"#
)]

mod layer;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "tracing")]
mod tracing;
#[cfg(any(feature = "tracing", feature = "metrics"))]
mod words;

pub use self::layer::{ObserveFuture, ObserveLayer, ObserveService};
#[cfg(feature = "metrics")]
#[cfg_attr(docsrs, doc(cfg(feature = "metrics")))]
pub use self::metrics::{MetricsObserver, record_availability, record_card_store};
#[cfg(feature = "tracing")]
pub(crate) use self::tracing::CallSpan;
#[cfg(feature = "tracing")]
#[cfg_attr(docsrs, doc(cfg(feature = "tracing")))]
pub use self::tracing::{TracingBody, TracingFuture, TracingLayer, TracingObserver, TracingService};
