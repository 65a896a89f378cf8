//! Into quarantine, out of it, and back.

use std::collections::BTreeSet;

use a2a_guard::directory::{Condition, Evidence, TrustPolicy};
use tokio::time::{Instant, advance};

use crate::{
    condition, evidence, failure, is_quarantined,
    mock::{HOUR, ms, s},
    overclaim, peer, record, standing, success,
};

fn quarantined_for(evidence: &Evidence, name: &str) -> Option<u64> {
    match condition(evidence, name) {
        Condition::Quarantined { until } => Some((until - Instant::now()).as_secs()),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn five_failures_in_a_row() {
    let evidence = evidence(TrustPolicy::builder());
    record(&evidence, "a", failure(), 4);
    record(&evidence, "a", success(), 1);
    record(&evidence, "a", failure(), 4);
    assert_eq!(condition(&evidence, "a"), Condition::Good);
    record(&evidence, "a", failure(), 1);
    assert_eq!(quarantined_for(&evidence, "a"), Some(30));
    // What fails now began before.
    advance(s(10)).await;
    record(&evidence, "a", failure(), 50);
    assert_eq!(quarantined_for(&evidence, "a"), Some(20));
    advance(s(20) - ms(1)).await;
    assert!(is_quarantined(&evidence, "a"));
    advance(ms(1)).await;
    assert!(!is_quarantined(&evidence, "a"));
}

#[tokio::test(start_paused = true)]
async fn a_slow_start_grows_evenly() {
    let evidence = evidence(TrustPolicy::builder());
    record(&evidence, "a", failure(), 5);
    advance(s(30)).await;
    let share = || match condition(&evidence, "a") {
        Condition::SlowStart { share } => share,
        other => panic!("{other:?}"),
    };
    crate::close(share(), 0.1);
    advance(s(20)).await;
    crate::close(share(), 0.4);
    record(&evidence, "a", success(), 3);
    advance(s(20)).await;
    crate::close(share(), 0.7);
    advance(s(20) - ms(1)).await;
    assert!((0.99..1.0).contains(&share()));
    advance(ms(1)).await;
    assert_eq!(condition(&evidence, "a"), Condition::Good);
    // What counted before weighs as one: 0 of 1, then 3 of 4 but for the halving of a minute.
    assert!((0.74..0.76).contains(&standing(&evidence, "a").trust), "{:?}", standing(&evidence, "a"));
}

#[tokio::test(start_paused = true)]
async fn without_a_slow_start_it_is_over_at_once() {
    let evidence = evidence(TrustPolicy::builder().slow_start(s(0)));
    record(&evidence, "a", failure(), 5);
    advance(s(30)).await;
    assert_eq!(condition(&evidence, "a"), Condition::Good);
    record(&evidence, "a", failure(), 4);
    assert_eq!(condition(&evidence, "a"), Condition::Good);
    record(&evidence, "a", failure(), 1);
    assert_eq!(quarantined_for(&evidence, "a"), Some(60));
}

#[tokio::test(start_paused = true)]
async fn one_failure_in_a_slow_start_puts_it_back_for_twice_as_long() {
    let evidence = evidence(TrustPolicy::builder());
    record(&evidence, "a", success(), 50);
    record(&evidence, "a", failure(), 5);
    for (seconds, next) in [(30, 60), (60, 120), (120, 240), (240, 300), (300, 300), (300, 300)] {
        advance(s(seconds)).await;
        assert!(matches!(condition(&evidence, "a"), Condition::SlowStart { .. }));
        record(&evidence, "a", success(), 1);
        assert!(!is_quarantined(&evidence, "a"));
        record(&evidence, "a", failure(), 1);
        assert_eq!(quarantined_for(&evidence, "a"), Some(next));
    }
    // Out of it for a half-life after its slow start: the next one is a first one.
    advance(s(300 + 60) + HOUR - ms(1)).await;
    let again = evidence.clone();
    record(&again, "a", failure(), 4);
    advance(ms(1)).await;
    record(&again, "a", failure(), 1);
    assert_eq!(quarantined_for(&again, "a"), Some(30));
}

#[tokio::test(start_paused = true)]
async fn soon_after_a_slow_start_it_is_one_of_a_row() {
    let evidence = evidence(TrustPolicy::builder());
    record(&evidence, "a", failure(), 5);
    advance(s(30 + 60) + HOUR - ms(1)).await;
    record(&evidence, "a", failure(), 5);
    assert_eq!(quarantined_for(&evidence, "a"), Some(60));
}

#[tokio::test(start_paused = true)]
async fn three_overclaims_demote_and_then_quarantine() {
    let evidence = evidence(TrustPolicy::builder());
    record(&evidence, "a", success(), 50);
    for _ in 0..2 {
        record(&evidence, "a", overclaim(), 4);
        assert_eq!(condition(&evidence, "a"), Condition::Demoted);
        advance(s(1)).await;
        record(&evidence, "a", success(), 1);
        assert_eq!(condition(&evidence, "a"), Condition::Demoted);
    }
    record(&evidence, "a", overclaim(), 1);
    assert_eq!(quarantined_for(&evidence, "a"), Some(30));
    assert!(!standing(&evidence, "a").proven);
    advance(s(30 + 60)).await;
    assert_eq!(condition(&evidence, "a"), Condition::Demoted, "its strikes stay for an hour");
    record(&evidence, "a", overclaim(), 1);
    assert_eq!(quarantined_for(&evidence, "a"), Some(60));
}

#[tokio::test(start_paused = true)]
async fn a_quarantine_begins_proof_anew() {
    let evidence = evidence(TrustPolicy::builder());
    record(&evidence, "a", success(), 500);
    assert!(standing(&evidence, "a").proven);
    record(&evidence, "a", failure(), 5);
    advance(s(90)).await;
    record(&evidence, "a", success(), 19);
    assert!(!standing(&evidence, "a").proven);
    record(&evidence, "a", success(), 1);
    assert!(standing(&evidence, "a").proven);
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// Each failed, the later ones after less success.
fn all_fail(order: &[usize], registered: usize) -> BTreeSet<&'static str> {
    let evidence = evidence(TrustPolicy::builder());
    evidence.set_registered(registered);
    for n in order {
        record(&evidence, NAMES[*n], success(), 60 - 10 * *n);
        record(&evidence, NAMES[*n], failure(), 5);
    }
    for name in NAMES {
        let standing = standing(&evidence, name);
        assert!(matches!(standing.condition, Condition::Quarantined { .. } | Condition::Demoted), "{standing:?}");
    }
    NAMES.into_iter().filter(|name| is_quarantined(&evidence, name)).collect()
}

#[tokio::test(start_paused = true)]
async fn no_more_than_a_share_is_in_it_and_those_are_the_worst_in_whichever_order_they_came() {
    for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 5, 1, 4, 2]] {
        assert_eq!(all_fail(&order, 6), BTreeSet::from(["d", "e", "f"]));
        assert_eq!(all_fail(&order, 5), BTreeSet::from(["e", "f"]));
        assert_eq!(all_fail(&order, 1), BTreeSet::new());
        assert_eq!(all_fail(&order, 1000), BTreeSet::from(NAMES));
        // Nobody said how many there are: those that are known.
        assert_eq!(all_fail(&order, 0), BTreeSet::from(["d", "e", "f"]));
    }
}

