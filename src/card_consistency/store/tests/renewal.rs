//! How long a card holds, and how it is asked for again: to the second.

use super::*;

/// The card of this reply is used for exactly so long.
async fn is_fresh_for(reply: Reply, seconds: u64) {
    let agent = Agent::script([reply]);
    let store = agent.store();
    store.get(ask()).await.unwrap();
    if seconds > 0 {
        pass_ms(seconds * 1000 - 1).await;
        assert!(is_held(&store, &ask()), "too early");
        store.get(ask()).await.unwrap();
        assert_eq!(agent.count(), 1);
        pass_ms(1).await;
    }
    assert!(!is_held(&store, &ask()), "too late");
    store.get(ask()).await.unwrap();
    assert_eq!(agent.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn freshness_by_the_headers_and_never_beyond_the_cap() {
    let cached = |value: &str| Reply::card("a").header("cache-control", value);
    is_fresh_for(cached("max-age=30"), 30).await;
    is_fresh_for(cached("max-age=30").header("age", "10"), 20).await;
    is_fresh_for(cached("max-age=86400"), 300).await;
    is_fresh_for(cached("max-age=300"), 300).await;
    is_fresh_for(cached("public, immutable"), 60).await;
    is_fresh_for(Reply::card("a"), 60).await;
    is_fresh_for(Reply::card("a").header("etag", "\"1\""), 60).await;
    is_fresh_for(cached("max-age=0"), 0).await;
    is_fresh_for(cached("no-cache, max-age=30"), 0).await;
    is_fresh_for(cached("max-age=30").header("vary", "*"), 0).await;
    is_fresh_for(cached("max-age=30").header("vary", "accept-encoding, origin"), 30).await;
}

#[tokio::test(start_paused = true)]
async fn time_on_the_way_counts() {
    let reply = Reply::card("a").header("cache-control", "max-age=30").after(Duration::from_secs(4));
    let agent = Agent::script([reply]);
    let store = agent.store();
    let held = store.get(ask()).await.unwrap();
    assert_eq!(held.fetched().elapsed(), Duration::from_secs(4));
    pass_ms(25_999).await;
    assert!(is_held(&store, &ask()));
    pass_ms(1).await;
    assert!(!is_held(&store, &ask()));
}

#[tokio::test(start_paused = true)]
async fn the_cap_and_the_default_can_be_lowered() {
    let agent = Agent::script([Reply::card("a").header("cache-control", "max-age=100")]);
    let store = CardStore::builder(agent).max_age(Duration::from_secs(7)).build().unwrap();
    store.get(ask()).await.unwrap();
    pass_ms(6999).await;
    assert!(is_held(&store, &ask()));
    pass_ms(1).await;
    assert!(!is_held(&store, &ask()));
}

#[tokio::test(start_paused = true)]
async fn a_stale_card_is_asked_for_with_its_validator_and_a_304_renews_it() {
    let agent = Agent::script([
        Reply::card("a").header("cache-control", "max-age=0").header("etag", "W/\"v1\""),
        Reply::status(304).header("cache-control", "max-age=60").header("etag", "\"v1\""),
        Reply::card("b"),
    ]);
    let store = agent.store();
    let first = store.get(ask()).await.unwrap();
    pass(1).await;
    let second = store.get(ask()).await.unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(agent.seen(1).header("if-none-match"), Some("W/\"v1\""));
    assert_eq!(second.fetched().elapsed(), Duration::ZERO);
    pass_ms(59_999).await;
    assert!(is_held(&store, &ask()));
    pass_ms(1).await;
    assert_eq!(name(&store, ask()).await, "b");
    assert_eq!((agent.count(), store.stats().not_modified), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn a_date_is_a_validator_too_and_a_silent_304_renews_for_as_long_as_before() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    let agent = Agent::script([
        Reply::card("a").header("cache-control", "max-age=10").header("last-modified", date),
        Reply::status(304),
    ]);
    let store = agent.store();
    store.get(ask()).await.unwrap();
    pass(10).await;
    store.get(ask()).await.unwrap();
    assert_eq!(agent.seen(1).header("if-modified-since"), Some(date));
    pass_ms(9999).await;
    assert!(is_held(&store, &ask()));
    pass_ms(1).await;
    assert!(!is_held(&store, &ask()));
}

#[tokio::test(start_paused = true)]
async fn renewals_by_304_go_on_and_each_is_capped() {
    let agent = Agent::script([
        Reply::card("a").header("cache-control", "max-age=86400").header("etag", "\"1\""),
        Reply::status(304).header("cache-control", "max-age=86400"),
    ]);
    let store = agent.store();
    for round in 1..5 {
        store.get(ask()).await.unwrap();
        assert_eq!(agent.count(), round);
        pass_ms(299_999).await;
        assert!(is_held(&store, &ask()));
        pass_ms(1).await;
        assert!(!is_held(&store, &ask()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_304_about_another_card_is_asked_again_without_validators() {
    let agent = Agent::script([
        Reply::card("a").header("cache-control", "max-age=0").header("etag", "\"1\""),
        Reply::status(304).header("etag", "\"2\""),
        Reply::card("b"),
    ]);
    let store = agent.store();
    store.get(ask()).await.unwrap();
    assert_eq!(name(&store, ask()).await, "b");
    assert_eq!(agent.seen(1).header("if-none-match"), Some("\"1\""));
    assert_eq!(agent.seen(2).header("if-none-match"), None);
}

#[tokio::test(start_paused = true)]
async fn a_304_that_nobody_asked_for_is_an_error() {
    let agent = Agent::script([Reply::status(304)]);
    let failure = agent.store().get(ask()).await.unwrap_err();
    assert_eq!((failure.class(), failure.status().unwrap().as_u16()), (Class::HttpStatus, 304));
}

#[tokio::test(start_paused = true)]
async fn the_validator_goes_to_the_location_that_gave_it() {
    let agent = Agent::at(ROOT, |seen| match seen.header("if-none-match") {
        Some(_) => Reply::status(304),
        None => Reply::card("a").header("cache-control", "max-age=0").header("etag", "\"1\""),
    });
    let store = agent.store();
    store.get(ask()).await.unwrap();
    store.get(ask()).await.unwrap();
    assert_eq!(agent.uris(), [SCOPED, ROOT, SCOPED, ROOT]);
    assert_eq!(agent.seen(2).header("if-none-match"), None);
    assert_eq!(agent.seen(3).header("if-none-match"), Some("\"1\""));
}

#[tokio::test(start_paused = true)]
async fn what_must_not_be_stored_is_shared_by_those_who_wait_and_not_held() {
    let reply = Reply::card("a").header("cache-control", "no-store, max-age=60").after(Duration::from_secs(1));
    let agent = Agent::script([reply]);
    // Whoever waits with others needs no place among those who search.
    let store = CardStore::builder(agent.clone()).max_searches(1).build().unwrap();
    let calls: Vec<_> = (0..100).map(|_| tokio::spawn(store.get(ask()))).collect();
    for call in calls {
        assert!(call.await.unwrap().is_ok());
    }
    assert_eq!((agent.count(), store.stats().entries), (1, 0));
    store.get(ask()).await.unwrap();
    assert_eq!(agent.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_card_that_turns_into_one_not_to_be_stored_is_dropped() {
    let cached = Reply::card("a").header("cache-control", "max-age=1").header("etag", "\"1\"");
    for then in
        [Reply::card("b").header("cache-control", "no-store"), Reply::status(304).header("cache-control", "no-store")]
    {
        let agent = Agent::script([cached.clone(), then]);
        let store = agent.store();
        store.get(ask()).await.unwrap();
        pass(1).await;
        store.get(ask()).await.unwrap();
        assert_eq!(store.stats().entries, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_options_a_stale_card_is_of_no_use() {
    let agent = Agent::script([Reply::card("a").header("cache-control", "max-age=10"), Reply::status(503)]);
    let store = agent.store();
    store.get(ask()).await.unwrap();
    pass(10).await;
    assert_eq!(class(&store, ask()).await, Class::HttpStatus);
    assert_eq!(class(&store, ask()).await, Class::HttpStatus);
    assert_eq!(agent.count(), 2);
    // It is still there for a renewal.
    assert!(store.peek(&ask().key()).is_some());
}

#[tokio::test(start_paused = true)]
async fn failures_to_renew_back_off_and_a_success_starts_over() {
    let script = [Reply::card("a"), Reply::status(500), Reply::status(500), Reply::card("b"), Reply::status(500)];
    let agent = Agent::script(script.map(|reply| reply.header("cache-control", "max-age=1")));
    let store = agent.store();
    store.get(ask()).await.unwrap();
    for seconds in [1, 5] {
        pass(seconds).await;
        assert_eq!(class(&store, ask()).await, Class::HttpStatus);
    }
    pass_ms(9999).await;
    assert_eq!(class(&store, ask()).await, Class::HttpStatus);
    pass_ms(1).await;
    assert_eq!(name(&store, ask()).await, "b");
    pass(1).await;
    assert_eq!(class(&store, ask()).await, Class::HttpStatus);
    pass_ms(4999).await;
    assert_eq!((class(&store, ask()).await, agent.count()), (Class::HttpStatus, 5));
    pass_ms(1).await;
    assert_eq!((class(&store, ask()).await, agent.count()), (Class::HttpStatus, 6));
}

fn lenient(agent: &Agent) -> CardStore {
    CardStore::builder(agent.clone()).stale_if_error(Duration::from_secs(100)).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn stale_if_error_stands_in_for_an_outage_for_so_long() {
    for failing in [
        Reply::status(503),
        Reply::status(429),
        Reply::fails(std::io::ErrorKind::ConnectionRefused),
        Reply::card("late").after(Duration::from_secs(60)),
    ] {
        let agent = Agent::script([Reply::card("a").header("cache-control", "max-age=10"), failing]);
        let store = lenient(&agent);
        store.get(ask()).await.unwrap();
        pass(10).await;
        assert_eq!(name(&store, ask()).await, "a");
        // Remembered as well.
        assert_eq!((name(&store, ask()).await, agent.count()), ("a".to_owned(), 2));
        assert!(!is_held(&store, &ask()));
        pass(100).await;
        store.get(ask()).await.unwrap_err();
    }
}

#[tokio::test(start_paused = true)]
async fn stale_if_error_is_for_outages_alone_and_not_where_the_agent_forbids_it() {
    for (first, then) in [
        ("max-age=10", Reply::status(404)),
        ("max-age=10", Reply::status(403)),
        ("max-age=10", Reply::json("{}")),
        ("max-age=10", Reply::status(301)),
        ("max-age=10, must-revalidate", Reply::status(503)),
        ("no-cache", Reply::status(503)),
    ] {
        let agent = Agent::script([Reply::card("a").header("cache-control", first), then]);
        let store = lenient(&agent);
        store.get(ask()).await.unwrap();
        pass(10).await;
        store.get(ask()).await.unwrap_err();
    }
}

#[tokio::test(start_paused = true)]
async fn stale_while_revalidate_renews_behind_the_call() {
    let cached = |name| Reply::card(name).header("cache-control", "max-age=10").after(Duration::from_secs(1));
    let agent = Agent::script([cached("a"), cached("b")]);
    let store = CardStore::builder(agent.clone()).stale_while_revalidate(Duration::from_secs(10)).build().unwrap();
    store.get(ask()).await.unwrap();
    pass(12).await;
    let began = Instant::now();
    for _ in 0..10 {
        assert_eq!(name(&store, ask()).await, "a");
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
    sleep(Duration::from_secs(2)).await;
    assert_eq!((name(&store, ask()).await, agent.count()), ("b".to_owned(), 2));
    // Beyond its reach, calls wait.
    pass(20).await;
    let began = Instant::now();
    assert_eq!(name(&store, ask()).await, "b");
    assert_eq!((began.elapsed(), agent.count()), (Duration::from_secs(1), 3));
}

#[tokio::test(start_paused = true)]
async fn a_304_ends_a_row_of_failures() {
    let agent = Agent::script([
        Reply::card("a").header("cache-control", "max-age=1").header("etag", "\"1\""),
        Reply::status(500),
        Reply::status(304),
        Reply::status(500),
    ]);
    let store = agent.store();
    store.get(ask()).await.unwrap();
    pass(1).await;
    store.get(ask()).await.unwrap_err();
    pass(5).await;
    store.get(ask()).await.unwrap();
    pass(1).await;
    store.get(ask()).await.unwrap_err();
    pass_ms(4999).await;
    store.get(ask()).await.unwrap_err();
    assert_eq!(agent.count(), 4);
    pass_ms(1).await;
    store.get(ask()).await.unwrap_err();
    assert_eq!(agent.count(), 5);
}
