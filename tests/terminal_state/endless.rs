//! `total` ends what a timer alone does not: a body that is always ready, and one that spends the budget which tokio
//! gives a task for one poll.

use std::{
    future::{pending, poll_fn},
    task::Poll,
    time::Duration,
};

use a2a_guard::{CallLayer, Limits};
use http::{Method, Request};
use tokio::time::{Instant, sleep};
use tower::{Layer, Service, ServiceExt};

use crate::{
    fate,
    mock::{Answer, Dialect, Ended, MockBody, Notes, Peer, call, ms, read, s, spend_budget, tick},
    with,
};

use Dialect::{V1, V02, V03};

/// How many frames may come before the clock is read.
const UNCHECKED: u32 = 64;

/// How many bytes may.
const BYTES_UNCHECKED: usize = 256 << 10;

/// How long each frame takes to make.
const EACH: Duration = ms(10);

/// A line of this many bytes that says nothing.
fn comment(len: usize) -> Vec<u8> {
    let mut line = vec![b':'; len - 1];
    line.push(b'\n');
    line
}

fn limits() -> Limits {
    Limits::within(s(20)).total_unary(s(21)).total_stream(s(22))
}

async fn unary(body: MockBody) -> Ended {
    call(with(limits()), V1.get(), Answer::new(200, "application/json", body)).await
}

async fn stream(body: MockBody) -> Ended {
    call(with(limits().event_gap(s(22)).idle(s(21))), V1.stream(), Answer::sse(body)).await
}

async fn passing(body: MockBody) -> Ended {
    let request = V1.request("GET", "/picture", String::new());
    call(with(limits()), request, Answer::new(200, "image/png", body)).await
}

/// Ended in this way, no later than the frames allow that may pass unchecked: after their start, and before their end.
fn assert_ended(ended: &Ended, word: &str, bound: Duration) {
    assert_eq!(ended.word(), word);
    assert_eq!(ended.notes.words(), [word]);
    let elapsed = ended.elapsed;
    assert!(elapsed >= bound && elapsed <= bound + EACH * (2 * UNCHECKED), "{elapsed:?}");
}

fn assert_total(ended: &Ended, total: Duration) {
    assert_ended(ended, "timeout/total", total);
    // It counts from the call's own start.
    assert!(ended.elapsed <= total + EACH * UNCHECKED, "{:?}", ended.elapsed);
}

#[tokio::test(start_paused = true)]
async fn a_unary_body_that_is_always_ready_ends() {
    assert_total(&unary(MockBody::new().forever(" ", EACH)).await, s(21));
}

