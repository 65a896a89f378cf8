use std::{
    convert::Infallible,
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use super::{RefusalResponseBody, RefusalResponseFuture, foreign, reply::Asked};
use crate::{call::Order, error::BoxError};

/// The service of [`RefusalResponseLayer`](crate::RefusalResponseLayer).
pub struct RefusalResponseService<S> {
    inner: S,
    /// Why the inner service is not ready: told to the next call, which alone can be answered.
    not_ready: Option<BoxError>,
    order: Arc<Order>,
}

impl<S> RefusalResponseService<S> {
    pub(super) fn new(inner: S, order: Arc<Order>) -> Self {
        Self { inner, not_ready: None, order }
    }
}

impl<S> Clone for RefusalResponseService<S>
where
    S: Clone,
{
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), Arc::clone(&self.order))
    }
}

impl<S> fmt::Debug for RefusalResponseService<S>
where
    S: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefusalResponseService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, B, R> Service<Request<B>> for RefusalResponseService<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    R: Body<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    type Response = Response<RefusalResponseBody<R>>;
    type Error = Infallible;
    type Future = RefusalResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if self.not_ready.is_none()
            && let Err(error) = std::task::ready!(self.inner.poll_ready(cx))
        {
            self.not_ready = Some(error.into());
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let asked = Asked::of(&mut request, &self.order);
        match self.not_ready.take() {
            None => RefusalResponseFuture::calling(self.inner.call(request), asked),
            Some(error) => {
                let failed = foreign::before_sending(error, asked.call());
                RefusalResponseFuture::failed(failed, asked)
            }
        }
    }
}
