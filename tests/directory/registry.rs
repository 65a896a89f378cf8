//! Who is registered, by whom, and for how long.

use std::time::Duration;

use a2a_guard::{
    card_consistency::{CardEvidence, CardStore},
    directory::{Directory, DirectoryBounds, RegistryError, StaleReason, Verification},
};
use std::sync::Arc;

use crate::host::{Host, card, interface, loopback, peer, plain_card, uri};

const A: &str = "https://a.example/agent";
const B: &str = "https://b.example";

#[tokio::test(start_paused = true)]
async fn a_card_is_published_withdrawn_and_audited_with_its_owner() {
    let host = Host::default();
    host.serve(A, plain_card(A, &["translate: Translates text #language", "translate", "cook"]));
    let (directory, log) = host.directory(|builder| builder);
    let id = directory.publish(&uri("https://A.example:443/agent/"), "team-a").await.unwrap();
    assert_eq!(id, peer(A));
    let entry = directory.peer(&id).unwrap();
    assert_eq!(entry.skills.iter().map(|skill| skill.id().to_owned()).collect::<Vec<_>>(), ["translate", "cook"]);
    assert_eq!((entry.verification, entry.card), (Verification::None, Some(Ok(Duration::from_secs(60)))));
    assert_eq!(entry.tools, None);

    assert!(matches!(directory.withdraw(&id, "team-b"), Err(RegistryError::OwnedByAnother)));
    directory.withdraw(&id, "team-a").unwrap();
    assert!(directory.is_empty());
    assert!(matches!(directory.withdraw(&id, "team-a"), Err(RegistryError::Unknown)));
    assert_eq!(log.sequence(), [1, 2, 3, 4]);
    assert_eq!(
        log.audit(),
        [
            "https://a.example/agent of team-a: registered by card: skills 2, left out 1",
            "https://a.example/agent of team-b: refused: another owner registered this peer; let that one withdraw it, or an operator revoke it",
            "https://a.example/agent of team-a: withdrawn",
            "https://a.example/agent of team-a: refused: no such peer is registered",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_expired_card_is_unknown_until_it_is_read_again() {
    let host = Host::default();
    host.serve(A, plain_card(A, &["translate"]));
    let (directory, log) = host.directory(|builder| builder);
    let id = directory.publish(&uri(A), "o").await.unwrap();
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(directory.peer(&id).unwrap().card, Some(Err(StaleReason::Expired)));
    let generation = directory.generation();
    directory.publish(&uri(A), "o").await.unwrap();
    assert!(matches!(directory.peer(&id).unwrap().card, Some(Ok(_))));
    assert_eq!(directory.generation(), generation, "nothing that it says changed, so no index is written");
    assert_eq!(log.audit()[1..], ["https://a.example/agent of o: card fresh again"]);

    host.serve(A, plain_card(A, &["cook"]));
    tokio::time::advance(Duration::from_secs(61)).await;
    directory.publish(&uri(A), "o").await.unwrap();
    assert_eq!(directory.peer(&id).unwrap().skills[0].id(), "cook");
    assert_eq!(log.audit(), ["https://a.example/agent of o: card changed: skills 1, left out 0"]);
}

#[tokio::test(start_paused = true)]
async fn a_card_of_another_place_is_nobodys() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    // Its own host, and the interface of another's: what comes to it would go there, or the other way round.
    host.serve(A, plain_card(B, &["pay"]));
    let error = directory.publish(&uri(A), "mallory").await.unwrap_err();
    assert!(matches!(error, RegistryError::Card(_)), "{error}");
    assert!(error.to_string().contains("b.example"), "{error}");
    // One of its own and one of another's: the other one is left out.
    host.serve(B, card(&[interface(A, "JSONRPC", "1.0"), interface(B, "JSONRPC", "1.0")], &["pay"]));
    directory.publish(&uri(B), "o").await.unwrap();
    assert_eq!(log.audit()[1..], ["https://b.example of o: registered by card: skills 1, left out 1"]);
}

#[tokio::test(start_paused = true)]
async fn nobody_makes_the_directory_call_its_own_network() {
    let host = Host::default();
    let (directory, _) = host.directory(|builder| builder);
    for base in ["http://127.0.0.1:9/", "http://169.254.169.254/latest", "http://10.0.0.1/", "https://localhost/x"] {
        host.serve(base.trim_end_matches('/'), plain_card(base, &["x"]));
        let error = directory.publish(&uri(base), "o").await.unwrap_err();
        assert!(matches!(error, RegistryError::Unusable(_)), "{base}: {error}");
    }
    assert!(matches!(directory.publish(&uri("/relative"), "o").await, Err(RegistryError::Identity(_))));
    assert!(matches!(directory.publish(&uri("https://u:p@a.example"), "o").await, Err(RegistryError::Identity(_))));
    assert_eq!(host.asked(), Vec::<String>::new());
    let (directory, _) = host.directory(|builder| builder.urls(loopback()));
    directory.publish(&uri("http://127.0.0.1:9"), "o").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_revoked_peer_is_gone_at_once_and_does_not_come_back() {
    let host = Host::default();
    host.serve(A, plain_card(A, &["translate"]));
    let (directory, log) = host.directory(|builder| builder);
    let id = directory.publish(&uri(A), "o").await.unwrap();
    directory.revoke(&id, "leaks data\n#9 forged line");
    assert!(directory.peer(&id).is_none());
    assert!(matches!(directory.publish(&uri(A), "o").await, Err(RegistryError::Revoked)));
    assert!(matches!(directory.publish_tools(&uri(A), "o", &[r#"{"tools":[]}"#]), Err(RegistryError::Revoked)));
    assert!(directory.reinstate(&id) && !directory.reinstate(&id));
    directory.publish(&uri(A), "o").await.unwrap();
    let audit = log.audit();
    assert_eq!(audit[1], "https://a.example/agent of o: revoked: leaks data\\n#9 forged line");
    assert_eq!(audit[4], "https://a.example/agent of o: reinstated");
    // Before it was ever registered, too.
    directory.revoke(&peer(B), "known bad");
    host.serve(B, plain_card(B, &["translate"]));
    assert!(matches!(directory.publish(&uri(B), "o").await, Err(RegistryError::Revoked)));
}

/// Revoked while its card is on its way.
#[tokio::test(start_paused = true)]
async fn what_was_revoked_meanwhile_is_not_registered() {
    let host = Host::default();
    host.serve_for(A, plain_card(A, &["translate"]), 60, Duration::from_secs(3));
    let (directory, _) = host.directory(|builder| builder);
    let publishing = tokio::spawn({
        let directory = directory.clone();
        async move { directory.publish(&uri(A), "o").await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    directory.revoke(&peer(A), "no");
    assert!(matches!(publishing.await.unwrap(), Err(RegistryError::Revoked)));
    assert!(directory.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_card_that_does_not_come_is_waited_for_no_longer_than_that() {
    let host = Host::default();
    host.serve_for(A, plain_card(A, &["translate"]), 60, Duration::from_secs(300));
    let (directory, _) = host.directory(|builder| builder.discovery_timeout(Duration::from_secs(2)));
    let began = tokio::time::Instant::now();
    let error = directory.publish(&uri(A), "o").await.unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    assert!(matches!(error, RegistryError::Card(_)), "{error}");
    // Readers are not blocked meanwhile.
    let slow = tokio::spawn({
        let directory = directory.clone();
        async move { directory.publish(&uri(A), "o").await }
    });
    tokio::task::yield_now().await;
    assert_eq!((directory.len(), directory.snapshot().len()), (0, 0));
    slow.abort();
}

#[tokio::test(start_paused = true)]
async fn tools_are_a_source_beside_the_card_and_stale_once_the_list_changed() {
    let host = Host::default();
    host.serve(A, plain_card(A, &["translate"]));
    let (directory, log) = host.directory(|builder| builder.tools_ttl(Duration::from_secs(100)));
    let id = directory.publish(&uri(A), "o").await.unwrap();
    assert!(!directory.tools_changed(&id), "it has none");
    let pages = [
        r#"{"tools":[{"name":"get_weather","description":"Forecast"}],"nextCursor":"2"}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"set_alarm"}]}}"#,
    ];
    directory.publish_tools(&uri(A), "o", &pages).unwrap();
    let entry = directory.peer(&id).unwrap();
    let ids: Vec<_> = entry.skills.iter().map(|skill| skill.id().to_owned()).collect();
    assert_eq!(ids, ["translate", "get_weather", "set_alarm"]);
    assert_eq!(entry.tools, Some(Ok(Duration::from_secs(100))));
    assert!(directory.tools_changed(&id));
    let entry = directory.peer(&id).unwrap();
    assert_eq!((entry.tools, entry.card.map(|card| card.is_ok())), (Some(Err(StaleReason::ListChanged)), Some(true)));
    // Reading the card again changes nothing about the tools.
    directory.publish(&uri(A), "o").await.unwrap();
    assert_eq!(directory.peer(&id).unwrap().tools, Some(Err(StaleReason::ListChanged)));
    directory.publish_tools(&uri(A), "o", &[pages[1]]).unwrap();
    let entry = directory.peer(&id).unwrap();
    assert_eq!((entry.skills.len(), entry.tools), (2, Some(Ok(Duration::from_secs(100)))));
    assert!(matches!(directory.publish_tools(&uri(A), "o", &["[]"]), Err(RegistryError::Tools(_))));
    assert_eq!(
        log.audit(),
        [
            "https://a.example/agent of o: registered by card: skills 1, left out 0",
            "https://a.example/agent of o: registered by tools: skills 2, left out 0",
            "https://a.example/agent of o: tools stale: list_changed",
            "https://a.example/agent of o: tools changed: skills 1, left out 0",
            "https://a.example/agent of o: refused: page 0 of the tools is no result of tools/list: line 1, column 2",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn everything_is_bounded() {
    let host = Host::default();
    let (directory, _) = host.directory(|builder| {
        builder.bounds(DirectoryBounds::default().peers(2).peers_of_owner(1).skills(3).interfaces(2))
    });
    let many: Vec<_> = (0..50).map(|n| format!("s{n}")).collect();
    let skills: Vec<_> = many.iter().map(|text| &**text).collect();
    host.serve(A, card(&vec![interface(A, "JSONRPC", "1.0"); 9], &skills));
    host.serve(B, plain_card(B, &["x"]));
    host.serve("https://c.example", plain_card("https://c.example", &["x"]));
    let id = directory.publish(&uri(A), "o").await.unwrap();
    assert_eq!(directory.peer(&id).unwrap().skills.len(), 3);
    assert!(matches!(directory.publish(&uri(B), "o").await, Err(RegistryError::OwnerFull(1))));
    directory.publish(&uri(B), "p").await.unwrap();
    assert!(matches!(directory.publish(&uri("https://c.example"), "q").await, Err(RegistryError::Full(2))));
    assert!(matches!(directory.publish(&uri(A), &"x".repeat(300)).await, Err(RegistryError::Owner)));
    // Who is there already may come again, and a place that is given up is free.
    directory.publish(&uri(A), "o").await.unwrap();
    directory.withdraw(&id, "o").unwrap();
    directory.publish(&uri("https://c.example"), "o").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_may_register_whom_is_the_directorys_to_say() {
    let host = Host::default();
    host.serve(A, plain_card(A, &["x"]));
    let (directory, _) = host.directory(|builder| {
        builder.admit(|owner, peer| match owner == "team-a" && peer.as_str().starts_with("https://a.example/") {
            true => Ok(()),
            false => Err("not theirs".into()),
        })
    });
    assert!(matches!(directory.publish(&uri(A), "mallory").await, Err(RegistryError::NotAdmitted(_))));
    assert_eq!(host.asked().len(), 0);
    directory.publish(&uri(A), "team-a").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_stands_for_a_card_is_told() {
    let host = Host::default();
    host.serve(A, plain_card(A, &["x"]));
    let believed = |card: &CardEvidence<'_>| match card.location.host() {
        Some("a.example") => Ok(()),
        _ => Err("no".to_owned()),
    };
    let cards = CardStore::builder(host.clone()).verifier(Arc::new(believed)).build().unwrap();
    let directory = Directory::builder(cards).build();
    let id = directory.publish(&uri(A), "o").await.unwrap();
    assert_eq!(directory.peer(&id).unwrap().verification, Verification::Card);
    assert!(directory.vouch(&id, "ops", true));
    assert_eq!(directory.peer(&id).unwrap().verification, Verification::Operator);
    assert!(directory.vouch(&id, "ops", false));
    assert_eq!(directory.peer(&id).unwrap().verification, Verification::Card);
    host.serve(B, plain_card(B, &["x"]));
    assert!(matches!(directory.publish(&uri(B), "o").await, Err(RegistryError::Card(_))));
    assert!(!directory.vouch(&peer(B), "ops", true));
    assert!(!Verification::Transport.is_verified() && Verification::Card.is_verified());
}
