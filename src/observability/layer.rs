use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::Request;
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::{
    call::Call,
    error::{call_error_in, turned_away},
    outcome::{self, Observe, Outcome},
};

/// Tells an observer of calls that failed before they came down to [`TerminalStateLayer`](crate::TerminalStateLayer),
/// whose observer does not hear of them: those that a card layer refused.
///
/// Below [`CallLayer`](crate::CallLayer) and above the layers that refuse, with the observer that `TerminalStateLayer`
/// has; an `Arc` of one is one. Of a failure that an observer was told of already it says nothing. Of what other layers
/// in between fail with it tells where that is known to have come down to nobody: a call that tower sheds (feature
/// `tower`) is `refused/unavailable`. A call that is dropped before it came down is heard of by the observers of the
/// layers that it waited in alone.
///
/// ```
/// use std::sync::Arc;
/// use a2a_guard::{CallLayer, Observe, Outcome, TerminalStateLayer, observability::ObserveLayer};
/// use tower::ServiceBuilder;
///
/// let observer = Arc::new(|outcome: &Outcome<'_>| println!("{}/{}", outcome.kind(), outcome.class()));
/// let layers = ServiceBuilder::new()
///     .layer(CallLayer::new())
///     .layer(ObserveLayer::new(observer.clone()))
///     // … a card layer …
///     .layer(TerminalStateLayer::builder().observe(observer).build()?);
/// # let _ = layers;
/// # Ok::<(), a2a_guard::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct ObserveLayer<O> {
    observer: O,
}

impl<O> ObserveLayer<O>
where
    O: Observe + Clone,
{
    /// Tells this observer.
    #[must_use]
    pub fn new(observer: O) -> Self {
        Self { observer }
    }
}

impl<O> fmt::Debug for ObserveLayer<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObserveLayer").finish_non_exhaustive()
    }
}

impl<S, O> Layer<S> for ObserveLayer<O>
where
    O: Clone,
{
    type Service = ObserveService<S, O>;

    fn layer(&self, inner: S) -> Self::Service {
        ObserveService { inner, observer: self.observer.clone() }
    }
}

/// The service of [`ObserveLayer`].
#[derive(Clone)]
pub struct ObserveService<S, O> {
    inner: S,
    observer: O,
}

impl<S, O> fmt::Debug for ObserveService<S, O>
where
    S: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObserveService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, O, B> Service<Request<B>> for ObserveService<S, O>
where
    S: Service<Request<B>>,
    S::Error: 'static,
    O: Observe + Clone,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = ObserveFuture<S::Future, O>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let span = span_of(&request);
        // For an error that knows of no call.
        let call = if self.observer.listens() { request.extensions().get::<Call>().cloned() } else { None };
        ObserveFuture { future: self.inner.call(request), observer: self.observer.clone(), call, span }
    }
}

#[cfg(feature = "tracing")]
type Span = Option<super::CallSpan>;
#[cfg(not(feature = "tracing"))]
type Span = Option<std::convert::Infallible>;

#[cfg(feature = "tracing")]
fn span_of<B>(request: &Request<B>) -> Span {
    request.extensions().get().cloned()
}

#[cfg(not(feature = "tracing"))]
fn span_of<B>(_: &Request<B>) -> Span {
    None
}

pin_project! {
    /// The future of [`ObserveService`].
    pub struct ObserveFuture<F, O> {
        #[pin]
        future: F,
        observer: O,
        call: Option<Call>,
        span: Span,
    }
}

impl<F, O, R, E> Future for ObserveFuture<F, O>
where
    F: Future<Output = Result<R, E>>,
    E: 'static,
    O: Observe,
{
    type Output = Result<R, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = ready!(this.future.poll(cx));
        if let Err(error) = &result
            && this.observer.listens()
            && let Some(error) = call_error_in(error).or_else(|| turned_away(error, this.call.as_ref()))
        {
            let outcome = Outcome::of_error(&error);
            #[cfg(feature = "tracing")]
            let outcome = Outcome { span: this.span.as_ref(), ..outcome };
            outcome::tell(this.observer, &outcome);
        }
        Poll::Ready(result)
    }
}

impl<F, O> fmt::Debug for ObserveFuture<F, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObserveFuture").finish_non_exhaustive()
    }
}
