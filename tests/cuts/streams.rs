//! Streams of events, in any cut.

use a2a_guard::Limits;
use proptest::prelude::*;

use crate::{
    Cut, End, Set, Told, assert_unchanged, config, cuts,
    events::{Say, good, told},
    limits,
    mock::Dialect,
    runtime, seen_alike, settings,
};

const TERMINAL: [&str; 4] = ["COMPLETED", "FAILED", "CANCELED", "REJECTED"];

fn plain() -> Set {
    Set { strict: false, adapt: false, limits: limits() }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn a_stream_ends_alike_however_it_is_cut((stream, told) in told(), cuts in cuts(), set in settings(), subscribe: bool) {
        let request = if subscribe { stream.dialect.subscribe() } else { stream.dialect.stream() };
        let seen = seen_alike(&runtime(), &set, &request, &told, &cuts)?;
        // A document that was adapted is in an event now.
        if !seen.noted.tolerated.contains(&"downgrade_adapted") {
            assert_unchanged(&told, &seen)?;
        }
    }

    /// What the generator means is what the layer makes of it: the property above is not about rubbish alone.
    #[test]
    fn a_good_stream_ends_as_it_says((stream, told) in good()) {
        let states: Vec<_> = stream
            .says()
            .map(|say| match say {
                Say::Task(state) | Say::Update(state) => Some(*state),
                _ => None,
            })
            .collect();
        prop_assume!(!states.is_empty());
        let terminal = states.iter().position(|state| state.is_some_and(|state| TERMINAL.contains(&state)));
        let last = states.iter().rev().find_map(|state| *state);
        let rests = terminal.is_some() || matches!(last, Some("INPUT_REQUIRED" | "AUTH_REQUIRED"));
        let judged = terminal.map_or(states.len(), |place| place + 1);

        let seen = seen_alike(&runtime(), &plain(), &stream.dialect.stream(), &told, &[])?;
        prop_assert_eq!(seen.word.as_str(), if rests { "success/success" } else { "broken/truncated" });
        prop_assert_eq!(seen.noted.events, judged as u64);
        assert_unchanged(&told, &seen)?;
    }

    /// Caps count alike, too. The frames that come together make no event larger, and no comment.
    #[test]
    fn caps_hold_alike_however_a_stream_is_cut(
        comments in prop::collection::vec(0_usize..60, 0..8),
        size in 0_usize..300,
        line_end in prop::sample::select(&["\n", "\r\n", "\r"][..]),
        max in 100_usize..260,
        cuts in cuts(),
    ) {
        let dialect = Dialect::Rest;
        let mut text = String::new();
        for length in comments {
            text.push_str(&format!(":{}{line_end}", "c".repeat(length)));
        }
        let padding = " ".repeat(size);
        text.push_str(&format!("data: {}{padding}{line_end}{line_end}", dialect.task("WORKING")));
        text.push_str(&format!("data: {}{line_end}{line_end}", dialect.update("COMPLETED")));
        let told = Told { status: 200, media: "text/event-stream", bytes: text.into(), end: End::Clean };
        let set = Set { limits: limits().max_event(max), ..plain() };
        let seen = seen_alike(&runtime(), &set, &dialect.stream(), &told, &cuts)?;
        assert_unchanged(&told, &seen)?;
    }

    /// Time stands still while frames come, so that only the bytes can tell which of two equal bounds it was.
    #[test]
    fn equal_bounds_are_told_apart_alike_however_a_stream_is_cut(
        behind in prop::sample::select(&["", ": ping\n\n", "data: {", "\n", ":"][..]),
        at in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let bytes = [&Dialect::V1.task_event("WORKING")[..], behind.as_bytes()].concat().into();
        let told = Told { status: 200, media: "text/event-stream", bytes, end: End::Hang };
        let set = Set { limits: Limits::default().idle(crate::mock::s(50)).event_gap(crate::mock::s(50)), ..plain() };
        let cuts = [Cut::At(at, false), Cut::Bytewise(true)];
        let seen = seen_alike(&runtime(), &set, &Dialect::V1.stream(), &told, &cuts)?;
        prop_assert_eq!(seen.word, if behind.is_empty() { "timeout/idle" } else { "timeout/event_gap" });
    }
}
