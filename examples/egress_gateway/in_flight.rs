//! So many calls at once, and no more: who comes above is turned away at once, not kept waiting.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use a2a_guard::BoxError;
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::{Layer, Service, load_shed::error::Overloaded};

/// Unlike tower's limit, it counts a call until its body is over: a stream is in flight for that long. Who is turned
/// away gets tower's own error, of which a guard around this tells its observer.
#[derive(Clone, Debug)]
pub(crate) struct InFlightLayer {
    places: Option<Arc<Semaphore>>,
}

impl InFlightLayer {
    /// Without a maximum, nobody is turned away.
    pub(crate) fn new(max: Option<usize>) -> Self {
        Self { places: max.map(|max| Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)))) }
    }
}

impl<S> Layer<S> for InFlightLayer {
    type Service = InFlight<S>;

    fn layer(&self, inner: S) -> InFlight<S> {
        InFlight { inner, places: self.places.clone() }
    }
}

/// The service of [`InFlightLayer`].
#[derive(Clone, Debug)]
pub(crate) struct InFlight<S> {
    inner: S,
    places: Option<Arc<Semaphore>>,
}

impl<S, B, R> Service<Request<B>> for InFlight<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Into<BoxError>,
{
    type Response = Response<Placed<R>>;
    type Error = BoxError;
    type Future = Calling<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Calling<S::Future> {
        let place = self.places.as_ref().map(|places| Arc::clone(places).try_acquire_owned());
        match place.transpose() {
            Ok(place) => Calling { future: Some(self.inner.call(request)), place },
            Err(_) => Calling { future: None, place: None },
        }
    }
}

pin_project! {
    /// The future of [`InFlight`].
    pub(crate) struct Calling<F> {
        #[pin]
        future: Option<F>,
        place: Option<OwnedSemaphorePermit>,
    }
}

impl<F, R, E> Future for Calling<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<Placed<R>>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Some(future) = this.future.as_pin_mut() else { return Poll::Ready(Err(Overloaded::new().into())) };
        let response = ready!(future.poll(cx)).map_err(Into::into)?;
        let place = this.place.take();
        Poll::Ready(Ok(response.map(|body| Placed { body, place })))
    }
}

pin_project! {
    /// A body that holds its call's place until it is over, or dropped.
    #[derive(Debug)]
    pub(crate) struct Placed<B> {
        #[pin]
        body: B,
        place: Option<OwnedSemaphorePermit>,
    }
}

impl<B> Body for Placed<B>
where
    B: Body<Data = Bytes>,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.project();
        let frame = ready!(this.body.poll_frame(cx));
        if !matches!(frame, Some(Ok(_))) {
            *this.place = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
