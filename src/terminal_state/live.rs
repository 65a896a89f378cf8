//! A stream of events on its way through: judged as it passes, each event handed on as soon as it is found good.

mod ending;
mod events;
mod frames;
mod grpc;
mod refusal;

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{HeaderMap, response::Parts};
use http_body::{Body, Frame};
use pin_project_lite::pin_project;

use super::{
    answer::{AnyStreamJudge, StreamExpected},
    contained::Contained,
    deadline::Phase,
    flight::{Boxed, FRAMES_PER_POLL, Rescue},
    pieces::Pieces,
    shape,
};
use crate::{
    error::{BoxError, CallError},
    outcome::Observe,
    wire::grpc::status::drop_status,
};

pin_project! {
    pub(super) struct Live<B, O>
    where
        O: Observe,
    {
        // Dropped when the stream is over, and with it the connection's hold on it.
        #[pin]
        body: Option<Contained<B>>,
        rest: Rest<O>,
    }
}

/// All of a stream but the body that it comes from.
struct Rest<O>
where
    O: Observe,
{
    timed: Boxed<O>,
    judge: AnyStreamJudge,
    expected: StreamExpected,
    strict: bool,
    /// Bytes of an event that has not ended yet.
    held: Pieces,
    /// Bytes that may go out.
    out: Pieces,
    /// How much came in earlier frames, all of it before the first event.
    prelude: usize,
    /// Whether an event ended in what goes out next.
    event_in_out: bool,
    trailers: Option<HeaderMap>,
    /// The fields of the head, for a refusal that comes later.
    headers: HeaderMap,
    /// The head, until the first event is there and the caller gets it.
    head: Option<Box<Parts>>,
    rescue: Option<(Rescue, CallError)>,
    failure: Option<CallError>,
    over: bool,
}

impl<B, O> Live<B, O>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
    O: Observe,
{
    pub(super) fn new(body: Contained<B>, mut head: Parts, expected: StreamExpected, mut timed: Boxed<O>) -> Self {
        let flight = timed.as_mut().flight();
        flight.enter(Phase::FirstEvent);
        let task_first = shape::task_comes_first(&flight.call, expected);
        let judge = AnyStreamJudge::new(expected, flight.limits().max_event, task_first);
        let strict = flight.config.strict;
        let headers = head.headers.clone();
        if matches!(expected, StreamExpected::Messages { has_status: true, .. }) {
            // How the stream ends say its trailers. Clients that find a status before those do not look at them.
            drop_status(&mut head.headers);
        }
        let rest = Rest {
            timed,
            judge,
            expected,
            strict,
            held: Pieces::default(),
            out: Pieces::default(),
            prelude: 0,
            event_in_out: false,
            trailers: None,
            headers,
            head: Some(Box::new(head)),
            rescue: None,
            failure: None,
            over: false,
        };
        Self { body: Some(body), rest }
    }

    /// The head, once the first event is in hand; or why there will be none.
    pub(super) fn poll_first_event(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Parts, CallError>> {
        for _ in 0..FRAMES_PER_POLL {
            let rest = self.as_mut().project().rest;
            if (rest.timed.get().seen.events > 0 || (rest.over && rest.failure.is_none()))
                && let Some(head) = rest.head.take()
            {
                return Poll::Ready(Ok(*head));
            }
            if let Some(failure) = rest.failure.take() {
                return Poll::Ready(Err(failure));
            }
            if let Some(data) = ready!(self.as_mut().advance(cx)) {
                self.as_mut().project().rest.keep(data);
            }
        }
        // A body that is always ready must not keep its thread from everything else.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    pub(super) fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CallError>>> {
        self.as_mut().project().rest.timed.as_mut().flight().consumer_is_back();
        for _ in 0..FRAMES_PER_POLL {
            let rest = self.as_mut().project().rest;
            if let Some(bytes) = rest.next_out() {
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            if let Some(failure) = rest.failure.take() {
                return Poll::Ready(Some(Err(failure)));
            }
            if rest.over {
                return Poll::Ready(rest.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))));
            }
            if let Some(data) = ready!(self.as_mut().advance(cx)) {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    pub(super) fn is_over(&self) -> bool {
        let rest = &self.rest;
        rest.over && rest.out.is_empty() && rest.failure.is_none() && rest.trailers.is_none()
    }

    /// Takes the next step: one frame, the end, or a bound that was reached. Gives a frame that goes on as it came,
    /// ahead of all that comes of later steps; whatever else goes out is then in `out`.
    #[inline(always)]
    fn advance(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut this = self.project();
        let rest = this.rest;
        if rest.rescue.is_none()
            && let Some(mut body) = this.body.as_mut().as_pin_mut()
        {
            // The frame is judged where it lies: what was just written is slow to move.
            let mut polled = body.as_mut().poll_frame(cx);
            match &mut polled {
                Poll::Ready(Some(Ok(frame))) => match frame.data_mut() {
                    Some(data) => {
                        if rest.frame_came(data) {
                            return Poll::Ready(Some(std::mem::take(data)));
                        }
                    }
                    None => rest.trailers_came(frame.trailers_mut().map(std::mem::take)),
                },
                Poll::Ready(Some(Err(_))) => {
                    if let Poll::Ready(Some(Err(error))) = polled {
                        rest.broke_off(|flight| flight.cut(error.into()));
                    }
                }
                Poll::Ready(None) => rest.ended(),
                Poll::Pending => match body.panicked() {
                    Some(panicked) => rest.broke_off(|flight| flight.panicked(panicked)),
                    None => {
                        let due = ready!(rest.timed.as_mut().poll_bounds(cx));
                        rest.bound_reached(due);
                    }
                },
            }
            if rest.over || rest.rescue.is_some() {
                this.body.set(None);
            }
        } else if let Some((rescue, _)) = &mut rest.rescue {
            let rescued = ready!(rescue.as_mut().poll(cx));
            rest.end_of_rescue(rescued);
        } else {
            // Nothing is polled again that has ended.
            rest.over = true;
        }
        Poll::Ready(None)
    }
}
