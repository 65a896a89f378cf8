//! The bounds of a call in flight: what comes moves them, and the clock is held against them.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{task::coop, time::Instant};

use super::Flight;
use crate::{
    call::Call,
    limits::{Bounds, LimitOverrides},
    outcome::Observe,
    terminal_state::{
        deadline::{Due, Phase},
        timer::Timer,
    },
};

/// So many frames may come without a Pending before the clock is read, and so many bytes: a timer alone does not bound
/// a body that is always ready.
const FRAMES_UNCHECKED: u32 = 64;
const BYTES_UNCHECKED: usize = 256 << 10;

impl<O> Flight<O>
where
    O: Observe,
{
    /// Compares with what is due, and sets the timer for it.
    #[inline(never)]
    pub(super) fn poll_due(
        &mut self,
        mut timer: Pin<&mut Timer>,
        mut now: Option<Instant>,
        cx: &mut Context<'_>,
    ) -> Poll<Due> {
        let floor = self.limits().floor;
        self.deadlines.clear_sooner();
        loop {
            let due = self.deadlines.due(self.limits());
            if now.is_some_and(|now| now >= due.at) {
                return Poll::Ready(due);
            }
            if timer.as_mut().poll(cx, now.unwrap_or(self.dispatched), due.at, floor).is_pending() {
                self.pending = true;
                // Where the task's budget is spent, the timer does not say whether it fired.
                let reached = !coop::has_budget_remaining() && Instant::now() >= due.at;
                return if reached { Poll::Ready(due) } else { Poll::Pending };
            }
            let fired = Instant::now();
            self.deadlines.look(fired);
            timer.as_mut().rearm(fired, self.deadlines.due(self.limits()).at, floor);
            now = Some(fired);
        }
    }

    pub(in crate::terminal_state) fn enter(&mut self, phase: Phase) {
        self.deadlines.enter(phase);
    }

    pub(in crate::terminal_state) fn enter_once(&mut self, phase: Phase) {
        self.deadlines.enter_once(phase);
    }

    /// The total of a call whose answer turned out to be a stream, or not to be one.
    pub(in crate::terminal_state) fn answer_is_stream(&mut self, stream: bool) {
        let total = total_of(self.limits(), stream, self.asked_total);
        self.deadlines.set_total(self.began, total);
    }

    pub(in crate::terminal_state) fn note_event(&mut self) {
        if self.first_event.is_none() && self.config.observer.listens() {
            self.first_event = Some(Instant::now());
        }
        self.deadlines.note_event();
    }

    /// Frames go out in which no event ended: the gap between events counts only while the consumer polls.
    pub(in crate::terminal_state) fn hand_out_without_event(&mut self) {
        if self.deadlines.counts_gap() {
            let (gap, waited) = (self.limits().event_gap, self.waited);
            self.deadlines.hand_out_without_event(Instant::now(), gap, waited);
        }
    }

    /// The consumer asks for more.
    pub(in crate::terminal_state) fn consumer_is_back(&mut self) {
        if self.deadlines.stands_still() {
            self.deadlines.look(Instant::now());
        }
    }

    /// Bytes came behind the last event, in its own frame.
    pub(in crate::terminal_state) fn note_bytes_behind_event(&mut self) {
        self.deadlines.note_bytes_behind_event();
    }

    /// Notes a frame that came.
    pub(in crate::terminal_state) fn note_frame(&mut self, len: usize) {
        if len > 0 {
            self.deadlines.note_bytes();
        }
        self.waited = std::mem::take(&mut self.pending);
        self.frames_unchecked += 1;
        self.bytes_unchecked = self.bytes_unchecked.saturating_add(len);
        self.bytes = self.bytes.saturating_add(len as u64);
    }

    /// After a frame was judged: which bound was reached, if so much came without a Pending that the clock is due to
    /// be read.
    #[inline(always)]
    pub(in crate::terminal_state) fn check_bounds(&mut self) -> Option<Due> {
        if self.frames_unchecked < FRAMES_UNCHECKED && self.bytes_unchecked < BYTES_UNCHECKED {
            return None;
        }
        self.check_bounds_now()
    }

    #[inline(never)]
    fn check_bounds_now(&mut self) -> Option<Due> {
        self.frames_unchecked = 0;
        self.bytes_unchecked = 0;
        let now = Instant::now();
        self.deadlines.look(now);
        Some(self.deadlines.due(self.limits())).filter(|due| now >= due.at)
    }

    /// What is left of the call's total.
    pub(in crate::terminal_state) fn left(&self) -> Duration {
        self.deadlines.total().at.saturating_duration_since(self.dispatched)
    }
}

#[cold]
pub(super) fn own_bounds(shared: &Bounds, by: &LimitOverrides, stream: bool) -> Box<Bounds> {
    Box::new(Bounds::new(shared.overridden(by).cut_to_total(stream)))
}

/// The whole of a call; no longer than the request itself gives it.
pub(super) fn total_of(bounds: &Bounds, stream: bool, asked: Option<Duration>) -> Duration {
    let total = bounds.total_of(stream);
    asked.map_or(total, |asked| total.min(asked))
}

/// From the call to the response head. A request that nobody read may be a send: JSON-RPC without a `CallLayer`.
pub(super) fn head_of(call: &Call, bounds: &Bounds, unread: bool) -> Duration {
    if call.is_blocking() || (call.operation().is_none() && unread) { bounds.blocking_head } else { bounds.head }
}
