//! A server that is away delays nobody and fails nothing, and what is missed meanwhile is not believed afterwards.

use std::time::Instant;

use a2a_guard::probe_cache::{RedisStore, SkillAvailability};
use redis::cmd;

use crate::{
    mock::{ms, s},
    nobody::Nobody,
    proxy::{Network, Proxy},
    replica::Replica,
    server::{Server, until_true},
    support::key,
};

#[tokio::test]
async fn a_server_that_is_killed_and_comes_back() {
    let Some(mut server) = Server::start().await else { return };
    let (mut one, mut other) = (Replica::at(&server.url()).await, Replica::at(&server.url()).await);
    one.succeeds("gone").await;
    one.succeeds("there").await;
    other.learns("there").await;
    server.kill();
    one.is_away().await;
    other.is_away().await;
    assert!(one.store.last_error().is_some());

    // Each goes by what it knows, at once.
    for round in 0..3 {
        other.is_refused("gone").await;
        other.succeeds(&format!("new-{round}")).await;
        assert!(one.knows("gone") && one.knows("there"));
        one.succeeds("there").await;
        assert!(other.skills.invalidate(&key(&format!("new-{round}"), "eu")));
    }
    assert_eq!((one.skills.stats().untold, other.skills.stats().untold), (0, 0));

    server.restart().await;
    one.is_connected().await;
    other.is_connected().await;
    // What it held is lost, and with it who dropped what: nothing is believed but what calls show from then on.
    assert!(!one.knows("gone") && !one.knows("there") && !other.knows("there"));
    one.succeeds("there").await;
    other.learns("there").await;
    other.is_refused("there").await;
    one.forgets("there").await;
    assert!(one.store.stats().connections == 2 && other.store.stats().connections == 2);
}

/// One replica alone is cut off. What it finds to be gone meanwhile is told afterwards; what it took for available is
/// not, and what stands is read.
#[tokio::test]
async fn a_replica_that_was_cut_off() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(server.port()).await;
    let (mut one, mut cut) = (Replica::at(&server.url()).await, Replica::at(&proxy.url()).await);
    for skill in ["gone-here", "gone-there", "stays"] {
        one.succeeds(skill).await;
        cut.learns(skill).await;
    }
    cut.succeeds("told").await;
    one.learns("told").await;
    proxy.becomes(Network::Cut);
    cut.is_away().await;
    cut.is_refused("gone-here").await;
    cut.succeeds("untold").await;
    one.is_refused("gone-there").await;
    one.succeeds("new").await;
    assert!(one.knows("gone-here") && cut.knows("gone-there") && !cut.knows("new"));
    assert!(one.store.connected());

    proxy.becomes(Network::Whole);
    cut.is_connected().await;
    one.forgets("gone-here").await;
    assert!(!cut.knows("gone-there") && !cut.knows("gone-here") && !cut.knows("untold"));
    assert!(cut.knows("stays") && cut.knows("told") && cut.knows("new"));
    assert!(cut.lasts("told").unwrap() <= s(60));
    assert!(one.knows("stays") && !one.knows("untold"));
    // From then on, as ever.
    cut.succeeds("untold").await;
    one.learns("untold").await;
}

#[tokio::test]
async fn a_host_or_everything_dropped_during_an_outage() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(server.port()).await;
    let (mut one, cut) = (Replica::at(&server.url()).await, Replica::at(&proxy.url()).await);
    for all in [false, true] {
        one.succeeds("translate").await;
        cut.learns("translate").await;
        proxy.becomes(Network::Cut);
        cut.is_away().await;
        match all {
            true => cut.skills.invalidate_all(),
            false => cut.skills.invalidate_host(key("", "").origin()),
        };
        assert!(one.knows("translate"));
        proxy.becomes(Network::Whole);
        cut.is_connected().await;
        one.forgets("translate").await;
        assert!(!cut.knows("translate"), "nor is it learnt anew");
    }
}

