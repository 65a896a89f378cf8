//! What tower's own layers below fail with.

use std::time::Duration;

use a2a_guard::{CallLayer, Retry, TerminalStateLayer};
use tower::{ServiceBuilder, ServiceExt};

use crate::mock::{Answer, Dialect::V1, Peer};

#[tokio::test(start_paused = true)]
async fn a_call_that_was_shed_can_be_made_again() {
    let peer = Peer::new([Answer::never()]);
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(TerminalStateLayer::new())
        .load_shed()
        .concurrency_limit(1)
        .service(peer.clone());
    let first = tokio::spawn(stack.clone().oneshot(V1.send()));
    tokio::task::yield_now().await;
    let error = stack.oneshot(V1.send()).await.unwrap_err();

    assert_eq!((error.outcome().as_str(), error.class().as_str()), ("refused", "unavailable"));
    assert_eq!((error.retry(), error.work_may_have_started()), (Retry::Safe, false));
    assert_eq!((error.elapsed(), error.http_status()), (Duration::ZERO, None));
    let line = error.to_string();
    assert!(line.starts_with("refused/unavailable: too many calls at once: this one was shed"), "{line}");
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(first.await.unwrap().unwrap_err().class().as_str(), "head");
    assert_eq!(peer.requests().len(), 1);
}

/// It says no more than that the time was up: the agent may be at work.
#[tokio::test(start_paused = true)]
async fn a_timeout_layer_below_is_a_timeout() {
    let stack = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(TerminalStateLayer::new())
        .timeout(Duration::from_secs(3))
        .service(Peer::new([Answer::never()]));
    let error = stack.oneshot(V1.send()).await.unwrap_err();
    assert_eq!((error.outcome().as_str(), error.class().as_str()), ("timeout", "total"));
    assert_eq!((error.retry(), error.elapsed()), (Retry::Unsafe, Duration::from_secs(3)));
}
