use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::{CallSpan, future::tell_of};

pin_project! {
    /// The body of an answer, read in its call's span. `Unpin` when `B` is.
    pub struct TracingBody<B> {
        // `None` while it is dropped.
        #[pin]
        body: Option<B>,
        span: Option<CallSpan>,
    }

    impl<B> PinnedDrop for TracingBody<B> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let _entered = this.span.as_ref().map(|span| span.get().enter());
            this.body.set(None);
        }
    }
}

impl<B> TracingBody<B> {
    pub(super) fn new(body: B, span: Option<CallSpan>) -> Self {
        Self { body: Some(body), span }
    }
}

impl<B> Body for TracingBody<B>
where
    B: Body,
    B::Error: 'static,
{
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let this = self.project();
        let Some(body) = this.body.as_pin_mut() else { return Poll::Ready(None) };
        let _entered = this.span.as_ref().map(|span| span.get().enter());
        let frame = ready!(body.poll_frame(cx));
        if let (Some(Err(error)), Some(span)) = (&frame, this.span.as_ref()) {
            tell_of(error, span);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl<B> fmt::Debug for TracingBody<B>
where
    B: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TracingBody").field("body", &self.body).field("span", &self.span).finish()
    }
}