#[tokio::test(start_paused = true)]
async fn a_unary_body_of_empty_frames_ends() {
    assert_ended(&unary(MockBody::new().forever("", EACH)).await, "timeout/idle", s(20));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_empty_frames_ends() {
    let body = MockBody::new().forever("", EACH);
    let ended = call(with(limits()), V1.get(), Answer::new(500, "text/plain", body)).await;
    assert_ended(&ended, "timeout/idle", s(20));
}

/// A frame that is there is judged first, whatever the clock says by then.
#[tokio::test(start_paused = true)]
async fn what_the_last_frame_says_counts_also_where_a_bound_has_passed_before_it() {
    let error = format!("data: {}\n\n", V1.error(-32603));
    let frames = [
        ("success/success", V1.update_event("COMPLETED")),
        ("refused/peer_error", error.into()),
        ("broken/malformed", "data: {\"half\n\n".into()),
        ("timeout/total", V1.update_event("WORKING")),
    ];
    for (word, event) in frames {
        let frame = [&comment(BYTES_UNCHECKED)[..], &event].concat();
        let body = MockBody::new().data(V1.task_event("WORKING")).stall(s(23)).data(frame).hang();
        let ended = stream(body).await;
        assert_eq!((ended.word(), ended.notes.words()), (word.into(), vec![word.into()]));
    }
}

#[tokio::test(start_paused = true)]
async fn events_without_end_end() {
    let body = MockBody::new().data(V1.task_event("WORKING")).forever(V1.update_event("WORKING"), EACH);
    assert_total(&stream(body).await, s(22));
}

#[tokio::test(start_paused = true)]
async fn keep_alives_without_end_end() {
    let body = MockBody::new().data(V1.task_event("WORKING")).forever(": ping\n\n", EACH);
    assert_total(&stream(body).await, s(22));
}

#[tokio::test(start_paused = true)]
async fn event_gap_bounds_keep_alives_that_are_always_ready() {
    let body = MockBody::new().data(V1.task_event("WORKING")).forever(": ping\n\n", EACH);
    let ended = call(with(limits().event_gap(s(5))), V1.stream(), Answer::sse(body)).await;
    assert_ended(&ended, "timeout/event_gap", s(5));
}

#[tokio::test(start_paused = true)]
async fn an_event_without_end_ends() {
    let body = MockBody::new().data(V1.task_event("WORKING")).forever("data: \n", EACH);
    assert_total(&stream(body).await, s(22));
}

#[tokio::test(start_paused = true)]
async fn first_event_bounds_comments_that_are_always_ready() {
    let limits = limits().first_event(s(5));
    let ended = call(with(limits), V1.stream(), Answer::sse(MockBody::new().forever(":\n", EACH))).await;
    assert_ended(&ended, "timeout/first_event", s(5));
}

#[tokio::test(start_paused = true)]
async fn linger_bounds_what_comes_without_end_behind_the_end() {
    let body = MockBody::new().data(V1.task_event("COMPLETED")).forever("more", EACH);
    let ended = stream(body).await;
    assert_ended(&ended, "success/success", s(2));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_passes_and_is_always_ready_ends() {
    assert_total(&passing(MockBody::new().forever("x", EACH)).await, s(21));
}

#[tokio::test(start_paused = true)]
async fn large_frames_are_checked_more_often() {
    let frame = vec![b' '; 128 << 10];
    let ended = unary(MockBody::new().forever(frame, s(1))).await;
    assert_eq!(ended.word(), "timeout/total");
    assert!(ended.elapsed <= s(21 + 2), "{:?}", ended.elapsed);
}

#[tokio::test(start_paused = true)]
async fn trailers_without_end_end() {
    let begun = || MockBody::new().data(V1.task_event("WORKING"));
    assert_ended(&unary(MockBody::new().trailers_forever(EACH)).await, "timeout/idle", s(20));
    assert_ended(&stream(begun().trailers_forever(EACH)).await, "timeout/idle", s(21));
    assert_ended(&passing(MockBody::new().trailers_forever(EACH)).await, "timeout/idle", s(20));
}

#[tokio::test(start_paused = true)]
async fn a_unary_body_that_spends_the_budget_ends() {
    assert_total(&unary(MockBody::new().metered(" ", EACH)).await, s(21));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_spends_the_budget_ends() {
    let body = MockBody::new().data(V1.task_event("WORKING")).metered(V1.update_event("WORKING"), EACH);
    assert_total(&stream(body).await, s(22));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_passes_and_spends_the_budget_ends() {
    assert_total(&passing(MockBody::new().metered("x", EACH)).await, s(21));
}

/// Nothing comes of it, and each poll leaves the layer's own timer no budget.
#[tokio::test(start_paused = true)]
async fn a_unary_body_that_spends_the_budget_on_nothing_ends() {
    let ended = unary(MockBody::new().data("{").busy(EACH)).await;
    assert_eq!(ended.word(), "timeout/idle");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_spends_the_budget_on_nothing_ends() {
    let ended = stream(MockBody::new().busy(EACH)).await;
    assert_eq!(ended.word(), "timeout/first_event");
    let ended = stream(MockBody::new().data(V1.task_event("WORKING")).busy(EACH)).await;
    assert_eq!(ended.word(), "timeout/idle");
    let ended = stream(MockBody::new().data(V1.task_event("COMPLETED")).busy(EACH)).await;
    assert_eq!(ended.word(), "success/success");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_passes_and_spends_the_budget_on_nothing_ends() {
    assert_eq!(passing(MockBody::new().data("x").busy(EACH)).await.word(), "timeout/idle");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_spends_the_budget_on_no_head_ends() {
    let answer = Answer::of(async {
        let mut polls = 0;
        poll_fn(|cx| {
            polls += 1;
            assert!(polls < 20_000, "polled without end");
            tick(EACH, cx);
            spend_budget(cx);
            Poll::<()>::Pending
        })
        .await;
        unreachable!()
    });
    assert_eq!(call(with(limits()), V1.get(), answer).await.word(), "timeout/head");
}

/// The time that `CallLayer` takes for the request counts, and so does that in which the client is not ready.
#[tokio::test(start_paused = true)]
async fn total_counts_from_the_call_layer_on() {
    for dialect in [V1, V03, V02] {
        let notes = Notes::default();
        let limits = Limits::within(s(12)).head(s(10)).blocking_head(s(12)).ready(s(5));
        let ending = with(limits).observe(notes.clone()).build().unwrap();
        let peer = Peer::new([Answer::of(pending())]).ready_after(s(3));
        let mut stack = CallLayer::new().layer(ending.layer(peer));

        let (head, body) = dialect.send().into_parts();
        let (bytes, _) = crate::mock::frames_of(body).await;
        let slow = MockBody::new().wait(s(4)).data(bytes.concat());
        let request = Request::from_parts(head, slow);
        assert_eq!(request.method(), Method::POST);

        let ready = stack.ready().await.unwrap();
        let started = Instant::now();
        let ended = read(started, ready.call(request).await, notes).await;
        assert_eq!(ended.fate(), fate("timeout/total", s(12)), "{dialect:?}");
        assert_eq!(ended.error().elapsed(), s(12));
        assert_eq!(ended.notes.one().elapsed, s(12));
    }
}

/// Readiness that was waited for before the call was made is not the call's.
#[tokio::test(start_paused = true)]
async fn total_does_not_count_before_the_call() {
    let (mut stack, notes) = crate::mock::stack(with(limits()), Peer::new([Answer::never()]).ready_after(s(4)));
    let ready = stack.ready().await.unwrap();
    sleep(s(15)).await;
    let started = Instant::now();
    let ended = read(started, ready.call(V1.get()).await, notes).await;
    assert_eq!(ended.fate(), fate("timeout/head", s(20)));
}