/// Nobody is told that the network is gone; the silence tells.
#[tokio::test]
async fn a_network_that_fails_silently() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(server.port()).await;
    let store = RedisStore::builder(proxy.url()).ping_every(ms(100)).timeout(ms(500));
    let mut cut = Replica::of(store, SkillAvailability::builder()).await;
    let mut one = Replica::at(&server.url()).await;
    one.succeeds("translate").await;
    cut.learns("translate").await;
    proxy.becomes(Network::Silent);
    one.is_refused("translate").await;
    // It has nothing to tell; it asks.
    cut.is_away().await;
    cut.succeeds("summarize").await;
    proxy.becomes(Network::Whole);
    cut.is_connected().await;
    assert!(!cut.knows("translate"));
    cut.succeeds("summarize").await;
    one.learns("summarize").await;
}

#[tokio::test]
async fn connections_that_the_server_closes_are_made_anew() {
    let Some(server) = Server::start().await else { return };
    let (mut one, other) = (Replica::at(&server.url()).await, Replica::at(&server.url()).await);
    one.succeeds("translate").await;
    other.learns("translate").await;
    let mut client = server.client().await;
    for round in 2..5 {
        let closed = cmd("CLIENT").arg(&["KILL", "TYPE", "pubsub"]).query_async::<u64>(&mut client).await.unwrap();
        assert_eq!(closed, 2);
        let again = |replica: &Replica| replica.store.stats().connections == round && replica.store.connected();
        until_true("both are connected again", || again(&one) && again(&other)).await;
        // The server still knows it, and nobody dropped it.
        assert!(one.knows("translate") && other.knows("translate"));
    }
    assert_eq!(one.store.last_error().as_deref(), Some("the connection was lost"));
}

#[tokio::test]
async fn a_server_that_never_was_there() {
    let nobody = Nobody::new().unwrap();
    let url = format!("redis://{}", nobody.addr());
    let mut one = Replica::lonely(RedisStore::builder(url), SkillAvailability::builder().shared_queue(4));
    for n in 0..100 {
        one.succeeds(&format!("skill-{n}")).await;
        // Its task has its turn, as it has wherever calls wait for anything.
        tokio::task::yield_now().await;
    }
    one.is_refused("skill-7").await;
    until_true("it is said why", || one.store.last_error().is_some()).await;
    assert!(!one.store.connected());
    assert!(one.knows("skill-6") && one.knows("skill-99"));
    assert_eq!((one.store.stats().connections, one.skills.stats().untold), (0, 0), "the queue is emptied all the same");
}

/// More than waits for anybody: it is not listed any longer, but everything is dropped.
#[tokio::test]
async fn more_gone_than_can_be_listed() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(server.port()).await;
    let (mut one, cut) = (Replica::at(&server.url()).await, Replica::at(&proxy.url()).await);
    one.succeeds("translate").await;
    cut.learns("translate").await;
    proxy.becomes(Network::Cut);
    cut.is_away().await;
    let begun = Instant::now();
    for n in 0..3000 {
        cut.skills.invalidate(&key(&n.to_string(), "eu"));
        if n % 100 == 0 {
            tokio::task::yield_now().await;
        }
    }
    assert!(begun.elapsed() < s(5));
    proxy.becomes(Network::Whole);
    cut.is_connected().await;
    one.forgets("translate").await;
    assert_eq!(cut.skills.stats().untold, 0);
}

/// A server that takes connections only to close them is asked again at longer and longer intervals.
#[tokio::test]
async fn a_server_that_closes_at_once() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    let store = std::sync::Arc::new(RedisStore::builder(url).max_back_off(s(10)).build().unwrap());
    let _skills = SkillAvailability::builder().store(store).build().unwrap();
    let mut taken = 0;
    let closing = async {
        loop {
            drop(listener.accept().await.unwrap());
            taken += 1;
        }
    };
    tokio::time::timeout(s(2), closing).await.unwrap_err();
    // Half of 100 ms at least, of 200, of 400, of 800: and so not more than these.
    assert!((1..=6).contains(&taken), "{taken}");
}
