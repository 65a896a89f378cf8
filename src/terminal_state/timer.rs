use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep};

pin_project! {
    /// The one timer of a call, made when the call first has to wait.
    ///
    /// Registering a timer costs more than all else that the layer does, so it is set no later than any phase of the
    /// call may need it (`floor`, the shortest of their bounds, from now) and then left alone: when it fires before
    /// anything is due, it is set anew. Only a deadline before that, as `linger` sets one, moves it.
    #[derive(Debug, Default)]
    pub(super) struct Timer {
        #[pin]
        sleep: Option<Sleep>,
        // Whom the timer wakes, if that is known.
        wakes: Option<Waker>,
    }
}

impl Timer {
    #[inline]
    pub(super) fn is_set(&self) -> bool {
        self.sleep.is_some()
    }

    #[inline]
    pub(super) fn set(self: Pin<&mut Self>, at: Instant) {
        self.project().sleep.set(Some(tokio::time::sleep_until(at)));
    }

    /// Set, and for later than `now`, as far as that is known.
    #[inline]
    pub(super) fn is_ahead_of(&self, now: Option<Instant>) -> bool {
        self.sleep.as_ref().is_some_and(|sleep| now.is_none_or(|now| now < sleep.deadline()))
    }

    /// Polls it as it was set. Never ready if it was not. While the task has budget left: else the timer does not
    /// listen.
    ///
    /// A stream waits for each of its events, some servers ask twice for each, and it is always the same task that
    /// does.
    #[inline]
    pub(super) fn poll_set(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let Some(sleep) = this.sleep.as_pin_mut() else { return Poll::Pending };
        if this.wakes.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) && !sleep.is_elapsed() {
            return Poll::Pending;
        }
        let polled = sleep.poll(cx);
        *this.wakes = polled.is_pending().then(|| cx.waker().clone());
        polled
    }

    /// Ready when the timer fired, which says only that it is time to look at the clock.
    pub(super) fn poll(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        now: Instant,
        due: Instant,
        floor: Duration,
    ) -> Poll<()> {
        let this = self.project();
        *this.wakes = None;
        let mut slot = this.sleep;
        if slot.is_none() {
            slot.set(Some(tokio::time::sleep_until(due.min(now + floor))));
        }
        let Some(mut sleep) = slot.as_pin_mut() else { return Poll::Pending };
        if sleep.deadline() > due {
            sleep.as_mut().reset(due);
        }
        sleep.poll(cx)
    }

    /// Sets the timer anew after it fired.
    pub(super) fn rearm(self: Pin<&mut Self>, now: Instant, due: Instant, floor: Duration) {
        let this = self.project();
        *this.wakes = None;
        if let Some(sleep) = this.sleep.as_pin_mut() {
            sleep.reset(due.min(now + floor));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicU32);

    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_polled_last_is_woken_and_finds_that_it_fired() {
        const SECOND: Duration = Duration::from_secs(1);
        let mut timer = std::pin::pin!(Timer::default());
        let tasks = [Arc::new(Woken::default()), Arc::new(Woken::default())];
        let wakers = tasks.clone().map(Waker::from);
        let [mut one, mut other] = [Context::from_waker(&wakers[0]), Context::from_waker(&wakers[1])];
        let woken = || tasks.each_ref().map(|task| task.0.load(Ordering::Relaxed));

        let now = Instant::now();
        assert!(timer.as_mut().poll(&mut one, now, now + SECOND, SECOND).is_pending());
        for cx in [&mut one, &mut other] {
            assert!(timer.as_mut().poll_set(cx).is_pending());
            assert!(timer.as_mut().poll_set(cx).is_pending());
        }
        tokio::time::sleep(2 * SECOND).await;
        assert_eq!(woken(), [0, 1]);
        assert!(timer.as_mut().poll_set(&mut other).is_ready());

        // Set anew, it forgot whom it woke.
        let now = Instant::now();
        timer.as_mut().rearm(now, now + SECOND, SECOND);
        assert!(timer.as_mut().poll_set(&mut other).is_pending());
        tokio::time::sleep(2 * SECOND).await;
        assert_eq!(woken(), [0, 2]);
        assert!(timer.as_mut().poll_set(&mut other).is_ready());
    }
}
