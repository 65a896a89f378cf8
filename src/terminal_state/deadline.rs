//! Which bound ends a call, and when. Sans-I/O: the time is an argument.

#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio::time::Instant;

use crate::{limits::Limits, outcome::Class};

/// A timer that is polled so much later than it was due was left alone meanwhile, and its handle with it.
pub(super) const LEFT_ALONE: Duration = Duration::from_secs(1);

/// Where a call stands, as far as its bounds are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No response head yet.
    Head,
    /// A stream without an event yet, or the JSON that answers it.
    FirstEvent,
    /// A body that is no stream of events.
    Body,
    /// A stream after its first event.
    Events,
    /// After a terminal event, or INPUT_REQUIRED.
    Linger,
    /// After AUTH_REQUIRED.
    AuthWait,
}

/// What ends the call next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) at: Instant,
    /// `Success`: the call ends well then.
    pub(super) class: Class,
    pub(super) bound: Duration,
}

/// The instants from which the bounds of a call count.
///
/// What happens between two looks at the clock is only noted; its time is that of the next look, which comes with the
/// next Pending. So a consumer that pauses is not failed while data waits: nothing counts before it polls again.
#[derive(Clone, Debug)]
pub(super) struct Deadlines {
    phase: Phase,
    /// When the phase began; `None` until the next look at the clock.
    since: Option<Instant>,
    bytes_at: Instant,
    event_at: Instant,
    /// How long the gap between events had lasted when a frame without one was handed out.
    gap_so_far: Option<Duration>,
    moved: bool,
    event: bool,
    bytes_since_event: bool,
    /// Something may be due before any timer that was set so far fires.
    sooner: bool,
    /// That is so with each phase.
    hasty: bool,
    total_at: Instant,
    total: Duration,
    head: Duration,
}

impl Deadlines {
    /// A call that began at `began` (in `CallLayer`) and is dispatched at `now`.
    #[inline]
    pub(super) fn new(began: Instant, now: Instant, head: Duration, total: Duration) -> Self {
        Self {
            phase: Phase::Head,
            since: Some(now),
            bytes_at: now,
            event_at: now,
            gap_so_far: None,
            moved: false,
            event: false,
            bytes_since_event: false,
            sooner: false,
            hasty: false,
            total_at: began + total,
            total,
            head,
        }
    }

    /// Some bounds are shorter than the floor of the timer.
    #[inline]
    pub(super) fn hasty(self, hasty: bool) -> Self {
        Self { sooner: hasty, hasty, ..self }
    }

    /// The total turned out to be another one: the answer is a stream, or is not.
    pub(super) fn set_total(&mut self, began: Instant, total: Duration) {
        self.total = total;
        self.total_at = began + total;
        self.sooner = true;
    }

    /// Goes over to a phase, which begins at the next look at the clock.
    #[inline]
    pub(super) fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        // The others' bounds are no shorter than the floor of the timer, as a rule.
        self.sooner |= self.hasty || phase == Phase::Linger;
        self.since = None;
        self.moved = true;
    }

    /// Goes over to a phase, unless it goes on already: what comes after INPUT_REQUIRED does not begin the wait anew.
    pub(super) fn enter_once(&mut self, phase: Phase) {
        if self.phase != phase {
            self.enter(phase);
        }
    }

    #[inline]
    pub(super) fn note_bytes(&mut self) {
        self.moved = true;
        self.bytes_since_event = true;
    }

    pub(super) fn note_event(&mut self) {
        self.moved = true;
        self.event = true;
        self.bytes_since_event = false;
        self.gap_so_far = None;
    }

    /// Whether something may be due before the timer fires, which was set for the earliest that was known then, its
    /// floor minded.
    #[inline]
    pub(super) fn may_be_sooner(&self) -> bool {
        self.sooner
    }

    /// The timer is set anew.
    pub(super) fn clear_sooner(&mut self) {
        self.sooner = false;
    }

    /// Whether the next Pending has to look at the clock: something happened since the last look.
    #[inline]
    pub(super) fn wants_look(&self) -> bool {
        self.moved
    }

    /// Whether the gap stands still, so that the consumer's return is a time to look at the clock.
    pub(super) fn stands_still(&self) -> bool {
        self.gap_so_far.is_some()
    }

    /// Bytes came behind the last event.
    pub(super) fn note_bytes_behind_event(&mut self) {
        self.bytes_since_event = true;
    }

    /// Bytes without an event go out at `now`: the gap stands still until the consumer is back. If the consumer left
    /// its last Pending alone until long after the gap was due, it was away then, and nothing counts of that.
    pub(super) fn hand_out_without_event(&mut self, now: Instant, gap: Duration, waited: bool) {
        let left_alone = waited && now > self.event_at + gap + LEFT_ALONE;
        self.look(now);
        self.gap_so_far = Some(if left_alone { Duration::ZERO } else { now.saturating_duration_since(self.event_at) });
    }

    /// Whether [`hand_out_without_event`](Self::hand_out_without_event) is due when bytes without an event go out.
    pub(super) fn counts_gap(&self) -> bool {
        self.phase == Phase::Events
    }

    /// Looks at the clock: what was noted happened now.
    #[inline]
    pub(super) fn look(&mut self, now: Instant) {
        if self.since.is_none() {
            self.since = Some(now);
        }
        if self.moved {
            self.bytes_at = now;
            self.moved = false;
        }
        if self.event {
            self.event_at = now;
            self.event = false;
        }
        if let Some(gap) = self.gap_so_far.take() {
            // The consumer was away: neither idle nor the gap counted meanwhile.
            self.bytes_at = now;
            self.event_at = now.checked_sub(gap).unwrap_or(now);
        }
    }

    /// What ends the call at the latest.
    #[inline]
    pub(super) fn total(&self) -> Due {
        Due { at: self.total_at, class: Class::Total, bound: self.total }
    }

    /// What ends the call next, as of the last look at the clock.
    pub(super) fn due(&self, limits: &Limits) -> Due {
        let since = self.since.unwrap_or(self.bytes_at);
        let of = |from: Instant, bound: Duration, class| Due { at: from + bound, class, bound };
        let phase = match self.phase {
            Phase::Head => of(since, self.head, Class::Head),
            Phase::FirstEvent => of(since, limits.first_event, Class::FirstEvent),
            Phase::Body => of(self.bytes_at, limits.idle, Class::Idle),
            Phase::Events => {
                let idle = of(self.bytes_at, limits.idle, Class::Idle);
                let gap = of(self.event_at, limits.event_gap, Class::EventGap);
                // Where both fall together, bytes that came since the last event tell which it is.
                if gap.at < idle.at || (gap.at == idle.at && self.bytes_since_event) { gap } else { idle }
            }
            Phase::Linger => of(since, limits.linger, Class::Success),
            Phase::AuthWait => of(since, limits.auth_wait, Class::Success),
        };
        // One that was cut to the total is the total.
        let is_total = phase.at == self.total_at && phase.bound >= self.total && phase.class != Class::Success;
        if self.total_at < phase.at || is_total { self.total() } else { phase }
    }
}
