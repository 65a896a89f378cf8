//! How often it tries.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use a2a_guard::{CallLayer, TerminalStateLayer, retry::RetryPolicy};
use tower::{
    Layer, ServiceBuilder, ServiceExt,
    retry::{RetryLayer, budget::Budget},
};

use crate::{
    attempt, done,
    mock::{Dialect::V1, Peer},
    refused,
};

#[tokio::test(start_paused = true)]
async fn attempts_are_bounded() {
    for (attempts, made) in [(0, 1), (1, 1), (2, 2), (5, 5)] {
        let tried = attempt(RetryPolicy::new().attempts(attempts), V1.get(), (0..9).map(|_| refused())).await;
        assert_eq!((tried.fate().0.as_str(), tried.requests.len()), ("transport/connect", made));
    }
    let tried = attempt(RetryPolicy::default(), V1.get(), (0..9).map(|_| refused())).await;
    assert_eq!(tried.requests.len(), 3);
}

/// Each call has its own attempts.
#[tokio::test(start_paused = true)]
async fn what_one_call_spent_is_not_taken_from_the_next() {
    let peer = Peer::new((0..9).map(|_| refused()));
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(RetryLayer::new(RetryPolicy::new()))
        .layer(TerminalStateLayer::new())
        .service(peer.clone());
    for _ in 0..3 {
        assert!(stack.clone().oneshot(V1.get()).await.is_err());
        assert_eq!(peer.requests().len(), 3);
    }
}

#[derive(Clone, Debug, Default)]
struct Purse(Arc<AtomicI64>);

impl Budget for Purse {
    fn deposit(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn withdraw(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| (left > 0).then_some(left - 1)).is_ok()
    }
}

#[tokio::test(start_paused = true)]
async fn retries_are_paid_for_by_successes_of_all_calls() {
    let purse = Purse::default();
    let policy = RetryPolicy::new().budget(purse.clone());
    let tried = attempt(policy.clone(), V1.get(), [refused(), done(V1, "get")]).await;
    assert_eq!(tried.requests.len(), 1, "nothing to spend yet");
    attempt(policy.clone(), V1.get(), [done(V1, "get")]).await;
    assert_eq!(purse.0.load(Ordering::Relaxed), 1);
    let tried = attempt(policy.clone(), V1.get(), [refused(), refused(), refused()]).await;
    assert_eq!(tried.requests.len(), 2, "one was paid for");
    // What is not to be retried costs nothing.
    attempt(policy.clone(), V1.get(), [done(V1, "get")]).await;
    attempt(policy, V1.get(), [crate::status(404)]).await;
    assert_eq!(purse.0.load(Ordering::Relaxed), 1);
}

/// Where all fails, retries are few.
#[tokio::test(start_paused = true)]
async fn an_agent_that_is_down_is_not_kept_down() {
    let peer = Peer::new((0..2000).map(|_| refused()));
    let policy = RetryPolicy::new().pause(std::time::Duration::from_nanos(1), std::time::Duration::from_nanos(1));
    let retrying = RetryLayer::new(policy).layer(TerminalStateLayer::new().layer(peer.clone()));
    let stack = CallLayer::new().layer(retrying);
    for _ in 0..1000 {
        assert!(stack.clone().oneshot(V1.get()).await.is_err());
    }
    let retries = peer.requests().len() - 1000;
    assert!((1..=200).contains(&retries), "{retries} retries of 1000 calls");
}
