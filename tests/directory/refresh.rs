//! What is known is read again before its time is over, and where there is reason to doubt it.

use std::{sync::Arc, time::Duration};

use a2a_guard::{
    BoxError, CallError, Guard,
    directory::{Need, StaleReason},
};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tower::{Layer, ServiceExt};

use crate::{
    agents::{Agents, Does},
    host::{Host, peer, plain_card, uri},
};

const A: &str = "https://a.example";
const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_card_is_read_again_before_it_expires_and_nobody_waits() {
    let host = Host::default();
    host.serve(A, plain_card(A, &["x"]));
    let (directory, log) = host.directory(|builder| builder);
    let id = directory.publish(&uri(A), "o").await.unwrap();
    directory.vouch(&id, "ops", true);
    let fresh = tokio::spawn(directory.keep_fresh(20 * SECOND));
    host.asked();
    for _ in 0..60 {
        tokio::time::sleep(10 * SECOND).await;
        assert!(directory.find(&Need::skill("x")).best().is_some(), "never without it");
    }
    let asked = host.asked().len();
    assert!((12..=31).contains(&asked), "{asked} in 600 s, of a card that lasts 60");
    assert_eq!(log.audit().len(), 2, "what goes on as it was is no event");

    // It says something else now, slowly: whoever looks meanwhile finds what was known.
    host.serve_for(A, plain_card(A, &["y"]), 60, 8 * SECOND);
    for second in 0..60 {
        tokio::time::sleep(SECOND).await;
        let found = ["x", "y"].map(|skill| directory.find(&Need::skill(skill)).best().is_some());
        assert!(found[0] != found[1], "{found:?} in second {second}");
        assert!(second > 6 || found[0], "it takes 8 s");
    }
    assert!(directory.find(&Need::skill("y")).best().is_some());
    assert_eq!(log.audit(), ["https://a.example of o: card changed: skills 1, left out 0"]);

    drop(directory);
    tokio::time::sleep(60 * SECOND).await;
    assert!(fresh.is_finished(), "it does not outlive what it keeps");
}

#[tokio::test(start_paused = true)]
async fn who_has_no_card_any_more_does_not_count_and_who_is_down_does_for_a_while() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder.discovery_timeout(SECOND));
    let b = "https://b.example";
    for base in [A, b] {
        host.serve(base, plain_card(base, &["x"]));
        directory.publish(&uri(base), "o").await.unwrap();
    }
    log.audit();
    host.remove(A);
    host.serve_for(b, plain_card(b, &["x"]), 60, 100 * SECOND);
    tokio::time::sleep(30 * SECOND).await;
    assert_eq!(directory.refresh_due(10 * SECOND).await, 0, "nothing is due");
    assert_eq!(directory.refresh_due(40 * SECOND).await, 2);
    let card = |base: &str| directory.peer(&peer(base)).unwrap().card.unwrap().map(drop);
    assert_eq!((card(A), card(b)), (Err(StaleReason::Gone), Ok(())));
    tokio::time::sleep(40 * SECOND).await;
    directory.refresh_due(SECOND).await;
    assert_eq!(card(b), Err(StaleReason::Expired));
    assert_eq!(
        log.audit(),
        ["https://a.example of o: card stale: gone", "https://b.example of o: card stale: expired"]
    );
    // Back again.
    for base in [A, b] {
        host.serve(base, plain_card(base, &["x"]));
    }
    tokio::time::sleep(300 * SECOND).await;
    directory.refresh_due(SECOND).await;
    assert_eq!((card(A), card(b)), (Ok(()), Ok(())));
    let mut again = log.audit();
    again.sort();
    assert_eq!(again, ["https://a.example of o: card fresh again", "https://b.example of o: card fresh again"]);
}

