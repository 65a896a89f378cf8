use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::watch::Watch;
use crate::{
    call::Call,
    error::{BoxError, CallError, broke_off},
};

pin_project! {
    /// The body of an answer that passed [`ProbeCacheLayer`](crate::ProbeCacheLayer): the inner one, watched to its end
    /// where it is a stream.
    #[derive(Debug)]
    pub struct ProbeCacheBody<B> {
        #[pin]
        inner: B,
        call: Call,
        // Of a stream, until its end was seen.
        watch: Option<Watch>,
    }
}

impl<B> ProbeCacheBody<B> {
    pub(super) fn new(inner: B, call: Call, watch: Option<Watch>) -> Self {
        Self { inner, call, watch }
    }
}

impl<B> Body for ProbeCacheBody<B>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = CallError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, CallError>>> {
        let mut this = self.project();
        let frame = ready!(this.inner.as_mut().poll_frame(cx));
        Poll::Ready(match frame {
            Some(Err(error)) => {
                let error = broke_off(error.into(), this.call);
                if let Some(watch) = this.watch.take() {
                    watch.see(&error);
                }
                Some(Err(error))
            }
            // Who is told that there is no more need not ask again.
            Some(Ok(frame)) => {
                if this.watch.is_some() && this.inner.is_end_stream() {
                    ended(this.watch);
                }
                Some(Ok(frame))
            }
            None => {
                ended(this.watch);
                None
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

fn ended(watch: &mut Option<Watch>) {
    if let Some(watch) = watch.take() {
        watch.ends_well();
    }
}
