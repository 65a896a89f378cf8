use std::task::{Context, Poll};

use http::{Request, Response};
use tower_service::Service;

use super::{CallSpan, TracingBody, TracingFuture};
use crate::call::{self, Call};

/// The service of [`TracingLayer`](super::TracingLayer).
#[derive(Clone, Debug)]
pub struct TracingService<S> {
    inner: S,
}

impl<S> TracingService<S> {
    pub(super) fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S, B, R> Service<Request<B>> for TracingService<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: 'static,
{
    type Response = Response<TracingBody<R>>;
    type Error = S::Error;
    type Future = TracingFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let span = match request.extensions().get::<Call>() {
            Some(call) => CallSpan::open(call, request.uri()),
            // Above `CallLayer`, or without one: the span is named later, or by what the head tells.
            None => {
                let call = call::from_head(request.method(), request.uri(), request.headers(), request.extensions());
                CallSpan::open(&call, request.uri())
            }
        };
        let Some(span) = span else {
            return TracingFuture::new(self.inner.call(request), None);
        };
        request.extensions_mut().insert(span.clone());
        let future = {
            let _entered = span.get().enter();
            self.inner.call(request)
        };
        TracingFuture::new(future, Some(span))
    }
}
