//! Others write on the same server.

use a2a_guard::probe_cache::{RedisStore, SkillAvailability};
use redis::{aio::MultiplexedConnection, cmd};

use crate::{
    mock::{ms, s},
    replica::Replica,
    server::{Server, until_true},
};

const CHANNEL: &str = "a2a-guard:changes:0";
const KNOWN: &str = "a2a-guard:known";

async fn publish(client: &mut MultiplexedConnection, message: impl AsRef<[u8]>) {
    let heard: i64 = cmd("PUBLISH").arg(CHANNEL).arg(message.as_ref()).query_async(client).await.unwrap();
    assert!(heard > 0, "nobody listens");
}

fn available(skill: &str, ms: impl std::fmt::Display) -> String {
    format!(
        r#"{{"v":1,"from":"x","do":"available","host":"https://agent.example.com","skill":"{skill}","region":"eu","ms":{ms}}}"#
    )
}

#[tokio::test]
async fn garbage_in_the_channel_is_ignored() {
    let Some(server) = Server::start().await else { return };
    let one = Replica::at(&server.url()).await;
    let mut client = server.client().await;
    let garbage: Vec<Vec<u8>> = [
        "",
        "null",
        "{}",
        "[]",
        "\0",
        "*3\r\n$7\r\nmessage\r\n",
        "+OK\r\n",
        r#"{"v":1}"#,
        r#"{"v":9,"from":"x","do":"drop_all"}"#,
        r#"{"v":1,"from":"x","do":"format_disk"}"#,
        r#"{"v":1,"from":"x","do":"drop","host":"https://agent.example.com"}"#,
        r#"{"v":1,"from":"x","do":"drop_host","host":"agent\u0000"}"#,
    ]
    .map(Into::into)
    .into_iter()
    .chain(
        [available("s", -1), available("s", 1e300), available("s", "null"), available(&"s".repeat(5000), 1)]
            .map(Into::into),
    )
    .chain([b"\xff\xfe{".to_vec(), b"[".repeat(4096), b"[".repeat(1 << 20), vec![b' '; 5 << 20]])
    .collect();
    for message in &garbage {
        publish(&mut client, message).await;
    }
    publish(&mut client, available("marker", u64::MAX)).await;
    one.learns("marker").await;
    assert!(one.lasts("marker").unwrap() <= s(60));
    assert_eq!(one.skills.snapshot().len(), 1);
    assert_eq!((one.store.stats().ignored, one.store.stats().heard), (garbage.len() as u64, 1));
    assert!(one.store.connected() && one.store.last_error().is_none());
    assert_eq!(one.store.stats().connections, 1);
}

#[tokio::test]
async fn a_flood_grows_nothing() {
    let Some(server) = Server::start().await else { return };
    let store = || RedisStore::builder(server.url());
    let one = Replica::of(store(), SkillAvailability::builder().capacity(16)).await;
    let mut other = Replica::of(store(), SkillAvailability::builder()).await;
    let mut client = server.client().await;
    let mut pipeline = redis::pipe();
    for n in 0..20_000 {
        pipeline.cmd("PUBLISH").arg(CHANNEL).arg(available(&format!("skill-{n}"), 60_000)).ignore();
    }
    pipeline.query_async::<()>(&mut client).await.unwrap();
    publish(&mut client, available("marker", 60_000)).await;
    // Whether it kept up or connected anew, it is there again.
    other.is_connected().await;
    one.is_connected().await;
    assert!(one.skills.stats().entries <= 16);
    assert!(other.skills.stats().entries <= 4096);
    other.succeeds("translate").await;
    one.learns("translate").await;
}

#[tokio::test]
async fn garbage_in_the_set_is_not_learnt() {
    let Some(server) = Server::start().await else { return };
    let mut client = server.client().await;
    for (score, member) in [
        ("inf", "garbage"),
        ("inf", ""),
        ("inf", r#"X["https://agent.example.com","s","eu"]"#),
        ("inf", r#"A["https://agent.example.com",1,"eu"]"#),
        ("inf", r#"A["https://agent.example.com","s"]"#),
        ("inf", r#"A["ftp://agent.example.com","s","eu"]"#),
        ("0", r#"A["https://agent.example.com","expired","eu"]"#),
        ("-inf", r#"A["https://agent.example.com","expired too","eu"]"#),
        ("inf", r#"A["https://agent.example.com","for ever","eu"]"#),
        ("9e300", r#"A["https://agent.example.com","nearly","eu"]"#),
        ("9e15", &"x".repeat(1 << 20)),
    ] {
        cmd("ZADD").arg(KNOWN).arg(score).arg(member).query_async::<()>(&mut client).await.unwrap();
    }
    let mut one = Replica::at(&server.url()).await;
    assert_eq!(one.skills.snapshot().len(), 2);
    assert!(one.lasts("for ever").unwrap() <= s(60) && one.lasts("nearly").unwrap() <= s(60));
    assert_eq!(one.store.stats().ignored, 6);
    // It is written to as ever, and expires with time.
    let other = Replica::at(&server.url()).await;
    one.succeeds("translate").await;
    other.learns("translate").await;
    one.has_told(1).await;
    let left: i64 = cmd("PTTL").arg(KNOWN).query_async(&mut client).await.unwrap();
    assert!((1..=86_400_001).contains(&left), "{left}");
    assert!(Replica::at(&server.url()).await.knows("translate"));
}

/// Something else stands where the set should: changes are heard all the same, and it is said what is wrong.
#[tokio::test]
async fn a_key_of_another_kind_spoils_nothing_but_what_stands() {
    let Some(server) = Server::start().await else { return };
    let mut client = server.client().await;
    cmd("SET").arg(KNOWN).arg("mine").query_async::<()>(&mut client).await.unwrap();
    let (mut one, other) = (Replica::at(&server.url()).await, Replica::at(&server.url()).await);
    one.succeeds("translate").await;
    other.learns("translate").await;
    until_true("it is noted", || one.store.stats().untold == 1).await;
    assert!(one.store.last_error().unwrap().contains("WRONGTYPE"), "{:?}", one.store.last_error());
    assert!(one.store.connected() && one.store.stats().connections == 1);
    one.is_refused("translate").await;
    other.forgets("translate").await;
    let kept: String = cmd("GET").arg(KNOWN).query_async(&mut client).await.unwrap();
    assert_eq!(kept, "mine");
}

#[tokio::test]
async fn the_set_is_bounded() {
    let Some(server) = Server::start().await else { return };
    let store = RedisStore::builder(server.url()).capacity(8);
    let mut one = Replica::of(store, SkillAvailability::builder()).await;
    one.succeeds("the first").await;
    until_true("time passes", || one.lasts("the first").unwrap() < ms(59_900)).await;
    for n in 0..50 {
        one.succeeds(&format!("skill-{n}")).await;
    }
    one.has_told(51).await;
    let mut client = server.client().await;
    assert_eq!(cmd("ZCARD").arg(KNOWN).query_async::<u64>(&mut client).await.unwrap(), 8);
    let late = Replica::at(&server.url()).await;
    assert_eq!(late.skills.snapshot().len(), 8);
    assert!(!late.knows("the first"), "what would expire first is left out");
    // A skill of which the name makes no message is not told.
    one.succeeds(&"s".repeat(5000)).await;
    until_true("it is counted", || one.store.stats().untold == 1).await;
    one.succeeds("translate").await;
    late.learns("translate").await;
}
