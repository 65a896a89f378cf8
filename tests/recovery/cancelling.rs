//! `cancel_on_failure` and `cancel_on_drop`: a task that nobody waits for any more is canceled.

use std::io::ErrorKind;

use a2a_guard::{Recovery, TerminalStateLayer};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tower::{Service, ServiceExt};

use crate::{
    Aside, Asked, asked, limits,
    mock::{Answer, Dialect, MockBody, Notes, Peer, Stack, s, stack},
    recovered, settle,
};

use Dialect::{Rest, V1, V02, V03};

fn begun(dialect: Dialect) -> MockBody {
    MockBody::of([dialect.task_event("WORKING")])
}

fn done() -> Answer {
    Answer::json("{}")
}

/// A stack whose calls cancel on drop, and the client that does it.
fn dropping(answers: impl IntoIterator<Item = Answer>, own: impl IntoIterator<Item = Answer>) -> (Stack, Notes, Aside) {
    let aside: Aside = Peer::new(own);
    let recovery = Recovery::new(aside.clone()).cancel_on_drop();
    let layer = TerminalStateLayer::builder().limits(limits()).recovery(recovery);
    let (stack, notes) = stack(layer, Peer::new(answers));
    (stack, notes, aside)
}

/// Drops a stream after its first event.
async fn drop_stream(stack: &mut Stack, request: Request<Full<Bytes>>) {
    let mut body = stack.ready().await.unwrap().call(request).await.unwrap().into_body();
    body.frame().await.unwrap().unwrap();
    drop(body);
    settle().await;
}

#[tokio::test(start_paused = true)]
async fn a_dropped_stream_cancels_its_task_as_the_dialect_has_it() {
    let json_rpc = |method: &str| {
        let body = json!({"jsonrpc": "2.0", "id": "a2a-guard", "method": method, "params": {"id": "task-1"}});
        Asked::new("POST", "https://agent.example.com/a2a", body)
    };
    let rows = [
        (V1, json_rpc("CancelTask")),
        (V03, json_rpc("tasks/cancel")),
        (V02, json_rpc("tasks/cancel")),
        (Rest, Asked::new("POST", "https://agent.example.com/tasks/task-1:cancel", Value::Null)),
    ];
    for (dialect, expected) in rows {
        let (mut stack, notes, aside) = dropping([Answer::sse(begun(dialect).hang())], [done()]);
        drop_stream(&mut stack, dialect.stream()).await;
        let [own] = <[_; 1]>::try_from(aside.requests()).unwrap();
        assert_eq!(asked(own).await, expected);
        assert_eq!(notes.words(), ["abandoned/abandoned"]);
    }
}

/// Each by its own option.
#[tokio::test(start_paused = true)]
async fn who_asked_to_cancel_on_failure_did_not_ask_to_cancel_on_drop() {
    let aside: Aside = Peer::new([done()]);
    let recovery = Recovery::new(aside.clone()).cancel_on_failure();
    let layer = TerminalStateLayer::builder().limits(limits()).recovery(recovery);
    let (mut stack, notes) = stack(layer, Peer::new([Answer::sse(begun(V1).hang())]));
    drop_stream(&mut stack, V1.stream()).await;
    assert_eq!((aside.requests().len(), notes.words()), (0, vec!["abandoned/abandoned".into()]));
}

#[tokio::test(start_paused = true)]
async fn the_cancellation_carries_the_calls_headers() {
    let (mut stack, _, aside) = dropping([Answer::sse(begun(V1).hang())], [done()]);
    let mut request = V1.stream();
    request.headers_mut().insert("authorization", "Bearer t".parse().unwrap());
    request.headers_mut().insert("x-tenant", "acme".parse().unwrap());
    drop_stream(&mut stack, request).await;
    let [own] = <[_; 1]>::try_from(aside.requests()).unwrap();
    assert_eq!(
        (own.headers()["authorization"].as_bytes(), own.headers()["x-tenant"].as_bytes()),
        (&b"Bearer t"[..], &b"acme"[..])
    );
}

