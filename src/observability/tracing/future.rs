use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::Response;
use pin_project_lite::pin_project;

use super::{CallSpan, TracingBody, TracingObserver};
use crate::{
    error::call_error_in,
    outcome::{Observe, Outcome},
};

pin_project! {
    /// The future of [`TracingService`](super::TracingService).
    pub struct TracingFuture<F> {
        #[pin]
        future: Option<F>,
        span: Option<CallSpan>,
    }

    impl<F> PinnedDrop for TracingFuture<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            // A call that is let go of ends in its span too.
            let _entered = this.span.as_ref().map(|span| span.get().enter());
            this.future.set(None);
        }
    }
}

impl<F> TracingFuture<F> {
    pub(super) fn new(future: F, span: Option<CallSpan>) -> Self {
        Self { future: Some(future), span }
    }
}

impl<F, R, E> Future for TracingFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: 'static,
{
    type Output = Result<Response<TracingBody<R>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let Some(future) = this.future.as_mut().as_pin_mut() else { return Poll::Pending };
        let entered = this.span.as_ref().map(|span| span.get().enter());
        let result = ready!(future.poll(cx));
        this.future.set(None);
        if let (Err(error), Some(span)) = (&result, this.span.as_ref()) {
            tell_of(error, span);
        }
        drop(entered);
        let span = this.span.take();
        Poll::Ready(result.map(|response| response.map(|body| TracingBody::new(body, span))))
    }
}

/// Of a failure that nobody else told of: it came of a layer that has no observer.
pub(super) fn tell_of<E>(error: &E, span: &CallSpan)
where
    E: 'static,
{
    let Some(error) = call_error_in(error) else { return };
    let outcome = Outcome { span: Some(span), ..Outcome::of_error(&error) };
    if !error.failure().traced.is_set() {
        TracingObserver::new().observe(&outcome);
    } else if !span.is_filled() {
        // It was told of where nobody knew of the span.
        span.fill(&outcome);
    }
}

impl<F> fmt::Debug for TracingFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TracingFuture").field("span", &self.span).finish_non_exhaustive()
    }
}
