//! Credentials stand in the URL, and an account needs no more than the documentation says.

use a2a_guard::probe_cache::{RedisStore, SkillAvailability};
use redis::cmd;

use crate::{
    replica::Replica,
    server::{Server, until_true},
};

/// As `RedisStore` documents it.
const RULES: &str = "~a2a-guard:* &a2a-guard:* +@connection +subscribe +publish +eval +time +del +pexpire \
                     +zadd +zrem +zrange +zrevrange +zrevrangebyscore +zremrangebyscore +zremrangebyrank";

#[tokio::test]
async fn an_account_with_the_least_rights() {
    let Some(server) = Server::start().await else { return };
    let mut client = server.client().await;
    let mut account = cmd("ACL");
    account.arg(&["SETUSER", "guard", "reset", "on", ">se:cret"]).arg(RULES.split_whitespace().collect::<Vec<_>>());
    account.query_async::<()>(&mut client).await.unwrap();
    let url = server.url().replace("127.0.0.1", "guard:se%3Acret@127.0.0.1");
    let (mut one, other) = (Replica::at(&url).await, Replica::at(&url).await);
    one.succeeds("a").await;
    other.learns("a").await;
    assert!(Replica::at(&url).await.knows("a"));
    one.is_refused("a").await;
    other.forgets("a").await;
    other.skills.invalidate_host(crate::support::key("", "").origin());
    other.has_told(1).await;
    other.skills.invalidate_all();
    other.has_told(2).await;
    one.has_told(2).await;
    assert_eq!((one.store.last_error(), other.store.last_error()), (None, None));

    let elsewhere = RedisStore::builder(&url).prefix("other");
    let refused = Replica::lonely(elsewhere, SkillAvailability::builder());
    until_true("it is said why", || refused.store.last_error().is_some()).await;
    let error = refused.store.last_error().unwrap();
    assert!(error.contains("no permissions") && !refused.store.connected(), "{error}");
}

#[tokio::test]
async fn a_wrong_password_is_said_and_not_shown() {
    let Some(server) = Server::start().await else { return };
    let url = server.url().replace("127.0.0.1", "guard:hunter2@127.0.0.1");
    let mut one = Replica::lonely(RedisStore::builder(&url), SkillAvailability::builder());
    until_true("it is said why", || one.store.last_error().is_some()).await;
    let shown = format!("{:?} {:?} {:?}", one.store, RedisStore::builder(&url), one.store.last_error());
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(!one.store.connected());
    one.succeeds("translate").await;
}