#[tokio::test(start_paused = true)]
async fn a_future_dropped_before_its_head_cancels_the_task_that_the_request_named() {
    let (mut stack, notes, aside) = dropping([Answer::never()], [done()]);
    let message = V1.rpc("SendMessage", r#""message":{"taskId":"task-9","parts":[]}"#);
    assert!(timeout(s(1), stack.ready().await.unwrap().call(message)).await.is_err());
    settle().await;
    let [own] = <[_; 1]>::try_from(aside.requests()).unwrap();
    assert_eq!(asked(own).await.body["params"]["id"], "task-9");
    assert_eq!(notes.words(), ["abandoned/abandoned"]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_nobody_knows_is_not_canceled() {
    let (mut stack, notes, aside) = dropping([Answer::never(), Answer::sse(MockBody::new().hang())], []);
    for request in [V1.send(), V1.stream()] {
        assert!(timeout(s(1), stack.ready().await.unwrap().call(request)).await.is_err());
    }
    settle().await;
    assert!(aside.requests().is_empty());
    assert_eq!(notes.words(), ["abandoned/abandoned"; 2]);
}

/// Reading a task, or a card, and dropping that leaves nothing behind.
#[tokio::test(start_paused = true)]
async fn a_dropped_read_cancels_nothing() {
    let (mut stack, _, aside) = dropping([Answer::never(), Answer::never()], []);
    for request in [V1.get(), Rest.get()] {
        assert!(timeout(s(1), stack.ready().await.unwrap().call(request)).await.is_err());
    }
    settle().await;
    assert!(aside.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_task_that_ended_is_not_canceled() {
    for state in ["COMPLETED", "FAILED"] {
        let (mut stack, notes, aside) = dropping([Answer::sse(MockBody::of([V1.task_event(state)]).hang())], []);
        drop_stream(&mut stack, V1.stream()).await;
        assert!(aside.requests().is_empty());
        assert_eq!(notes.words(), ["success/success"]);
    }
}

/// It waits for this very caller, who stops reading in order to answer it.
#[tokio::test(start_paused = true)]
async fn a_task_that_waits_for_its_caller_is_not_canceled() {
    for state in ["INPUT_REQUIRED", "AUTH_REQUIRED"] {
        let (mut stack, _, aside) = dropping([Answer::sse(MockBody::of([V1.task_event(state)]).hang())], [done()]);
        drop_stream(&mut stack, V1.stream()).await;
        assert!(aside.requests().is_empty(), "{state}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_success_cancels_nothing() {
    let (mut stack, notes, aside) = dropping([Answer::json(V1.result(&V1.task("WORKING")))], []);
    drop(stack.ready().await.unwrap().call(V1.send()).await.unwrap());
    settle().await;
    assert!(aside.requests().is_empty());
    assert_eq!(notes.words(), ["success/success"]);
}

/// `cancel_on_drop` is not `cancel_on_failure`.
#[tokio::test(start_paused = true)]
async fn a_failed_call_that_is_dropped_cancels_nothing() {
    let (mut stack, notes, aside) = dropping([Answer::sse(begun(V1))], []);
    let mut body = stack.ready().await.unwrap().call(V1.stream()).await.unwrap().into_body();
    while body.frame().await.is_some_and(|frame| frame.is_ok()) {}
    drop(body);
    settle().await;
    assert!(aside.requests().is_empty());
    assert_eq!(notes.words(), ["broken/truncated"]);
}

#[test]
fn without_a_runtime_a_drop_does_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (body, aside) = runtime.block_on(async {
        let (mut stack, _, aside) = dropping([Answer::sse(begun(V1).hang())], []);
        (stack.ready().await.unwrap().call(V1.stream()).await.unwrap().into_body(), aside)
    });
    drop(body);
    assert!(aside.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn cancellations_are_bounded_in_number_and_time() {
    let aside: Aside = Peer::new([Answer::never(), Answer::never(), done()]);
    let recovery = Recovery::new(aside.clone()).cancel_on_drop().max_in_flight(2).timeout(s(9));
    let layer = TerminalStateLayer::builder().limits(limits()).recovery(recovery);
    let streams = (0..5).map(|_| Answer::sse(begun(V1).hang()));
    let (mut stack, _) = stack(layer, Peer::new(streams));
    for _ in 0..4 {
        drop_stream(&mut stack, V1.stream()).await;
    }
    assert_eq!(aside.requests().len(), 2, "two places, both taken");
    sleep(s(8)).await;
    assert_eq!(aside.requests().len(), 0);
    sleep(s(2)).await;
    drop_stream(&mut stack, V1.stream()).await;
    assert_eq!(aside.requests().len(), 1, "their time is over");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_not_ready_holds_its_place_for_the_same_time() {
    let aside = Aside::new([done()]).ready_after(s(20));
    let recovery = Recovery::new(aside.clone()).cancel_on_drop().max_in_flight(1).timeout(s(9));
    let layer = TerminalStateLayer::builder().limits(limits()).recovery(recovery);
    let (mut stack, _) = stack(layer, Peer::new([Answer::sse(begun(V1).hang())]));
    drop_stream(&mut stack, V1.stream()).await;
    sleep(s(60)).await;
    assert!(aside.requests().is_empty());
}

fn on_failure(aside: &Aside) -> Recovery {
    Recovery::new(aside.clone()).cancel_on_failure()
}

#[tokio::test(start_paused = true)]
async fn a_lost_call_cancels_its_task() {
    let follow_up = || V1.rpc("SendMessage", r#""message":{"taskId":"task-1","parts":[]}"#);
    let rows = [
        (V1.stream(), Answer::sse(begun(V1)), "broken/truncated"),
        (V1.stream(), Answer::sse(begun(V1).reset()), "broken/truncated"),
        (V1.stream(), Answer::sse(begun(V1).hang()), "timeout/idle"),
        (V1.stream(), Answer::sse(begun(V1).every(s(5), ":\n", 99)), "timeout/event_gap"),
        (follow_up(), Answer::never(), "timeout/head"),
        (follow_up(), Answer::lost(ErrorKind::ConnectionReset), "transport/connection_lost"),
        (V03.stream(), Answer::sse(begun(V03)), "broken/truncated"),
        (Rest.stream(), Answer::sse(begun(Rest)), "broken/truncated"),
    ];
    for (number, (request, answer, word)) in rows.into_iter().enumerate() {
        let aside: Aside = Peer::new([done()]);
        let ended = recovered(on_failure(&aside), request, answer).await;
        settle().await;
        assert_eq!(ended.word(), word, "{number}");
        assert_eq!(aside.requests().len(), 1, "{number}");
        assert_eq!(ended.notes.words(), [word]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_caller_does_not_wait_for_the_cancellation() {
    let aside: Aside = Peer::new([Answer::never()]);
    let ended = recovered(on_failure(&aside), V1.stream(), Answer::sse(begun(V1))).await;
    assert_eq!(ended.elapsed, s(0));
    settle().await;
    assert_eq!(aside.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_said_no_or_was_never_reached_is_not_told_to_cancel() {
    let follow_up = || V1.rpc("SendMessage", r#""message":{"taskId":"task-1","parts":[]}"#);
    let error_event = format!("data: {}\n\n", V1.error(-32603));
    let rows = [
        (follow_up(), Answer::json(V1.error(-32603))),
        (follow_up(), Answer::new(401, "text/plain", MockBody::new())),
        (follow_up(), Answer::lost(ErrorKind::ConnectionRefused)),
        (V1.stream(), Answer::sse(begun(V1).data(error_event))),
        (V1.stream(), Answer::sse(MockBody::new().hang())),
        (V1.get(), Answer::never()),
    ];
    for (number, (request, answer)) in rows.into_iter().enumerate() {
        let aside: Aside = Peer::new([]);
        let ended = recovered(on_failure(&aside), request, answer).await;
        settle().await;
        assert!(ended.error.is_some(), "{number}");
        assert!(aside.requests().is_empty(), "{number}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_not_ready_is_not_told_to_cancel() {
    let aside: Aside = Peer::new([]);
    let layer = TerminalStateLayer::builder().limits(limits()).recovery(on_failure(&aside));
    let (mut stack, _) = stack(layer, Peer::new([]).never_ready());
    let message = V1.rpc("SendMessage", r#""message":{"taskId":"task-1","parts":[]}"#);
    assert!(stack.ready().await.unwrap().call(message).await.is_err());
    settle().await;
    assert!(aside.requests().is_empty());
}

/// Asked first; then canceled, since it has not finished.
#[tokio::test(start_paused = true)]
async fn a_task_that_was_asked_for_and_still_works_is_canceled() {
    let working = format!(r#"{{"jsonrpc":"2.0","id":"a2a-guard","result":{}}}"#, V1.bare_task("WORKING"));
    let aside: Aside = Peer::new([Answer::json(working), done()]);
    let ended = recovered(on_failure(&aside).reconcile().max_in_flight(1), V1.stream(), Answer::sse(begun(V1))).await;
    settle().await;
    assert_eq!(ended.word(), "broken/truncated");
    let mut methods = Vec::new();
    for request in aside.requests() {
        methods.push(asked(request).await.body["method"].clone());
    }
    assert_eq!(methods, ["GetTask", "CancelTask"]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_was_asked_for_and_finished_is_not_canceled() {
    let completed = format!(r#"{{"jsonrpc":"2.0","id":"a2a-guard","result":{}}}"#, V1.bare_task("COMPLETED"));
    let aside: Aside = Peer::new([Answer::json(completed)]);
    let ended = recovered(on_failure(&aside).reconcile(), V1.stream(), Answer::sse(begun(V1))).await;
    settle().await;
    assert_eq!((ended.word().as_str(), aside.requests().len()), ("success/success", 1));
}

/// Of an id that is too long to be kept, the beginning is another task's.
#[tokio::test(start_paused = true)]
async fn an_id_that_was_cut_cancels_nobodys_task() {
    for dialect in [V1, V03, Rest] {
        let named =
            |id: &str| Bytes::from(String::from_utf8_lossy(&dialect.task_event("WORKING")).replace("task-1", id));
        for (length, cancels) in [(1024, 1), (1025, 0)] {
            let begun = MockBody::of([named(&"t".repeat(length))]).hang();
            let (mut stack, notes, aside) = dropping([Answer::sse(begun)], [done()]);
            drop_stream(&mut stack, dialect.stream()).await;
            assert_eq!((notes.words(), aside.requests().len()), (vec!["abandoned/abandoned".into()], cancels));
        }
        let recovery = Recovery::new(Aside::new([])).cancel_on_failure().reconcile();
        let layer = TerminalStateLayer::builder().limits(limits()).recovery(recovery);
        let lost = MockBody::of([named(&"t".repeat(1025))]);
        let ended = crate::mock::call(layer, dialect.stream(), Answer::sse(lost)).await;
        assert_eq!((ended.word().as_str(), ended.error().task_id()), ("broken/truncated", None));
    }
}

/// Over HTTP+JSON a tenant may stand in the body of a send (A2A 1.0 §8.3.2), as it may in that of a cancellation.
#[tokio::test(start_paused = true)]
async fn a_tenant_that_stands_in_a_body_stands_in_the_body_of_the_cancellation() {
    let (mut stack, _, aside) = dropping([Answer::sse(begun(Rest).hang())], [done()]);
    drop_stream(&mut stack, Rest.request("POST", "/message:stream", r#"{"tenant":"acme","message":{}}"#.into())).await;
    let [own] = <[_; 1]>::try_from(aside.requests()).unwrap();
    let expected = Asked::new("POST", "https://agent.example.com/tasks/task-1:cancel", json!({"tenant": "acme"}));
    assert_eq!(asked(own).await, expected);
}
