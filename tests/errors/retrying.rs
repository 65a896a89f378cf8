//! Whether to try again, when, and what to ask first.

use std::io::ErrorKind;

use a2a_guard::{CallError, Operation, Retry};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tower::{Service, ServiceExt};

use crate::{
    failed,
    mock::{Answer, Dialect, MockBody, Peer, s, stack},
};

use Dialect::{Rest, V1};
use Operation::{CancelTask, GetTask, ListTasks, SubscribeToTask};
use Retry::{After, AfterCredentials, Safe, Unsafe};

fn status(status: u16) -> Answer {
    Answer::new(status, "text/plain", MockBody::new().data("text"))
}

fn error(code: i64) -> Answer {
    Answer::json(V1.error(code))
}

/// A row: the answer, the class, the advice for a send, the advice for a read, and whether work may have started.
type Row = (fn() -> Answer, &'static str, Retry, Retry, bool);

const ROWS: [Row; 36] = [
    (Answer::never, "timeout/head", Unsafe, Safe, true),
    (|| Answer::new(200, "application/json", MockBody::new().hang()), "timeout/idle", Unsafe, Safe, true),
    (
        || Answer::new(200, "application/json", MockBody::new().every(s(100), " ", 99)),
        "timeout/total",
        Unsafe,
        Safe,
        true,
    ),
    (|| Answer::lost(ErrorKind::ConnectionRefused), "transport/connect", Safe, Safe, false),
    (|| Answer::lost(ErrorKind::HostUnreachable), "transport/connect", Safe, Safe, false),
    (|| Answer::lost(ErrorKind::ConnectionReset), "transport/connection_lost", Unsafe, Safe, true),
    (|| Answer::lost(ErrorKind::BrokenPipe), "transport/connection_lost", Unsafe, Safe, true),
    (|| Answer::fails("who knows"), "transport/connection_lost", Unsafe, Safe, true),
    (|| status(301), "refused/redirected", Unsafe, Safe, true),
    (|| status(303), "refused/redirected", Unsafe, Safe, true),
    (|| status(401), "refused/auth", AfterCredentials, AfterCredentials, false),
    (|| status(403), "refused/auth", AfterCredentials, AfterCredentials, false),
    (|| status(407), "refused/auth", AfterCredentials, AfterCredentials, false),
    (|| status(404), "refused/endpoint_not_found", Safe, Safe, false),
    (|| status(405), "refused/endpoint_not_found", Safe, Safe, false),
    (|| status(410), "refused/endpoint_not_found", Safe, Safe, false),
    (|| status(413), "refused/too_large", Safe, Safe, false),
    (|| status(415), "refused/unsupported_media", Safe, Safe, false),
    (|| status(429), "refused/rate_limited", After, After, false),
    (|| status(429).header("retry-after", "3"), "refused/rate_limited", After, After, false),
    (|| status(503), "refused/unavailable", Unsafe, Safe, true),
    (|| status(503).header("retry-after", "3"), "refused/unavailable", After, After, true),
    (|| status(500), "broken/http_status", Unsafe, Safe, true),
    (|| status(502), "broken/http_status", Unsafe, Safe, true),
    (|| status(400), "broken/http_status", Unsafe, Safe, true),
    (|| status(200), "broken/wrong_media_type", Unsafe, Safe, true),
    (|| Answer::json("{"), "broken/malformed", Unsafe, Safe, true),
    (|| Answer::json("{}"), "broken/protocol_violation", Unsafe, Safe, true),
    (|| Answer::json(""), "broken/empty", Unsafe, Safe, true),
    (|| Answer::json("x").header("content-encoding", "br"), "broken/content_encoding", Unsafe, Safe, true),
    (|| error(-32602), "refused/peer_error", Safe, Safe, false),
    (|| error(-32601), "refused/peer_error", Safe, Safe, false),
    (|| error(-32004), "refused/peer_error", Safe, Safe, false),
    (|| error(-32603), "refused/peer_error", Unsafe, Safe, true),
    (|| error(-32006), "refused/peer_error", Unsafe, Safe, true),
    (|| error(-32050), "refused/peer_error", Unsafe, Safe, true),
];

#[tokio::test(start_paused = true)]
async fn the_advice_of_each_class() {
    for (number, (answer, class, of_send, of_read, started)) in ROWS.into_iter().enumerate() {
        let (send, read) = (failed(V1.send(), answer()).await, failed(V1.get(), answer()).await);
        for (error, advice) in [(&send, of_send), (&read, of_read)] {
            let line = format!("row {number}: {error}");
            assert_eq!(format!("{}/{}", error.outcome(), error.class()), class, "{line}");
            assert_eq!(error.retry(), advice, "{line}");
            assert_eq!(error.work_may_have_started(), started, "{line}");
        }
        // Who may have left work behind asks what became of it, unless the peer said no.
        let asks = started && !class.starts_with("refused/");
        assert_eq!(send.next_operations(), if asks { &[ListTasks][..] } else { &[] }, "row {number}: {send}");
        assert_eq!(read.next_operations(), if asks { &[GetTask][..] } else { &[] }, "row {number}: {read}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_was_not_ready_saw_nothing() {
    for peer in [Peer::new([]).never_ready(), Peer::new([]).fails_to_be_ready(ErrorKind::ConnectionReset)] {
        let (mut stack, _) = stack(a2a_guard::TerminalStateLayer::builder(), peer);
        let error = stack.ready().await.unwrap().call(V1.send()).await.unwrap_err();
        assert_eq!((error.retry(), error.next_operations()), (Safe, &[][..]));
    }
}

/// An operation, and whether it may be repeated when its connection is lost.
#[tokio::test(start_paused = true)]
async fn only_what_adds_something_may_not_be_repeated() {
    let rows = [
        (V1.send(), Unsafe),
        (V1.stream(), Unsafe),
        (V1.rpc("CreateTaskPushNotificationConfig", r#""taskId":"task-1""#), Unsafe),
        (V1.rpc("acme/doIt", ""), Unsafe),
        (V1.get(), Safe),
        (V1.subscribe(), Safe),
        (V1.rpc("CancelTask", r#""id":"task-1""#), Safe),
        (V1.rpc("ListTasks", ""), Safe),
        (V1.rpc("GetExtendedAgentCard", ""), Safe),
        (V1.rpc("DeleteTaskPushNotificationConfig", r#""taskId":"task-1""#), Safe),
    ];
    for (request, advice) in rows {
        let error = failed(request, Answer::lost(ErrorKind::ConnectionReset)).await;
        assert_eq!(error.retry(), advice, "{error}");
    }
}

async fn broken_stream(request: Request<Full<Bytes>>, body: MockBody) -> CallError {
    failed(request, Answer::sse(body)).await
}

#[tokio::test(start_paused = true)]
async fn after_a_broken_stream_its_task_can_be_asked_for() {
    let begun = || MockBody::of([V1.task_event("WORKING")]);
    for body in [begun(), begun().reset(), begun().hang(), begun().data("data: nonsense\n\n")] {
        let error = broken_stream(V1.stream(), body).await;
        assert_eq!(error.next_operations(), [GetTask, SubscribeToTask, CancelTask], "{error}");
        assert_eq!(error.retry(), Unsafe);
    }
    let error = broken_stream(V1.stream(), MockBody::new().hang()).await;
    assert_eq!(error.next_operations(), [ListTasks], "nobody knows its id");
    let error = broken_stream(V1.subscribe(), MockBody::new().hang()).await;
    assert_eq!(error.next_operations(), [GetTask, SubscribeToTask, CancelTask], "the request named it");
    assert_eq!(error.retry(), Safe);
}

#[tokio::test(start_paused = true)]
async fn an_error_in_the_middle_of_a_stream_comes_of_work() {
    let refusal = format!("data: {}\n\n", V1.error(-32602));
    let first = broken_stream(V1.stream(), MockBody::new().data(refusal.clone())).await;
    assert_eq!((first.retry(), first.work_may_have_started()), (Safe, false));
    let later = broken_stream(V1.stream(), MockBody::of([V1.task_event("WORKING")]).data(refusal)).await;
    assert_eq!((later.retry(), later.work_may_have_started()), (Unsafe, true));
}

/// Finished while nobody watched: there is no stream to take up, but the task has the result.
#[tokio::test(start_paused = true)]
async fn a_subscription_to_a_finished_task_asks_for_it() {
    let error = failed(V1.subscribe(), error(-32004)).await;
    assert_eq!((error.next_operations(), error.retry()), (&[GetTask][..], Safe));
    let error = failed(V1.subscribe(), Answer::json(V1.error(-32001))).await;
    assert!(error.next_operations().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_time_to_wait_is_the_peers() {
    let wait = |answer: Answer| async move { failed(V1.send(), answer).await.retry_after() };
    assert_eq!(wait(status(429).header("retry-after", "90")).await, Some(s(90)));
    assert_eq!(wait(status(503).header("retry-after", " 0 ")).await, Some(s(0)));
    let dated = status(503)
        .header("date", "Sun, 29 Nov 2026 20:00:00 GMT")
        .header("retry-after", "Sun, 29 Nov 2026 20:01:30 GMT");
    assert_eq!(wait(dated).await, Some(s(90)));
    assert_eq!(wait(status(429).header("retry-after", "soon")).await, None);
    assert_eq!(wait(status(429).header("retry-after", "-5")).await, None);
    assert_eq!(wait(status(429)).await, None);
}

/// `RetryInfo`, in whatever binding: as long as it says, and not before.
#[tokio::test(start_paused = true)]
async fn a_retry_info_is_a_time_to_wait() {
    let info = r#"[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]"#;
    let rpc = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32603,"message":"busy","data":{info}}}}}"#);
    let rest = format!(r#"{{"error":{{"code":429,"status":"RESOURCE_EXHAUSTED","message":"busy","details":{info}}}}}"#);
    let errors = [
        failed(V1.send(), Answer::json(rpc.clone())).await,
        failed(V1.stream(), Answer::sse(MockBody::new().data(format!("data: {rpc}\n\n")))).await,
        failed(Rest.send(), Answer::new(500, "application/json", MockBody::new().data(rest))).await,
    ];
    for error in errors {
        assert_eq!(error.retry_after(), Some(std::time::Duration::from_millis(1500)), "{error}");
        assert_eq!((error.class().as_str(), error.retry()), ("peer_error", After));
        assert!(error.to_string().ends_with("retry after 1.5 s"), "{error}");
    }
}

#[test]
fn the_words_are_stable() {
    let words = [Safe, Unsafe, After, AfterCredentials].map(Retry::as_str);
    assert_eq!(words, ["safe", "unsafe", "after", "after_credentials"]);
}
