//! Trust from outcomes: the numbers literally, each transition on paused time, what holds for any outcomes, and
//! replicas that share what they learn.

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;

mod agreement;
mod numbers;
mod observing;
mod properties;
mod quarantine;
#[cfg(feature = "redis")]
mod redis;
mod reports;
mod sharing;

use std::time::Duration;

use a2a_guard::directory::{Condition, Evidence, PeerId, Report, Standing, TrustPolicyBuilder};

fn peer(name: &str) -> PeerId {
    PeerId::parse(&format!("https://{name}.example.com/a2a")).unwrap()
}

fn success() -> Report {
    Report::success(Duration::from_millis(100))
}

fn failure() -> Report {
    Report::failure(Duration::from_millis(1))
}

fn overclaim() -> Report {
    Report::overclaim(Duration::from_millis(1))
}

fn evidence(policy: TrustPolicyBuilder) -> Evidence {
    let evidence = Evidence::builder().policy(policy.build().unwrap()).build().unwrap();
    // So that there is room in quarantine.
    evidence.set_registered(100);
    evidence
}

fn record(evidence: &Evidence, name: &str, report: Report, times: usize) {
    for _ in 0..times {
        evidence.record(&peer(name), Some("translate"), report);
    }
}

fn standing(evidence: &Evidence, name: &str) -> Standing {
    evidence.standing(&peer(name), false)
}

fn condition(evidence: &Evidence, name: &str) -> Condition {
    standing(evidence, name).condition
}

fn is_quarantined(evidence: &Evidence, name: &str) -> bool {
    matches!(condition(evidence, name), Condition::Quarantined { .. })
}

#[track_caller]
fn close(number: f64, expected: f64) {
    assert!((number - expected).abs() < 1e-12, "{number} is not {expected}");
}
