use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use super::{DelegateBody, DelegateError, Fallback, NoFallback, layer::Config, run::Run};
use crate::{
    call::{Call, CallBody},
    directory::Directory,
    error::{BoxError, lost},
};

/// The service of [`DelegateLayer`](super::DelegateLayer).
#[derive(Clone)]
pub struct DelegateService<S, F = NoFallback> {
    inner: S,
    directory: Directory,
    config: Arc<Config>,
    fallback: F,
}

impl<S, F> DelegateService<S, F> {
    pub(super) fn new(inner: S, directory: Directory, config: Arc<Config>, fallback: F) -> Self {
        Self { inner, directory, config, fallback }
    }
}

impl<S, F, B, P> Service<Request<CallBody<B>>> for DelegateService<S, F>
where
    S: Service<Request<CallBody<B>>, Response = Response<P>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    F: Fallback<B, P>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Send,
    P: Body<Data = Bytes> + Send + 'static,
    P::Error: Into<BoxError>,
{
    type Response = Response<DelegateBody<P>>;
    type Error = DelegateError;
    type Future = DelegateFuture<P>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), DelegateError>> {
        self.inner.poll_ready(cx).map_err(|error| lost(error.into(), &Call::new(), true).into())
    }

    fn call(&mut self, request: Request<CallBody<B>>) -> DelegateFuture<P> {
        // The service that was polled ready is the one that is called first.
        let spare = self.inner.clone();
        let ready = std::mem::replace(&mut self.inner, spare.clone());
        let run = Run::new(ready, spare, self.directory.clone(), Arc::clone(&self.config));
        DelegateFuture { future: Box::pin(run.answer(request, self.fallback.clone())) }
    }
}

impl<S, F> fmt::Debug for DelegateService<S, F>
where
    S: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DelegateService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

/// The future of [`DelegateService`]. Boxed: it is about to wait for a peer.
pub struct DelegateFuture<P> {
    future: Pin<Box<dyn Future<Output = Answer<P>> + Send>>,
}

type Answer<P> = Result<Response<DelegateBody<P>>, DelegateError>;

impl<P> Future for DelegateFuture<P> {
    type Output = Answer<P>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.future.as_mut().poll(cx)
    }
}

impl<P> fmt::Debug for DelegateFuture<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DelegateFuture").finish_non_exhaustive()
    }
}
