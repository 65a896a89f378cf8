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
