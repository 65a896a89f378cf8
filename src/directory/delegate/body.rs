use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::Instant;

use crate::{
    call::Call,
    directory::{Evidence, PeerId, Report},
    error::{BoxError, CallError, broke_off},
};

pin_project! {
    /// The body of a delegated call's answer: the peer's own. How a stream ends is taken note of.
    #[derive(Debug)]
    pub struct DelegateBody<P> {
        #[pin]
        inner: P,
        call: Call,
        // Of a stream, until its end is known.
        watch: Option<Watch>,
    }
}

/// Whose stream it is.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) evidence: Evidence,
    pub(super) peer: PeerId,
    pub(super) skill: Box<str>,
    pub(super) began: Instant,
}

impl Watch {
    fn note(self, ended: Result<(), &CallError>) {
        let elapsed = self.began.elapsed();
        let report = match ended {
            Ok(()) => Report::success(elapsed),
            Err(error) => Report::of_error(error, elapsed),
        };
        self.evidence.record(&self.peer, Some(&self.skill), report);
    }
}

impl<P> DelegateBody<P> {
    pub(super) fn new(inner: P, call: Call, watch: Option<Watch>) -> Self {
        Self { inner, call, watch }
    }
}

impl<P> Body for DelegateBody<P>
where
    P: Body<Data = Bytes>,
    P::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = CallError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, CallError>>> {
        let mut this = self.project();
        let frame = ready!(this.inner.as_mut().poll_frame(cx));
        Poll::Ready(match frame {
            Some(Ok(frame)) => {
                // Whoever is told that this was the last frame need not ask for another.
                if this.inner.is_end_stream()
                    && let Some(watch) = this.watch.take()
                {
                    watch.note(Ok(()));
                }
                Some(Ok(frame))
            }
            Some(Err(error)) => {
                let error = broke_off(error.into(), this.call);
                if let Some(watch) = this.watch.take() {
                    watch.note(Err(&error));
                }
                Some(Err(error))
            }
            None => {
                if let Some(watch) = this.watch.take() {
                    watch.note(Ok(()));
                }
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
