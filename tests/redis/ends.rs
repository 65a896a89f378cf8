//! The last handle takes everything with it.

use a2a_guard::probe_cache::{RedisStore, SkillAvailability};
use tokio::runtime::Handle;

use crate::{
    nobody::Nobody,
    proxy::{Network, Proxy},
    replica::Replica,
    server::{Server, until_true},
    support::key,
};

fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

#[tokio::test]
async fn its_tasks_end_with_the_last_handle() {
    let Some(server) = Server::start().await else { return };
    until_true("those of the start are over", || tasks() == 0).await;
    let mut one = Replica::at(&server.url()).await;
    one.succeeds("translate").await;
    let store = one.store.clone();
    assert!(tasks() > 0);
    drop(one);
    until_true("all tasks ended", || tasks() == 0).await;
    assert!(!store.connected());
}

#[tokio::test]
async fn also_while_the_server_is_away() {
    let nobody = Nobody::new().unwrap();
    let url = format!("redis://{}", nobody.addr());
    let one = Replica::lonely(RedisStore::builder(url), SkillAvailability::builder());
    until_true("it was tried", || one.store.last_error().is_some()).await;
    assert_eq!(tasks(), 1);
    drop(one);
    until_true("all tasks ended", || tasks() == 0).await;
}

/// Nor does a server that does not answer hold them up for longer than an answer may take.
#[tokio::test]
async fn also_while_the_server_is_silent() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(server.port()).await;
    let store = RedisStore::builder(proxy.url()).timeout(crate::mock::ms(300));
    let mut one = Replica::of(store, SkillAvailability::builder()).await;
    proxy.becomes(Network::Silent);
    one.succeeds("translate").await;
    let kept = one.store.clone();
    drop(one);
    until_true("nothing is served", || std::sync::Arc::strong_count(&kept) == 1).await;
}

/// Also where it stands behind more than goes out at once.
#[tokio::test]
async fn the_last_of_many_words_is_told() {
    let Some(server) = Server::start().await else { return };
    let (mut one, other) = (Replica::at(&server.url()).await, Replica::at(&server.url()).await);
    one.succeeds("translate").await;
    other.learns("translate").await;
    for skill in 0..300 {
        one.skills.invalidate(&key(&format!("skill-{skill}"), "eu"));
    }
    one.skills.invalidate(&key("translate", "eu"));
    drop(one);
    other.forgets("translate").await;
}

/// What was found to be gone just before is still told.
#[tokio::test]
async fn the_last_word_is_told() {
    let Some(server) = Server::start().await else { return };
    let (mut one, other) = (Replica::at(&server.url()).await, Replica::at(&server.url()).await);
    one.succeeds("translate").await;
    other.learns("translate").await;
    one.skills.invalidate(&key("translate", "eu"));
    drop(one);
    other.forgets("translate").await;
}
