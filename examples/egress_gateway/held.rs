//! Callers that do not read. A body is asked for its frames only as its caller takes them, and what nobody asks keeps no
//! bound: once the total is over, it is asked here.

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

/// What a connection takes of any caller, and so needs nobody to watch it.
const SOON_GONE: u64 = 16 << 10;

/// The same body, which is over when `total` is, whether it is read or not.
pub(crate) fn held(body: Answer, total: Duration) -> Answer {
    if body.size_hint().exact().is_some_and(|len| len <= SOON_GONE) {
        return body;
    }
    let shared = Arc::new(Shared(Mutex::new(State { body: Some(body), ..State::default() })));
    let watching = Arc::clone(&shared);
    let watch = tokio::spawn(async move {
        tokio::time::sleep(total).await;
        watching.end().await;
    });
    Held { shared, watch }.boxed_unsync()
}

#[derive(Default)]
struct State {
    /// Until it is over, or the watch has it.
    body: Option<Answer>,
    /// The watch has it, and reads it to its end.
    taken: bool,
    /// What came since.
    rest: VecDeque<Frame<Bytes>>,
    failed: Option<BoxError>,
    waker: Option<Waker>,
}

struct Shared(Mutex<State>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads on in the caller's place. The guard, whose total is over, ends the body at its next check, and lets go of the
    /// agent: what came until then is all that is kept.
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
    watch: JoinHandle<()>,
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

    fn size_hint(&self) -> SizeHint {
        self.shared.lock().body.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Now, and not when the runtime comes to it.
        self.shared.lock().body = None;
        self.watch.abort();
    }
}
