//! Calls that a broken agent would never end, or end as if nothing had happened.

use std::time::Duration;

use a2a_guard::{Binding, CallError, Limits};
use a2a_guard_peers::{Profile, Server};

use crate::ask::Ask;
use crate::caller::{Peer, bounded};

over_both_bindings! {
    no_answer_ever
    a_panic_in_the_agent
    a_stream_that_never_says_anything
    a_stream_that_stops_half_way
    a_stream_without_events
    a_stream_behind_a_panic
    keep_alives_behind_a_panic
    a_stream_without_an_end
    the_whole_call_is_bounded
    a_stream_that_is_empty
    a_stream_that_ends_too_early
}

/// The bound under test; all others are half a minute or their defaults, whichever is less. What the server says at
/// once has to come within it, on a machine that stands still for a while.
const BOUND: Duration = Duration::from_secs(1);

fn expect_working(error: &CallError) {
    assert_eq!(error.events(), 2, "{error}");
    assert_eq!(error.task_state().map(|state| state.as_str()), Some("TASK_STATE_WORKING"), "{error}");
    assert!(error.task_id().is_some(), "{error}");
    assert!(error.work_may_have_started());
}

async fn no_answer_ever(binding: Binding) {
    let peer = Peer::full(binding).await.limits(|limits| limits.blocking_head(BOUND));
    for text in ["hang0", "hang"] {
        let ended = bounded(BOUND, peer.ask(Ask::Send(text))).await;
        let error = ended.expect_failure("timeout", "head");
        assert_eq!(error.http_status(), None);
        assert!(error.elapsed() >= BOUND);
        assert_eq!(error.retry().as_str(), "unsafe");
    }
}

async fn a_panic_in_the_agent(binding: Binding) {
    let peer = Peer::full(binding).await.limits(|limits| limits.blocking_head(BOUND));
    for text in ["panicsync", "crash0", "crash"] {
        let ended = bounded(BOUND, peer.ask(Ask::Send(text))).await;
        ended.expect_failure("timeout", "head");
    }
    // It took no one else with it.
    peer.ask(Ask::Send("task")).await.expect_state("TASK_STATE_COMPLETED");
}

/// The head comes at once and says 200; behind it is nothing, or a task that is dead already.
async fn a_stream_that_never_says_anything(binding: Binding) {
    let peer = Peer::full(binding).await.limits(|limits| limits.first_event(BOUND));
    for text in ["hang0", "panicsync", "crash0"] {
        let ended = bounded(BOUND, peer.ask(Ask::Stream(text))).await;
        let error = ended.expect_failure("timeout", "first_event");
        assert_eq!(error.http_status().map(|status| status.as_u16()), Some(200));
        assert_eq!(error.events(), 0);
    }
}

async fn a_stream_that_stops_half_way(binding: Binding) {
    let peer = Peer::full(binding).await.limits(|limits| limits.idle(BOUND));
    let ended = bounded(BOUND, peer.ask(Ask::Stream("hang"))).await;
    expect_working(ended.expect_failure("timeout", "idle"));
}

/// Of two bounds the shorter one ends it.
async fn a_stream_without_events(binding: Binding) {
    let peer = Peer::full(binding).await.limits(|limits| limits.event_gap(BOUND));
    let ended = bounded(BOUND, peer.ask(Ask::Stream("hang"))).await;
    expect_working(ended.expect_failure("timeout", "event_gap"));
}

/// The task died of a panic after its working event, and the server keeps the stream open.
async fn a_stream_behind_a_panic(binding: Binding) {
    let peer = Peer::full(binding).await.limits(|limits| limits.idle(BOUND));
    let ended = bounded(BOUND, peer.ask(Ask::Stream("crash"))).await;
    expect_working(ended.expect_failure("timeout", "idle"));
    let peer = peer.limits(|limits| limits.idle(4 * BOUND).event_gap(BOUND));
    let ended = bounded(BOUND, peer.ask(Ask::Stream("crash"))).await;
    expect_working(ended.expect_failure("timeout", "event_gap"));
}

/// Events keep coming, faster than any gap, and the end does not.
async fn a_stream_without_an_end(binding: Binding) {
    let peer = Peer::full(binding).await.limits(|_| Limits::within(BOUND));
    let ended = bounded(BOUND, peer.ask(Ask::Stream("slow:1000"))).await;
    let error = ended.expect_failure("timeout", "total");
    assert!(error.events() >= 3, "{error}");
    assert_eq!(error.task_state().map(|state| state.as_str()), Some("TASK_STATE_WORKING"));
}

async fn the_whole_call_is_bounded(binding: Binding) {
    let peer = Peer::full(binding).await.limits(|_| Limits::within(BOUND));
    let ended = bounded(BOUND, peer.ask(Ask::Send("hang"))).await;
    let error = ended.expect_failure("timeout", ended.seen.class);
    // Head and total are the same here, and either may be named.
    assert!(["head", "total"].contains(&error.class().as_str()), "{error}");
}

async fn a_stream_that_is_empty(binding: Binding) {
    let peer = Peer::full(binding).await;
    let ended = peer.ask(Ask::Stream("empty")).await;
    let error = ended.expect_failure("broken", "empty");
    assert_eq!(error.a2a_error().map(|known| known.name()), Some("InvalidAgentResponseError"));
    assert_eq!(error.events(), 0);
}

/// A clean end, with nothing that says that the task is not finished: the last state does.
async fn a_stream_that_ends_too_early(binding: Binding) {
    let peer = Peer::full(binding).await;
    let ended = peer.ask(Ask::Stream("unfinished")).await;
    let error = ended.expect_failure("broken", "truncated");
    expect_working(error);
    let next: Vec<_> = error.next_operations().iter().map(|operation| operation.as_str()).collect();
    assert!(next.contains(&"GetTask"), "{next:?}");
}

/// The task died of a panic, and the keep-alives behind it go on: they keep `idle` from being reached, and no more.
async fn keep_alives_behind_a_panic(binding: Binding) {
    let often = BOUND / 20;
    let server = Server::start_with_keep_alive(Profile::Full, often).await.unwrap();
    let peer = Peer::of(server, binding).limits(|limits| limits.idle(BOUND / 2).event_gap(BOUND));
    let ended = bounded(BOUND, peer.ask(Ask::Stream("crash"))).await;
    expect_working(ended.expect_failure("timeout", "event_gap"));
}

/// The same with the server's own keep-alives.
#[tokio::test]
#[ignore = "takes 17 s: the server sends a keep-alive every 15 s"]
async fn the_servers_own_keep_alives_behind_a_panic() {
    let gap = Duration::from_secs(17);
    let limits = Limits::within(Duration::from_secs(30)).idle(Duration::from_secs(16)).event_gap(gap);
    let peer = Peer::full(Binding::JsonRpc).await.limits(|_| limits);
    let ended = bounded(gap, peer.ask(Ask::Stream("crash"))).await;
    expect_working(ended.expect_failure("timeout", "event_gap"));
}
