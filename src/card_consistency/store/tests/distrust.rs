//! A card that a refusal contradicted is fetched anew, and no storm comes of it.

use super::*;

fn cached(name: &str) -> Reply {
    Reply::card(name).header("cache-control", "max-age=300").header("etag", "\"1\"")
}

#[tokio::test(start_paused = true)]
async fn the_next_call_fetches_it_past_every_cache() {
    let agent = Agent::script([cached("a"), cached("b")]);
    let store = agent.store();
    let held = store.get(ask()).await.unwrap();
    pass(1).await;
    store.distrust(&held);
    assert!(!is_held(&store, &ask()) && held.is_distrusted());
    assert_eq!(name(&store, ask()).await, "b");
    let forced = agent.seen(1);
    assert_eq!((forced.header("cache-control"), forced.header("if-none-match")), (Some("no-cache"), None));
    assert!(is_held(&store, &ask()));
    let stats = store.stats();
    assert_eq!((stats.distrusted, stats.forced), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn however_many_calls_are_refused_it_is_one_fetch_for_each_interval() {
    let agent = Agent::script([cached("a")]);
    let store = agent.store();
    store.get(ask()).await.unwrap();
    // 1,000 calls a second, each of which the agent refuses.
    for _ in 0..20 {
        let calls: Vec<_> = (0..1000).map(|_| tokio::spawn(store.get(ask()))).collect();
        for call in calls {
            let held = call.await.unwrap().unwrap();
            store.distrust(&held);
        }
        pass(1).await;
    }
    let times: Vec<u64> = (0..agent.count()).map(|n| (agent.seen(n).at - agent.seen(0).at).as_secs()).collect();
    assert_eq!(times, [0, 0, 5, 10, 15]);
}

#[tokio::test(start_paused = true)]
async fn the_interval_is_kept_to_the_millisecond() {
    let agent = Agent::script([cached("a")]);
    let store = agent.store();
    store.distrust(&store.get(ask()).await.unwrap());
    store.distrust(&store.get(ask()).await.unwrap());
    assert_eq!(agent.count(), 2);
    pass_ms(4999).await;
    assert!(is_held(&store, &ask()));
    pass_ms(1).await;
    assert!(!is_held(&store, &ask()));
    store.get(ask()).await.unwrap();
    assert_eq!(agent.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_a_call_by_an_older_card_does_not_count() {
    let agent = Agent::script([cached("a"), cached("b")]);
    let store = agent.store();
    let old = store.get(ask()).await.unwrap();
    store.distrust(&old);
    store.get(ask()).await.unwrap();
    pass(10).await;
    store.distrust(&old);
    assert!(is_held(&store, &ask()));
}

#[tokio::test(start_paused = true)]
async fn a_tenant_that_is_gone_is_refused_at_once() {
    let agent = Agent::at(SCOPED, |_| cached("a"));
    let store = agent.store();
    let held = store.get(ask()).await.unwrap();
    *agent.answers.lock().unwrap() = Box::new(|_| Reply::status(404));
    pass(10).await;
    assert_eq!(name(&store, ask()).await, "a");
    store.distrust(&held);
    assert_eq!(class(&store, ask()).await, Class::NotFound);
}

#[tokio::test(start_paused = true)]
async fn without_a_contradiction_it_is_refused_after_300_seconds_at_most() {
    let agent = Agent::at(SCOPED, |_| Reply::card("a").header("cache-control", "max-age=86400"));
    let store = agent.store();
    store.get(ask()).await.unwrap();
    *agent.answers.lock().unwrap() = Box::new(|_| Reply::status(404));
    pass_ms(299_999).await;
    assert_eq!(name(&store, ask()).await, "a");
    pass_ms(1).await;
    assert_eq!(class(&store, ask()).await, Class::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_card_that_is_distrusted_and_cannot_be_fetched_is_not_used() {
    let agent = Agent::script([cached("a"), Reply::status(503)]);
    let store = CardStore::builder(agent.clone())
        .stale_if_error(Duration::from_secs(1000))
        .stale_while_revalidate(Duration::from_secs(1000))
        .build()
        .unwrap();
    store.distrust(&store.get(ask()).await.unwrap());
    for _ in 0..100 {
        assert_eq!(class(&store, ask()).await, Class::HttpStatus);
    }
    assert_eq!(agent.count(), 2);
    pass(5).await;
    assert_eq!((class(&store, ask()).await, agent.count()), (Class::HttpStatus, 3));
}

#[tokio::test(start_paused = true)]
async fn failing_fetches_keep_the_interval_too() {
    let ttl = NegativeTtl::default().failed(Duration::from_millis(1)).failed_max(Duration::from_millis(1));
    let agent = Agent::script([cached("a"), Reply::status(503)]);
    let store = CardStore::builder(agent.clone()).negative_ttl(ttl).build().unwrap();
    store.distrust(&store.get(ask()).await.unwrap());
    assert_eq!(class(&store, ask()).await, Class::HttpStatus);
    pass_ms(4999).await;
    assert_eq!((class(&store, ask()).await, agent.count()), (Class::HttpStatus, 2));
    pass_ms(1).await;
    assert_eq!((class(&store, ask()).await, agent.count()), (Class::HttpStatus, 3));
}

#[tokio::test(start_paused = true)]
async fn the_interval_outlives_an_ordinary_renewal() {
    let agent = Agent::script([Reply::card("a").header("cache-control", "max-age=1")]);
    let store = agent.store();
    store.distrust(&store.get(ask()).await.unwrap());
    store.get(ask()).await.unwrap();
    pass(2).await;
    let renewed = store.get(ask()).await.unwrap();
    assert_eq!(agent.seen(2).header("cache-control"), None);
    store.distrust(&renewed);
    store.get(ask()).await.unwrap();
    assert_eq!(agent.count(), 3, "within the interval");
}

#[tokio::test(start_paused = true)]
async fn an_ordinary_renewal_begins_no_interval() {
    let agent = Agent::script([Reply::card("a").header("cache-control", "max-age=1")]);
    let store = agent.store();
    store.get(ask()).await.unwrap();
    pass(2).await;
    store.distrust(&store.get(ask()).await.unwrap());
    store.get(ask()).await.unwrap();
    assert_eq!(agent.count(), 3, "asked for anew at once");
}
