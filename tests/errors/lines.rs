//! `Display`: one line an operator can act on, literally.

use std::io::ErrorKind;

use a2a_guard::{Binding, CallError, Class, LimitOverrides, Limits, Operation, OutcomeKind, TerminalStateLayer};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::{
    failed, failed_under,
    mock::{Answer, Dialect, MockBody, Notes, Peer, ms, s, stack},
    with,
};

use Dialect::{Rest, V1, V03};

async fn line(request: Request<Full<Bytes>>, answer: Answer) -> String {
    failed(request, answer).await.to_string()
}

fn status(status: u16, media: &str, body: &'static str) -> Answer {
    Answer::new(status, media, MockBody::new().data(body))
}

fn begun() -> MockBody {
    MockBody::of([V1.task_event("WORKING")])
}

#[tokio::test(start_paused = true)]
async fn a_timeout_names_its_bound() {
    assert_eq!(
        line(V1.get(), Answer::never()).await,
        "timeout/head: no response head within 30000 ms; GetTask over JSONRPC 1.0 at https://agent.example.com/a2a, \
         30000 ms in; task task-1; retry safe, next GetTask"
    );
    assert_eq!(
        line(V03.send(), Answer::never()).await,
        "timeout/head: no response head within 300000 ms; SendMessage over JSONRPC 0.3 at \
         https://agent.example.com/a2a, 300000 ms in; retry unsafe"
    );
    assert_eq!(
        line(V1.stream(), Answer::sse(MockBody::new().hang())).await,
        "timeout/first_event: no event within 30000 ms; SendStreamingMessage over JSONRPC 1.0 at \
         https://agent.example.com/a2a, 30000 ms in; retry unsafe, next ListTasks"
    );
    assert_eq!(
        line(V1.stream(), Answer::sse(begun().wait(s(1)).data(":\n").hang())).await,
        "timeout/idle: no bytes within 120000 ms; SendStreamingMessage over JSONRPC 1.0 at \
         https://agent.example.com/a2a, 121000 ms in; task task-1 was TASK_STATE_WORKING; retry unsafe, \
         next GetTask or SubscribeToTask or CancelTask"
    );
    assert_eq!(
        line(V1.stream(), Answer::sse(begun().every(s(60), ":\n", 99))).await,
        "timeout/event_gap: bytes, but no event within 300000 ms; SendStreamingMessage over JSONRPC 1.0 at \
         https://agent.example.com/a2a, 300000 ms in; task task-1 was TASK_STATE_WORKING; retry unsafe, \
         next GetTask or SubscribeToTask or CancelTask"
    );
    let mut request = Rest.get();
    request.extensions_mut().insert(LimitOverrides::default().total_unary(ms(1500)));
    assert_eq!(
        line(request, Answer::new(200, "application/json", MockBody::new().every(s(1), " ", 9))).await,
        "timeout/total: not finished within 1500 ms; GetTask over HTTP+JSON 1.0 at \
         https://agent.example.com/tasks/task-1, 1500 ms in; task task-1; retry safe, next GetTask"
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_that_was_not_ready_was_never_asked() {
    let (mut stack, _): (_, Notes) = stack(with(Limits::default().ready(s(2))), Peer::new([]).never_ready());
    let error: CallError = {
        use tower::{Service, ServiceExt};
        stack.ready().await.unwrap().call(V1.send()).await.unwrap_err()
    };
    assert_eq!(
        error.to_string(),
        "timeout/ready: the client below was not ready within 2000 ms; SendMessage over JSONRPC 1.0 at \
         https://agent.example.com/a2a, 0 ms in; retry safe"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refusal_names_the_error_and_quotes_the_peer() {
    assert_eq!(
        line(V1.get(), Answer::json(V1.error(-32001))).await,
        "refused/peer_error: TaskNotFoundError -32001 \"no\"; GetTask over JSONRPC 1.0 at \
         https://agent.example.com/a2a, 0 ms in; task task-1; retry safe"
    );
    assert_eq!(
        line(V1.send(), Answer::json(V1.error(-1)).after(ms(1234))).await,
        "refused/peer_error: the peer refused -1 \"no\"; SendMessage over JSONRPC 1.0 at \
         https://agent.example.com/a2a, 1234 ms in; retry unsafe"
    );
    let body = r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"bad parts","details":[]}}"#;
    assert_eq!(
        line(Rest.send(), status(400, "application/json", body)).await,
        "refused/peer_error: the peer refused under HTTP 400 \"bad parts\"; SendMessage over HTTP+JSON 1.0 at \
         https://agent.example.com/message:send, 0 ms in; retry unsafe"
    );
}

#[tokio::test(start_paused = true)]
async fn a_status_says_what_it_stands_for() {
    let rows = [
        (401, "refused/auth: the peer wants other credentials, HTTP 401", "retry after_credentials"),
        (404, "refused/endpoint_not_found: the peer has no such endpoint, HTTP 404", "retry safe"),
        (307, "refused/redirected: the peer redirects, and redirects are not followed, HTTP 307", "retry unsafe"),
        (413, "refused/too_large: the request is too large for the peer, HTTP 413", "retry safe"),
        (415, "refused/unsupported_media: the peer does not take this media type, HTTP 415", "retry safe"),
        (503, "refused/unavailable: the peer is unavailable, HTTP 503", "retry unsafe"),
        (500, "broken/http_status: the peer failed without a typed error, HTTP 500", "retry unsafe, next ListTasks"),
        (
            418,
            "broken/http_status: the peer answered with a status that is no success, and without a typed error, HTTP 418",
            "retry unsafe, next ListTasks",
        ),
    ];
    for (code, start, end) in rows {
        assert_eq!(
            line(V1.send(), status(code, "text/html", "<html>")).await,
            format!("{start}; SendMessage over JSONRPC 1.0 at https://agent.example.com/a2a, 0 ms in; {end}")
        );
    }
    assert_eq!(
        line(V1.send(), status(429, "text/plain", "slow down").header("retry-after", "7")).await,
        "refused/rate_limited: the peer limits the rate, HTTP 429; SendMessage over JSONRPC 1.0 at \
         https://agent.example.com/a2a, 0 ms in; retry after 7 s"
    );
}

#[tokio::test(start_paused = true)]
async fn a_broken_answer_says_what_is_wrong_with_it() {
    let at = "SendMessage over JSONRPC 1.0 at https://agent.example.com/a2a, 0 ms in";
    let rows = [
        (
            status(200, "text/html; charset=utf-8", "<html>"),
            "broken/wrong_media_type: the answer is of a media type that no success has (text/html; charset=utf-8)",
        ),
        (
            Answer::json("x").header("content-encoding", "gzip"),
            "broken/content_encoding: the body has a content coding that nobody decoded: put a decompression layer \
             directly below this one (gzip)",
        ),
        (Answer::json(""), "broken/empty: the answer ended with nothing in it"),
        (Answer::json(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#), "broken/protocol_violation: the id of another call"),
        (
            Answer::new(200, "application/json", MockBody::new().data("{").reset()),
            "broken/truncated: the body broke off: connection reset",
        ),
    ];
    for (answer, start) in rows {
        let expected = format!("{start}; {at}; retry unsafe, next ListTasks");
        assert_eq!(line(V1.send(), answer).await, expected);
    }
    let error = failed_under(with(Limits::default().max_unary_body(5)), V1.send(), Answer::json("{\"a\":1}")).await;
    let expected =
        format!("broken/too_large: the body is larger than max_unary_body; {at}; retry unsafe, next ListTasks");
    assert_eq!(error.to_string(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_broken_stream_names_the_task_that_it_left_behind() {
    let at = "SendStreamingMessage over JSONRPC 1.0 at https://agent.example.com/a2a, 0 ms in";
    let task = "task task-1 was TASK_STATE_WORKING; retry unsafe, next GetTask or SubscribeToTask or CancelTask";
    let rows = [
        (Answer::sse(begun()), "broken/truncated: the stream ended before its task rested"),
        (Answer::sse(begun().data("data: {")), "broken/truncated: the stream ended within an event"),
        (Answer::sse(begun().reset()), "broken/truncated: the body broke off: connection reset"),
        (
            Answer::json(V1.result(&V1.task("WORKING"))),
            "broken/silent_downgrade: one JSON result where a stream was asked",
        ),
    ];
    for (answer, start) in rows {
        assert_eq!(line(V1.stream(), answer).await, format!("{start}; {at}; {task}"));
    }
    let strict = TerminalStateLayer::builder().strict(true);
    let body = MockBody::of([V1.update_event("WORKING")]);
    assert_eq!(
        failed_under(strict, V1.stream(), Answer::sse(body)).await.to_string(),
        format!(
            "broken/protocol_violation: the peer is slightly wrong, and strict is on (first_event_not_task); {at}; {task}"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn a_failed_connection_says_whether_the_request_can_have_arrived() {
    assert_eq!(
        line(V1.send(), Answer::lost(ErrorKind::ConnectionRefused)).await,
        "transport/connect: no connection: connection refused; SendMessage over JSONRPC 1.0 at \
         https://agent.example.com/a2a, 0 ms in; retry safe"
    );
    assert_eq!(
        line(V1.send(), Answer::lost(ErrorKind::ConnectionReset).after(s(1))).await,
        "transport/connection_lost: the connection was lost before a response came: connection reset; SendMessage \
         over JSONRPC 1.0 at https://agent.example.com/a2a, 1000 ms in; retry unsafe, next ListTasks"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_named_says_so() {
    let request = V1.request("GET", "/picture", String::new());
    assert_eq!(
        line(request, Answer::lost(ErrorKind::ConnectionReset)).await,
        "transport/connection_lost: the connection was lost before a response came: connection reset; unnamed \
         operation at https://agent.example.com/picture, 0 ms in; retry unsafe"
    );
}

const NASTY: &str = "a\nb\r\u{1b}[31m\u{202e}\u{0}\"";

#[tokio::test(start_paused = true)]
async fn a_peers_text_is_escaped_wherever_it_stands() {
    let nasty = serde_json::Value::from(NASTY);
    let task = format!(r#"{{"task":{{"id":{nasty},"status":{{"state":"TASK_STATE_WORKING"}}}}}}"#);
    let mut header = Answer::new(200, "text/plain", MockBody::new());
    header = header.header("content-type", "text/evil\"\tquote");
    let errors = [
        failed(
            V1.send(),
            Answer::json(format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32001,"message":{nasty}}}}}"#)),
        )
        .await,
        failed(V1.stream(), Answer::sse(MockBody::of([V1.event(&task)]))).await,
        failed(V1.send(), Answer::fails(NASTY)).await,
        failed(V1.send(), Answer::new(200, "application/json", MockBody::new().data("{")).after(s(0))).await,
        failed(V1.send(), header).await,
    ];
    for error in &errors {
        for text in [error.to_string(), format!("{error:?}")] {
            assert!(text.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{text:?}");
        }
    }
    let line = errors[0].to_string();
    assert!(line.contains(r#""a\nb\r\u{1b}[31m\u{202e}\u{0}\"""#), "{line}");
    assert!(errors[1].to_string().contains("task a\\nb"), "{}", errors[1]);
    assert!(errors[2].to_string().contains(": a\\nb"), "{}", errors[2]);
}

#[tokio::test(start_paused = true)]
async fn a_peers_text_is_cut() {
    let long = "é".repeat(300);
    let error = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32001,"message":"{long}"}}}}"#);
    let line_of_error = line(V1.send(), Answer::json(error)).await;
    assert!(line_of_error.contains(&format!("\"{}…\"", "é".repeat(120))), "{line_of_error}");
    let line_of_source = line(V1.send(), Answer::fails(long.clone())).await;
    assert!(line_of_source.contains(&format!("came: {}…;", "é".repeat(120))), "{line_of_source}");
    let task = format!(r#"{{"task":{{"id":"{long}","status":{{"state":"TASK_STATE_WORKING"}}}}}}"#);
    let line_of_task = line(V1.stream(), Answer::sse(MockBody::of([V1.event(&task)]))).await;
    assert!(line_of_task.contains(&format!("task {}… was", "é".repeat(64))), "{line_of_task}");
}

#[tokio::test(start_paused = true)]
async fn secrets_of_the_target_are_not_told() {
    for uri in [
        "https://user:hunter2@agent.example.com:8443/a2a?key=hunter2#hunter2",
        "https://hunter2@agent.example.com:8443/a2a?hunter2",
    ] {
        let mut request = V1.send();
        *request.uri_mut() = uri.parse().unwrap();
        let error = failed(request, Answer::never()).await;
        for text in [error.to_string(), format!("{error:?}"), format!("{:?}", error.call())] {
            assert!(!text.contains("hunter2"), "{text}");
        }
        assert!(error.to_string().contains("at https://agent.example.com:8443/a2a, "), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn credentials_in_headers_are_not_told() {
    let mut request = V1.send();
    request.headers_mut().insert("authorization", "Bearer hunter2".parse().unwrap());
    let answer = status(401, "text/plain", "no").header("www-authenticate", "Bearer hint=hunter2");
    let error = failed(request, answer).await;
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_relative_target_is_told_as_it_is() {
    let mut request = V1.send();
    *request.uri_mut() = "/a2a?key=hunter2".parse().unwrap();
    let line = line(request, Answer::never()).await;
    assert!(line.contains(" at /a2a, "), "{line}");
}

#[tokio::test(start_paused = true)]
async fn debug_is_the_same_line_and_kinds_say_what_they_are() {
    let error = failed(V1.get(), Answer::never()).await;
    assert_eq!(format!("{error:?}"), format!("CallError({error})"));
    let CallError::Timeout(timeout) = &error else { panic!("{error}") };
    assert_eq!(timeout.to_string(), error.to_string());
    assert_eq!(format!("{timeout:?}"), format!("CapabilityTimeout({error})"));
}

/// As in a table.
#[test]
fn words_take_the_width_that_is_asked_for() {
    let columns =
        format!("{:<9}|{:>6}|{:<9}|{:<9}|", OutcomeKind::Broken, Class::Idle, Operation::GetTask, Binding::Grpc);
    assert_eq!(columns, "broken   |  idle|GetTask  |GRPC     |");
}
