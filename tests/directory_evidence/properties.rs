//! What holds for any outcomes.

use std::time::Duration;

use a2a_guard::directory::{Condition, Evidence, Report, ReportKind, Standing, TrustPolicy};
use proptest::prelude::*;
use tokio::time::Instant;

use crate::peer;

#[derive(Clone, Copy, Debug)]
struct Step {
    pause: Duration,
    report: Report,
}

fn durations() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        (0..10_000_u64).prop_map(Duration::from_millis),
        (0..100_000_u64).prop_map(Duration::from_secs),
        Just(Duration::MAX),
    ]
}

fn pauses() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        (0..5_000_u64).prop_map(Duration::from_millis),
        (0..20_000_u64).prop_map(Duration::from_secs)
    ]
}

fn reports() -> impl Strategy<Value = Report> {
    (0..8_u8, durations()).prop_map(|(kind, elapsed)| match kind {
        0..=3 => Report::success(elapsed),
        4 | 5 => Report::failure(elapsed),
        6 => Report::overclaim(elapsed),
        _ => Report::neutral(),
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec((pauses(), reports()).prop_map(|(pause, report)| Step { pause, report }), 1..150)
}

fn policies() -> impl Strategy<Value = TrustPolicy> {
    (0.0..=1.0, 0.0..=1.0, 1..200_u32, 0.0..=1.0, 0.01..=1.0, 1..10_u32).prop_map(
        |(bonus, unknown, window, demotion, weight, failures)| {
            TrustPolicy::builder()
                .verified_bonus(bonus)
                .unknown(unknown)
                .window(window)
                .demotion(demotion)
                .latency_weight(weight)
                .quarantine_failures(failures)
                .build()
                .unwrap()
        },
    )
}

/// Each standing, after each step.
fn follow(
    evidence: &Evidence,
    steps: &[Step],
    begun: Instant,
    mut each: impl FnMut(Standing, Standing, &Step),
) -> Instant {
    let a = peer("a");
    let mut now = begun;
    for step in steps {
        now += step.pause;
        let before = evidence.standing_at(&a, true, now);
        evidence.record_at(&a, None, step.report, now);
        each(before, evidence.standing_at(&a, true, now), step);
    }
    now
}

fn of(policy: &TrustPolicy, registered: usize) -> Evidence {
    let evidence = Evidence::builder().policy(policy.clone()).build().unwrap();
    evidence.set_registered(registered);
    evidence
}

proptest! {
    #[test]
    fn each_number_is_within_its_bounds(policy in policies(), steps in steps(), registered in 1..4_usize) {
        let evidence = of(&policy, registered);
        let mut calls = 0;
        follow(&evidence, &steps, Instant::now(), |_, after, step| {
            assert!((0.0..=1.0).contains(&after.trust), "{after:?}");
            assert!(after.latency.unwrap_or_default() <= policy.failure_latency(), "{after:?}");
            if let Condition::SlowStart { share } = after.condition {
                assert!(share > 0.0 && share < 1.0, "{after:?}");
            }
            calls += u64::from(step.report.kind() != ReportKind::Neutral);
            assert_eq!(after.calls, calls);
        });
    }

    /// A success never makes a peer less trusted, nor anything else one more.
    #[test]
    fn success_raises_trust_and_failure_lowers_it(steps in steps(), registered in 1..4_usize) {
        let policy = TrustPolicy::default();
        follow(&of(&policy, registered), &steps, Instant::now(), |before, after, step| {
            let is_first = before.calls == 0;
            match step.report.kind() {
                ReportKind::Success => assert!(after.trust >= before.trust - 1e-12, "{before:?} {after:?}"),
                ReportKind::Neutral => assert_eq!(before, after),
                // Of a stranger that is verified nothing was added before.
                _ => assert!(after.trust <= before.trust + 1e-12 || is_first && after.trust <= 0.1, "{before:?} {after:?}"),
            }
        });
    }

    /// Whoever fails, however fast, is behind whoever does not, however slow: in trust, and in latency.
    #[test]
    fn failing_fast_never_ranks_before_slow_success(
        fast in 0..1000_u64, slow in durations(), times in 1..50_usize, pause in pauses(),
    ) {
        let evidence = of(&TrustPolicy::default(), 100);
        let (failing, slow_one) = (peer("failing"), peer("slow"));
        let mut now = Instant::now();
        for _ in 0..times {
            evidence.record_at(&failing, None, Report::failure(Duration::from_millis(fast)), now);
            evidence.record_at(&slow_one, None, Report::success(slow), now);
            let (failing, slow) = (evidence.standing_at(&failing, false, now), evidence.standing_at(&slow_one, false, now));
            prop_assert!(failing.trust < slow.trust);
            prop_assert!(failing.latency >= slow.latency);
            now += pause;
        }
    }

    /// The same calls, one of which fails instead: neither trust nor latency is the better for it.
    #[test]
    fn no_failure_is_worth_it(successes in proptest::collection::vec((pauses(), durations()), 1..100), which in any::<prop::sample::Index>()) {
        let policy = TrustPolicy::builder().quarantine_failures(u32::MAX).build().unwrap();
        let steps = |fails: Option<usize>| successes.iter().enumerate().map(|(n, (pause, elapsed))| Step {
            pause: *pause,
            report: if fails == Some(n) { Report::failure(Duration::ZERO) } else { Report::success(*elapsed) },
        }).collect::<Vec<_>>();
        let begun = Instant::now();
        let at_the_end = |steps: Vec<Step>| {
            let evidence = of(&policy, 100);
            let now = follow(&evidence, &steps, begun, |_, _, _| {});
            evidence.standing_at(&peer("a"), false, now)
        };
        let (whole, failed) = (at_the_end(steps(None)), at_the_end(steps(Some(which.index(successes.len())))));
        prop_assert!(failed.trust <= whole.trust);
        prop_assert!(failed.latency.unwrap() + Duration::from_nanos(10) >= whole.latency.unwrap());
    }

    /// The same evidence gives the same standing, to the last bit, whatever became of others in between.
    #[test]
    fn peers_do_not_touch_each_other(one in steps(), other in steps()) {
        let policy = TrustPolicy::default();
        let begun = Instant::now();
        let (alone, together) = (of(&policy, 100), of(&policy, 100));
        let mut now = begun;
        for step in &other {
            now += step.pause;
            together.record_at(&peer("b"), None, step.report, now);
        }
        let end = follow(&alone, &one, begun, |_, _, _| {});
        follow(&together, &one, begun, |_, _, _| {});
        let (alone, together) = (alone.standing_at(&peer("a"), true, end), together.standing_at(&peer("a"), true, end));
        prop_assert_eq!(alone.trust.to_bits(), together.trust.to_bits());
        prop_assert_eq!(alone, together);
    }
}
