use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::{contained::Contained, live::Live, passing::Passing, pieces::Pieces};
use crate::{
    error::{BoxError, CallError},
    outcome::Observe,
};

pin_project! {
    /// The body of an answer that passed [`TerminalStateLayer`](crate::TerminalStateLayer).
    ///
    /// Of a unary call, the frames that were judged, as they came. Of a stream, its events as they come, each judged:
    /// the body fails with a [`CallError`] where the stream does. `Unpin` when `B` is.
    pub struct TerminalStateBody<B, O = ()>
    where
        O: Observe,
    {
        #[pin]
        kind: Kind<B, O>,
    }
}

pin_project! {
    #[project = KindProj]
    enum Kind<B, O>
    where
        O: Observe,
    {
        Replay { replay: Replay },
        Live { live: Pin<Box<Live<B, O>>> },
        Passing { #[pin] body: Contained<B>, passing: Box<Passing<O>> },
    }
}

impl<B, O> TerminalStateBody<B, O>
where
    O: Observe,
{
    pub(super) fn replay(replay: Replay) -> Self {
        Self { kind: Kind::Replay { replay } }
    }

    pub(super) fn live(live: Pin<Box<Live<B, O>>>) -> Self {
        Self { kind: Kind::Live { live } }
    }

    pub(super) fn passing(body: Contained<B>, mut passing: Passing<O>) -> Self
    where
        B: Body<Data = Bytes>,
    {
        if body.is_end_stream() {
            passing.ended();
        }
        Self { kind: Kind::Passing { body, passing: Box::new(passing) } }
    }
}

impl<B, O> Body for TerminalStateBody<B, O>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
    O: Observe,
{
    type Data = Bytes;
    type Error = CallError;

    #[inline]
    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, CallError>>> {
        match self.project().kind.project() {
            KindProj::Replay { replay } => Poll::Ready(replay.next().map(Ok)),
            KindProj::Live { live } => live.as_mut().poll_frame(cx),
            KindProj::Passing { body, passing } => passing.poll_frame(body, cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Replay { replay } => replay.is_done(),
            Kind::Live { live } => live.is_over(),
            Kind::Passing { passing, .. } => passing.is_over(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Replay { replay } => SizeHint::with_exact(replay.pieces.len() as u64),
            // The layer may end a stream early, and may complete its last event.
            Kind::Live { .. } => SizeHint::default(),
            Kind::Passing { body, passing } => {
                if passing.is_over() {
                    SizeHint::with_exact(0)
                } else {
                    body.size_hint()
                }
            }
        }
    }
}

impl<B, O> fmt::Debug for TerminalStateBody<B, O>
where
    O: Observe,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Replay { .. } => "judged",
            Kind::Live { .. } => "stream",
            Kind::Passing { .. } => "passing",
        };
        f.debug_struct("TerminalStateBody").field("kind", &kind).finish_non_exhaustive()
    }
}

/// Frames that were read, on their way on.
#[derive(Debug)]
pub(super) struct Replay {
    pieces: Pieces,
    trailers: Option<Box<HeaderMap>>,
}

impl Replay {
    pub(super) fn new(pieces: Pieces, trailers: Option<Box<HeaderMap>>) -> Self {
        Self { pieces, trailers }
    }

    pub(super) fn of(bytes: Bytes) -> Self {
        Self::new(Pieces::of(bytes), None)
    }

    pub(super) fn with_trailers(bytes: Bytes, trailers: HeaderMap) -> Self {
        Self { trailers: Some(Box::new(trailers)), ..Self::of(bytes) }
    }

    fn next(&mut self) -> Option<Frame<Bytes>> {
        self.pieces.pop().map(Frame::data).or_else(|| self.trailers.take().map(|trailers| Frame::trailers(*trailers)))
    }

    fn is_done(&self) -> bool {
        self.pieces.is_empty() && self.trailers.is_none()
    }
}
