//! Which bound ends a call, and when. Sans-I/O: the time is an argument.

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
            total_at: began + total,
            total,
            head,
        }
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
        // The others' bounds are no shorter than the floor of the timer.
        self.sooner |= phase == Phase::Linger;
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

    /// Whether something may be due before a timer that was set for the earliest that there was, its floor minded.
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

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn limits() -> Limits {
        Limits::default().idle(5 * S).event_gap(20 * S).first_event(3 * S).linger(2 * S).auth_wait(30 * S)
    }

    fn started() -> (Deadlines, Instant) {
        let now = Instant::now();
        (Deadlines::new(now, now, 10 * S, 100 * S), now)
    }

    fn due(deadlines: &Deadlines, start: Instant) -> (Class, Duration) {
        let due = deadlines.due(&limits());
        (due.class, due.at - start)
    }

    #[test]
    fn each_phase_has_its_bound() {
        let (mut d, t) = started();
        assert_eq!(due(&d, t), (Class::Head, 10 * S));
        d.enter(Phase::FirstEvent);
        d.look(t + S);
        assert_eq!(due(&d, t), (Class::FirstEvent, 4 * S));
        d.enter(Phase::Events);
        d.note_event();
        d.look(t + 2 * S);
        assert_eq!(due(&d, t), (Class::Idle, 7 * S));
        d.enter(Phase::AuthWait);
        d.look(t + 3 * S);
        assert_eq!(due(&d, t), (Class::Success, 33 * S));
        d.enter(Phase::Linger);
        d.look(t + 4 * S);
        assert_eq!(due(&d, t), (Class::Success, 6 * S));
    }

    /// The timer stands no later than its floor allows, so that only what counts for less than that can be due before it.
    #[test]
    fn only_linger_and_another_total_may_be_due_before_the_timer() {
        let (mut d, t) = started();
        for phase in [Phase::FirstEvent, Phase::Body, Phase::Events, Phase::AuthWait] {
            d.enter(phase);
            d.note_event();
            d.look(t + S);
            assert!(!d.may_be_sooner(), "{phase:?}");
        }
        d.enter(Phase::Linger);
        assert!(d.may_be_sooner());
        d.clear_sooner();
        assert!(!d.may_be_sooner());
        d.set_total(t, S);
        assert!(d.may_be_sooner());
    }

    #[test]
    fn a_wait_that_goes_on_already_does_not_begin_anew() {
        let (mut d, t) = started();
        d.enter_once(Phase::Linger);
        d.look(t + S);
        assert_eq!(due(&d, t), (Class::Success, 3 * S));
        d.note_event();
        d.enter_once(Phase::Linger);
        d.look(t + 2 * S);
        assert_eq!(due(&d, t), (Class::Success, 3 * S));
        d.enter_once(Phase::AuthWait);
        d.look(t + 2 * S);
        assert_eq!(due(&d, t), (Class::Success, 32 * S));
    }

    #[test]
    fn whatever_happened_wants_one_look_at_the_clock() {
        let (mut d, t) = started();
        let happenings: [fn(&mut Deadlines); 3] =
            [|d| d.enter(Phase::Events), Deadlines::note_bytes, Deadlines::note_event];
        for happen in happenings {
            assert!(!d.wants_look());
            happen(&mut d);
            assert!(d.wants_look());
            d.look(t + S);
        }
        // What stands behind an event came with it.
        d.note_bytes_behind_event();
        assert!(!d.wants_look());
        assert_eq!(d.due(&limits().event_gap(5 * S)).class, Class::EventGap);
    }

    #[test]
    fn bytes_move_idle_and_not_the_gap() {
        let (mut d, t) = started();
        d.enter(Phase::Events);
        d.note_event();
        d.look(t);
        for second in 1..=19 {
            d.note_bytes();
            d.look(t + second * S);
        }
        assert_eq!(due(&d, t), (Class::EventGap, 20 * S));
    }

    #[test]
    fn equal_bounds_are_told_apart_by_bytes_since_the_event() {
        let limits = limits().idle(5 * S).event_gap(5 * S);
        let (mut d, t) = started();
        d.enter(Phase::Events);
        d.note_event();
        d.look(t);
        assert_eq!(d.due(&limits).class, Class::Idle);
        d.note_bytes();
        d.look(t);
        assert_eq!(d.due(&limits).class, Class::EventGap);
    }

    #[test]
    fn the_gap_stands_still_while_the_consumer_is_away() {
        let (mut d, t) = started();
        d.set_total(t, 10_000 * S);
        d.enter(Phase::Events);
        d.note_event();
        d.look(t);
        d.note_bytes();
        d.hand_out_without_event(t + 4 * S, 20 * S, true);
        assert!(d.stands_still());
        d.look(t + 3604 * S);
        assert!(!d.stands_still());
        assert_eq!(due(&d, t), (Class::Idle, 3609 * S));
        d.note_bytes();
        d.look(t + 3619 * S);
        assert_eq!(due(&d, t), (Class::EventGap, 3620 * S));
    }

    #[test]
    fn a_consumer_that_left_its_pending_alone_was_away() {
        let gap = 20 * S;
        for (late, waited, counted) in [
            (gap + LEFT_ALONE, true, gap + LEFT_ALONE),
            (gap + LEFT_ALONE + S / 1000, true, Duration::ZERO),
            (3600 * S, true, Duration::ZERO),
            // Nobody waited: what came is late all the same.
            (3600 * S, false, 3600 * S),
        ] {
            let (mut d, t) = started();
            d.set_total(t, 10_000 * S);
            d.enter(Phase::Events);
            d.note_event();
            d.look(t + S);
            d.note_bytes();
            d.hand_out_without_event(t + S + late, gap, waited);
            let back = t + 5000 * S;
            d.look(back);
            let limits = limits().idle(9000 * S).event_gap(gap);
            let due = d.due(&limits);
            assert_eq!((due.class, due.at), (Class::EventGap, back + gap - counted), "{late:?} {waited}");
        }
    }

    #[test]
    fn only_events_have_gaps() {
        for phase in [Phase::Head, Phase::FirstEvent, Phase::Body, Phase::Events, Phase::Linger, Phase::AuthWait] {
            let (mut d, _) = started();
            d.enter(phase);
            assert_eq!(d.counts_gap(), phase == Phase::Events, "{phase:?}");
        }
    }

    #[test]
    fn the_gap_counts_what_passes_between_two_returns_of_the_consumer() {
        let (mut d, t) = started();
        d.enter(Phase::Events);
        d.note_event();
        d.look(t);
        // Comments that are always there, taken at once: nobody is away.
        for second in 1..=19 {
            d.note_bytes();
            d.hand_out_without_event(t + second * S, 20 * S, false);
            d.look(t + second * S);
        }
        assert_eq!(due(&d, t), (Class::EventGap, 20 * S));
    }

    #[test]
    fn a_bound_that_is_cut_to_the_total_is_the_total() {
        let now = Instant::now();
        let mut d = Deadlines::new(now, now, 10 * S, 10 * S);
        assert_eq!(due(&d, now), (Class::Total, 10 * S));
        d.set_total(now, 3 * S);
        d.enter(Phase::FirstEvent);
        d.look(now);
        assert_eq!(due(&d, now), (Class::Total, 3 * S));
        // One of its own that falls together with it is what it is.
        d.set_total(now, 8 * S);
        d.enter(Phase::FirstEvent);
        d.look(now + 5 * S);
        assert_eq!(due(&d, now), (Class::FirstEvent, 8 * S));
    }

    #[test]
    fn the_total_ends_everything() {
        let (mut d, t) = started();
        d.enter(Phase::Events);
        d.note_event();
        d.look(t + 98 * S);
        assert_eq!(due(&d, t), (Class::Total, 100 * S));
        // Where both fall together, the narrower bound tells more.
        d.enter(Phase::Linger);
        d.look(t + 98 * S);
        assert_eq!(due(&d, t), (Class::Success, 100 * S));
        d.enter(Phase::Linger);
        d.look(t + 99 * S);
        assert_eq!(due(&d, t), (Class::Total, 100 * S));
    }
}
