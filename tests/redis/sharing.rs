//! What one replica learns is known in the others, for as long as where it was learnt.

use std::time::Duration;

use a2a_guard::probe_cache::{Availability, RedisStore, SkillAvailability};
use redis::cmd;

use crate::{
    mock::{ms, s},
    replica::Replica,
    server::{Server, until, until_true},
    support::key,
};

#[tokio::test]
async fn a_success_is_known_and_a_refusal_forgotten_in_all() {
    let Some(server) = Server::start().await else { return };
    let (mut one, mut other) = (Replica::at(&server.url()).await, Replica::at(&server.url()).await);
    one.succeeds("translate").await;
    other.learns("translate").await;
    assert!(other.lasts("translate").unwrap() > s(30));
    assert_eq!(other.agent.counts(), (0, 0));
    other.is_refused("translate").await;
    one.forgets("translate").await;
    assert_eq!((one.skills.stats().invalidations, other.skills.stats().invalidations), (1, 1));
    // And once more the other way round.
    other.succeeds("translate").await;
    one.learns("translate").await;
    one.has_told(1).await;
    other.has_told(2).await;
    assert_eq!((one.store.stats().heard, other.store.stats().heard), (2, 1), "nobody hears itself");
    assert_eq!((one.store.stats().ignored, one.store.stats().untold), (0, 0));
}

#[tokio::test]
async fn what_is_dropped_by_hand_is_dropped_in_all() {
    let Some(server) = Server::start().await else { return };
    let (mut one, other) = (Replica::at(&server.url()).await, Replica::at(&server.url()).await);
    let host = key("", "").origin().clone();
    for by_hand in ["key", "host", "all"] {
        for skill in ["a", "b"] {
            one.succeeds(skill).await;
            other.learns(skill).await;
        }
        match by_hand {
            "key" => assert!(other.skills.invalidate(&key("a", "eu"))),
            "host" => assert_eq!(other.skills.invalidate_host(&host), 2),
            _ => assert_eq!(other.skills.invalidate_all(), 2),
        }
        one.forgets("a").await;
        assert_eq!(one.knows("b"), by_hand == "key");
        // Who starts now does not learn it either.
        let late = Replica::at(&server.url()).await;
        assert_eq!((late.knows("a"), late.knows("b")), (false, by_hand == "key"), "{by_hand}");
    }
}

