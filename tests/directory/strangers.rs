//! Evidence of peers that are not registered: kept, and in nobody's way.

use std::time::Duration;

use a2a_guard::directory::{Condition, Evidence, PeerId, Report, TrustPolicy};

use crate::host::{Host, peer, plain_card, uri};

const A: &str = "https://a.example";
const B: &str = "https://b.example";
/// It comes before the others where all else is equal.
const STRANGER: &str = "https://0.example";

fn fails(evidence: &Evidence, id: &PeerId) {
    for _ in 0..TrustPolicy::default().quarantine_failures() {
        evidence.record(id, None, Report::failure(Duration::from_millis(1)));
    }
}

fn is_quarantined(evidence: &Evidence, id: &PeerId) -> bool {
    matches!(evidence.standing(id, false).condition, Condition::Quarantined { .. })
}

/// Of two peers there is room for one in quarantine: not for somebody who is none of them.
#[tokio::test(start_paused = true)]
async fn a_stranger_takes_no_place_in_quarantine() {
    let evidence = Evidence::new();
    let host = Host::default();
    let (directory, _) = host.directory(|builder| builder.evidence(evidence.clone()));
    let (a, stranger) = (peer(A), peer(STRANGER));
    // Known before there was a directory, and after.
    fails(&evidence, &peer("https://00.example"));
    for base in [A, B] {
        host.serve(base, plain_card(base, &["x"]));
        directory.publish(&uri(base), "o").await.unwrap();
    }
    fails(&evidence, &stranger);
    fails(&evidence, &a);
    assert!(is_quarantined(&evidence, &a));
    assert!(!is_quarantined(&evidence, &stranger), "nobody is to choose it");

    // Once it is registered, it is one of them. Who is worse, or else comes first, has the place.
    host.serve(STRANGER, plain_card(STRANGER, &["x"]));
    directory.publish(&uri(STRANGER), "o").await.unwrap();
    assert!(is_quarantined(&evidence, &stranger) && !is_quarantined(&evidence, &a));
    // And once it is not any longer, its place is free.
    directory.withdraw(&stranger, "o").unwrap();
    assert!(is_quarantined(&evidence, &a));
}

/// Where nobody says who is registered, whoever is called counts.
#[tokio::test(start_paused = true)]
async fn without_a_directory_everybody_is_one_of_them() {
    let evidence = Evidence::new();
    evidence.set_registered(2);
    fails(&evidence, &peer(STRANGER));
    assert!(is_quarantined(&evidence, &peer(STRANGER)));
}
