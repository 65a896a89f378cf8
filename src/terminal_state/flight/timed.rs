//! A flight and its timer.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::Uri;
use pin_project_lite::pin_project;
use tokio::{task::coop, time::Instant};

use super::Flight;
use crate::{
    call::Call,
    limits::LimitOverrides,
    outcome::Observe,
    terminal_state::{deadline::Due, layer::Config, timer::Timer},
};

pin_project! {
    /// A flight and its timer. Boxed once for each call, so that future and body hand on a pointer.
    pub(in crate::terminal_state) struct Timed<O>
    where
        O: Observe,
    {
        #[pin]
        timer: Timer,
        flight: Flight<O>,
    }
}

pub(in crate::terminal_state) type Boxed<O> = Pin<Box<Timed<O>>>;

impl<O> Timed<O>
where
    O: Observe,
{
    /// A call in flight, as [`Flight::new`] makes one. The place comes first, so that it is written where it stays.
    #[inline(always)]
    pub(in crate::terminal_state) fn boxed(
        config: Arc<Config<O>>,
        call: Call,
        target: Option<Uri>,
        overrides: Option<&LimitOverrides>,
        asked_total: Option<Duration>,
        unread: bool,
    ) -> Boxed<O> {
        let place = Box::new_uninit();
        let flight = Flight::new(config, call, target, overrides, asked_total, unread);
        Box::into_pin(Box::write(place, Self { timer: Timer::default(), flight }))
    }

    pub(in crate::terminal_state) fn get(&self) -> &Flight<O> {
        &self.flight
    }

    pub(in crate::terminal_state) fn flight(self: Pin<&mut Self>) -> &mut Flight<O> {
        self.project().flight
    }

    /// After a Pending: which bound was reached, if any.
    pub(in crate::terminal_state) fn poll_bounds(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Due> {
        let this = self.project();
        let (mut timer, flight) = (this.timer, this.flight);
        flight.frames_unchecked = 0;
        flight.bytes_unchecked = 0;
        let now = flight.deadlines.wants_look().then(Instant::now);
        if let Some(now) = now {
            flight.deadlines.look(now);
        } else if !timer.is_set() && !flight.deadlines.may_be_sooner() {
            // Whatever phase comes, its bound is no shorter than the floor.
            let earliest = flight.dispatched + flight.limits().floor;
            timer.as_mut().set(earliest.min(flight.deadlines.total().at));
        }
        // Nothing is due before the timer fires; and where the task has budget left, the timer says whether it did.
        if timer.is_ahead_of(now)
            && !flight.deadlines.may_be_sooner()
            && coop::has_budget_remaining()
            && timer.as_mut().poll_set(cx).is_pending()
        {
            flight.pending = true;
            return Poll::Pending;
        }
        flight.poll_due(timer, now, cx)
    }
}
