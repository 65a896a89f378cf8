//! What is sent again, and what never is.

use a2a_guard::retry::RetryPolicy;

use crate::{
    attempt, done, lost,
    mock::{Answer, Dialect, MockBody, s},
    refused, status,
};
use Dialect::{Rest, V1, V03};

#[tokio::test(start_paused = true)]
async fn what_never_reached_the_agent_is_sent_again() {
    for dialect in [V1, V03, Rest] {
        let tried = attempt(RetryPolicy::new(), dialect.send(), [refused(), refused(), done(dialect, "send")]).await;
        assert_eq!(tried.fate().0, "success/success");
        assert_eq!(tried.attempts, ["transport/connect", "transport/connect", "success/success"]);
    }
}

/// The agent may have done the work already.
#[tokio::test(start_paused = true)]
async fn a_send_that_may_have_been_worked_on_is_never_sent_again() {
    let json = |body: &'static str| Answer::json(body);
    type Fault = (&'static str, fn() -> Answer);
    let faults: [Fault; 7] = [
        ("transport/connection_lost", lost),
        ("timeout/head", Answer::never),
        ("timeout/idle", || Answer::new(200, "application/json", MockBody::new().data("{").hang())),
        ("broken/http_status", || status(500)),
        ("refused/unavailable", || status(503)),
        ("broken/empty", || Answer::json("")),
        ("broken/truncated", || Answer::new(200, "application/json", MockBody::new().data("{").reset())),
    ];
    for (word, fault) in faults {
        for request in [V1.send_at_once(), Rest.send_at_once()] {
            let tried = attempt(RetryPolicy::new(), request, [fault(), done(V1, "send")]).await;
            assert_eq!((tried.fate().0.as_str(), tried.requests.len()), (word, 1));
        }
        let tried = attempt(RetryPolicy::new(), V1.get(), [fault(), done(V1, "get")]).await;
        assert_eq!(
            (tried.fate().0.as_str(), tried.requests.len()),
            ("success/success", 2),
            "{word}: to ask is no work"
        );
    }
    let internal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"oops"}}"#;
    let tried = attempt(RetryPolicy::new(), V1.send(), [json(internal), done(V1, "send")]).await;
    assert_eq!((tried.fate().0.as_str(), tried.requests.len()), ("refused/peer_error", 1));
    let tried = attempt(RetryPolicy::new(), V1.get(), [json(internal), done(V1, "get")]).await;
    assert_eq!((tried.fate().0.as_str(), tried.requests.len()), ("success/success", 2));
}

/// It would do no harm, and no good either.
#[tokio::test(start_paused = true)]
async fn what_a_retry_cannot_change_is_not_sent_again() {
    for (word, answer) in [
        ("refused/peer_error", Answer::json(V1.error(-32001))),
        ("refused/peer_error", Answer::json(V1.error(-32602))),
        ("refused/auth", status(401)),
        ("refused/endpoint_not_found", status(404)),
        ("refused/too_large", status(413)),
        ("refused/redirected", status(307)),
        ("broken/http_status", status(400)),
        ("broken/wrong_media_type", Answer::new(200, "text/html", MockBody::new().data("<p>"))),
        ("broken/protocol_violation", Answer::json(r#"{"jsonrpc":"2.0","id":1}"#)),
    ] {
        let tried = attempt(RetryPolicy::new(), V1.get(), [answer, done(V1, "get")]).await;
        assert_eq!((tried.fate(), tried.requests.len()), ((word.into(), s(0)), 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_is_left_alone() {
    let tried = attempt(RetryPolicy::new(), V1.get(), [done(V1, "get"), done(V1, "get")]).await;
    assert_eq!((tried.fate(), tried.requests.len()), (("success/success".into(), s(0)), 1));
    let failed_task = Answer::json(V1.result(&V1.task("FAILED")));
    let tried = attempt(RetryPolicy::new(), V1.send(), [failed_task, done(V1, "send")]).await;
    assert_eq!(
        (tried.fate().0.as_str(), tried.requests.len()),
        ("success/success", 1),
        "the task failed, the call did not"
    );
}

/// An error that none of the layers typed says nothing of what was done.
#[tokio::test(start_paused = true)]
async fn errors_of_others_are_left_alone() {
    use tower::{Layer, ServiceExt, retry::RetryLayer};
    let peer = crate::Peer::new([refused(), done(V1, "get")]);
    let bare = RetryLayer::new(RetryPolicy::new()).layer(peer.clone());
    assert!(a2a_guard::CallLayer::new().layer(bare).oneshot(V1.get()).await.is_err());
    assert_eq!(peer.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn one_in_a_box_is_understood() {
    use a2a_guard::{BoxError, CallLayer, TerminalStateLayer};
    use tower::{Layer, ServiceExt, retry::RetryLayer};
    let peer = crate::Peer::new([refused(), done(V1, "get")]);
    let boxed = TerminalStateLayer::new().layer(peer.clone()).map_err(BoxError::from);
    let retrying = RetryLayer::new(RetryPolicy::new()).layer(boxed);
    CallLayer::new().layer(retrying).oneshot(V1.get()).await.unwrap();
    assert_eq!(peer.requests().len(), 2);
}
