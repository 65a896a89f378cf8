//! A consumer that takes its time is not the peer's fault: gaps count while it polls, and nothing counts while data
//! waits for it.

use a2a_guard::{Limits, TerminalStateBody};
use bytes::Bytes;
use http_body_util::BodyExt;
use tokio::time::{Instant, sleep, timeout};
use tower::{Service, ServiceExt};

use crate::{
    mock::{Answer, Dialect, HOUR, MockBody, Notes, Peer, call, ms, s, stack},
    with,
};

use Dialect::V1;

const PING: &str = ": ping\n\n";

/// Short gaps, and a total of a day.
fn limits() -> Limits {
    let limits = Limits::default().total(24 * HOUR);
    limits.head(s(5)).blocking_head(s(5)).first_event(s(5)).idle(s(5)).event_gap(s(10))
}

async fn open(body: MockBody) -> (TerminalStateBody<MockBody, Notes>, Notes) {
    let (mut stack, notes) = stack(with(limits()), Peer::new([Answer::sse(body)]));
    let response = stack.ready().await.unwrap().call(V1.stream()).await.unwrap();
    (response.into_body(), notes)
}

async fn next(body: &mut TerminalStateBody<MockBody, Notes>) -> Result<Bytes, String> {
    match body.frame().await {
        Some(Ok(frame)) => Ok(frame.into_data().unwrap()),
        Some(Err(error)) => Err(format!("{}/{}", error.outcome(), error.class())),
        None => Err("end".into()),
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_that_waited_for_an_hour_is_taken() {
    let body = MockBody::new().data(V1.task_event("WORKING")).at(s(1)).data(V1.update_event("COMPLETED"));
    let (mut body, notes) = open(body).await;
    next(&mut body).await.unwrap();
    sleep(HOUR).await;
    assert_eq!(next(&mut body).await, Ok(V1.update_event("COMPLETED")));
    assert_eq!(notes.words(), ["success/success"]);
}

#[tokio::test(start_paused = true)]
async fn an_hour_between_polls_is_no_silence_of_the_peer() {
    let body = MockBody::new().data(V1.task_event("WORKING")).at(HOUR + s(4)).data(V1.update_event("COMPLETED"));
    let (mut body, _) = open(body).await;
    next(&mut body).await.unwrap();
    sleep(HOUR).await;
    assert_eq!(next(&mut body).await, Ok(V1.update_event("COMPLETED")));
}

#[tokio::test(start_paused = true)]
async fn an_hour_after_a_keep_alive_is_no_gap_between_events() {
    let body = MockBody::new()
        .data(V1.task_event("WORKING"))
        .at(s(4))
        .data(PING)
        .at(HOUR + s(8))
        .data(V1.update_event("COMPLETED"));
    let (mut body, _) = open(body).await;
    next(&mut body).await.unwrap();
    assert_eq!(next(&mut body).await, Ok(PING.into()));
    sleep(HOUR).await;
    assert_eq!(next(&mut body).await, Ok(V1.update_event("COMPLETED")));
}

#[tokio::test(start_paused = true)]
async fn keep_alives_that_waited_for_an_hour_are_no_gap_either() {
    let body = MockBody::new().data(V1.task_event("WORKING")).at(s(1)).data(PING).at(s(2)).data(PING);
    let (mut body, _) = open(body.at(2 * HOUR + s(3)).data(V1.update_event("COMPLETED"))).await;
    next(&mut body).await.unwrap();
    for _ in 0..2 {
        sleep(HOUR).await;
        assert_eq!(next(&mut body).await, Ok(PING.into()));
    }
    assert_eq!(next(&mut body).await, Ok(V1.update_event("COMPLETED")));
}

/// As in a `select!` whose other branch takes an hour.
#[tokio::test(start_paused = true)]
async fn a_consumer_that_leaves_after_a_pending_poll_finds_the_event_that_came() {
    let body = MockBody::new().data(V1.task_event("WORKING")).at(s(2)).data(V1.update_event("COMPLETED"));
    let (mut body, _) = open(body).await;
    next(&mut body).await.unwrap();
    assert!(timeout(s(1), body.frame()).await.is_err());
    sleep(HOUR).await;
    assert_eq!(next(&mut body).await, Ok(V1.update_event("COMPLETED")));
}

#[tokio::test(start_paused = true)]
async fn a_consumer_that_leaves_after_a_pending_poll_and_finds_a_keep_alive_sees_no_gap() {
    let body = MockBody::new().data(V1.task_event("WORKING")).at(s(2)).data(PING);
    let (mut body, _) = open(body.at(HOUR + s(4)).data(V1.update_event("COMPLETED"))).await;
    next(&mut body).await.unwrap();
    assert!(timeout(s(1), body.frame()).await.is_err());
    sleep(HOUR).await;
    assert_eq!(next(&mut body).await, Ok(PING.into()));
    assert_eq!(next(&mut body).await, Ok(V1.update_event("COMPLETED")));
}

#[tokio::test(start_paused = true)]
async fn the_gap_goes_on_where_it_stood() {
    let body = MockBody::new().data(V1.task_event("WORKING")).wait(s(4)).data(PING).every(s(1), PING, 1000);
    let (mut body, _) = open(body).await;
    next(&mut body).await.unwrap();
    next(&mut body).await.unwrap();
    sleep(HOUR).await;
    let back = Instant::now();
    let end = loop {
        if let Err(end) = next(&mut body).await {
            break end;
        }
    };
    assert_eq!((end.as_str(), back.elapsed()), ("timeout/event_gap", s(6)));
}

#[tokio::test(start_paused = true)]
async fn a_consumer_that_pauses_after_each_frame_still_sees_a_gap() {
    let body = MockBody::new().data(V1.task_event("WORKING")).every(s(1), PING, 1000);
    let (mut body, _) = open(body).await;
    let mut pings = 0;
    let end = loop {
        match next(&mut body).await {
            Ok(_) => pings += 1,
            Err(end) => break end,
        }
        sleep(ms(300)).await;
    };
    // The first frame is the event, and the last ping falls together with the bound.
    assert_eq!((end.as_str(), pings), ("timeout/event_gap", 1 + 9 + 1));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_is_silent_while_the_consumer_is_back_is_idle() {
    let body = MockBody::new().data(V1.task_event("WORKING")).hang();
    let (mut body, _) = open(body).await;
    next(&mut body).await.unwrap();
    sleep(HOUR).await;
    let back = Instant::now();
    assert_eq!(next(&mut body).await, Err("timeout/idle".into()));
    assert_eq!(back.elapsed(), s(5));
}

#[tokio::test(start_paused = true)]
async fn total_counts_while_the_consumer_is_away() {
    let body = MockBody::new().data(V1.task_event("WORKING")).hang();
    let (mut body, _) = open(body).await;
    next(&mut body).await.unwrap();
    sleep(25 * HOUR).await;
    assert_eq!(next(&mut body).await, Err("timeout/total".into()));
}

#[tokio::test(start_paused = true)]
async fn an_end_that_waited_for_an_hour_is_a_success() {
    let body = MockBody::new().data(V1.task_event("COMPLETED")).at(s(1)).data("more").reset();
    let (mut body, notes) = open(body).await;
    next(&mut body).await.unwrap();
    sleep(HOUR).await;
    assert_eq!(next(&mut body).await, Ok("more".into()));
    assert_eq!(next(&mut body).await, Err("end".into()));
    assert_eq!(notes.words(), ["success/success"]);
}

#[tokio::test(start_paused = true)]
async fn a_credential_that_came_while_the_consumer_was_away_is_noticed() {
    let body = MockBody::new()
        .data(V1.task_event("AUTH_REQUIRED"))
        .at(s(1))
        .data(V1.update_event("WORKING"))
        .at(HOUR)
        .data(V1.update_event("COMPLETED"));
    let (mut body, _) = open(body).await;
    next(&mut body).await.unwrap();
    sleep(HOUR).await;
    assert_eq!(next(&mut body).await, Ok(V1.update_event("WORKING")));
    assert_eq!(next(&mut body).await, Ok(V1.update_event("COMPLETED")));
}

#[tokio::test(start_paused = true)]
async fn an_hour_between_polls_is_no_silence_of_an_answer_that_passes() {
    let body = MockBody::new().data("one").at(HOUR + s(4)).data("two");
    let (mut stack, notes) = stack(with(limits()), Peer::new([Answer::new(200, "text/plain", body)]));
    let request = V1.request("GET", "/.well-known/agent-card.json", String::new());
    let mut body = stack.ready().await.unwrap().call(request).await.unwrap().into_body();
    assert_eq!(next(&mut body).await, Ok("one".into()));
    sleep(HOUR).await;
    assert_eq!(next(&mut body).await, Ok("two".into()));
    assert_eq!(notes.words(), ["success/success"]);
}

#[tokio::test(start_paused = true)]
async fn a_late_first_poll_of_the_future_takes_the_head_that_came() {
    let (mut stack, _) = stack(with(limits()), Peer::new([Answer::json(V1.result(&V1.bare_task("WORKING")))]));
    let future = stack.ready().await.unwrap().call(V1.get());
    sleep(HOUR).await;
    assert!(future.await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn nothing_of_this_holds_for_a_peer_that_sends_no_head() {
    let ended = call(with(limits()), V1.get(), Answer::never()).await;
    assert_eq!(ended.fate(), crate::fate("timeout/head", s(5)));
}

/// An empty frame is no reason to come back to the consumer, whose pause would then count as the peer's.
#[tokio::test(start_paused = true)]
async fn empty_frames_are_not_handed_on() {
    let body = MockBody::new().data(V1.task_event("WORKING")).at(s(1)).data("").at(s(2)).data("");
    let (mut body, _) = open(body.at(s(3)).data(V1.update_event("COMPLETED"))).await;
    assert_eq!(next(&mut body).await, Ok(V1.task_event("WORKING")));
    assert_eq!(next(&mut body).await, Ok(V1.update_event("COMPLETED")));
}

/// Nor by what passes unjudged.
#[tokio::test(start_paused = true)]
async fn nor_are_those_of_an_answer_that_passes() {
    let body = MockBody::new().data("a").at(s(1)).data("").at(s(2)).data("b");
    let (mut stack, _): (_, Notes) = stack(with(limits()), Peer::new([Answer::new(200, "image/png", body)]));
    let request = V1.request("GET", "/picture", String::new());
    let mut body = stack.ready().await.unwrap().call(request).await.unwrap().into_body();
    assert_eq!(next(&mut body).await, Ok("a".into()));
    assert_eq!(next(&mut body).await, Ok("b".into()));
}