/// Only the host's own: another of which the name begins alike is another.
#[tokio::test]
async fn a_host_is_dropped_and_no_other() {
    let Some(server) = Server::start().await else { return };
    let (one, other) = (Replica::at(&server.url()).await, Replica::at(&server.url()).await);
    let at = |host: &str| a2a_guard::probe_cache::SkillKey::of(&host.parse().unwrap(), "s").unwrap();
    let (short, long) = (at("https://agent.example.co"), at("https://agent.example.com"));
    let mut client = server.client().await;
    for key in [&short, &long] {
        let host = key.origin();
        let message = format!(r#"{{"v":1,"from":"x","do":"available","host":"{host}","skill":"s","ms":60000}}"#);
        let member = format!(r#"A["{host}","s",null]"#);
        cmd("PUBLISH").arg("a2a-guard:changes:0").arg(message).query_async::<()>(&mut client).await.unwrap();
        cmd("ZADD").arg("a2a-guard:known").arg("9e15").arg(member).query_async::<()>(&mut client).await.unwrap();
        until_true("it is known", || one.skills.get(key) != Availability::Unknown).await;
    }
    other.skills.invalidate_host(short.origin());
    until_true("it is forgotten", || one.skills.get(&short) == Availability::Unknown).await;
    assert_ne!(one.skills.get(&long), Availability::Unknown);
    let late = Replica::at(&server.url()).await;
    assert_eq!(late.skills.get(&short), Availability::Unknown);
    assert_eq!(late.skills.get(&long), Availability::Available { lasts: late_lasts(&late, &long) });
    assert!(late_lasts(&late, &long) <= s(60));
}

fn late_lasts(replica: &Replica, key: &a2a_guard::probe_cache::SkillKey) -> Duration {
    match replica.skills.get(key) {
        Availability::Available { lasts } => lasts,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn who_starts_later_learns_what_stands_for_the_rest_of_its_time() {
    let Some(server) = Server::start().await else { return };
    let mut one = Replica::at(&server.url()).await;
    one.succeeds("translate").await;
    one.succeeds("summarize").await;
    one.has_told(2).await;
    one.is_refused("summarize").await;
    one.has_told(3).await;
    until_true("a second passes", || one.lasts("translate").unwrap() <= s(59)).await;
    let late = Replica::at(&server.url()).await;
    assert!((s(30)..ms(59_500)).contains(&late.lasts("translate").unwrap()), "{:?}", late.lasts("translate"));
    assert!(!late.knows("summarize"));
    assert_eq!(late.store.stats().heard, 0);
}

#[tokio::test]
async fn it_holds_no_longer_than_where_it_was_learnt_nor_than_our_own_ttl() {
    let Some(server) = Server::start().await else { return };
    let with_ttl = |ttl| Replica::of(RedisStore::builder(server.url()), SkillAvailability::builder().ttl(ttl));
    let (mut short, mut long, middle) = (with_ttl(ms(1500)).await, with_ttl(s(60)).await, with_ttl(s(20)).await);
    long.succeeds("long").await;
    middle.learns("long").await;
    assert!(middle.lasts("long").unwrap() <= s(20));
    let late = with_ttl(s(20)).await;
    assert!(late.lasts("long").unwrap() <= s(20));
    long.skills.invalidate_all();
    middle.forgets("long").await;

    short.succeeds("short").await;
    let lasts = until("it is known", || long.lasts("short")).await;
    assert!(lasts <= ms(1500), "{lasts:?}");
    // The server is left clean.
    let mut client = server.client().await;
    let left: i64 = cmd("PTTL").arg("a2a-guard:known").query_async(&mut client).await.unwrap();
    assert!((-2..=1501).contains(&left), "{left}");
    long.forgets("short").await;
    middle.forgets("short").await;
    let late = with_ttl(s(60)).await;
    assert!(!late.knows("short"));
}

#[tokio::test]
async fn two_prefixes_or_databases_do_not_mix() {
    let Some(server) = Server::start().await else { return };
    let of = |db: &str, prefix: &str| {
        let store = RedisStore::builder(format!("{}/{db}", server.url())).prefix(prefix);
        Replica::of(store, SkillAvailability::builder())
    };
    let (mut one, other) = (of("0", "blue").await, of("0", "blue").await);
    for (db, prefix) in [("0", "green"), ("0", "blue:x"), ("1", "blue")] {
        let (mut apart, also) = (of(db, prefix).await, of(db, prefix).await);
        one.succeeds("ours").await;
        other.learns("ours").await;
        apart.succeeds("theirs").await;
        also.learns("theirs").await;
        // What a server publishes, it publishes in order: had it been for them, it would have come before.
        assert!(!apart.knows("ours") && !also.knows("ours") && !one.knows("theirs"), "{db} {prefix}");
        apart.skills.invalidate_all();
        also.forgets("theirs").await;
        one.succeeds("more").await;
        other.learns("more").await;
        assert!(one.knows("ours") && other.knows("ours"));
        assert!(!of(db, prefix).await.knows("ours"));
        one.skills.invalidate_all();
        other.forgets("more").await;
    }
}

/// Handles that share a store hear each other as well, and the store says how they are together.
#[tokio::test]
async fn one_store_serves_any_number_of_handles() {
    let Some(server) = Server::start().await else { return };
    let mut one = Replica::at(&server.url()).await;
    let other = SkillAvailability::builder().store(one.store.clone()).build().unwrap();
    until_true("both are connected", || one.store.stats().connections == 2 && one.store.connected()).await;
    one.succeeds("translate").await;
    until_true("it is known", || other.get(&key("translate", "eu")) != Availability::Unknown).await;
    drop(other);
    until_true("one is left", || one.store.connected()).await;
}
