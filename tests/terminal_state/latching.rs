//! After the terminal event nothing changes the outcome, and all that comes passes.

use std::time::Duration;

use a2a_guard::Limits;

use crate::{
    fate,
    mock::{Answer, Dialect, Ended, MockBody, call, s},
    plain, with,
};

use Dialect::{Rest, V1, V03};

const TERMINAL: [&str; 4] = ["COMPLETED", "FAILED", "CANCELED", "REJECTED"];

/// What a peer does behind its terminal event, and which bytes of that pass.
fn endings(dialect: Dialect) -> Vec<(MockBody, String)> {
    let end = || MockBody::new().data(dialect.task_event("WORKING")).data(dialect.update_event("COMPLETED"));
    let error = format!("data: {}\n\n", dialect.error(-32603));
    let more = dialect.update_event("WORKING");
    let other = "data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n\n";
    let more_text = String::from_utf8(more.to_vec()).unwrap();
    vec![
        (end(), String::new()),
        (end().reset(), String::new()),
        (end().hang(), String::new()),
        (end().data("data: {\"half").reset(), "data: {\"half".into()),
        (end().data("data: {\"half"), "data: {\"half".into()),
        (end().data(error.clone()), error),
        (end().data("<html>garbage\n\n\0").data("\x7f"), "<html>garbage\n\n\0\x7f".into()),
        (end().data(more), more_text),
        (end().data(other), other.into()),
        (end().wait(s(1)).data(": bye\n\n").reset(), ": bye\n\n".into()),
    ]
}

