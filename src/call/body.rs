use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

pin_project! {
    /// A request body as the client below [`CallLayer`](crate::CallLayer) sees it: what was read of it to name the
    /// call, then the rest.
    ///
    /// The bytes are the caller's, frame by frame, none changed, and none copied but those of small frames behind the first
    /// thousand, which are put together. A body that failed while it was read fails here at the same place.
    pub struct CallBody<B>
    where
        B: Body,
    {
        first: Option<Bytes>,
        read: VecDeque<Bytes>,
        end: End<B::Error>,
        #[pin]
        rest: Option<B>,
    }
}

/// What follows the frames that were read.
pub(super) enum End<E> {
    /// Nothing more, or what is left of the body.
    Rest,
    /// The body's trailers.
    Trailers(Box<HeaderMap>),
    /// The body's failure.
    Failed(E),
}

impl<B> CallBody<B>
where
    B: Body,
{
    /// A body of which nothing was read.
    #[must_use]
    pub fn unread(body: B) -> Self {
        Self { first: None, read: VecDeque::new(), end: End::Rest, rest: Some(body) }
    }

    /// What was read, and what comes behind it.
    pub(super) fn new(first: Option<Bytes>, read: VecDeque<Bytes>, end: End<B::Error>, rest: Option<B>) -> Self {
        Self { first, read, end, rest }
    }

    /// The whole body, if it was read to its end in one piece.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&Bytes> {
        self.first.as_ref().filter(|_| self.read.is_empty() && self.is_whole())
    }

    /// The whole body, if it was read to its end. Pieces are put together.
    pub(crate) fn to_bytes(&self) -> Option<Bytes> {
        if self.read.is_empty() || !self.is_whole() {
            return self.as_bytes().cloned();
        }
        let mut bytes = Vec::new();
        self.first.iter().chain(&self.read).for_each(|piece| bytes.extend_from_slice(piece));
        Some(bytes.into())
    }

    /// Whether nothing comes behind what was read.
    fn is_whole(&self) -> bool {
        matches!(self.end, End::Rest) && self.rest.as_ref().is_none_or(Body::is_end_stream)
    }
}

impl<B> CallBody<B>
where
    B: Body<Data = Bytes>,
{
    /// The same body once more, if all of it is in memory: it was read to its end, or has nothing in it. The bytes are
    /// shared, not copied.
    ///
    /// A body that goes on behind what was read, or failed there, cannot be had twice.
    #[must_use]
    pub fn try_clone(&self) -> Option<Self> {
        if !self.rest.as_ref().is_none_or(Body::is_end_stream) {
            return None;
        }
        let end = match &self.end {
            End::Rest => End::Rest,
            End::Trailers(trailers) => End::Trailers(trailers.clone()),
            End::Failed(_) => return None,
        };
        Some(Self { first: self.first.clone(), read: self.read.clone(), end, rest: None })
    }
}

impl<B> From<Bytes> for CallBody<B>
where
    B: Body,
{
    fn from(bytes: Bytes) -> Self {
        Self { first: (!bytes.is_empty()).then_some(bytes), read: VecDeque::new(), end: End::Rest, rest: None }
    }
}

impl<B> Default for CallBody<B>
where
    B: Body,
{
    fn default() -> Self {
        Self::from(Bytes::new())
    }
}

impl<B> Body for CallBody<B>
where
    B: Body<Data = Bytes>,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let mut this = self.project();
        if let Some(bytes) = this.first.take().or_else(|| this.read.pop_front()) {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        match std::mem::replace(this.end, End::Rest) {
            End::Rest => {}
            End::Trailers(trailers) => return Poll::Ready(Some(Ok(Frame::trailers(*trailers)))),
            End::Failed(error) => return Poll::Ready(Some(Err(error))),
        }
        match this.rest.as_mut().as_pin_mut() {
            Some(rest) => {
                let frame = ready!(rest.poll_frame(cx));
                if frame.is_none() {
                    this.rest.set(None);
                }
                Poll::Ready(frame)
            }
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none()
            && self.read.is_empty()
            && matches!(self.end, End::Rest)
            && self.rest.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let read: u64 = self.first.iter().chain(&self.read).map(|bytes| bytes.len() as u64).sum();
        let rest = match (&self.rest, &self.end) {
            (Some(rest), _) => rest.size_hint(),
            (None, End::Rest | End::Trailers(_)) => SizeHint::with_exact(0),
            // How much was still to come when it failed, nobody knows.
            (None, End::Failed(_)) => SizeHint::default(),
        };
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(read));
        if let Some(upper) = rest.upper().and_then(|upper| upper.checked_add(read)) {
            hint.set_upper(upper);
        }
        hint
    }
}

impl<B> fmt::Debug for CallBody<B>
where
    B: Body,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallBody")
            .field("frames_read", &(usize::from(self.first.is_some()) + self.read.len()))
            .field("has_rest", &self.rest.is_some())
            .finish_non_exhaustive()
    }
}
