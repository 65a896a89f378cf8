//! What is done for a need that nobody may be asked for.

use std::future::Future;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use crate::{call::CallBody, error::BoxError};

/// Answers a call that no peer may be asked for. See [`DelegateLayer::fallback`](super::DelegateLayer::fallback).
pub trait Fallback<B, P>: Clone + Send + 'static
where
    B: Body,
{
    /// Whether there is one.
    fn is_there(&self) -> bool;

    /// The answer. The request is as the caller sent it, its headers included.
    fn answer(
        self,
        request: Request<CallBody<B>>,
    ) -> impl Future<Output = Option<Result<Response<P>, BoxError>>> + Send;
}

/// None: the caller is told that nobody was there.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFallback;

impl<B, P> Fallback<B, P> for NoFallback
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Send,
{
    fn is_there(&self) -> bool {
        false
    }

    async fn answer(self, _: Request<CallBody<B>>) -> Option<Result<Response<P>, BoxError>> {
        None
    }
}

/// A service of the user's.
#[derive(Clone, Copy, Debug)]
pub struct FallbackTo<S>(pub(super) S);

impl<S, B, P> Fallback<B, P> for FallbackTo<S>
where
    S: Service<Request<CallBody<B>>, Response = Response<P>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Send,
{
    fn is_there(&self) -> bool {
        true
    }

    async fn answer(self, request: Request<CallBody<B>>) -> Option<Result<Response<P>, BoxError>> {
        let mut service = self.0;
        let ready = std::future::poll_fn(|cx| service.poll_ready(cx).map_err(Into::into)).await;
        if let Err(error) = ready {
            return Some(Err(error));
        }
        let answer = service.call(request);
        Some(answer.await.map_err(Into::into))
    }
}
