//! What trust and latency come to, to the digit.

use std::time::Duration;

use a2a_guard::directory::{Condition, Evidence, Report, TrustPolicy};
use tokio::time::advance;

use crate::{
    close, evidence, failure,
    mock::{HOUR, ms, s},
    overclaim, peer, record, standing, success,
};

fn never_quarantined() -> Evidence {
    evidence(TrustPolicy::builder().quarantine_failures(u32::MAX).quarantine_overclaims(u32::MAX))
}

#[tokio::test(start_paused = true)]
async fn of_a_stranger() {
    let evidence = Evidence::new();
    for verified in [false, true] {
        let standing = evidence.standing(&peer("a"), verified);
        assert_eq!((standing.trust, standing.latency, standing.calls), (0.5, None, 0));
        assert_eq!((standing.condition, standing.proven), (Condition::Unknown, false));
    }
    assert!(evidence.snapshot().is_empty());
}

#[tokio::test(start_paused = true)]
async fn ninety_eight_percent_two_hours_ago() {
    let evidence = Evidence::new();
    record(&evidence, "a", success(), 98);
    record(&evidence, "a", failure(), 2);
    let trust = |verified| evidence.standing(&peer("a"), verified).trust;
    close(trust(false), 0.98);
    assert_eq!(trust(true), 1.0, "no more than that");
    advance(HOUR).await;
    close(trust(false), 0.49);
    close(trust(true), 0.59);
    advance(HOUR).await;
    close(trust(false), 0.245);
    close(trust(true), 0.345);
    assert!(trust(true) < evidence.standing(&peer("nobody"), false).trust);
    assert_eq!(standing(&evidence, "a").calls, 100);
    advance(HOUR * 24 * 365).await;
    close(trust(true), 0.1);
}

