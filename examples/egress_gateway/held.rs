//! Callers that do not read. A body is asked for its frames only as its caller takes them, and what nobody asks keeps
//! no bound: once the total is over, it is asked here.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use a2a_guard::BoxError;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::task::JoinHandle;

use crate::guard::Answer;

/// So much is taken of a body that is ready, in bytes, before its caller asks for any: an answer of one piece is here
/// as a whole.
const AT_ONCE: usize = 256 << 10;

/// The same body, which is over when `total` is, whether it is read or not.
pub(crate) fn held(mut body: Answer, total: Duration) -> Answer {
    let is_exact = body.size_hint().exact().is_some();
    let (mut first, mut rest, mut bytes) = (None, VecDeque::new(), 0);
    let mut context = Context::from_waker(Waker::noop());
    while bytes < AT_ONCE {
        match Pin::new(&mut body).poll_frame(&mut context) {
            Poll::Ready(Some(Ok(frame))) => {
                // Frames of nothing count as well.
                bytes += frame.data_ref().map_or(0, Bytes::len).max(1 << 10);
                match first {
                    // Most answers are one frame, and need no more than that.
                    None if body.is_end_stream() => {
                        return Whole { first: Some(frame), rest, is_exact }.boxed_unsync();
                    }
                    None => first = Some(frame),
                    Some(_) => rest.push_back(frame),
                }
            }
            // Over already: nothing is held but what is in memory.
            Poll::Ready(None) => return Whole { first, rest, is_exact }.boxed_unsync(),
            Poll::Ready(Some(Err(error))) => {
                first.into_iter().for_each(|first| rest.push_front(first));
                let state = State { rest, failed: Some(error), ..State::default() };
                return Held { shared: Arc::new(Shared(Mutex::new(state))), watch: None }.boxed_unsync();
            }
            Poll::Pending => break,
        }
    }
    first.into_iter().for_each(|first| rest.push_front(first));
    let state = State { body: Some(body), rest, ..State::default() };
    let shared = Arc::new(Shared(Mutex::new(state)));
    let watching = Arc::clone(&shared);
    let watch = tokio::spawn(async move {
        tokio::time::sleep(total).await;
        watching.end().await;
    });
    Held { shared, watch: Some(watch) }.boxed_unsync()
}

/// A body that is here.
struct Whole {
    first: Option<Frame<Bytes>>,
    rest: VecDeque<Frame<Bytes>>,
    /// It told its length before.
    is_exact: bool,
}

impl Body for Whole {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let next = self.first.take().or_else(|| self.rest.pop_front());
        Poll::Ready(next.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let frames = self.first.iter().chain(&self.rest);
        match self.is_exact {
            true => SizeHint::with_exact(frames.filter_map(Frame::data_ref).map(|data| data.len() as u64).sum()),
            false => SizeHint::default(),
        }
    }
}

#[derive(Default)]
struct State {
    /// Until it is over, or the watch has it.
    body: Option<Answer>,
    /// The watch has it, and reads it to its end.
    taken: bool,
    /// What came, and is not handed on yet.
    rest: VecDeque<Frame<Bytes>>,
    failed: Option<BoxError>,
    waker: Option<Waker>,
}

struct Shared(Mutex<State>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads on in the caller's place. The guard, whose total is over, ends the body at its next check, and lets go of
    /// the agent: what came until then is all that is kept.
    async fn end(&self) {
        let Some(mut body) = ({
            let mut state = self.lock();
            state.taken = state.body.is_some();
            state.body.take()
        }) else {
            return;
        };
        loop {
            let frame = body.frame().await;
            let mut state = self.lock();
            match frame {
                Some(Ok(frame)) => {
                    state.rest.push_back(frame);
                    continue;
                }
                Some(Err(error)) => state.failed = Some(error),
                None => {}
            }
            state.taken = false;
            if let Some(waker) = state.waker.take() {
                waker.wake();
            }
            return;
        }
    }
}

/// The body of [`held`].
struct Held {
    shared: Arc<Shared>,
    watch: Option<JoinHandle<()>>,
}

impl Body for Held {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut state = self.shared.lock();
        if let Some(frame) = state.rest.pop_front() {
            return Poll::Ready(Some(Ok(frame)));
        }
        if state.taken {
            state.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let Some(body) = &mut state.body else { return Poll::Ready(state.failed.take().map(Err)) };
        let frame = std::task::ready!(Pin::new(body).poll_frame(cx));
        if !matches!(frame, Some(Ok(_))) {
            state.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        let state = self.shared.lock();
        let is_over = state.body.as_ref().is_none_or(Body::is_end_stream);
        is_over && !state.taken && state.rest.is_empty() && state.failed.is_none()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Now, and not when the runtime comes to it.
        self.shared.lock().body = None;
        if let Some(watch) = &self.watch {
            watch.abort();
        }
    }
}
