//! However many calls want a card, one fetch is made for them.

use std::{future::Future, task::Poll};

use a2a_guard::{CallError, card_consistency::CardConsistencyLayer};
use tokio::{task::JoinSet, time::Instant};
use tower::{Layer, ServiceBuilder, ServiceExt, limit::GlobalConcurrencyLimitLayer};

use crate::{
    mock::{Dialect, Ended, ms, s},
    support::{AGENT, Card, Cards, Guarded, Page, ROOT, call, guard, layer, willing},
};

use Dialect::V1;

const CALLS: usize = 1000;

fn slow_card() -> Page {
    Page::from(Card::plain()).max_age(3600).after(s(1))
}

/// So many calls at once, each through a clone.
async fn crowd(service: &Guarded) -> Vec<Ended> {
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        let mut service = service.clone();
        calls.spawn(async move { call(&mut service, V1.send()).await });
    }
    calls.join_all().await
}

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_to_a_cold_target_make_one_fetch() {
    let cards = Cards::of(slow_card());
    let agent = willing(CALLS);
    let service = guard(layer(&cards), &agent);
    let started = Instant::now();
    let ended = crowd(&service).await;
    assert!(ended.iter().all(|ended| ended.word() == "success/success"));
    assert_eq!((cards.count(), agent.requests().len()), (1, CALLS));
    assert_eq!(started.elapsed(), s(1));
}

