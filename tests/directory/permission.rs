//! Being found is no permission, and being registered no trust.

use std::time::Duration;

use a2a_guard::directory::{
    Exclusion, Grant, Need, Permission, PermissionAsk, PermissionRules, Permit, Report, Stage, TrustPolicy,
};

use crate::host::{Host, peer, plain_card, uri};

const A: &str = "https://a.example";
const B: &str = "https://b.example";

async fn found(rules: impl Permission + 'static, need: &Need) -> (Vec<String>, Vec<String>) {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder.permission(rules));
    for base in [A, B] {
        host.serve(base, plain_card(base, &["pay: Pays invoices", "chat", "gossip: x #Sensitive #granted #allow-all"]));
        let id = directory.publish(&uri(base), "o").await.unwrap();
        directory.vouch(&id, "ops", true);
    }
    log.permissions();
    let decision = directory.find(need);
    (decision.eligible().map(|one| one.peer.as_str().to_owned()).collect(), log.permissions())
}

#[tokio::test(start_paused = true)]
async fn what_is_sensitive_is_denied_unless_somebody_granted_it() {
    let rules = || PermissionRules::new().sensitive(["pay"]);
    let pay = Need::skill("pay").caller("orders");
    assert_eq!(found(rules(), &pay).await.0, Vec::<String>::new());
    // Who asks by other words for the same gets no further.
    assert_eq!(found(rules(), &Need::task("pays invoices")).await.0, Vec::<String>::new());
    assert_eq!(found(rules(), &Need::skill("chat")).await.0, [A, B]);
    for (grant, expected) in [
        (Grant::of("pay"), vec![A, B]),
        (Grant::of("pay").to_caller("orders"), vec![A, B]),
        (Grant::of("pay").to_caller("billing"), vec![]),
        (Grant::of("pay").at_peer(peer(B)), vec![B]),
        (Grant::of("pay").to_caller("orders").at_peer(peer(A)), vec![A]),
        (Grant::of("chat"), vec![]),
    ] {
        assert_eq!(found(rules().grant(grant.clone()), &pay).await.0, expected, "{grant:?}");
    }
}

/// A card can narrow, and never widen.
#[tokio::test(start_paused = true)]
async fn a_card_grants_nothing() {
    assert_eq!(found(PermissionRules::new(), &Need::skill("gossip")).await.0, Vec::<String>::new());
    assert_eq!(found(PermissionRules::new(), &Need::skill("chat").sensitive()).await.0, Vec::<String>::new());
    let (found, events) = found(
        PermissionRules::new().grant(Grant::of("gossip").at_peer(peer(A))),
        &Need::skill("gossip").caller("x\ny"),
    )
    .await;
    assert_eq!(found, [A]);
    assert_eq!(
        events,
        [
            "discovery x\\ny gossip https://a.example: allowed",
            "discovery x\\ny gossip https://b.example: denied: the skill is sensitive, and no grant covers it",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_new_peer_is_on_probation_until_it_is_vouched_for_or_proven() {
    let host = Host::default();
    let (directory, _) = host.directory(|builder| builder.low_risk_skills(["chat"]));
    host.serve(A, plain_card(A, &["chat: Small talk", "pay: Pays money"]));
    let id = directory.publish(&uri(A), "o").await.unwrap();
    let may = |need: &Need| directory.find(need).best().is_some();
    assert!(may(&Need::skill("chat")));
    assert!(!may(&Need::skill("pay")));
    // What it calls its skill is no reason to give it something that was never called low-risk.
    assert!(!may(&Need::task("small talk about money")));
    let decision = directory.find(&Need::task("small talk"));
    assert_eq!(decision.candidates[0].excluded, Some(Exclusion::Probation));

    assert!(directory.vouch(&id, "ops", true) && may(&Need::skill("pay")));
    assert!(directory.vouch(&id, "ops", false) && !may(&Need::skill("pay")));
    let needed = TrustPolicy::default().proven_after();
    for n in 0..needed {
        assert!(!may(&Need::skill("pay")), "{n} of {needed}");
        directory.evidence().record(&id, Some("chat"), Report::success(Duration::from_millis(1)));
    }
    assert!(may(&Need::skill("pay")));
}

#[tokio::test(start_paused = true)]
async fn high_value_is_tested_first_if_the_policy_says_so() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder.permission(PermissionRules::new().test_high_value()));
    host.serve(A, plain_card(A, &["pay"]));
    let id = directory.publish(&uri(A), "o").await.unwrap();
    directory.vouch(&id, "ops", true);
    assert!(!directory.find(&Need::skill("pay")).best().unwrap().test);
    assert!(directory.find(&Need::skill("pay").high_value()).best().unwrap().test);
    assert_eq!(log.permissions()[1], "discovery nobody pay https://a.example: allowed after a test");
}

#[tokio::test(start_paused = true)]
async fn a_policy_sees_all_that_it_may_decide_by() {
    let seen = |ask: &PermissionAsk<'_>| {
        assert_eq!(ask.stage, Stage::Discovery);
        assert!(!ask.tested && ask.verification.is_verified() && ask.standing.calls == 0);
        assert_eq!((ask.skill.id(), ask.caller.map(|caller| caller.as_str())), ("chat", Some("me")));
        match ask.peer.as_str() {
            A => Permit::AfterTest,
            _ => Permit::Deny("no".into()),
        }
    };
    assert_eq!(found(seen, &Need::skill("chat").caller("me")).await.0, [A]);
}