#[tokio::test(start_paused = true)]
async fn tools_are_listed_again_when_the_list_changed() {
    let host = Host::default();
    let (directory, _) = host.directory(|builder| {
        builder.list_tools(|peer| async move {
            assert_eq!(peer.as_str(), A);
            Ok::<_, BoxError>(vec![Bytes::from_static(br#"{"tools":[{"name":"new"}]}"#)])
        })
    });
    let id = directory.publish_tools(&uri(A), "o", &[r#"{"tools":[{"name":"old"}]}"#]).unwrap();
    directory.vouch(&id, "ops", true);
    tokio::spawn(directory.keep_fresh(1000 * SECOND));
    assert!(directory.find(&Need::skill("old")).best().is_some());
    assert!(directory.tools_changed(&id));
    assert!(directory.find(&Need::skill("old")).best().is_none());
    tokio::time::sleep(6 * SECOND).await;
    assert!(directory.find(&Need::skill("old")).candidates.is_empty());
    assert!(directory.find(&Need::skill("new")).best().is_some());
}

/// Calls that nobody delegated tell of drift as well.
#[tokio::test(start_paused = true)]
async fn what_contradicts_a_card_has_it_read_again_at_once_and_not_for_each_call() {
    let host = Host::default();
    host.serve_for(A, plain_card(A, &["x"]), 3600, Duration::ZERO);
    let (directory, log) = host.directory(|builder| builder);
    directory.publish(&uri(A), "o").await.unwrap();
    tokio::spawn(directory.keep_fresh(100 * SECOND));
    tokio::time::sleep(SECOND).await;
    host.asked();
    let agents = Agents::default();
    agents.set("a.example", Does::Status(404, vec![]));
    let guard = Guard::builder().observe(directory.drift()).build().unwrap();
    for n in 0..100 {
        let call = Request::post(if n == 50 { "https://other.example/" } else { A })
            .header("content-type", "application/json")
            .body(Full::from(r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}"#))
            .unwrap();
        let answer: Result<_, CallError> = guard.layer(agents.clone()).oneshot(call).await;
        assert!(answer.is_err());
        tokio::time::sleep(SECOND / 10).await;
    }
    let asked = host.asked().len();
    assert!((1..=3).contains(&asked), "{asked} times in 10 s");
    let doubted = log.audit().iter().filter(|line| line.contains("doubted: endpoint_not_found")).count();
    assert!((1..=4).contains(&doubted), "{doubted}");
}

#[tokio::test(start_paused = true)]
async fn what_is_withdrawn_while_it_is_read_stays_withdrawn() {
    let host = Host::default();
    host.serve(A, plain_card(A, &["x"]));
    let (directory, _) = host.directory(|builder| builder);
    let id = directory.publish(&uri(A), "o").await.unwrap();
    host.serve_for(A, plain_card(A, &["x"]), 60, 5 * SECOND);
    let reading = tokio::spawn({
        let directory = directory.clone();
        async move { directory.refresh_due(100 * SECOND).await }
    });
    tokio::time::sleep(SECOND).await;
    directory.withdraw(&id, "o").unwrap();
    assert_eq!(reading.await.unwrap(), 1);
    assert!(directory.is_empty());
}

/// Many threads look while one registers: nobody sees half of anything.
#[tokio::test]
async fn readers_see_whole_peers_whoever_writes() {
    let host = Host::default();
    let (directory, _) = host.directory(|builder| builder.low_risk_skills(["x"]));
    let directory = Arc::new(directory);
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let directory = Arc::clone(&directory);
            std::thread::spawn(move || {
                for _ in 0..300 {
                    let decision = directory.find(&Need::skill("x"));
                    for candidate in &decision.candidates {
                        assert_eq!(&*candidate.skill, "x");
                    }
                    let entries = directory.snapshot();
                    assert!(entries.iter().all(|entry| entry.skills.len() == 2));
                }
            })
        })
        .collect();
    for n in 0..60 {
        let base = format!("https://agent-{n}.example");
        host.serve(&base, plain_card(&base, &["x", "y"]));
        let id = directory.publish(&uri(&base), "o").await.unwrap();
        if n % 3 == 0 {
            directory.withdraw(&id, "o").unwrap();
        }
    }
    readers.into_iter().for_each(|reader| reader.join().unwrap());
    assert_eq!(directory.len(), 40);
}

/// What lasts for less than a round is read in between, and nothing else is.
#[tokio::test(start_paused = true)]
async fn a_card_that_lasts_for_less_than_a_round_never_lapses() {
    let host = Host::default();
    let b = "https://b.example";
    host.serve_for(A, plain_card(A, &["x"]), 40, SECOND);
    host.serve_for(b, plain_card(b, &["y"]), 300, SECOND);
    let (directory, log) = host.directory(|builder| builder.low_risk_skills(["x", "y"]));
    for base in [A, b] {
        directory.publish(&uri(base), "o").await.unwrap();
    }
    tokio::spawn(directory.keep_fresh(200 * SECOND));
    host.asked();
    for second in 0..1000 {
        for skill in ["x", "y"] {
            assert!(directory.find(&Need::skill(skill)).best().is_some(), "{skill} in second {second}");
        }
        tokio::time::sleep(SECOND).await;
    }
    let asked = host.asked();
    let of = |base: &str| asked.iter().filter(|url| url.starts_with(base)).count();
    assert!((25..=45).contains(&of(A)) && (4..=6).contains(&of(b)), "{} and {}", of(A), of(b));
    assert_eq!(log.audit().len(), 2);
}

/// What the owner registers again out of a cache is no answer to a doubt.
#[tokio::test(start_paused = true)]
async fn a_doubt_lasts_until_the_card_is_read_anew() {
    let host = Host::default();
    host.serve_for(A, plain_card(A, &["x"]), 300, Duration::ZERO);
    let (directory, _) = host.directory(|builder| builder);
    let id = directory.publish(&uri(A), "o").await.unwrap();
    directory.doubt(&id, "seen");
    host.asked();
    directory.publish(&uri(A), "o").await.unwrap();
    assert_eq!(host.asked().len(), 0, "it is in the cache");
    assert_eq!(directory.refresh_due(SECOND).await, 1);
    assert_eq!(host.asked().len(), 1);
    assert_eq!(directory.refresh_due(SECOND).await, 0);
    // Doubted again while it is read: what comes may be from before.
    host.serve_for(A, plain_card(A, &["x"]), 300, 2 * SECOND);
    directory.doubt(&id, "seen");
    let reading = tokio::spawn({
        let directory = directory.clone();
        async move { directory.refresh_due(SECOND).await }
    });
    tokio::time::sleep(SECOND).await;
    directory.doubt(&id, "seen");
    assert_eq!(reading.await.unwrap(), 1);
    assert_eq!(directory.refresh_due(SECOND).await, 1);
    // Nothing that passes was learnt.
    directory.doubt(&id, "seen");
    host.serve_for(A, plain_card(A, &["x"]), 300, 100 * SECOND);
    assert_eq!(directory.refresh_due(SECOND).await, 1);
    assert_eq!(directory.refresh_due(SECOND).await, 1);
}

/// Hundreds that do not answer keep nobody else from being read in time.
#[tokio::test(start_paused = true)]
async fn those_who_do_not_answer_hold_nobody_up() {
    let host = Host::default();
    let (directory, _) = host.directory(|builder| builder.low_risk_skills(["x"]));
    let dead: Vec<_> = (0..400).map(|n| format!("https://dead-{n}.example")).collect();
    for base in dead.iter().map(|base| &**base).chain([A]) {
        host.serve(base, plain_card(base, &[if base == A { "x" } else { "y" }]));
        directory.publish(&uri(base), "o").await.unwrap();
    }
    for base in &dead {
        host.serve_for(base, plain_card(base, &["y"]), 60, 1000 * SECOND);
    }
    tokio::spawn(directory.keep_fresh(20 * SECOND));
    for second in 0..300 {
        assert!(directory.find(&Need::skill("x")).best().is_some(), "in second {second}");
        tokio::time::sleep(SECOND).await;
    }
}
