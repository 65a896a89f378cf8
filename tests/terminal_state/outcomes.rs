//! Each call has exactly one outcome, however and wherever it ends.

use std::time::Duration;

use a2a_guard::{Limits, TerminalStateBody};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tokio::time::{sleep, timeout};
use tower::{Service, ServiceExt};

use crate::{
    mock::{Answer, Dialect, MockBody, Noted, Notes, Peer, call, s, stack},
    plain, with,
};

use Dialect::{Rest, V1};

type Answered = Response<TerminalStateBody<MockBody, Notes>>;

async fn respond(request: Request<Full<Bytes>>, answer: Answer) -> (Answered, Notes) {
    let (mut stack, notes) = stack(plain(), Peer::new([answer]));
    (stack.ready().await.unwrap().call(request).await.unwrap(), notes)
}

/// Drops the call's future after it has been polled for a while.
async fn abandoned_after(time: Duration, request: Request<Full<Bytes>>, answer: Answer) -> Noted {
    let (mut stack, notes) = stack(plain(), Peer::new([answer]));
    let future = stack.ready().await.unwrap().call(request);
    assert!(timeout(time, future).await.is_err(), "it was over before it was abandoned");
    notes.one()
}

fn json(body: MockBody) -> Answer {
    Answer::new(200, "application/json", body)
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_never_polled_is_abandoned() {
    let (mut stack, notes) = stack(plain(), Peer::new([Answer::never()]));
    drop(stack.ready().await.unwrap().call(V1.get()));
    assert_eq!(notes.words(), ["abandoned/abandoned"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_before_its_head_is_abandoned() {
    let noted = abandoned_after(s(3), V1.get(), Answer::never()).await;
    assert_eq!((noted.word().as_str(), noted.elapsed, noted.status), ("abandoned/abandoned", s(3), None));
    assert_eq!(noted.task_id, None);
    assert!(!noted.error);
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_in_its_body_is_abandoned() {
    let noted = abandoned_after(s(3), V1.get(), json(MockBody::new().data("{").hang())).await;
    assert_eq!((noted.word().as_str(), noted.status.unwrap().as_u16()), ("abandoned/abandoned", 200));
}

/// So that whoever reads the outcome knows what to cancel.
#[tokio::test(start_paused = true)]
async fn a_call_dropped_in_its_body_names_the_task_that_came() {
    let document = V1.result(&V1.task("WORKING"));
    for cut in [document.len() - 1, document.len()] {
        let noted =
            abandoned_after(s(3), V1.send(), json(MockBody::new().data(document[..cut].to_owned()).hang())).await;
        assert_eq!((noted.word().as_str(), noted.task_id.as_deref()), ("abandoned/abandoned", Some("task-1")));
        assert_eq!(noted.state, Some("TASK_STATE_WORKING"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_tells_when_the_first_event_came() {
    let body = MockBody::new().wait(s(2)).data(V1.task_event("WORKING")).wait(s(3)).data(V1.update_event("COMPLETED"));
    let ended = call(plain(), V1.stream(), Answer::sse(body)).await;
    let noted = ended.notes.one();
    assert_eq!((noted.events, noted.first_event, noted.elapsed), (2, Some(s(2)), s(5)));
    let ended = call(plain(), V1.get(), Answer::json(V1.result(&V1.bare_task("WORKING")))).await;
    assert_eq!(ended.notes.one().first_event, None);
}

#[tokio::test(start_paused = true)]
async fn a_stream_dropped_before_its_first_event_is_abandoned() {
    for body in [MockBody::new().hang(), MockBody::new().data(": hi\n\ndata: {").hang()] {
        let noted = abandoned_after(s(3), V1.stream(), Answer::sse(body)).await;
        assert_eq!((noted.word().as_str(), noted.events), ("abandoned/abandoned", 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_dropped_with_its_head_is_abandoned() {
    let body = MockBody::of([V1.task_event("WORKING"), V1.update_event("COMPLETED")]);
    let (response, notes) = respond(V1.stream(), Answer::sse(body)).await;
    assert!(notes.all().is_empty(), "a head is no success");
    drop(response);
    let noted = notes.one();
    assert_eq!((noted.word().as_str(), noted.events), ("abandoned/abandoned", 1));
    assert_eq!((noted.task_id.as_deref(), noted.state), (Some("task-1"), Some("TASK_STATE_WORKING")));
}

#[tokio::test(start_paused = true)]
async fn a_stream_dropped_between_events_is_abandoned() {
    let body = MockBody::of([V1.task_event("WORKING"), V1.update_event("WORKING")]).hang();
    let (response, notes) = respond(V1.stream(), Answer::sse(body)).await;
    let mut body = response.into_body();
    body.frame().await.unwrap().unwrap();
    body.frame().await.unwrap().unwrap();
    assert!(timeout(s(1), body.frame()).await.is_err());
    drop(body);
    let noted = notes.one();
    assert_eq!((noted.word().as_str(), noted.events, noted.elapsed), ("abandoned/abandoned", 2, s(1)));
}

#[tokio::test(start_paused = true)]
async fn a_stream_dropped_after_its_terminal_event_is_a_success() {
    let body = MockBody::of([V1.task_event("WORKING"), V1.update_event("COMPLETED")]).hang();
    let (response, notes) = respond(V1.stream(), Answer::sse(body)).await;
    let mut body = response.into_body();
    body.frame().await.unwrap().unwrap();
    assert!(notes.all().is_empty());
    body.frame().await.unwrap().unwrap();
    assert_eq!(notes.words(), ["success/success"]);
    drop(body);
    assert_eq!(notes.words(), ["success/success"]);
}

/// The client's body is let go with the end of the stream, though the caller holds on to its own.
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_over_holds_on_to_no_connection() {
    let rest = Bytes::from(b": more\n".to_vec());
    let body = MockBody::of([V1.task_event("COMPLETED")]).hang().data(rest.clone());
    let (response, _) = respond(V1.stream(), Answer::sse(body)).await;
    let mut body = response.into_body();
    body.frame().await.unwrap().unwrap();
    assert!(!rest.is_unique());
    assert!(body.frame().await.is_none());
    assert!(rest.is_unique());
    drop(body);
}

#[tokio::test(start_paused = true)]
async fn a_stream_whose_first_event_is_terminal_is_a_success_with_its_head() {
    let (response, notes) = respond(V1.stream(), Answer::sse(MockBody::of([V1.task_event("COMPLETED")]).hang())).await;
    assert_eq!(notes.words(), ["success/success"]);
    drop(response);
    assert_eq!(notes.words(), ["success/success"]);
}

/// The task waits for its caller, who has all there is: that is no call given up.
#[tokio::test(start_paused = true)]
async fn a_stream_dropped_while_its_task_waits_is_a_success() {
    for state in ["INPUT_REQUIRED", "AUTH_REQUIRED"] {
        let (response, notes) = respond(V1.stream(), Answer::sse(MockBody::of([V1.task_event(state)]).hang())).await;
        let mut body = response.into_body();
        body.frame().await.unwrap().unwrap();
        drop(body);
        let noted = notes.one();
        assert_eq!((noted.word().as_str(), noted.state), ("success/success", Some(V1.state(state).as_str())));
    }
}

#[tokio::test(start_paused = true)]
async fn a_unary_success_counts_when_it_is_judged() {
    let (response, notes) = respond(V1.get(), Answer::json(V1.result(&V1.bare_task("WORKING")))).await;
    let noted = notes.one();
    assert_eq!((noted.word().as_str(), noted.status.unwrap().as_u16(), noted.error), ("success/success", 200, false));
    assert_eq!((noted.task_id.as_deref(), noted.state), (Some("task-1"), Some("TASK_STATE_WORKING")));
    drop(response);
    notes.one();
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_nobody_reads_counts_once() {
    let body = MockBody::of([V1.task_event("WORKING")]).data("data: nonsense\n\n");
    let (response, notes) = respond(V1.stream(), Answer::sse(body)).await;
    let mut body = response.into_body();
    while body.frame().await.is_some_and(|frame| frame.is_ok()) {}
    assert_eq!(notes.words(), ["broken/malformed"]);
    assert!(body.frame().await.is_none());
    drop(body);
    assert_eq!(notes.words(), ["broken/malformed"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_passes_and_is_dropped_is_abandoned() {
    let request = || V1.request("GET", "/picture", String::new());
    let answer = |body| Answer::new(200, "image/png", body);
    let (response, notes) = respond(request(), answer(MockBody::new().data("x").data("y"))).await;
    assert!(notes.all().is_empty());
    drop(response);
    assert_eq!(notes.words(), ["abandoned/abandoned"]);
}

/// Who was told that a body is at its end need not ask for it once more.
#[tokio::test(start_paused = true)]
async fn an_answer_that_passes_is_a_success_with_its_last_frame() {
    let request = || V1.request("GET", "/picture", String::new());
    let answer = |body| Answer::new(200, "image/png", body);
    let (response, notes) = respond(request(), answer(MockBody::new().data("x"))).await;
    let mut body = response.into_body();
    body.frame().await.unwrap().unwrap();
    assert_eq!(notes.words(), ["success/success"]);
    drop(body);
    let (response, notes) = respond(request(), answer(MockBody::new())).await;
    drop(response);
    assert_eq!(notes.words(), ["success/success"]);
}

/// Every kind of ending, each with the one outcome that it has.
#[tokio::test(start_paused = true)]
async fn every_ending_has_one_outcome_and_it_is_what_the_caller_got() {
    let sse = |body| Answer::sse(body);
    let begun = || MockBody::of([V1.task_event("WORKING")]);
    let done = || MockBody::of([V1.task_event("WORKING"), V1.update_event("COMPLETED")]);
    let endings = [
        (V1.get(), Answer::json(V1.result(&V1.bare_task("WORKING")))),
        (V1.get(), Answer::json(V1.error(-32001))),
        (V1.get(), Answer::json("{")),
        (V1.get(), Answer::never()),
        (V1.get(), Answer::lost(std::io::ErrorKind::ConnectionReset)),
        (V1.get(), Answer::lost(std::io::ErrorKind::ConnectionRefused)),
        (V1.get(), json(MockBody::new().data("{").reset())),
        (V1.get(), json(MockBody::new().data("{").hang())),
        (V1.get(), Answer::new(500, "text/html", MockBody::new().data("<html>"))),
        (V1.get(), Answer::new(401, "text/html", MockBody::new())),
        (Rest.get(), Answer::new(404, "text/html", MockBody::new())),
        (V1.stream(), sse(done())),
        (V1.stream(), sse(done().reset())),
        (V1.stream(), sse(done().hang())),
        (V1.stream(), sse(begun())),
        (V1.stream(), sse(begun().reset())),
        (V1.stream(), sse(begun().hang())),
        (V1.stream(), sse(MockBody::new().hang())),
        (V1.stream(), sse(begun().data(format!("data: {}\n\n", V1.error(-32603))))),
        (V1.stream(), Answer::json(V1.result(&V1.task("COMPLETED")))),
        (V1.request("GET", "/x", String::new()), Answer::new(200, "text/plain", MockBody::new().data("x").reset())),
        (V1.request("GET", "/x", String::new()), Answer::new(200, "text/plain", MockBody::new().data("x").hang())),
        (V1.request("GET", "/x", String::new()), Answer::new(200, "text/plain", MockBody::new().data("x"))),
    ];
    for (number, (request, answer)) in endings.into_iter().enumerate() {
        let ended = call(plain(), request, answer).await;
        let noted = ended.notes.one();
        assert_eq!(noted.word(), ended.word(), "{number}");
        assert_eq!(noted.error, ended.error.is_some(), "{number}");
        if let Some(error) = &ended.error {
            assert_eq!(noted.elapsed, error.elapsed(), "{number}");
            assert_eq!((noted.events, noted.task_id.as_deref()), (error.events(), error.task_id()), "{number}");
            assert_eq!(noted.status, error.http_status(), "{number}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_service_have_outcomes_of_their_own() {
    let fine = || Answer::json(V1.result(&V1.bare_task("WORKING")));
    let (mut stack, notes) = stack(with(Limits::default()), Peer::new([fine(), Answer::json("{"), Answer::never()]));
    let one = stack.ready().await.unwrap().call(V1.get());
    let two = stack.ready().await.unwrap().call(V1.get());
    let three = stack.ready().await.unwrap().call(V1.get());
    let (one, two) = (one.await, two.await);
    assert!(one.is_ok() && two.is_err());
    drop(three);
    sleep(s(1)).await;
    assert_eq!(notes.words(), ["success/success", "broken/malformed", "abandoned/abandoned"]);
}

#[tokio::test(start_paused = true)]
async fn a_finished_future_is_done_with() {
    let (mut stack, notes) = stack(plain(), Peer::new([Answer::json("{")]));
    let mut future = Box::pin(stack.ready().await.unwrap().call(V1.get()));
    assert!(future.as_mut().await.is_err());
    // Polling it again is a mistake of the caller's, and nobody else pays for it.
    assert!(timeout(s(1), future.as_mut()).await.is_err());
    drop(future);
    notes.one();
}

/// The beginning of an id is another task's.
#[tokio::test(start_paused = true)]
async fn an_id_that_is_too_long_to_keep_is_not_told() {
    for dialect in Dialect::ALL {
        for (length, is_told) in [(1024, true), (1025, false)] {
            let id = "x".repeat(length);
            let answer = dialect.result(&dialect.task("WORKING")).replace("task-1", &id);
            let noted = call(plain(), dialect.send(), Answer::json(answer)).await.notes.one();
            assert_eq!((noted.word().as_str(), noted.task_id), ("success/success", is_told.then_some(id)));
        }
    }
}

/// Whoever lets go before the answer is whole got nothing of it, whatever its task waits for.
#[tokio::test(start_paused = true)]
async fn a_unary_answer_dropped_before_its_end_is_abandoned_whatever_its_task_waits_for() {
    for state in ["WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED"] {
        let whole = V1.result(&V1.task(state));
        let body = MockBody::new().data(whole[..whole.len() - 2].to_owned()).hang();
        let (mut stack, notes) = stack(plain(), Peer::new([Answer::new(200, "application/json", body)]));
        let call = stack.ready().await.unwrap().call(V1.send());
        assert!(tokio::time::timeout(s(1), call).await.is_err());
        let noted = notes.one();
        assert_eq!((noted.word().as_str(), noted.state), ("abandoned/abandoned", Some(V1.state(state).as_str())));
    }
}
