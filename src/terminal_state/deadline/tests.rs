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
