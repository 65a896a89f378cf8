//! Streams: before the first event, and never behind it.

use a2a_guard::retry::RetryPolicy;

use crate::{
    attempt,
    mock::{Answer, Dialect, MockBody, s},
    refused, status,
};
use Dialect::{Rest, V1};

fn good(dialect: Dialect) -> Answer {
    Answer::sse(MockBody::of([dialect.task_event("WORKING"), dialect.update_event("COMPLETED")]))
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_never_began_is_asked_for_again() {
    for dialect in [V1, Rest] {
        let tried = attempt(RetryPolicy::new(), dialect.stream(), [refused(), status(429), good(dialect)]).await;
        assert_eq!((tried.fate().0.as_str(), tried.requests.len()), ("success/success", 3));
    }
}

/// To watch is no work: without an event, one may begin again to watch.
#[tokio::test(start_paused = true)]
async fn watching_begins_again_if_no_event_came() {
    let silent = || Answer::sse(MockBody::new().data(": hi\n\n").hang());
    let tried = attempt(RetryPolicy::new(), V1.subscribe(), [silent(), good(V1)]).await;
    assert_eq!((tried.fate().0.as_str(), tried.requests.len()), ("success/success", 2));
    assert_eq!(tried.attempts[0], "timeout/first_event");
    let tried = attempt(RetryPolicy::new(), V1.stream(), [silent(), good(V1)]).await;
    assert_eq!((tried.fate(), tried.requests.len()), (("timeout/first_event".into(), s(30)), 1), "a send is work");
}

#[tokio::test(start_paused = true)]
async fn behind_its_first_event_no_stream_begins_again() {
    let cut = || Answer::sse(MockBody::of([V1.task_event("WORKING")]).reset());
    for request in [V1.stream(), V1.subscribe()] {
        let tried = attempt(RetryPolicy::new(), request, [cut(), good(V1)]).await;
        assert_eq!((tried.fate().0.as_str(), tried.requests.len()), ("broken/truncated", 1));
    }
}
