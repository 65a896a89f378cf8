//! One fetch at a time, whoever asks and whoever stops asking.

use tower::ServiceExt;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_are_one_fetch() {
    let agent = Agent::at(SCOPED, |_| Reply::card("a").after(Duration::from_secs(1)));
    let store = agent.store();
    let results = all(&store, (0..1000).map(|_| ask())).await;
    let first = results[0].as_ref().unwrap();
    assert!(results.iter().all(|result| Arc::ptr_eq(result.as_ref().unwrap(), first)));
    assert_eq!(agent.count(), 1);
    let stats = store.stats();
    assert_eq!((stats.searches, stats.joined, stats.in_flight, stats.entries), (1, 999, 0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_calls_are_one_fetch_on_several_threads_too() {
    let agent = Agent::at(SCOPED, |_| Reply::card("a"));
    for _ in 0..20 {
        let before = agent.count();
        let store = agent.store();
        let results = all(&store, (0..1000).map(|_| ask())).await;
        assert!(results.iter().all(Result::is_ok));
        assert_eq!(agent.count() - before, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_the_first_caller_neither_cancels_nor_repeats_the_fetch() {
    let agent = Agent::at(SCOPED, |_| Reply::card("a").after(Duration::from_secs(1)));
    let store = agent.store();
    let first = tokio::spawn(store.get(ask()));
    tokio::task::yield_now().await;
    let second = tokio::spawn(store.get(ask()));
    pass_ms(500).await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert_eq!(named(&second.await.unwrap().unwrap()), "a");
    assert_eq!(agent.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_fetch_that_everybody_left_still_lands() {
    let agent = Agent::at(SCOPED, |_| Reply::card("a").after(Duration::from_secs(1)));
    let store = agent.store();
    let only = tokio::spawn(store.get(ask()));
    tokio::task::yield_now().await;
    only.abort();
    pass_ms(500).await;
    assert_eq!(store.stats().in_flight, 1);
    pass(2).await;
    tokio::task::yield_now().await;
    assert!(is_held(&store, &ask()));
    assert_eq!(store.stats().in_flight, 0);
}

/// What one finds wrong with a card is its own word; that it is there holds for all who wait.
#[tokio::test(start_paused = true)]
async fn a_card_is_shared_by_whomever_judges_it_also_where_it_is_not_kept() {
    let reply = Reply::card("a").header("cache-control", "no-store").after(Duration::from_secs(1));
    let agent = Agent::at(SCOPED, move |_| reply.clone());
    let store = agent.store();
    let version = |number| crate::ProtocolVersion::new(1, number);
    let asks = (0..4).map(|number| bearer("one").version(version(number)).judged_by(store.judge(number)));
    let results = all(&store, asks.chain([ask()])).await;
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(agent.count(), 1);
}

/// A word stands beside the card, and what was asked for later counts.
#[tokio::test(start_paused = true)]
async fn a_word_about_a_newer_card_outlives_one_that_comes_late() {
    let late = Reply::card("late").header("cache-control", "max-age=1").after(Duration::from_secs(3));
    let agent = Agent::script([late, Reply::card("a")]);
    let store = CardStore::builder(agent.clone()).legacy_location(false).build().unwrap();
    let mismatch = CardFailure::unusable_uri(&Uri::from_static(TARGET), "of the test's making");
    let judged = || {
        let mismatch = mismatch.clone();
        ask().counts(move |_| Err(mismatch.clone())).judged_by(store.judge("strict"))
    };
    let first = tokio::spawn(store.get(ask()));
    sleep(Duration::from_secs(1)).await;
    // Past every cache, and past what is on its way.
    assert_eq!(store.refresh(judged()).await.unwrap_err().class(), Class::UnusableUrl);
    let asked = agent.count();
    first.await.unwrap().unwrap();
    assert!(!is_held(&store, &ask()), "it came too late to be of use");
    assert_eq!(class(&store, judged()).await, Class::UnusableUrl);
    assert_eq!(agent.count(), asked, "and nobody is asked again");
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_shared_by_all_who_wait_and_remembered() {
    let agent = Agent::script([Reply::status(500).after(Duration::from_secs(1))]);
    let store = agent.store();
    let results = all(&store, (0..1000).map(|_| ask())).await;
    assert!(results.iter().all(|result| result.as_ref().unwrap_err().class() == Class::HttpStatus));
    assert_eq!(agent.count(), 1);
    let results = all(&store, (0..1000).map(|_| ask())).await;
    assert!(results.iter().all(Result::is_err));
    assert_eq!((agent.count(), store.stats().remembered), (1, 1000));
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_fetch_ends_all_who_wait() {
    let agent = Agent::script([Reply::card("a").after(Duration::from_secs(1))]);
    let store = agent.store();
    let panics = || ask().counts(|_| panic!("of the test's making"));
    let results = all(&store, (0..10).map(|_| panics())).await;
    for result in results {
        let failure = result.unwrap_err();
        assert_eq!(failure.class(), Class::ConnectionLost);
        assert_eq!(failure.to_string(), "no connection to the card: what was fetching the card panicked");
    }
    assert_eq!((agent.count(), store.stats().in_flight), (1, 0));
    assert_eq!(name(&store, ask()).await, "a");
}

#[test]
fn the_end_of_the_first_callers_runtime_is_not_the_end_of_the_others_wait() {
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (first, second) = (runtime(), runtime());
    let mut replies = [Reply { hangs: true, ..Reply::json("{") }, Reply::card("a")].into_iter();
    let agent = Agent::new(move |_| replies.next().unwrap());
    let store = agent.store();
    drop(first.spawn(store.get(ask())));
    while agent.count() == 0 {
        std::thread::yield_now();
    }
    let waiting = second.spawn(store.get(ask()));
    while store.stats().joined == 0 {
        std::thread::yield_now();
    }
    drop(first);
    assert_eq!(named(&second.block_on(waiting).unwrap().unwrap()), "a");
    assert_eq!(agent.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn no_more_searches_at_once_than_may_be() {
    let agent = Agent::new(|seen| {
        if seen.uri.contains("/a2a/") { Reply::card("a").after(Duration::from_secs(1)) } else { Reply::status(404) }
    });
    let store = CardStore::builder(agent.clone()).max_searches(3).build().unwrap();
    let asks = (0..9).map(|port| {
        CardAsk::new(format!("https://agent.example.com:{}/a2a", 1000 + port).parse().unwrap(), HeaderMap::new())
    });
    let began = Instant::now();
    let results = all(&store, asks).await;
    assert!(results.iter().all(Result::is_ok));
    assert_eq!((agent.count(), began.elapsed()), (9, Duration::from_secs(3)));
}

#[tokio::test(start_paused = true)]
async fn a_concurrency_limit_of_one_below_calls_and_fetches_is_no_deadlock() {
    let agent = Agent::at(ROOT, |_| Reply::card("a").after(Duration::from_millis(10)));
    let limited = tower::limit::ConcurrencyLimit::new(agent.clone(), 1);
    let store = CardStore::builder(limited.clone()).build().unwrap();
    let calls: Vec<_> = (0..1000)
        .map(|_| {
            let (store, limited) = (store.clone(), limited.clone());
            tokio::spawn(async move {
                store.get(ask()).await.unwrap();
                let call = Request::get(TARGET).body(Full::default()).unwrap();
                limited.oneshot(call).await.unwrap();
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(agent.count(), 1002);
}
