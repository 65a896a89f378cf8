//! A client for the layers' own requests, without its type.

use std::{
    future::Future,
    pin::Pin,
    sync::{Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::error::BoxError;

pub(crate) type AnyBody = UnsyncBoxBody<Bytes, BoxError>;
type Answer = Pin<Box<dyn Future<Output = Result<Response<AnyBody>, BoxError>> + Send>>;

/// Sends one request, once the client below is ready. A box is no matter where I/O is about to happen.
pub(crate) trait Client: Send + Sync {
    fn send(&self, request: Request<Bytes>) -> Answer;
}

struct Erased<S, F> {
    /// Only cloned under the lock, which asks no `Sync` of the service.
    service: Mutex<S>,
    send: F,
}

pub(crate) fn erase<S, B, R>(service: S) -> impl Client + 'static
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: From<Bytes> + Send + 'static,
    R: Body + Send + 'static,
    R::Data: Send,
    R::Error: Into<BoxError>,
{
    Erased { service: Mutex::new(service), send: exchange::<S, B, R> }
}

impl<S, F, A> Client for Erased<S, F>
where
    S: Clone + Send,
    F: Fn(S, Request<Bytes>) -> A + Send + Sync,
    A: Future<Output = Result<Response<AnyBody>, BoxError>> + Send + 'static,
{
    fn send(&self, request: Request<Bytes>) -> Answer {
        let service = self.service.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Box::pin((self.send)(service, request))
    }
}

async fn exchange<S, B, R>(mut service: S, request: Request<Bytes>) -> Result<Response<AnyBody>, BoxError>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    B: From<Bytes>,
    R: Body + Send + 'static,
    R::Error: Into<BoxError>,
{
    std::future::poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into)?;
    let response = service.call(request.map(B::from)).await.map_err(Into::into)?;
    Ok(response.map(|body| InBytes { body }.boxed_unsync()))
}

pin_project! {
    /// A body with its data as `Bytes`, which leaves the length known.
    struct InBytes<R> {
        #[pin]
        body: R,
    }
}

impl<R> Body for InBytes<R>
where
    R: Body,
    R::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = ready!(self.project().body.poll_frame(cx));
        let in_bytes = |frame: Frame<R::Data>| frame.map_data(|mut data| data.copy_to_bytes(data.remaining()));
        Poll::Ready(frame.map(|frame| frame.map(in_bytes).map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
