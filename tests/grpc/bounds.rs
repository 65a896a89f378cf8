//! The bounds of time, of streams and of unary calls.

use std::time::Duration;

use a2a_guard::{Limits, Operation};

use crate::{
    dialect::{
        AUTH_REQUIRED, COMPLETED, INPUT_REQUIRED, WORKING, answer, artifact, get, ok, send, stream, task, update,
    },
    fate,
    mock::{Answer, HOUR, MockBody, call, ms, s},
    plain, with,
};

fn limits() -> Limits {
    Limits::default()
        .head(s(3))
        .blocking_head(s(7))
        .first_event(s(5))
        .idle(s(11))
        .event_gap(s(40))
        .linger(s(2))
        .auth_wait(s(60))
        .total(s(200))
}

#[tokio::test(start_paused = true)]
async fn each_phase_has_its_bound() {
    let event = || MockBody::new().data(task(WORKING));
    for (request, answer, word, elapsed) in [
        (get(), Answer::never(), "timeout/head", s(3)),
        (send(), Answer::never(), "timeout/head", s(7)),
        (stream(), Answer::never(), "timeout/head", s(7)),
        (get(), answer(MockBody::new().hang()), "timeout/idle", s(11)),
        (send(), answer(MockBody::new().data(task(COMPLETED)).hang()), "timeout/idle", s(11)),
        (stream(), answer(MockBody::new().hang()), "timeout/first_event", s(5)),
        (stream(), answer(MockBody::new().data(task(WORKING).slice(..9)).hang()), "timeout/first_event", s(5)),
        (stream(), answer(event().hang()), "timeout/idle", s(11)),
        // Bytes of one message without an end.
        (stream(), answer(event().data(&b"\0\0\x0f\xff\xff"[..]).every(s(4), "x", 1000)), "timeout/event_gap", s(40)),
    ] {
        let ended = call(with(limits()), request, answer).await;
        assert_eq!(ended.fate(), fate(word, elapsed));
        assert_eq!(ended.notes.words(), [word]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_total_ends_a_stream_that_goes_on_for_ever() {
    let body = (0..1000).fold(MockBody::new().data(task(WORKING)), |body, _| body.wait(s(4)).data(artifact("more")));
    let ended = call(with(limits()), stream(), answer(body)).await;
    assert_eq!(ended.fate(), fate("timeout/total", s(200)));
    assert_eq!(
        ended.error().next_operations(),
        [Operation::GetTask, Operation::SubscribeToTask, Operation::CancelTask]
    );
    // Also where it is always ready, and no timer is ever polled.
    let body = MockBody::new().data(task(WORKING)).forever(artifact("more"), ms(50));
    let ended = call(with(limits()), stream(), answer(body)).await;
    assert_eq!(ended.word(), "timeout/total");
    assert!(ended.elapsed < s(205), "{:?}", ended.elapsed);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_not_closed_is_ended_as_the_success_it_is() {
    for (state, after) in [(COMPLETED, s(2)), (INPUT_REQUIRED, s(2)), (AUTH_REQUIRED, s(60))] {
        let body = MockBody::of([task(WORKING), update(state)]).hang();
        let ended = call(with(limits()), stream(), answer(body)).await;
        assert_eq!(ended.fate(), fate("success/success", after));
        assert_eq!(ended.bytes(), [task(WORKING), update(state)].concat());
        assert_eq!(ended.trailers.unwrap()["grpc-status"], "0");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_resumes_is_waited_for() {
    let body = MockBody::of([task(WORKING), update(AUTH_REQUIRED)])
        .wait(s(50))
        .data(update(WORKING))
        .wait(s(10))
        .data(update(COMPLETED))
        .trailers("grpc-status", "0");
    let ended = call(with(limits()), stream(), answer(body)).await;
    assert_eq!(ended.fate(), fate("success/success", s(60)));
    let body = MockBody::of([task(WORKING), update(AUTH_REQUIRED), update(WORKING)]).hang();
    let ended = call(with(limits()), stream(), answer(body)).await;
    assert_eq!(ended.fate(), fate("timeout/idle", s(11)));
}

#[tokio::test(start_paused = true)]
async fn messages_of_any_length_may_take_their_time() {
    let slow = |body: MockBody, frames: bytes::Bytes| {
        frames.chunks(3).fold(body, |body, piece| body.wait(s(1)).data(piece.to_vec()))
    };
    let whole = task(COMPLETED);
    let time = Duration::from_secs(whole.chunks(3).count() as u64);
    let ended = call(with(limits()), send(), answer(slow(MockBody::new(), whole).trailers("grpc-status", "0"))).await;
    assert_eq!(ended.fate(), fate("success/success", time));
}

#[tokio::test(start_paused = true)]
async fn a_consumer_that_pauses_is_not_failed() {
    use http_body_util::BodyExt;
    use tower::{Service, ServiceExt};

    let body = ok(&[task(WORKING), artifact("one"), update(COMPLETED)]);
    let (mut stack, notes) = crate::mock::stack(with(limits()), crate::mock::Peer::new([answer(body)]));
    let mut body = stack.ready().await.unwrap().call(stream()).await.unwrap().into_body();
    while let Some(frame) = body.frame().await {
        frame.unwrap();
        tokio::time::advance(s(60)).await;
    }
    assert_eq!(notes.words(), ["success/success"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_dropped_is_abandoned_once() {
    use http_body_util::BodyExt;
    use tower::{Service, ServiceExt};

    let body = MockBody::new().data(task(WORKING)).hang();
    let (mut stack, notes) = crate::mock::stack(plain(), crate::mock::Peer::new([answer(body)]));
    let mut body = stack.ready().await.unwrap().call(stream()).await.unwrap().into_body();
    body.frame().await.unwrap().unwrap();
    assert!(tokio::time::timeout(s(5), body.frame()).await.is_err());
    drop(body);
    let noted = notes.one();
    assert_eq!((noted.word().as_str(), noted.task_id.as_deref()), ("abandoned/abandoned", Some("task-1")));
    assert!(noted.elapsed < HOUR);
}
