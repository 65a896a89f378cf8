use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
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
        // Of a stream, until its end is known. Dropped after the body.
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
    /// The layer below that judges it says so.
    pub(super) ended_well: Arc<AtomicBool>,
    pub(super) is_noted: bool,
}

impl Watch {
    fn has_ended_well(&self) -> bool {
        self.ended_well.load(Ordering::Relaxed)
    }

    fn note(mut self, ended: Result<(), &CallError>) {
        self.record(ended);
    }

    fn record(&mut self, ended: Result<(), &CallError>) {
        self.is_noted = true;
        let elapsed = self.began.elapsed();
        let report = match ended {
            Ok(()) => Report::success(elapsed),
            Err(error) => Report::of_error(error, elapsed),
        };
        self.evidence.record(&self.peer, Some(&self.skill), report);
    }
}

/// Who has the last event, or one that waits for the caller, has no need of the rest of the stream. Dropped after the
/// body, which may say so only when it is dropped itself.
impl Drop for Watch {
    fn drop(&mut self) {
        if !self.is_noted && self.has_ended_well() {
            self.record(Ok(()));
        }
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
                // Whoever has the last event, or is told that this was the last frame, need not ask for another.
                let is_last = this.inner.is_end_stream() || this.watch.as_ref().is_some_and(Watch::has_ended_well);
                if is_last && let Some(watch) = this.watch.take() {
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
