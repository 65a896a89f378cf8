//! What holds for every call, over random peers and callers, on paused time: it ends by its bound, with exactly one
//! outcome; what is handed on is a prefix of what was sent, and all of it by a success; no failure is taken for a
//! success, nor a success for a failure; and wherever a call is dropped, be it while its own request is still being
//! read, no task, no timer, no fetch and no probe is left behind, and nothing that is in the way of the next call.

mod bodies;
mod plans;

use a2a_guard_fuzz::calls::{
    Dialect, Expect, Guarded, Plan, check, check_drops, check_guarded, check_guarded_drops, runtime,
};
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, TestRunner},
};

use plans::{guarded, plan};

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() }
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn every_call_ends_as_it_should(plan in plan()) {
        check(&runtime(), &plan);
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn every_call_through_all_layers_ends_as_it_should(guarded in guarded()) {
        check_guarded(&runtime(), &guarded);
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn a_call_can_be_dropped_wherever_it_waits(plan in plan()) {
        check_drops(&runtime(), &plan, 200);
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn a_call_can_be_dropped_wherever_it_waits_in_any_layer(guarded in guarded()) {
        check_guarded_drops(&runtime(), &guarded);
    }
}

/// The properties are about calls of every kind, and not about rubbish alone.
#[test]
fn there_are_good_calls_and_bad_ones() {
    let mut runner = TestRunner::deterministic();
    let mut expects = Vec::new();
    for _ in 0..3500 {
        let plan: Plan = plan().new_tree(&mut runner).unwrap().current();
        expects.push((Expect::of(&plan), plan.ask.is_stream(), plan.dialect.is_grpc()));
    }
    for (stream, grpc) in [(false, false), (false, true), (true, false), (true, true)] {
        let count = |expect| expects.iter().filter(|seen| **seen == (expect, stream, grpc)).count();
        let counts = (count(Expect::Success), count(Expect::Failed), count(Expect::Either));
        assert!(counts.0 >= 20 && counts.1 >= 100, "{counts:?} of {stream} {grpc}");
        assert!(counts.2 * 2 < counts.0 + counts.1 + counts.2, "{counts:?} of {stream} {grpc}");
    }
}

/// The same of those that go through all layers, in every dialect.
#[test]
fn there_are_good_calls_through_all_layers_and_bad_ones() {
    let mut runner = TestRunner::deterministic();
    let guarded: Vec<Guarded> = (0..3500).map(|_| guarded().new_tree(&mut runner).unwrap().current()).collect();
    for dialect in Dialect::EVERY {
        let count =
            |is: &dyn Fn(&Guarded) -> bool| guarded.iter().filter(|of| of.plan.dialect == dialect && is(of)).count();
        let good = count(&|of| of.is_well() && Expect::of(&of.plan) == Expect::Success);
        let bad = count(&|of| of.is_well() && Expect::of(&of.plan) == Expect::Failed);
        let unwell = count(&|of| !of.is_well() && of.upload.is_whole());
        let stuck = count(&|of| !of.upload.is_whole());
        let recovered = count(&|of| of.recovery.is_some());
        let counts = [good, bad, unwell, stuck, recovered];
        assert!(good >= 3 && counts[1..].iter().all(|count| *count >= 50), "{counts:?} of {dialect:?}");
    }
}