#[tokio::test(start_paused = true)]
async fn neither_a_failure_nor_a_refusal_makes_evidence_younger() {
    let evidence = never_quarantined();
    record(&evidence, "a", success(), 98);
    record(&evidence, "a", failure(), 2);
    advance(HOUR * 2).await;
    let before = standing(&evidence, "a");
    record(&evidence, "a", Report::neutral(), 50);
    assert_eq!(standing(&evidence, "a"), before);
    assert_eq!(evidence.snapshot()[0].neutral, 50);
    record(&evidence, "a", failure(), 1);
    // 98 and 2 weigh 24.5 and 0.5 by now.
    close(standing(&evidence, "a").trust, 24.5 / 26.0 * 0.25);
    record(&evidence, "a", success(), 1);
    close(standing(&evidence, "a").trust, 25.5 / 27.0);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_makes_nobody_known() {
    let evidence = Evidence::new();
    record(&evidence, "a", Report::neutral(), 3);
    assert!(evidence.snapshot().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_outcome_weighs_half_of_one_that_comes_an_hour_later() {
    let evidence = never_quarantined();
    record(&evidence, "a", failure(), 10);
    advance(HOUR).await;
    record(&evidence, "a", success(), 10);
    close(standing(&evidence, "a").trust, 10.0 / 15.0);
}

#[tokio::test(start_paused = true)]
async fn all_outcomes_weigh_no_more_than_a_window() {
    let evidence = never_quarantined();
    record(&evidence, "a", success(), 100_000);
    record(&evidence, "a", failure(), 100);
    close(standing(&evidence, "a").trust, 0.99_f64.powi(100));
    let narrow = evidence_of_window(1);
    record(&narrow, "a", success(), 10);
    record(&narrow, "a", failure(), 1);
    assert_eq!(standing(&narrow, "a").trust, 0.0, "the last one alone");
}

fn evidence_of_window(window: u32) -> Evidence {
    evidence(TrustPolicy::builder().window(window).quarantine_failures(u32::MAX))
}

#[tokio::test(start_paused = true)]
async fn each_strike_halves_trust() {
    let evidence = never_quarantined();
    record(&evidence, "a", success(), 8);
    record(&evidence, "a", overclaim(), 1);
    let strikes = || evidence.snapshot()[0].strikes;
    close(standing(&evidence, "a").trust, 8.0 / 9.0 / 2.0);
    assert_eq!((standing(&evidence, "a").condition, strikes()), (Condition::Demoted, 1));
    close(evidence.standing(&peer("a"), true).trust, (8.0 / 9.0 + 0.1) / 2.0);
    // Calls under way together meet the same refusal.
    advance(ms(999)).await;
    record(&evidence, "a", overclaim(), 100);
    assert_eq!(strikes(), 1);
    advance(ms(1)).await;
    record(&evidence, "a", overclaim(), 1);
    advance(s(1)).await;
    record(&evidence, "a", overclaim(), 1);
    assert_eq!(strikes(), 3);
    // Three, one and none after a whole half-life each.
    advance(HOUR - ms(1)).await;
    assert_eq!(strikes(), 3);
    advance(ms(1)).await;
    assert_eq!((strikes(), standing(&evidence, "a").condition), (1, Condition::Demoted));
    advance(HOUR).await;
    assert_eq!((strikes(), standing(&evidence, "a").condition), (0, Condition::Good));
    assert_eq!(evidence.snapshot()[0].overclaimed.as_deref(), Some("translate"));
}

#[tokio::test(start_paused = true)]
async fn a_name_that_is_overclaimed_is_cut() {
    let evidence = Evidence::new();
    evidence.record(&peer("a"), Some(&"é".repeat(5000)), overclaim());
    assert_eq!(evidence.snapshot()[0].overclaimed.as_deref(), Some(&*"é".repeat(128)));
}

#[tokio::test(start_paused = true)]
async fn latency_is_an_average_in_which_failing_fast_is_slow() {
    let evidence = never_quarantined();
    let latency = |name: &str| standing(&evidence, name).latency.unwrap();
    let near = |name: &str, expected: Duration| {
        let difference = latency(name).abs_diff(expected);
        assert!(difference < Duration::from_micros(1), "{:?} is not {expected:?}", latency(name));
    };
    for milliseconds in [100, 200, 300] {
        evidence.record(&peer("a"), None, Report::success(ms(milliseconds)));
    }
    near("a", ms(200));
    record(&evidence, "a", Report::success(ms(200)), 20);
    near("a", ms(200));
    record(&evidence, "a", failure(), 1);
    near("a", ms(180) + s(6));
    record(&evidence, "b", failure(), 3);
    near("b", s(60));
    record(&evidence, "c", Report::success(HOUR), 3);
    near("c", s(60));
    record(&evidence, "a", Report::neutral(), 10);
    near("a", ms(180) + s(6));
}

#[tokio::test(start_paused = true)]
async fn twenty_successes_prove_a_peer_that_does_well() {
    let evidence = never_quarantined();
    let proven = |name| standing(&evidence, name).proven;
    record(&evidence, "a", success(), 19);
    assert!(!proven("a"));
    record(&evidence, "a", success(), 1);
    assert!(proven("a"));
    record(&evidence, "a", overclaim(), 1);
    assert!(!proven("a"), "demoted");
    record(&evidence, "b", failure(), 21);
    record(&evidence, "b", success(), 20);
    assert!(!proven("b"), "fails more often than not");
    record(&evidence, "b", success(), 1);
    assert!(proven("b"));
}

/// Counts are what they are, in whichever order they come.
#[tokio::test(start_paused = true)]
async fn outcomes_of_one_moment_have_no_order() {
    let orders = [[1, 0, 0, 2, 1, 0, 0, 0], [0, 0, 1, 0, 2, 0, 1, 0], [2, 1, 1, 0, 0, 0, 0, 0]];
    let trusts = orders.map(|order| {
        let evidence = never_quarantined();
        for n in order {
            record(&evidence, "a", [success(), failure(), overclaim()][n], 1);
        }
        standing(&evidence, "a").trust.to_bits()
    });
    assert!(trusts.iter().all(|trust| *trust == trusts[0]));
    assert_eq!(f64::from_bits(trusts[0]), 5.0 / 8.0 / 2.0);
}

#[test]
fn a_handle_that_cannot_be() {
    let refused = |builder: a2a_guard::directory::EvidenceBuilder| builder.build().unwrap_err().setting();
    assert_eq!(refused(Evidence::builder().capacity(0)), "capacity");
    assert_eq!(refused(Evidence::builder().share_every(s(61))), "share_every");
}

/// From any thread, also where there is no runtime.
#[test]
fn nothing_is_lost_between_threads() {
    let evidence = never_quarantined();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..2000 {
                    record(&evidence, ["a", "b", "c"][n % 3], if n % 5 == 0 { failure() } else { success() }, 1);
                    assert!((0.0..=1.0).contains(&standing(&evidence, "a").trust));
                }
            });
        }
    });
    assert_eq!(evidence.snapshot().iter().map(|known| known.standing.calls).sum::<u64>(), 8000);
}
