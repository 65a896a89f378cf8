//! The service below the layers: it reads the request, waits once, and answers from memory.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, header};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tower::Service;

/// What the peer answers to every call.
#[derive(Debug)]
pub struct Script {
    media_type: HeaderValue,
    sized: bool,
    frames: Vec<Bytes>,
    trailers: Option<HeaderMap>,
    pause: Pause,
}

/// Where the body is Pending. The head is so once, always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Once, before the first frame.
    Once,
    /// Before every frame, as a live stream is.
    EachFrame,
}

impl Script {
    /// A JSON body with its length, in these frames.
    pub fn json(frames: Vec<Bytes>) -> Arc<Self> {
        Arc::new(Self {
            media_type: HeaderValue::from_static("application/json"),
            sized: true,
            frames: shared(frames),
            trailers: None,
            pause: Pause::Once,
        })
    }

    /// An event stream in these frames.
    pub fn stream(frames: Vec<Bytes>, pause: Pause) -> Arc<Self> {
        Arc::new(Self {
            media_type: HeaderValue::from_static("text/event-stream"),
            sized: false,
            frames: shared(frames),
            trailers: None,
            pause,
        })
    }

    /// gRPC messages in these frames, and that all is well.
    pub fn grpc(frames: Vec<Bytes>) -> Arc<Self> {
        let ok = (HeaderName::from_static("grpc-status"), HeaderValue::from_static("0"));
        Arc::new(Self {
            media_type: HeaderValue::from_static("application/grpc"),
            sized: false,
            frames: shared(frames),
            trailers: Some(HeaderMap::from_iter([ok])),
            pause: Pause::Once,
        })
    }

    /// The frames as they are sent.
    pub fn frames(&self) -> &[Bytes] {
        &self.frames
    }

    fn left(&self, from: usize) -> u64 {
        self.frames.iter().skip(from).map(|frame| frame.len() as u64).sum()
    }

    fn response(self: &Arc<Self>) -> Response<Answer> {
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(header::CONTENT_TYPE, self.media_type.clone());
        if self.sized {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(self.left(0)));
        }
        let mut response = Response::new(Answer { script: Arc::clone(self), next: 0, paused: false });
        *response.headers_mut() = headers;
        response
    }
}

/// The first clone of a `Bytes` may allocate what the clones then share. Done here, it is nobody's cost.
fn shared(frames: Vec<Bytes>) -> Vec<Bytes> {
    frames.iter().for_each(|frame| drop(frame.clone()));
    frames
}

/// A peer that answers from its [`Script`]s, one after the other.
#[derive(Clone, Debug)]
pub struct Peer {
    scripts: Arc<[Arc<Script>]>,
    next: usize,
}

impl Peer {
    /// The same answer to every call.
    pub fn new(script: Arc<Script>) -> Self {
        Self::in_turn([script])
    }

    /// Begins anew behind the last.
    ///
    /// # Panics
    /// Where it is called, if there are none.
    pub fn in_turn(scripts: impl IntoIterator<Item = Arc<Script>>) -> Self {
        Self { scripts: scripts.into_iter().collect(), next: 0 }
    }
}

impl<B> Service<Request<B>> for Peer
where
    B: Body<Data = Bytes>,
{
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Answering<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Answering<B> {
        let script = Arc::clone(&self.scripts[self.next]);
        self.next = if self.next + 1 == self.scripts.len() { 0 } else { self.next + 1 };
        Answering { request: request.into_body(), script, paused: false }
    }
}

pin_project! {
    /// Reads the request to its end, is Pending once, and is then the response.
    #[derive(Debug)]
    pub struct Answering<B> {
        #[pin]
        request: B,
        script: Arc<Script>,
        paused: bool,
    }
}

impl<B: Body<Data = Bytes>> Future for Answering<B> {
    type Output = Result<Response<Answer>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if !*this.paused {
            while let Some(frame) = ready!(this.request.as_mut().poll_frame(cx)) {
                std::hint::black_box(frame.ok());
            }
            *this.paused = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(this.script.response()))
    }
}

/// The body of a response.
#[derive(Debug)]
pub struct Answer {
    script: Arc<Script>,
    next: usize,
    paused: bool,
}

impl Default for Answer {
    /// Nothing: what tower-http's `Timeout` answers with in the peer's place.
    fn default() -> Self {
        Self { script: Script::json(Vec::new()), next: 0, paused: true }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    // As a client's is not: so that a frame costs the same below each row, and from build to build.
    #[inline(never)]
    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if !self.paused {
            self.paused = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let frame = self.script.frames.get(self.next).cloned();
        if frame.is_some() {
            self.next += 1;
            self.paused = self.script.pause == Pause::Once;
        } else if self.next == self.script.frames.len() {
            self.next += 1;
            let trailers = self.script.trailers.clone();
            return Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))));
        }
        Poll::Ready(frame.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.next >= self.script.frames.len() + usize::from(self.script.trailers.is_some())
    }

    fn size_hint(&self) -> SizeHint {
        if self.script.sized { SizeHint::with_exact(self.script.left(self.next)) } else { SizeHint::default() }
    }
}
