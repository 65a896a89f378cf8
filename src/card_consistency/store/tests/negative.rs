//! Failures are remembered, to the second, by cause.

use super::*;

/// The failure holds for exactly so long: then, and not before, the agent is asked again.
async fn holds_for(reply: Reply, seconds: u64) {
    let agent = Agent::script([reply]);
    let store = agent.store();
    let class = class(&store, ask()).await;
    let before = agent.count();
    pass_ms(seconds * 1000 - 1).await;
    assert_eq!(store.get(ask()).await.unwrap_err().class(), class);
    assert_eq!(agent.count(), before, "{class}: too early");
    pass_ms(1).await;
    assert_eq!(store.get(ask()).await.unwrap_err().class(), class);
    assert!(agent.count() > before, "{class}: too late");
}

#[tokio::test(start_paused = true)]
async fn each_cause_has_its_time() {
    holds_for(Reply::status(404), 60).await;
    holds_for(Reply::status(403), 30).await;
    holds_for(Reply::status(401), 30).await;
    holds_for(Reply::json("{}"), 30).await;
    holds_for(Reply::json("not JSON"), 30).await;
    holds_for(Reply::status(200).header("content-type", "text/html"), 30).await;
    holds_for(Reply::json(vec![b' '; 300_000]), 30).await;
    holds_for(Reply::status(500), 5).await;
    holds_for(Reply::status(302), 5).await;
    holds_for(Reply::fails(std::io::ErrorKind::ConnectionRefused), 5).await;
}

#[tokio::test(start_paused = true)]
async fn until_then_and_not_longer_callers_are_told_to_wait() {
    let store = Agent::script([Reply::status(500)]).store();
    store.get(ask()).await.unwrap_err();
    let left = || store.remembered(&ask().key(), Instant::now());
    assert_eq!(left(), Some(Duration::from_secs(5)));
    pass_ms(4999).await;
    assert_eq!(left(), Some(Duration::from_millis(1)));
    pass_ms(1).await;
    assert_eq!(left(), None);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_too() {
    let agent = Agent::script([Reply::status(404).after(Duration::from_secs(60)), Reply::card("a")]);
    let store = agent.store();
    assert_eq!(class(&store, ask()).await, Class::FetchTimeout);
    pass_ms(4999).await;
    assert_eq!(class(&store, ask()).await, Class::FetchTimeout);
    assert_eq!(agent.count(), 1);
    pass_ms(1).await;
    assert_eq!(name(&store, ask()).await, "a");
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_respected_up_to_its_bound() {
    holds_for(Reply::status(503).header("retry-after", "17"), 17).await;
    holds_for(Reply::status(429).header("retry-after", "86400"), 300).await;
    holds_for(Reply::status(503).header("retry-after", "1"), 5).await;
    let failure = Agent::script([Reply::status(503).header("retry-after", "17")]).store().get(ask()).await.unwrap_err();
    assert_eq!(failure.retry_after(), Some(Duration::from_secs(17)));
}

#[tokio::test(start_paused = true)]
async fn one_fetch_for_each_back_off() {
    let agent = Agent::script([Reply::status(500)]);
    let store = agent.store();
    for _ in 0..300 {
        store.get(ask()).await.unwrap_err();
        pass(1).await;
    }
    let times: Vec<u64> = (0..agent.count()).map(|n| (agent.seen(n).at - agent.seen(0).at).as_secs()).collect();
    assert_eq!(times, [0, 5, 15, 35, 75, 135, 195, 255]);
}

#[tokio::test(start_paused = true)]
async fn the_times_can_be_set() {
    let agent = Agent::script([Reply::status(404)]);
    let ttl = NegativeTtl::default().not_found(Duration::from_secs(2));
    let store = CardStore::builder(agent.clone()).negative_ttl(ttl).build().unwrap();
    assert_eq!(class(&store, ask()).await, Class::NotFound);
    pass(2).await;
    assert_eq!(class(&store, ask()).await, Class::NotFound);
    assert_eq!(agent.count(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_card_that_counts_for_nothing_here_is_not_kept_and_the_next_location_is_asked() {
    let other = |card: &AgentCard| match card.name() {
        "ours" => Ok(()),
        name => Err(CardFailure::UrlMismatch {
            field: "path",
            card: name.to_owned(),
            target: "ours".to_owned(),
            card_url: String::new(),
            target_url: String::new(),
            location: None,
        }),
    };
    let agent = Agent::new(|seen| Reply::card(if seen.uri == SCOPED { "theirs" } else { "ours" }));
    assert_eq!(name(&agent.store(), ask().counts(other)).await, "ours");
    assert_eq!(agent.uris(), [SCOPED, ROOT]);
    // The last failure is told. The older name is for agents without the current one.
    let agent = Agent::new(|seen| Reply::card(if seen.uri == SCOPED { "first" } else { "second" }));
    let store = agent.store();
    let failure = store.get(ask().counts(other)).await.unwrap_err();
    assert!(matches!(&failure, CardFailure::UrlMismatch { card, .. } if card == "second"), "{failure}");
    assert_eq!(agent.uris(), [SCOPED, ROOT]);
    assert!(store.peek(&ask().key()).is_none());
    // And it is told rather than that there is none at the next location.
    let agent = Agent::new(|seen| if seen.uri == SCOPED { Reply::card("first") } else { Reply::status(404) });
    assert_eq!(class(&agent.store(), ask().counts(other)).await, Class::UrlMismatch);
}

#[tokio::test(start_paused = true)]
async fn a_card_that_is_gone_is_not_kept() {
    let cached = Reply::card("a").header("cache-control", "max-age=10");
    let agent = Agent::new(move |seen| match seen.at.elapsed() {
        _ if seen.uri != SCOPED => Reply::status(404),
        _ => cached.clone(),
    });
    let store = agent.store();
    assert_eq!(name(&store, ask()).await, "a");
    *agent.answers.lock().unwrap() = Box::new(|_| Reply::status(404));
    pass(10).await;
    assert_eq!(class(&store, ask()).await, Class::NotFound);
    assert!(store.peek(&ask().key()).is_none());
}