#[tokio::test(start_paused = true)]
async fn whom_there_is_no_room_for_is_demoted_for_as_long() {
    let evidence = evidence(TrustPolicy::builder());
    evidence.set_registered(1);
    record(&evidence, "a", success(), 5);
    record(&evidence, "a", failure(), 5);
    assert_eq!(condition(&evidence, "a"), Condition::Demoted);
    crate::close(standing(&evidence, "a").trust, 0.5);
    advance(s(30)).await;
    assert_eq!(condition(&evidence, "a"), Condition::Good, "nothing to come back from");
    record(&evidence, "a", failure(), 5);
    advance(s(59)).await;
    assert_eq!(condition(&evidence, "a"), Condition::Demoted);
}

#[tokio::test(start_paused = true)]
async fn all_but_one_at_most_and_none_at_a_share_of_none() {
    let most = evidence(TrustPolicy::builder().max_quarantined(1.0));
    most.set_registered(2);
    let none = evidence(TrustPolicy::builder().max_quarantined(0.0));
    for evidence in [&most, &none] {
        record(evidence, "a", failure(), 5);
        record(evidence, "b", success(), 5);
        record(evidence, "b", failure(), 5);
    }
    assert!(is_quarantined(&most, "a") && !is_quarantined(&most, "b"));
    assert!(!is_quarantined(&none, "a") && !is_quarantined(&none, "b"));
}

#[tokio::test(start_paused = true)]
async fn room_follows_the_number_of_peers_and_who_is_forgotten() {
    let evidence = evidence(TrustPolicy::builder());
    evidence.set_registered(4);
    for name in ["a", "b", "c", "d"] {
        record(&evidence, name, failure(), 5);
    }
    let who = || NAMES.into_iter().filter(|name| is_quarantined(&evidence, name)).collect::<String>();
    assert_eq!(who(), "ab");
    evidence.set_registered(2);
    assert_eq!(who(), "a");
    evidence.set_registered(8);
    assert_eq!(who(), "abcd");
    evidence.set_registered(4);
    assert_eq!(who(), "ab");
    assert!(evidence.forget(&peer("a")));
    assert_eq!((who(), condition(&evidence, "a")), ("bc".into(), Condition::Unknown));
    assert!(!evidence.forget(&peer("a")));
    // A place that is served is one until it is over.
    advance(s(30)).await;
    assert_eq!(who(), "");
    record(&evidence, "e", failure(), 5);
    record(&evidence, "f", failure(), 5);
    assert_eq!(who(), "ef");
    assert!(matches!(condition(&evidence, "b"), Condition::SlowStart { .. }));
    assert_eq!(condition(&evidence, "d"), Condition::Good);
}

#[tokio::test(start_paused = true)]
async fn so_many_peers_are_known_and_no_more() {
    let evidence = Evidence::builder().capacity(32).build().unwrap();
    evidence.set_registered(1000);
    record(&evidence, "bad", failure(), 5);
    for n in 0..1000 {
        advance(ms(1)).await;
        record(&evidence, &format!("n{n}"), success(), 1);
        assert!(evidence.snapshot().len() <= 32);
    }
    assert!(is_quarantined(&evidence, "bad"), "others that become known do not get it out");
    assert_eq!(standing(&evidence, "n999").calls, 1);
    assert_eq!(condition(&evidence, "n0"), Condition::Unknown);
}
