use std::{
    convert::Infallible,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::Response;
use http_body::Body;
use pin_project_lite::pin_project;

use super::{
    RefusalResponseBody, body,
    foreign::{self, Failed},
    own,
    problem::Problem,
    reply::Asked,
};
use crate::error::BoxError;

pin_project! {
    /// The future of [`RefusalResponseService`](super::RefusalResponseService).
    pub struct RefusalResponseFuture<F> {
        #[pin]
        state: State<F>,
        asked: Option<Asked>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<F> {
        /// The inner service was not ready.
        Failed { failed: Option<Failed> },
        Calling { #[pin] future: F },
    }
}

impl<F> RefusalResponseFuture<F> {
    pub(super) fn calling(future: F, asked: Asked) -> Self {
        Self { state: State::Calling { future }, asked: Some(asked) }
    }

    pub(super) fn failed(failed: Failed, asked: Asked) -> Self {
        Self { state: State::Failed { failed: Some(failed) }, asked: Some(asked) }
    }
}

impl<F, B, E> Future for RefusalResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    E: Into<BoxError>,
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Output = Result<Response<RefusalResponseBody<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let failed = match this.state.as_mut().project() {
            StateProj::Failed { failed } => match failed.take() {
                Some(failed) => failed,
                None => return Poll::Pending,
            },
            StateProj::Calling { future } => match ready!(future.poll(cx)) {
                Ok(response) => {
                    let Some(asked) = this.asked.take() else { return Poll::Pending };
                    // What is left of the exchange goes now, not when the caller lets go of a finished future.
                    this.state.set(State::Failed { failed: None });
                    return Poll::Ready(Ok(body::passing(response, asked)));
                }
                Err(error) => foreign::before_head(error.into(), this.asked.as_ref().map(Asked::call)),
            },
        };
        let Some(asked) = this.asked.take() else { return Poll::Pending };
        this.state.set(State::Failed { failed: None });
        let rendered =
            own::response(&failed.error).unwrap_or_else(|| Problem::of(&failed).response(&asked.form(&failed.error)));
        Poll::Ready(Ok(rendered.map(RefusalResponseBody::whole)))
    }
}

impl<F> fmt::Debug for RefusalResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefusalResponseFuture").finish_non_exhaustive()
    }
}
