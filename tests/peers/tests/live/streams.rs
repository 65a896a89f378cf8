//! Calls that succeed with a stream.

use std::time::Duration;

use a2a_guard::Binding;
use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt;

use crate::ask::Ask;
use crate::caller::{Outcomes, Peer};
use crate::tap::Tap;

over_both_bindings! {
    message
    task
    each_state_of_rest
    slow
    subscribe
    a_status_before_any_task_is_tolerated
    events_pass_as_they_come
    success_is_told_at_the_terminal_event
    dropped_half_way
}

async fn message(binding: Binding) {
    let peer = Peer::full(binding).await;
    let ended = peer.same_as_bare(Ask::Stream("message")).await;
    let success = ended.expect_success();
    assert_eq!(success.status, StatusCode::OK);
    assert_eq!(success.media_type(), Some("text/event-stream"));
    assert_eq!((ended.seen.events, ended.seen.task_state), (1, None));
}

async fn task(binding: Binding) {
    let peer = Peer::full(binding).await;
    let ended = peer.same_as_bare(Ask::Stream("task")).await;
    ended.expect_state("TASK_STATE_COMPLETED");
    // Task, working, artifact, completed.
    assert_eq!(ended.seen.events, 4);
}

async fn each_state_of_rest(binding: Binding) {
    let peer = Peer::full(binding).await;
    for (text, state) in [
        ("fail", "TASK_STATE_FAILED"),
        ("reject", "TASK_STATE_REJECTED"),
        ("input", "TASK_STATE_INPUT_REQUIRED"),
        ("auth", "TASK_STATE_AUTH_REQUIRED"),
        // A status behind the terminal one, which the server does not send on.
        ("after", "TASK_STATE_COMPLETED"),
    ] {
        let ended = peer.same_as_bare(Ask::Stream(text)).await;
        ended.expect_state(state);
        assert_eq!(ended.seen.events, 3, "{text}");
    }
}

/// Longer in all than any gap that is allowed, and no gap is that long: a tick comes every 100 ms.
async fn slow(binding: Binding) {
    let gap = Duration::from_millis(1_500);
    let peer = Peer::full(binding).await.limits(|limits| limits.first_event(gap).idle(gap).event_gap(gap));
    let ended = peer.same_as_bare(Ask::Stream("slow:20")).await;
    ended.expect_state("TASK_STATE_COMPLETED");
    assert_eq!(ended.seen.events, 23);
}

async fn subscribe(binding: Binding) {
    let peer = Peer::full(binding).await;
    let started = peer.ask(Ask::SendAndReturn("slow:20")).await;
    started.expect_success();
    let task = started.seen.task_id.unwrap();
    let ended = peer.ask(Ask::Subscribe(&task)).await;
    ended.expect_state("TASK_STATE_COMPLETED");
    assert_eq!(ended.seen.task_id, Some(task));
    // The task as it stands, and at least what comes behind the last tick.
    assert!(ended.seen.events >= 2, "{:?}", ended.seen);
}

async fn a_status_before_any_task_is_tolerated(binding: Binding) {
    let peer = Peer::full(binding).await;
    let ended = peer.ask(Ask::Stream("badfirst")).await;
    assert!(ended.result.is_ok());
    assert_eq!((ended.seen.outcome, ended.seen.task_state), ("success", Some("TASK_STATE_COMPLETED")));
    assert_eq!(ended.seen.tolerated, ["first_event_not_task"]);
}

/// The layer holds nothing back: while the agent works, what it said so far is there.
async fn events_pass_as_they_come(binding: Binding) {
    let peer = Peer::full(binding).await;
    let (outcomes, tap) = (Outcomes::default(), Tap::default());
    let request = Ask::Stream("hang").request(&peer.server, binding);
    let response = peer.guarded(&outcomes, &tap, None, request).await.unwrap();
    let mut body = response.into_body();
    let mut received = Vec::new();
    while !received.ends_with(b"\n\n")
        || !Bytes::copy_from_slice(&received).windows(18).any(|seen| seen == b"TASK_STATE_WORKING")
    {
        let frame = body.frame().await.unwrap().unwrap();
        received.extend_from_slice(frame.data_ref().unwrap());
    }
    assert_eq!(received, tap.bytes());
    assert!(outcomes.none_yet());
}

/// A stream counts when it reached its end, not when the connection did.
async fn success_is_told_at_the_terminal_event(binding: Binding) {
    let peer = Peer::full(binding).await;
    let (outcomes, tap) = (Outcomes::default(), Tap::default());
    let request = Ask::Stream("task").request(&peer.server, binding);
    let mut body = peer.guarded(&outcomes, &tap, None, request).await.unwrap().into_body();
    while outcomes.none_yet() {
        body.frame().await.unwrap().unwrap();
    }
    assert_eq!(outcomes.one().task_state, Some("TASK_STATE_COMPLETED"));
    drop(body);
    assert_eq!(outcomes.one().outcome, "success");
}

async fn dropped_half_way(binding: Binding) {
    let peer = Peer::full(binding).await;
    let (outcomes, tap) = (Outcomes::default(), Tap::default());
    let request = Ask::Stream("hang").request(&peer.server, binding);
    let mut body = peer.guarded(&outcomes, &tap, None, request).await.unwrap().into_body();
    body.frame().await.unwrap().unwrap();
    assert!(outcomes.none_yet());
    drop(body);
    let seen = outcomes.one();
    assert_eq!((seen.outcome, seen.class), ("abandoned", "abandoned"));
    assert!(seen.task_id.is_some());
}
