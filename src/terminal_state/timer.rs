use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
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
    }
}

impl Timer {
    /// Set, and for later than `now`, as far as that is known.
    #[inline]
    pub(super) fn is_ahead_of(&self, now: Option<Instant>) -> bool {
        self.sleep.as_ref().is_some_and(|sleep| now.is_none_or(|now| now < sleep.deadline()))
    }

    /// Polls it as it was set. Never ready if it was not.
    #[inline]
    pub(super) fn poll_set(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.project().sleep.as_pin_mut() {
            Some(sleep) => sleep.poll(cx),
            None => Poll::Pending,
        }
    }

    /// Ready when the timer fired, which says only that it is time to look at the clock.
    pub(super) fn poll(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        now: Instant,
        due: Instant,
        floor: Duration,
    ) -> Poll<()> {
        let mut slot = self.project().sleep;
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
        if let Some(sleep) = self.project().sleep.as_pin_mut() {
            sleep.reset(due.min(now + floor));
        }
    }
}
