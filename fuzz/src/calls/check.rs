//! What holds for every call, whatever its peer and its caller do.

use std::time::Duration;

use a2a_guard::OutcomeKind;
use tokio::runtime::Runtime;

use super::{
    expect::Expect,
    plan::{End, Plan},
    run::{Seen, run},
};

/// The longest bound, and how long the client below may take to be ready.
const TOTAL: Duration = Duration::from_secs(3600 + 5);
/// A timer may be late by its resolution.
const SLACK: Duration = Duration::from_millis(10);

/// Makes the call of a plan, and checks all that can be seen of it.
pub fn check(runtime: &Runtime, plan: &Plan) -> Seen {
    let seen = run(runtime, plan);
    assert!(seen.is_over || plan.caller.drops.is_some(), "a call without an end");
    assert!(seen.elapsed <= TOTAL + seen.paused + SLACK, "it took {:?}", seen.elapsed);
    assert_nothing_left(&seen);
    assert_one_outcome(plan, &seen);
    assert_prefix(plan, &seen);
    if let Some(error) = &seen.error {
        let line = error.to_string();
        assert!(line.len() < 4096 && line.chars().all(|c| !c.is_control()), "{line:?}");
    }
    if seen.is_over {
        match Expect::of(plan) {
            Expect::Success => assert!(seen.error.is_none(), "{:?}, and all was well", seen.error),
            Expect::Failed => assert!(seen.error.is_some(), "a success, and nothing was"),
            Expect::Either => {}
        }
    }
    seen
}

/// The same call, dropped at each point where it waits. Those in between are left out where there are very many.
pub fn check_drops(runtime: &Runtime, plan: &Plan, most: u32) {
    let polls = check(runtime, plan).polls;
    let step = (polls / most).max(1);
    for drops in (0..polls).step_by(step as usize) {
        let mut plan = plan.clone();
        plan.caller.drops = Some(drops);
        check(runtime, &plan);
    }
}

fn assert_nothing_left(seen: &Seen) {
    assert_eq!((seen.tasks, seen.wakers), (0, 0), "tasks and timers that are left behind");
}

fn assert_one_outcome(plan: &Plan, seen: &Seen) {
    let noted = match &seen.noted[..] {
        [noted] => noted,
        // Dropped before it was made.
        [] if seen.calls == 0 && !seen.is_over => return,
        noted => panic!("not exactly one outcome: {noted:?}"),
    };
    assert!(noted.elapsed <= TOTAL + seen.paused + SLACK);
    // What passes unjudged has no error, whatever its outcome.
    let is_judged = plan.ask != super::Ask::Unnamed;
    match (&seen.error, seen.is_over) {
        (Some(error), _) => {
            assert_eq!((error.outcome(), error.class()), (noted.kind, noted.class));
            assert!(noted.has_error);
        }
        (None, true) if is_judged => assert_eq!(noted.kind, OutcomeKind::Success),
        (None, true) => {}
        (None, false) => {
            // It had ended already, or it was given up.
            let is_known = matches!(noted.kind, OutcomeKind::Abandoned | OutcomeKind::Success) || noted.has_error;
            assert!(is_known || !is_judged, "{noted:?}");
        }
    }
}

/// What is handed on is what came, from its beginning; by a success, all of it.
fn assert_prefix(plan: &Plan, seen: &Seen) {
    if seen.noted.iter().any(|noted| noted.tolerated.contains(&"downgrade_adapted")) {
        return;
    }
    let mut sent = plan.body();
    if let End::Endless(text, _) | End::Flood(text, _) = plan.end {
        while sent.len() < seen.bytes.len() {
            sent.extend_from_slice(text.as_bytes());
        }
    }
    let gained = match seen.bytes.strip_prefix(&sent[..]) {
        Some(gained) => gained,
        None => {
            assert!(sent.starts_with(&seen.bytes), "bytes that never came");
            let is_whole = plan.end == End::Clean && seen.error.is_none() && seen.is_over;
            // Who is slow to close is not waited for.
            let is_slow = plan.waits() + seen.paused > Duration::from_millis(1900);
            assert!(!is_whole || is_slow || plan.ask == super::Ask::Unnamed, "a success that lost bytes");
            return;
        }
    };
    // A last event may gain its line end.
    assert!(gained.len() <= 4 && gained.iter().all(|byte| b"\r\n".contains(byte)), "{gained:?}");
    assert!(gained.is_empty() || (plan.ask.is_stream() && !plan.dialect.is_grpc()));
}
