use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header::CONTENT_TYPE};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::{contradiction, store::HeldCard};
use crate::{
    call::Call,
    error::{BoxError, CallError, broke_off},
    wire::MediaType,
};

pin_project! {
    /// The body of an answer that passed [`CardConsistencyLayer`](crate::card_consistency::CardConsistencyLayer): the
    /// inner one, watched for a refusal in the middle of a stream that contradicts the card.
    #[derive(Debug)]
    pub struct CardConsistencyBody<B> {
        #[pin]
        inner: B,
        call: Call,
        card: Option<Arc<HeldCard>>,
        // It is to be noted that the agent streams.
        streams: bool,
    }
}

impl<B> CardConsistencyBody<B> {
    /// Around an answer to a call that went by a card, or by none.
    #[inline]
    pub(super) fn around(response: Response<B>, call: Call, card: Option<Arc<HeldCard>>) -> Response<Self>
    where
        B: Body,
    {
        let may_stream = call.is_streaming() && card.as_ref().is_some_and(|card| !card.was_seen_to_stream());
        // What is no stream, and is handed on as one, is there as a whole.
        let streams = may_stream && is_event_stream(&response) && response.body().size_hint().exact().is_none();
        response.map(|inner| Self { inner, call, card, streams })
    }
}

#[inline(never)]
fn is_event_stream<B>(response: &Response<B>) -> bool {
    let media = MediaType::of(response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes));
    response.status() == StatusCode::OK && matches!(media, MediaType::EventStream | MediaType::Grpc)
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
                if let Some(card) = this.card {
                    contradiction::see(card, None, &error);
                }
                Some(Err(error))
            }
            Some(Ok(frame)) => {
                // Below is a `TerminalStateLayer`, as a rule, and the first frame has the first event in it.
                if *this.streams && frame.data_ref().is_some_and(|data| !data.is_empty() && !data.starts_with(b":")) {
                    *this.streams = false;
                    if let Some(card) = this.card {
                        card.note_streamed();
                    }
                }
                Some(Ok(frame))
            }
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
