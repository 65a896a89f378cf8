//! What tower's load shedding turns away was never sent.

use std::time::Duration;

use a2a_guard::{CallError, CallLayer, Retry, TerminalStateLayer};
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

    assert_eq!((error.outcome().as_str(), error.class().as_str()), ("timeout", "ready"));
    assert_eq!((error.retry(), error.work_may_have_started()), (Retry::Safe, false));
    assert_eq!(error.elapsed(), Duration::ZERO);
    let CallError::Timeout(timeout) = &error else { panic!("{error:?}") };
    assert_eq!(timeout.bound(), Duration::ZERO, "it was not waited for");
    assert!(error.to_string().starts_with("timeout/ready: the client below was full and shed the call"), "{error}");
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(first.await.unwrap().unwrap_err().class().as_str(), "head");
    assert_eq!(peer.requests().len(), 1);
}