#[tokio::test(start_paused = true)]
async fn the_first_caller_may_go_and_the_fetch_goes_on() {
    let cards = Cards::of(slow_card());
    let agent = willing(2);
    let service = guard(layer(&cards), &agent);

    let (mut first, mut second) = (service.clone(), service.clone());
    let mut first = Box::pin(async move { call(&mut first, V1.send()).await });
    poll_until_it_waits(&mut first).await;
    tokio::time::advance(ms(500)).await;
    let mut second = Box::pin(async move { call(&mut second, V1.send()).await });
    poll_until_it_waits(&mut second).await;
    drop(first);

    let started = Instant::now();
    assert_eq!(second.await.word(), "success/success");
    assert_eq!(started.elapsed(), ms(500), "neither cancelled nor begun again");
    assert_eq!((cards.count(), agent.requests().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_fetch_that_nobody_waits_for_any_longer_is_not_lost() {
    let cards = Cards::of(slow_card());
    let agent = willing(1);
    let service = guard(layer(&cards), &agent);
    let mut only = service.clone();
    let mut only = Box::pin(async move { call(&mut only, V1.send()).await });
    poll_until_it_waits(&mut only).await;
    drop(only);
    tokio::time::sleep(s(2)).await;
    let started = Instant::now();
    assert_eq!(call(&mut service.clone(), V1.send()).await.word(), "success/success");
    assert_eq!((started.elapsed(), cards.count()), (s(0), 1));
}

#[tokio::test(start_paused = true)]
async fn a_failing_fetch_is_one_per_back_off_and_its_error_is_shared() {
    let cards = Cards::of(Page::status(500).after(s(1)));
    let agent = willing(0);
    let service = guard(layer(&cards), &agent);
    // 5 s, then twice as long: counted from when it failed.
    for (fetches, wait) in [(1, s(5)), (2, s(10))] {
        for _ in 0..2 {
            let ended = crowd(&service).await;
            assert!(ended.iter().all(|ended| ended.word() == "card/http_status"), "{:?}", ended[0].word());
            assert_eq!(cards.count(), fetches);
        }
        tokio::time::advance(wait - ms(1)).await;
        assert_eq!(call(&mut service.clone(), V1.send()).await.word(), "card/http_status");
        assert_eq!(cards.count(), fetches, "1 ms before the back-off is over");
        tokio::time::advance(ms(1)).await;
    }
    cards.change(Card::plain());
    assert!(agent.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_is_waited_for() {
    let cards = Cards::of(Page::status(503).header("retry-after", "40"));
    let agent = willing(1);
    let mut service = guard(layer(&cards), &agent);
    let ended = call(&mut service, V1.send()).await;
    assert_eq!((ended.word().as_str(), ended.error().retry_after()), ("card/http_status", Some(s(40))));
    cards.change(Card::plain());
    tokio::time::advance(s(40) - ms(1)).await;
    assert_eq!(call(&mut service, V1.send()).await.word(), "card/http_status");
    tokio::time::advance(ms(1)).await;
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
}

/// Calls and fetches share a limit of one. A call that held its place while it waits for its card would wait for ever.
#[tokio::test(start_paused = true)]
async fn a_limit_of_one_below_calls_and_fetches_ends_without_deadlock() {
    let cards = Cards::of(slow_card());
    let agent = willing(CALLS);
    let limit = GlobalConcurrencyLimitLayer::new(1);
    let store = a2a_guard::card_consistency::CardStore::builder(limit.layer(cards.clone())).build().unwrap();
    let service = ServiceBuilder::new()
        .layer(a2a_guard::CallLayer::new())
        .layer(CardConsistencyLayer::new(store))
        .layer(limit)
        .service(agent.clone());
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        let service = service.clone();
        calls.spawn(async move { service.oneshot(V1.send()).await.map(|response| response.status()) });
    }
    let calls = tokio::time::timeout(s(60), calls.join_all()).await.expect("a deadlock");
    let good = calls.iter().filter(|ended: &&Result<_, CallError>| ended.is_ok()).count();
    assert_eq!((good, cards.count(), agent.requests().len()), (CALLS, 1, CALLS));
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_a_card_so_long_and_the_fetch_goes_on() {
    let cards = Cards::of(slow_card());
    let agent = willing(1);
    let mut service = guard(layer(&cards).wait(ms(300)), &agent);
    let ended = call(&mut service, V1.send()).await;
    assert_eq!(ended.fate(), ("card/fetch_timeout".into(), ms(300)));
    assert!(agent.requests().is_empty());
    tokio::time::sleep(ms(700)).await;
    assert_eq!(call(&mut service, V1.send()).await.fate(), ("success/success".into(), s(0)));
    assert_eq!(cards.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_card_that_never_comes_ends_the_call() {
    let cards = Cards::of(Page::from(Card::plain()).after(s(3600)));
    let agent = willing(0);
    let ended = call(&mut guard(layer(&cards), &agent), V1.send()).await;
    assert_eq!(ended.fate(), ("card/fetch_timeout".into(), s(10)));
}

#[tokio::test(start_paused = true)]
async fn other_targets_are_fetched_on_their_own() {
    let other = "https://other.example.com/a2a";
    let cards = Cards::of(slow_card())
        .put(&format!("{other}/.well-known/agent-card.json"), Page::from(Card::default().at(other)).after(s(1)));
    let agent = willing(2);
    let service = guard(layer(&cards), &agent);
    let mut elsewhere = V1.send();
    *elsewhere.uri_mut() = other.parse().unwrap();
    let (mut here, mut there) = (service.clone(), service);
    let started = Instant::now();
    let (here, there) = tokio::join!(call(&mut here, V1.send()), call(&mut there, elsewhere));
    assert_eq!((here.word(), there.word()), ("success/success".into(), "success/success".into()));
    assert_eq!((started.elapsed(), cards.count()), (s(1), 2));
    assert!(cards.urls().contains(&AGENT.to_owned()) && !cards.urls().contains(&ROOT.to_owned()));
}

/// Lets a future run until it waits for something, the tasks that it started as well.
async fn poll_until_it_waits<F: Future + Unpin>(future: &mut F) {
    for _ in 0..16 {
        std::future::poll_fn(|cx| {
            assert!(std::pin::Pin::new(&mut *future).poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        tokio::task::yield_now().await;
    }
}
