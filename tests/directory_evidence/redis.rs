//! Replicas over a real `redis-server` (or `valkey-server`), on real time: it is killed, and comes back with nothing.

#[path = "../../examples/support/nobody.rs"]
mod nobody;
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "../redis/proxy.rs"]
mod proxy;
#[allow(dead_code, reason = "shared with tests that use more of it")]
#[path = "../redis/server.rs"]
mod server;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use a2a_guard::{
    directory::{Evidence, Report, Standing},
    probe_cache::{RedisStore, RedisStoreBuilder},
};
use redis::cmd;

use self::{
    nobody::Nobody,
    proxy::{Network, Proxy},
    server::{Server, until_true},
};
use crate::{failure, is_quarantined, mock::ms, overclaim, peer, standing, success};

/// A store waits 5 s for its server; who waited for a store took longer than this.
const WAITS: Duration = Duration::from_secs(4);

struct Replica {
    store: Arc<RedisStore>,
    evidence: Evidence,
}

impl Replica {
    async fn at(url: &str) -> Self {
        let replica = Self::lonely(RedisStore::builder(url));
        replica.is_connected().await;
        replica
    }

    /// Not connected yet, or never.
    fn lonely(store: RedisStoreBuilder) -> Self {
        let store = Arc::new(store.max_back_off(ms(200)).build().unwrap());
        let evidence = Evidence::builder().store(store.clone()).share_every(ms(10)).build().unwrap();
        evidence.set_registered(100);
        Self { store, evidence }
    }

    async fn is_connected(&self) {
        until_true("the replica is connected", || self.store.connected()).await;
    }

    async fn is_away(&self) {
        until_true("the replica notices", || !self.store.connected()).await;
    }

    /// It never takes as long as anything that is waited for in a store.
    fn records(&self, name: &str, report: Report, times: usize) {
        let begun = Instant::now();
        crate::record(&self.evidence, name, report, times);
        assert!(begun.elapsed() < WAITS, "it took {:?}", begun.elapsed());
    }

    fn standing(&self, name: &str) -> Standing {
        standing(&self.evidence, name)
    }

    async fn knows(&self, name: &str, calls: u64) {
        until_true(&format!("{calls} calls of {name} are known"), || self.standing(name).calls == calls).await;
    }

    async fn quarantines(&self, name: &str) {
        until_true(&format!("{name} is in quarantine"), || is_quarantined(&self.evidence, name)).await;
    }
}

#[tokio::test]
async fn replicas_agree() {
    let Some(server) = Server::start().await else { return };
    let (one, other) = (Replica::at(&server.url()).await, Replica::at(&server.url()).await);
    one.records("a", success(), 98);
    other.records("a", failure(), 2);
    for replica in [&one, &other] {
        replica.knows("a", 100).await;
        let trust = replica.standing("a").trust;
        assert!((trust - 0.98).abs() < 0.005, "{trust}");
    }
    let difference = one.standing("a").trust - other.standing("a").trust;
    assert!(difference.abs() < 1e-4, "{difference}");
    other.records("b", failure(), 5);
    one.quarantines("b").await;
    one.records("c", overclaim(), 1);
    other.knows("c", 1).await;
    assert_eq!(other.evidence.snapshot()[2].strikes, 1);

    // Who starts later reads what stands, and who starts again what it told itself.
    let late = Replica::at(&server.url()).await;
    assert_eq!((late.standing("a").calls, late.standing("c").calls), (100, 1));
    assert!(is_quarantined(&late.evidence, "b"));

    other.evidence.forget(&peer("b"));
    until_true("it is forgotten", || one.standing("b").calls == 0 && late.standing("b").calls == 0).await;
    let later = Replica::at(&server.url()).await;
    assert_eq!((later.standing("a").calls, later.standing("b").calls), (100, 0));
    for replica in [&one, &other, &late] {
        assert_eq!((replica.store.stats().untold, replica.store.stats().ignored), (0, 0));
        assert_eq!(replica.store.last_error(), None);
    }
}

#[tokio::test]
async fn a_server_that_is_killed_and_comes_back_with_nothing() {
    let Some(mut server) = Server::start().await else { return };
    let (one, other) = (Replica::at(&server.url()).await, Replica::at(&server.url()).await);
    one.records("a", success(), 10);
    other.records("a", success(), 5);
    one.knows("a", 15).await;
    other.knows("a", 15).await;
    server.kill();
    one.is_away().await;
    other.is_away().await;

    // Each goes by what it knows, at once.
    one.records("a", failure(), 1);
    other.records("a", success(), 1000);
    other.records("b", failure(), 5);
    assert_eq!((one.standing("a").calls, other.standing("a").calls), (16, 1015));
    assert!(is_quarantined(&other.evidence, "b") && !is_quarantined(&one.evidence, "b"));

    server.restart().await;
    one.is_connected().await;
    other.is_connected().await;
    // What each counted is told again, and counts once.
    one.knows("a", 1016).await;
    other.knows("a", 1016).await;
    one.quarantines("b").await;
    let late = Replica::at(&server.url()).await;
    late.knows("a", 1016).await;
    // From then on, as ever.
    one.records("a", success(), 1);
    other.knows("a", 1017).await;
    late.knows("a", 1017).await;
}

