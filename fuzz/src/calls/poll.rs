//! Polls a future so often and no more, and knows who could still wake it.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Wake, Waker},
};

/// The waker that is handed down; it counts who holds it.
#[derive(Debug, Default)]
struct Down(Mutex<Option<Waker>>);

impl Wake for Down {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waker = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// How often something was polled, and who could wake it.
#[derive(Clone, Debug, Default)]
pub struct Polls {
    down: Arc<Down>,
    count: Arc<Mutex<u32>>,
}

impl Polls {
    /// So often so far.
    #[must_use]
    pub fn count(&self) -> u32 {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many wakers there are: timers that run, and tasks that would tell.
    #[must_use]
    pub fn wakers(&self) -> usize {
        Arc::strong_count(&self.down) - 1
    }

    /// Polls `future` at most so often; `None` if it was not over by then. Nothing of it is left when this is over.
    pub fn limit<F: Future>(&self, future: F, most: Option<u32>) -> Polled<F> {
        Polled { future: Some(Box::pin(future)), polls: Arc::clone(&self.down), count: Arc::clone(&self.count), most }
    }
}

/// See [`Polls::limit`].
#[derive(Debug)]
pub struct Polled<F> {
    future: Option<Pin<Box<F>>>,
    polls: Arc<Down>,
    count: Arc<Mutex<u32>>,
    most: Option<u32>,
}

impl<F: Future> Future for Polled<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<F::Output>> {
        let this = &mut *self;
        let count = {
            let mut count = this.count.lock().unwrap_or_else(PoisonError::into_inner);
            *count += 1;
            *count
        };
        if this.most.is_some_and(|most| count > most) {
            this.future = None;
            return Poll::Ready(None);
        }
        *this.polls.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        let Some(future) = &mut this.future else { return Poll::Ready(None) };
        let waker = Waker::from(Arc::clone(&this.polls));
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        match polled {
            Poll::Pending if this.most == Some(count) => {
                this.future = None;
                Poll::Ready(None)
            }
            Poll::Pending => Poll::Pending,
            Poll::Ready(output) => {
                this.future = None;
                Poll::Ready(Some(output))
            }
        }
    }
}
