use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::contradiction::Watch;
use crate::{
    call::Call,
    error::{BoxError, CallError, broke_off},
};

pin_project! {
    /// The body of an answer that passed [`CardConsistencyLayer`](crate::card_consistency::CardConsistencyLayer): the
    /// inner one, watched for a refusal in the middle of a stream that contradicts the card.
    #[derive(Debug)]
    pub struct CardConsistencyBody<B> {
        #[pin]
        inner: B,
        call: Call,
        watch: Option<Watch>,
    }
}

impl<B> CardConsistencyBody<B> {
    pub(super) fn new(inner: B, call: Call, watch: Option<Watch>) -> Self {
        Self { inner, call, watch }
    }
}

impl<B> Body for CardConsistencyBody<B>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = CallError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, CallError>>> {
        let this = self.project();
        Poll::Ready(match ready!(this.inner.poll_frame(cx)) {
            Some(Err(error)) => {
                let error = broke_off(error.into(), this.call);
                if let Some(watch) = this.watch {
                    watch.see(&error);
                }
                Some(Err(error))
            }
            Some(Ok(frame)) => Some(Ok(frame)),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
