//! What cannot be is said when the store is built.

use std::time::Duration;

use a2a_guard::probe_cache::{RedisStore, RedisStoreBuilder};

use crate::mock::{HOUR, ms};

fn fault(builder: RedisStoreBuilder) -> (&'static str, String) {
    let error = builder.build().unwrap_err();
    (error.setting(), error.to_string())
}

#[test]
fn urls() {
    for url in [
        "",
        "localhost:6379",
        "http://localhost",
        "redis://",
        "redis://u:hunter2@host/not-a-db",
        "redis://h?protocol=7",
    ] {
        let (setting, text) = fault(RedisStore::builder(url));
        assert!(setting == "url" && !text.contains("hunter2"), "{url}: {text}");
    }
    for url in [
        "redis://localhost",
        "valkey://user:password@host:7000/3",
        "redis://[::1]/?protocol=resp2",
        "unix:///run/redis.sock",
    ] {
        assert!(!RedisStore::new(url).unwrap().connected(), "{url}");
    }
}

/// The client's TLS is left to the user. Without it such a URL is an error, and not a connection without TLS.
#[test]
fn tls_that_is_not_there() {
    let (setting, text) = fault(RedisStore::builder("rediss://localhost"));
    assert!(setting == "url" && text.contains("TLS"), "{text}");
}

#[test]
fn settings() {
    let store = || RedisStore::builder("redis://localhost");
    for prefix in [String::new(), "p".repeat(129), "a\nb".into()] {
        assert_eq!(fault(store().prefix(prefix)).0, "prefix");
    }
    for span in [Duration::ZERO, HOUR + ms(1), Duration::MAX] {
        assert_eq!(fault(store().timeout(span)).0, "timeout");
        assert_eq!(fault(store().ping_every(span)).0, "ping_every");
        assert_eq!(fault(store().max_back_off(span)).0, "max_back_off");
    }
    for capacity in [0, usize::MAX] {
        assert_eq!(fault(store().capacity(capacity)).0, "capacity");
    }
    assert!(store().prefix("p".repeat(128)).timeout(HOUR).ping_every(ms(1)).capacity(1).build().is_ok());
    assert!(store().capacity(i32::MAX as usize).build().is_ok());
    assert_eq!(fault(store().capacity(i32::MAX as usize + 1)).0, "capacity");
}