#[tokio::test]
async fn a_replica_that_was_cut_off_or_not_answered() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(server.port()).await;
    let one = Replica::at(&server.url()).await;
    let cut = Replica::lonely(RedisStore::builder(proxy.url()).ping_every(ms(100)).timeout(ms(500)));
    cut.is_connected().await;
    let mut calls = 0;
    for network in [Network::Cut, Network::Silent] {
        proxy.becomes(network);
        if network == Network::Cut {
            cut.is_away().await;
        }
        cut.records("a", success(), 3);
        one.records("a", success(), 4);
        cut.is_away().await;
        cut.records("a", success(), 3);
        cut.evidence.forget(&peer("gone"));
        proxy.becomes(Network::Whole);
        cut.is_connected().await;
        calls += 10;
        one.knows("a", calls).await;
        cut.knows("a", calls).await;
    }
}

/// What was to be forgotten while the server was away is forgotten when it is back.
#[tokio::test]
async fn what_is_forgotten_during_an_outage() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(server.port()).await;
    let (one, cut) = (Replica::at(&server.url()).await, Replica::at(&proxy.url()).await);
    one.records("a", failure(), 5);
    cut.quarantines("a").await;
    proxy.becomes(Network::Cut);
    cut.is_away().await;
    assert!(cut.evidence.forget(&peer("a")));
    proxy.becomes(Network::Whole);
    until_true("it is forgotten", || one.standing("a").calls == 0 && cut.standing("a").calls == 0).await;
}

#[tokio::test]
async fn a_server_that_never_was_there() {
    let nobody = Nobody::new().unwrap();
    let one = Replica::lonely(RedisStore::builder(format!("redis://{}", nobody.addr())));
    for n in 0..10_000 {
        one.records(&format!("n{}", n % 2000), success(), 1);
    }
    until_true("it is said why", || one.store.last_error().is_some()).await;
    assert!(!one.store.connected());
    assert_eq!(one.standing("n1999").calls, 5);
}

/// Somebody else writes what he likes.
#[tokio::test]
async fn what_is_none_of_ours_is_ignored() {
    let Some(server) = Server::start().await else { return };
    let one = Replica::at(&server.url()).await;
    let mut client = server.client().await;
    let long = "x".repeat(100_000);
    let wrong = r#"{"v":1,"from":"0000000000000000000000000000001f","peer":"https://a.example.com/a2a","seen":{"ok":1e308,"bad":1e308,"age":0,"ok_age":0,"latency":1e308,"calls":1,"well":1}}"#;
    for (n, message) in ["", "null", "[[[[", wrong, &long].into_iter().enumerate() {
        cmd("PUBLISH").arg("a2a-guard:evidence:changes:0").arg(message).query_async::<()>(&mut client).await.unwrap();
        let mut put = cmd("HSET");
        let field = format!("x {n}");
        put.arg("a2a-guard:evidence:told").arg(&field).arg(format!("1 {message}"));
        put.query_async::<()>(&mut client).await.unwrap();
        let mut index = cmd("ZADD");
        index.arg("a2a-guard:evidence:expires").arg("9e15").arg(&field).query_async::<()>(&mut client).await.unwrap();
    }
    until_true("they are heard", || one.store.stats().ignored == 5).await;
    // Of the field that is too long nothing is read.
    let late = Replica::at(&server.url()).await;
    assert_eq!(late.store.stats().ignored, 4);
    one.records("a", success(), 1);
    late.knows("a", 1).await;
    assert_eq!(late.evidence.snapshot().len(), 1);
    assert_eq!((one.store.last_error(), late.store.last_error()), (None, None));
}

#[tokio::test]
async fn the_server_remembers_so_much_and_no_more() {
    let Some(server) = Server::start().await else { return };
    let one = Replica::lonely(RedisStore::builder(server.url()).capacity(50));
    one.is_connected().await;
    for n in 0..200 {
        one.records(&format!("n{n}"), success(), 1);
    }
    until_true("all is told", || one.store.stats().told == 200).await;
    let mut client = server.client().await;
    let told = cmd("HLEN").arg("a2a-guard:evidence:told").query_async::<u64>(&mut client).await.unwrap();
    let expires = cmd("ZCARD").arg("a2a-guard:evidence:expires").query_async::<u64>(&mut client).await.unwrap();
    assert_eq!((told, expires), (50, 50));
    let left = cmd("PTTL").arg("a2a-guard:evidence:told").query_async::<i64>(&mut client).await.unwrap();
    assert!((1..=36_000_001).contains(&left), "{left}");
}

/// As `RedisStore` documents it.
const RULES: &str = "~a2a-guard:* &a2a-guard:* +@connection +subscribe +publish +eval +time +del +pexpire \
                     +zadd +zrem +zrange +zrevrange +zrevrangebyscore +zremrangebyscore +zremrangebyrank \
                     +hset +hget +hdel +hkeys +zcard";

#[tokio::test]
async fn an_account_with_the_least_rights() {
    let Some(server) = Server::start().await else { return };
    let mut client = server.client().await;
    let mut account = cmd("ACL");
    account.arg(&["SETUSER", "guard", "reset", "on", ">secret"]).arg(RULES.split_whitespace().collect::<Vec<_>>());
    account.query_async::<()>(&mut client).await.unwrap();
    let url = server.url().replace("127.0.0.1", "guard:secret@127.0.0.1");
    let (one, other) = (Replica::at(&url).await, Replica::at(&url).await);
    one.records("a", success(), 1);
    other.knows("a", 1).await;
    Replica::at(&url).await.knows("a", 1).await;
    one.evidence.forget(&peer("a"));
    until_true("it is forgotten", || other.standing("a").calls == 0).await;
    assert_eq!((one.store.last_error(), other.store.last_error()), (None, None));
}