#[tokio::test(start_paused = true)]
async fn whatever_follows_the_end_passes_and_the_call_is_a_success() {
    for dialect in [V1, V03, Rest] {
        for (body, more) in endings(dialect) {
            let ended = call(plain(), dialect.stream(), Answer::sse(body)).await;
            assert_eq!(ended.word(), "success/success", "{dialect:?} {more:?}");
            let expected = [&dialect.task_event("WORKING")[..], &dialect.update_event("COMPLETED"), more.as_bytes()];
            assert_eq!(ended.bytes(), expected.concat());
            let noted = ended.notes.one();
            assert_eq!((noted.word().as_str(), noted.events), ("success/success", 2), "{dialect:?} {more:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_follows_the_end_in_the_same_frame_passes_too() {
    for state in TERMINAL {
        let frame = [&V1.task_event(state)[..], b"garbage\0"].concat();
        let ended = call(plain(), V1.stream(), Answer::sse(MockBody::new().data(frame.clone()).reset())).await;
        assert_eq!(ended.word(), "success/success");
        assert_eq!(ended.bytes(), frame);
    }
}

#[tokio::test(start_paused = true)]
async fn no_cap_holds_behind_the_end() {
    let more = vec![b'x'; 10_000];
    let body = MockBody::new().data(V1.task_event("COMPLETED")).data(more);
    let ended = call(with(Limits::default().max_event(1000)), V1.stream(), Answer::sse(body)).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(ended.bytes().len(), V1.task_event("COMPLETED").len() + 10_000);
}

#[tokio::test(start_paused = true)]
async fn strictness_does_not_look_behind_the_end() {
    let body = MockBody::new().data(V1.task_event("COMPLETED")).data("data: {\"error\":null}\n\n");
    assert_eq!(call(plain().strict(true), V1.stream(), Answer::sse(body)).await.word(), "success/success");
}

#[tokio::test(start_paused = true)]
async fn a_message_is_an_end() {
    for dialect in [V1, V03, Rest] {
        let body = MockBody::new().data(dialect.event(&dialect.message())).hang();
        let ended = call(plain(), dialect.stream(), Answer::sse(body)).await;
        assert_eq!(ended.fate(), fate("success/success", s(2)), "{dialect:?}");
        assert_eq!(ended.notes.one().elapsed, Duration::ZERO);
    }
}

/// The outcome is that of the terminal event, not of the head, and not of the last byte.
#[tokio::test(start_paused = true)]
async fn a_stream_is_a_success_when_its_terminal_event_passes() {
    let body = MockBody::new()
        .wait(s(1))
        .data(V1.task_event("WORKING"))
        .wait(s(4))
        .data(V1.update_event("COMPLETED"))
        .wait(s(1))
        .data(": bye\n\n");
    let ended = call(plain(), V1.stream(), Answer::sse(body)).await;
    assert_eq!(ended.fate(), fate("success/success", s(6)));
    assert_eq!(ended.notes.one().elapsed, s(5));
}

async fn waiting(state: &str, body: impl FnOnce(MockBody) -> MockBody) -> Ended {
    call(plain(), V1.stream(), Answer::sse(body(MockBody::new().data(V1.task_event(state))))).await
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_may_end_its_stream() {
    for state in ["INPUT_REQUIRED", "AUTH_REQUIRED"] {
        for ended in [
            waiting(state, |body| body).await,
            waiting(state, MockBody::reset).await,
            waiting(state, MockBody::hang).await,
            waiting(state, |body| body.data(": bye\n\n")).await,
        ] {
            assert_eq!(ended.word(), "success/success", "{state}");
            assert_eq!(ended.notes.one().state, Some(V1.state(state).as_str()));
        }
    }
}

/// A peer that goes away within an event does so by a clean end, by a reset, or by silence: the task waits all the
/// same.
#[tokio::test(start_paused = true)]
async fn a_task_that_waits_may_end_its_stream_within_an_event() {
    let half = |body: MockBody| body.data("data: {\"half");
    for state in ["INPUT_REQUIRED", "AUTH_REQUIRED"] {
        let by_reset = waiting(state, |body| half(body).reset()).await;
        let by_silence = waiting(state, |body| half(body).hang()).await;
        let by_end = waiting(state, half).await;
        let words = [by_reset.word(), by_silence.word(), by_end.word()];
        assert_eq!(words, ["success/success"; 3], "{state}");
    }
}

/// Waiting is no end: what the peer says next is still judged.
#[tokio::test(start_paused = true)]
async fn a_task_that_waits_can_still_fail() {
    let error = format!("data: {}\n\n", V1.error(-32603));
    for state in ["INPUT_REQUIRED", "AUTH_REQUIRED"] {
        let ended = waiting(state, |body| body.data(error.clone())).await;
        assert_eq!(ended.word(), "refused/peer_error", "{state}");
        let ended = waiting(state, |body| body.data("data: nonsense\n\n")).await;
        assert_eq!(ended.word(), "broken/malformed", "{state}");
        let ended = waiting(state, |body| body.data(V1.update_event("WORKING"))).await;
        assert_eq!(ended.word(), "broken/truncated", "{state}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_got_its_input_in_time_goes_on() {
    let ended = waiting("INPUT_REQUIRED", |body| {
        body.wait(s(1)).data(V1.update_event("WORKING")).wait(s(60)).data(V1.update_event("COMPLETED"))
    })
    .await;
    assert_eq!(ended.fate(), fate("success/success", s(61)));
    assert_eq!(ended.notes.one().events, 3);
}

/// Half a stream is never a success, however it ends.
#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_before_its_task_is_truncated() {
    for dialect in Dialect::ALL {
        let begun = || MockBody::new().data(dialect.task_event("SUBMITTED")).data(dialect.update_event("WORKING"));
        let endings = [begun(), begun().reset(), begun().data(": bye\n\n"), begun().data("data: {\"half").reset()];
        for body in endings {
            let ended = call(plain(), dialect.stream(), Answer::sse(body)).await;
            assert_eq!(ended.word(), "broken/truncated", "{dialect:?}");
            let error = ended.error();
            assert_eq!((error.events(), error.task_id()), (2, Some("task-1")));
            assert_eq!(error.task_state().unwrap().as_str(), dialect.state("WORKING"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_cut_before_its_first_event_is_truncated_too() {
    for body in
        [MockBody::new().reset(), MockBody::new().data(": hi\n\n").reset(), MockBody::new().data("data: {").reset()]
    {
        let ended = call(plain(), V1.stream(), Answer::sse(body)).await;
        assert_eq!(ended.word(), "broken/truncated");
        assert!(ended.status.is_none(), "the caller gets no head of a stream without an event");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_event_is_a_refusal_wherever_it_stands() {
    for dialect in Dialect::ALL {
        let error = format!("data: {}\n\n", dialect.error(-32603));
        let ended = call(plain(), dialect.stream(), Answer::sse(MockBody::new().data(error.clone()))).await;
        assert_eq!((ended.word().as_str(), ended.status), ("refused/peer_error", None), "{dialect:?}");

        let body = MockBody::new().data(dialect.task_event("WORKING")).data(error.clone()).data("more");
        let ended = call(plain(), dialect.stream(), Answer::sse(body)).await;
        assert_eq!(ended.word(), "refused/peer_error", "{dialect:?}");
        assert_eq!(ended.bytes(), dialect.task_event("WORKING"));
        let response = ended.error().response().unwrap();
        assert_eq!((&response.body[..], response.status.as_u16()), (error.as_bytes(), 200));
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_event_keeps_the_head_of_its_stream() {
    let error = format!("data: {}\n\n", V1.error(-32603));
    for body in [MockBody::new().data(error.clone()), MockBody::new().data(V1.task_event("WORKING")).data(error)] {
        let ended = call(plain(), V1.stream(), Answer::sse(body).header("x-request-id", "7")).await;
        let response = ended.error().response().unwrap();
        assert_eq!(response.headers.get("x-request-id").unwrap(), "7");
    }
}

/// What stands before an error, in one frame with it, is handed on first.
#[tokio::test(start_paused = true)]
async fn good_events_pass_before_the_one_that_fails() {
    let good = V1.task_event("WORKING");
    for bad in [format!("data: {}\n\n", V1.error(-32603)), "data: nonsense\n\n".into(), "data: [1]\n\n".into()] {
        let frame = [&good[..], bad.as_bytes(), b"data: never"].concat();
        let ended = call(plain(), V1.stream(), Answer::sse(MockBody::new().data(frame))).await;
        assert!(ended.error.is_some());
        assert_eq!(ended.bytes(), good, "{bad}");
    }
}
