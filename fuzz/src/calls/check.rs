//! What holds for every call, whatever its peer and its caller do.

use std::time::Duration;

use a2a_guard::{OutcomeKind, wire::grpc::frame::PREFIX};
use tokio::runtime::Runtime;

use super::{
    expect::Expect,
    guarded::Guarded,
    plan::{End, Plan},
    run::{Seen, run},
};
use crate::oracle::messages::Messages;

/// The longest bound, and how long the client below may take to be ready.
const TOTAL: Duration = Duration::from_secs(3600 + 5);
/// A question about a task that a call leaves behind may take so long beyond it.
const RECOVERY: Duration = Duration::from_secs(5);
/// A timer may be late by its resolution; and of a peer that is always ready, 64 pieces are taken before the clock is
/// read.
const SLACK: Duration = Duration::from_millis(700);

/// Makes the call of a plan, and checks all that can be seen of it.
pub fn check(runtime: &Runtime, plan: &Plan) -> Seen {
    let seen = run(runtime, plan);
    assert!(seen.is_over || plan.caller.drops.is_some(), "a call without an end");
    assert!(seen.elapsed <= TOTAL + seen.paused + SLACK, "it took {:?}", seen.elapsed);
    assert_nothing_left(&seen);
    assert_one_outcome(plan, &seen, TOTAL, is_judged(plan));
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

/// Makes the call of a plan through all layers, and checks the same of it; of one that is dropped, also that the next
/// call is none the worse for it.
pub fn check_guarded(runtime: &Runtime, guarded: &Guarded) -> Seen {
    let mut seen = guarded.run(runtime);
    assert_guarded(guarded, &seen);
    if let Some(again) = seen.again.take() {
        assert_guarded(&guarded.undropped(), &again);
    }
    seen
}

fn assert_guarded(guarded: &Guarded, seen: &Seen) {
    let plan = &guarded.plan;
    let total = if guarded.recovery.is_some() { TOTAL + RECOVERY } else { TOTAL };
    assert!(seen.is_over || plan.caller.drops.is_some(), "a call without an end");
    assert!(seen.elapsed <= total + seen.paused + SLACK, "it took {:?}", seen.elapsed);
    assert_nothing_left(seen);
    // Of a request that never comes whole nobody knows what it asks.
    let is_named = guarded.upload.is_whole();
    assert_one_outcome(plan, seen, total, is_judged(plan) && is_named);
    if is_named {
        assert_prefix(plan, seen);
    }
    if seen.is_over && is_named && Expect::of(plan) == Expect::Failed {
        assert!(seen.error.is_some(), "a success, and nothing was");
    }
    if seen.is_over && Expect::of(plan) == Expect::Success && guarded.is_well() {
        assert!(seen.error.is_none(), "{:?}, and all was well", seen.error);
    }
}

/// The same call, dropped at each point where it waits.
pub fn check_guarded_drops(runtime: &Runtime, guarded: &Guarded) {
    let polls = check_guarded(runtime, guarded).polls;
    for drops in 0..polls.min(200) {
        let mut guarded = guarded.clone();
        guarded.plan.caller.drops = Some(drops);
        check_guarded(runtime, &guarded);
    }
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

/// What passes unjudged has no error, whatever its outcome.
fn is_judged(plan: &Plan) -> bool {
    plan.ask != super::Ask::Unnamed
}

fn assert_one_outcome(plan: &Plan, seen: &Seen, total: Duration, is_judged: bool) {
    let noted = match &seen.noted[..] {
        [noted] => noted,
        // Dropped before it was made.
        [] if !seen.made && !seen.is_over => return,
        noted => panic!("not exactly one outcome: {noted:?}, of {plan:?}"),
    };
    assert!(noted.elapsed <= total + seen.paused + SLACK);
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
            let is_certain = !plan.ask.is_stream() || Expect::of(plan) == Expect::Success;
            let is_whole = plan.end == End::Clean && seen.error.is_none() && seen.is_over && is_certain;
            // Who is slow to close is not waited for.
            let is_slow = plan.waits() + seen.paused > Duration::from_millis(1900);
            // Over gRPC what is handed on are whole messages.
            let whole: usize = Messages::of(&sent).whole.iter().map(|(_, message)| PREFIX + message.len()).sum();
            let has_all = plan.dialect.is_grpc() && seen.bytes.len() >= whole;
            assert!(!is_whole || is_slow || has_all || plan.ask == super::Ask::Unnamed, "a success that lost bytes");
            return;
        }
    };
    // A last event may gain its line end.
    assert!(gained.len() <= 4 && gained.iter().all(|byte| b"\r\n".contains(byte)), "{gained:?}");
    assert!(gained.is_empty() || (plan.ask.is_stream() && !plan.dialect.is_grpc()));
}
