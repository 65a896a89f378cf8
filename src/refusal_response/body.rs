use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{
    HeaderMap, Response,
    header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE},
};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::{
    foreign, own,
    problem::Problem,
    reply::Asked,
    unfinished::{Unfinished, ends_with_blank_line},
};
use crate::{
    call::Binding,
    error::{BoxError, CallError},
    wire::{MediaType, grpc::status::field},
};

/// So many frames may be held back in one poll before others get their turn.
const FRAMES_PER_POLL: usize = 64;

pin_project! {
    /// The body of an answer below [`RefusalResponseLayer`](crate::RefusalResponseLayer): the inner one, with a last event
    /// or trailers in place of a stream's failure; or a rendered error.
    ///
    /// Frames pass as they are. Of an event stream, an event that has begun is held back until it ends, up to 256 KiB of
    /// it. Its error is that of a body in which no error can be written.
    pub struct RefusalResponseBody<B> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[project = KindProj]
    enum Kind<B> {
        Passing { #[pin] inner: B, asked: Asked },
        // The inner body goes when it is over, and with it the connection's hold on it. What only streams need is boxed:
        // an answer is moved around a good deal, and most are none.
        //
        // At rest, between two events with nothing to go out, no more is looked at than stands here: the box has left the
        // processor's caches by the time that the next event comes.
        Events { #[pin] inner: Option<B>, asked: Asked, at_rest: bool, events: Box<Events> },
        Grpc { #[pin] inner: Option<B>, asked: Asked },
        Whole { whole: Whole },
    }
}

/// What is between an event stream and its caller.
#[derive(Debug, Default)]
struct Events {
    unfinished: Unfinished,
    out: VecDeque<Bytes>,
    trailers: Option<HeaderMap>,
}

/// A body that is here as a whole.
#[derive(Debug, Default)]
pub(super) struct Whole {
    data: Bytes,
    trailers: Option<Box<HeaderMap>>,
}

impl Whole {
    pub(super) fn new(data: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self { data, trailers: trailers.map(Box::new) }
    }

    pub(super) fn of(data: Bytes) -> Self {
        Self::new(data, None)
    }

    fn next(&mut self) -> Option<Frame<Bytes>> {
        if !self.data.is_empty() {
            return Some(Frame::data(std::mem::take(&mut self.data)));
        }
        self.trailers.take().map(|trailers| Frame::trailers(*trailers))
    }
}

impl<B> RefusalResponseBody<B> {
    pub(super) fn whole(whole: Whole) -> Self {
        Self { kind: Kind::Whole { whole } }
    }
}

/// An answer that came, on its way through. Where its body may get another end than it has, no length is declared.
pub(super) fn passing<B>(mut response: Response<B>, asked: Asked) -> Response<RefusalResponseBody<B>> {
    let end = end(response.headers(), &asked);
    if end != End::Body {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    response.map(|inner| {
        let kind = match end {
            End::Body => Kind::Passing { inner, asked },
            End::Event => Kind::Events { inner: Some(inner), asked, at_rest: true, events: Box::default() },
            End::Trailers => Kind::Grpc { inner: Some(inner), asked },
        };
        RefusalResponseBody { kind }
    })
}

/// Where an error can be said once the head is out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Nowhere: the body breaks off.
    Body,
    Event,
    Trailers,
}

fn end(headers: &HeaderMap, asked: &Asked) -> End {
    // Most calls ask for no stream, and get none.
    let (call, binding) = (asked.call(), asked.binding());
    if binding != Some(Binding::Grpc) && call.operation().is_some() && !call.is_streaming() {
        return End::Body;
    }
    // Plain bytes among coded ones would be garbage.
    let coded =
        || headers.get(CONTENT_ENCODING).is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"));
    match (MediaType::of(headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes)), binding) {
        (MediaType::EventStream, Some(Binding::JsonRpc | Binding::HttpJson)) if !coded() => End::Event,
        // Behind a status in the head clients look at no other.
        (MediaType::Grpc, Some(Binding::Grpc)) if field(headers, "grpc-status").is_none() => End::Trailers,
        _ => End::Body,
    }
}

impl<B> Body for RefusalResponseBody<B>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = CallError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, CallError>>> {
        match self.project().kind.project() {
            KindProj::Passing { inner, asked } => {
                let frame = ready!(inner.poll_frame(cx));
                Poll::Ready(frame.map(|frame| frame.map_err(|error| foreign::in_body(error.into(), asked.call()))))
            }
            KindProj::Events { inner, asked, at_rest, events } => {
                events.poll_frame(inner, asked, at_rest, cx).map(|frame| frame.map(Ok))
            }
            KindProj::Grpc { mut inner, asked } => {
                let Some(body) = inner.as_mut().as_pin_mut() else { return Poll::Ready(None) };
                Poll::Ready(match ready!(body.poll_frame(cx)) {
                    Some(Ok(frame)) => Some(Ok(frame)),
                    Some(Err(error)) => {
                        inner.set(None);
                        Some(Ok(Frame::trailers(trailers(error.into(), asked))))
                    }
                    None => {
                        inner.set(None);
                        None
                    }
                })
            }
            KindProj::Whole { whole } => Poll::Ready(whole.next().map(Ok)),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Passing { inner, .. } => inner.is_end_stream(),
            Kind::Events { inner, at_rest, events, .. } => {
                (*at_rest || events.is_empty()) && inner.as_ref().is_none_or(Body::is_end_stream)
            }
            Kind::Grpc { inner, .. } => inner.as_ref().is_none_or(Body::is_end_stream),
            Kind::Whole { whole } => whole.data.is_empty() && whole.trailers.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Passing { inner, .. } => inner.size_hint(),
            // It may get another end than the inner one has.
            Kind::Events { .. } | Kind::Grpc { .. } => SizeHint::default(),
            Kind::Whole { whole } => SizeHint::with_exact(whole.data.len() as u64),
        }
    }
}

impl Events {
    fn poll_frame<B>(
        &mut self,
        mut inner: Pin<&mut Option<B>>,
        asked: &Asked,
        at_rest: &mut bool,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Frame<Bytes>>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        for _ in 0..FRAMES_PER_POLL {
            if !*at_rest && let Some(frame) = self.next_out() {
                return Poll::Ready(Some(frame));
            }
            let Some(body) = inner.as_mut().as_pin_mut() else { return Poll::Ready(None) };
            match ready!(body.poll_frame(cx)) {
                Some(Ok(frame)) => {
                    if *at_rest && frame.data_ref().is_some_and(|data| ends_with_blank_line(data)) {
                        return Poll::Ready(Some(frame));
                    }
                    let passes = self.take_in(frame);
                    *at_rest = self.is_at_rest();
                    if passes.is_some() {
                        return Poll::Ready(passes);
                    }
                }
                Some(Err(error)) => {
                    inner.set(None);
                    *at_rest = false;
                    self.fail(error.into(), asked);
                }
                None => {
                    inner.set(None);
                    *at_rest = false;
                    self.unfinished.flush(&mut self.out);
                }
            }
        }
        // A body of small pieces that is always ready must not keep its thread from everything else.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// What goes out before anything else may come in.
    fn next_out(&mut self) -> Option<Frame<Bytes>> {
        self.out.pop_front().map(Frame::data).or_else(|| self.trailers.take().map(Frame::trailers))
    }

    /// Gives a frame back that passes as it is.
    fn take_in(&mut self, frame: Frame<Bytes>) -> Option<Frame<Bytes>> {
        match frame.into_data() {
            Ok(data) => self.unfinished.take_in(data, &mut self.out).map(Frame::data),
            Err(frame) => {
                self.unfinished.flush(&mut self.out);
                self.trailers = frame.into_trailers().ok();
                None
            }
        }
    }

    fn fail(&mut self, error: BoxError, asked: &Asked) {
        let missing = self.unfinished.drop_held();
        if !missing.is_empty() {
            self.out.push_back(Bytes::from_static(missing));
        }
        let error = foreign::in_body(error, asked.call());
        let form = asked.form(&error);
        let event = own::event(&error).or_else(|| Problem::of(&error.into()).event(&form));
        self.out.extend(event);
    }

    fn is_empty(&self) -> bool {
        self.out.is_empty() && self.trailers.is_none() && self.unfinished.is_empty()
    }

    /// Nothing goes out, and no event is unfinished, handed on or held.
    fn is_at_rest(&self) -> bool {
        self.is_empty() && !self.unfinished.has_leaked()
    }
}

/// What ends a gRPC stream that failed.
fn trailers(error: BoxError, asked: &Asked) -> HeaderMap {
    let error = foreign::in_body(error, asked.call());
    let form = asked.form(&error);
    own::trailers(&error).unwrap_or_else(|| Problem::of(&error.into()).trailers(&form))
}

impl<B> fmt::Debug for RefusalResponseBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Passing { .. } => "passing",
            Kind::Events { .. } => "events",
            Kind::Grpc { .. } => "gRPC",
            Kind::Whole { .. } => "whole",
        };
        f.debug_struct("RefusalResponseBody").field("kind", &kind).finish_non_exhaustive()
    }
}
