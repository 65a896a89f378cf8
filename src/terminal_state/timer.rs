use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep};

/// The one timer of a call, made when the call first has to wait.
///
/// Registering a timer costs more than all else that the layer does, so it is set no later than any phase of the call
/// may need it (`floor`, the shortest of their bounds, from now) and then left alone: when it fires before anything is
/// due, it is set anew. Only a deadline before that, as `linger` sets one, moves it.
#[derive(Debug, Default)]
pub(super) struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Timer {
    /// Ready when the timer fired, which says only that it is time to look at the clock.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, now: Instant, due: Instant, floor: Duration) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due.min(now + floor))));
        if sleep.deadline() > due {
            sleep.as_mut().reset(due);
        }
        sleep.as_mut().poll(cx)
    }

    /// Sets the timer anew after it fired.
    pub(super) fn rearm(&mut self, now: Instant, due: Instant, floor: Duration) {
        if let Some(sleep) = &mut self.sleep {
            sleep.as_mut().reset(due.min(now + floor));
        }
    }
}
