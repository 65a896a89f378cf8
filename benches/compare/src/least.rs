//! Layers that do no more than any layer of their kind has to: what ours take beyond them is theirs, and no less is to
//! be had.

use std::convert::Infallible;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use a2a_guard::{Call, CallBody};
use bytes::Bytes;
use http::response::Parts;
use http::{Request, Response};
use http_body::{Body, Frame};
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};
use tower::Service;

/// Above every timer that a batch could reach.
const BOUND: Duration = Duration::from_secs(30);

/// Bounds a whole answer by one timer, and hands it on unread.
///
/// For that it keeps the call (to say which one failed), reads the clock when it sends and when it begins to wait for
/// the body, and has head and frames until the end has come: all in one allocation.
#[derive(Clone, Debug)]
pub(crate) struct Timing<S>(pub(crate) S);

impl<S, B, P> Service<Request<B>> for Timing<S>
where
    S: Service<Request<B>, Response = Response<P>, Error = Infallible>,
    P: Body<Data = Bytes, Error = Infallible>,
{
    type Response = Response<Whole>;
    type Error = Infallible;
    type Future = TimingFuture<S::Future, P>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let call = request.extensions().get::<Call>().cloned();
        let kept = Kept { timer: None, since: Instant::now(), head: None, frame: None, call };
        TimingFuture { exchange: Exchange::Head { future: self.0.call(request) }, kept: Some(Box::pin(kept)) }
    }
}

pin_project! {
    struct Kept {
        #[pin]
        timer: Option<Sleep>,
        since: Instant,
        head: Option<Parts>,
        frame: Option<Bytes>,
        call: Option<Call>,
    }
}

impl Kept {
    fn poll_timer(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        if this.timer.is_none() {
            this.timer.set(Some(sleep_until(*this.since + BOUND)));
        }
        this.timer.as_pin_mut().map_or(Poll::Pending, |timer| timer.poll(cx))
    }
}

pin_project! {
    /// The future of [`Timing`].
    pub(crate) struct TimingFuture<F, P> {
        #[pin]
        exchange: Exchange<F, P>,
        kept: Option<Pin<Box<Kept>>>,
    }
}

pin_project! {
    #[project = Step]
    enum Exchange<F, P> {
        Head { #[pin] future: F },
        Body { #[pin] body: P },
        Over,
    }
}

impl<F, P> Future for TimingFuture<F, P>
where
    F: Future<Output = Result<Response<P>, Infallible>>,
    P: Body<Data = Bytes, Error = Infallible>,
{
    type Output = Result<Response<Whole>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let kept = this.kept.as_mut().expect("polled no longer than until it is ready");
            match this.exchange.as_mut().project() {
                Step::Head { future } => {
                    let Poll::Ready(Ok(response)) = future.poll(cx) else {
                        ready!(kept.as_mut().poll_timer(cx));
                        panic!("a batch is over long before");
                    };
                    let (head, body) = response.into_parts();
                    *kept.as_mut().project().head = Some(head);
                    this.exchange.set(Exchange::Body { body });
                }
                Step::Body { body } => match body.poll_frame(cx) {
                    Poll::Ready(Some(Ok(frame))) => *kept.as_mut().project().frame = frame.into_data().ok(),
                    Poll::Ready(None) => {
                        this.exchange.set(Exchange::Over);
                        let kept = kept.as_mut().project();
                        let (head, frame) = (kept.head.take().expect("a head"), kept.frame.take());
                        *this.kept = None;
                        return Poll::Ready(Ok(Response::from_parts(head, Whole(frame))));
                    }
                    Poll::Pending => {
                        *kept.as_mut().project().since = Instant::now();
                        ready!(kept.as_mut().poll_timer(cx));
                        panic!("a batch is over long before");
                    }
                },
                Step::Over => return Poll::Pending,
            }
        }
    }
}

/// A body of one frame.
#[derive(Debug)]
pub(crate) struct Whole(Option<Bytes>);

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|data| Ok(Frame::data(data))))
    }
}

/// Hands a call on with what every cache in front of a call has to have of it, and looks nothing up: the call, for who
/// reads of a failure; the time; a count on what is held; and the request's bytes, to know what was refused.
#[derive(Clone, Debug)]
pub(crate) struct Holding<S> {
    inner: S,
    held: Arc<[u64; 32]>,
}

impl<S> Holding<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self { inner, held: Arc::default() }
    }
}

impl<S, B, P> Service<Request<CallBody<B>>> for Holding<S>
where
    S: Service<Request<CallBody<B>>, Response = Response<P>, Error = Infallible>,
    B: Body,
{
    type Response = Response<Held<P>>;
    type Error = Infallible;
    type Future = HoldingFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    // A layer's own call is too long to become a part of its caller.
    #[inline(never)]
    fn call(&mut self, request: Request<CallBody<B>>) -> Self::Future {
        black_box(Instant::now());
        let call = request.extensions().get::<Call>().cloned();
        let (held, bytes) = (Some(Arc::clone(&self.held)), request.body().as_bytes().cloned());
        HoldingFuture { future: self.inner.call(request), call, held, bytes }
    }
}

pin_project! {
    /// The future of [`Holding`].
    pub(crate) struct HoldingFuture<F> {
        #[pin]
        future: F,
        call: Option<Call>,
        held: Option<Arc<[u64; 32]>>,
        bytes: Option<Bytes>,
    }
}

impl<F, P> Future for HoldingFuture<F>
where
    F: Future<Output = Result<Response<P>, Infallible>>,
{
    type Output = Result<Response<Held<P>>, Infallible>;

    #[inline(never)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = ready!(this.future.poll(cx));
        let (call, held) = (this.call.take(), this.held.take());
        Poll::Ready(response.map(|response| response.map(|inner| Held { inner, call, held })))
    }
}

/// A body with what a failure in it would have to be told with.
#[derive(Debug)]
#[expect(dead_code, reason = "held, and dropped")]
pub(crate) struct Held<P> {
    inner: P,
    call: Option<Call>,
    held: Option<Arc<[u64; 32]>>,
}
