//! What is rendered is judged once more, by the layer that judges agents: it is a refusal, of the same code and reason.

use a2a_guard::{CallError, Limits, OutcomeKind};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;

use crate::{
    Got, call,
    mock::{Answer, Dialect, MockBody, ms},
    plain, rest_03,
};

use Dialect::{Rest, V1, V02, V03};

/// What an agent can do wrong, by the call that it is asked.
type Fault = fn(Dialect) -> Answer;

const UNARY: [(&str, Fault); 12] = [
    ("timeout/head", |_| Answer::never()),
    ("timeout/idle", |_| Answer::new(200, "application/json", MockBody::new().data("{").hang())),
    ("broken/http_status", |_| Answer::new(500, "text/html", MockBody::new().data("<html>"))),
    ("broken/wrong_media_type", |_| Answer::new(200, "text/html", MockBody::new().data("<html>"))),
    ("broken/malformed", |_| Answer::json("{\"a\":")),
    ("broken/protocol_violation", |_| Answer::json("[]")),
    ("broken/empty", |_| Answer::json("")),
    ("broken/truncated", |_| Answer::new(200, "application/json", MockBody::new().data("{").reset())),
    ("broken/too_large", |_| Answer::json(vec![b' '; 2048])),
    ("broken/content_encoding", |_| Answer::json("").header("content-encoding", "gzip")),
    ("transport/connect", |_| Answer::lost(std::io::ErrorKind::ConnectionRefused)),
    ("transport/connection_lost", |_| Answer::lost(std::io::ErrorKind::ConnectionReset)),
];

const STREAMED: [(&str, Fault); 8] = [
    ("timeout/idle", |d| Answer::sse(MockBody::of([d.task_event("WORKING")]).hang())),
    ("timeout/event_gap", |d| {
        Answer::sse(MockBody::of([d.task_event("WORKING")]).every(ms(400), ": still here\n\n", 10))
    }),
    ("timeout/total", |d| {
        let updates = (0..40).fold(MockBody::of([d.task_event("WORKING")]), |body, _| {
            body.wait(ms(400)).data(d.update_event("WORKING"))
        });
        Answer::sse(updates)
    }),
    ("broken/truncated", |d| Answer::sse(MockBody::of([d.task_event("WORKING")]))),
    ("broken/truncated", |d| Answer::sse(MockBody::of([d.task_event("WORKING")]).data("data: {\"x").reset())),
    ("broken/malformed", |d| Answer::sse(MockBody::of([d.task_event("WORKING")]).data("data: {\"x\n\n"))),
    ("broken/protocol_violation", |d| Answer::sse(MockBody::of([d.task_event("WORKING")]).data("data: []\n\n"))),
    ("broken/too_large", |d| Answer::sse(MockBody::of([d.task_event("WORKING")]).data(vec![b':'; 2048]))),
];

fn bounds() -> Limits {
    Limits::within(ms(10_000))
        .head(ms(1_000))
        .blocking_head(ms(1_000))
        .first_event(ms(1_000))
        .idle(ms(1_000))
        .event_gap(ms(1_500))
        .max_unary_body(1024)
        .max_event(1024)
}

/// The error that a guarded client makes of an answer.
async fn again(got: &Got, request: Request<Full<Bytes>>) -> CallError {
    let mut response = Response::new(MockBody::of(got.frames.clone()));
    *response.status_mut() = got.status;
    *response.headers_mut() = got.headers.clone();
    let got = call_bare(request, Answer::response(response)).await;
    got.error.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&got.frames.concat())))
}

async fn call_bare(request: Request<Full<Bytes>>, answer: Answer) -> crate::mock::Ended {
    crate::mock::call(plain(), request, answer).await
}

async fn check(word: &str, dialect: Dialect, request: impl Fn() -> Request<Full<Bytes>>, answer: Answer) {
    let got = call(plain().limits(bounds()), request(), answer).await;
    assert!(got.failed.is_none());
    let error = again(&got, request()).await;
    assert_eq!(error.outcome(), OutcomeKind::Refused, "{word} {dialect:?}: {error}");
    let (code, status, reason) = match word.split('/').next().unwrap() {
        "timeout" => (-32603, 504, "CAPABILITY_TIMEOUT"),
        "transport" => (-32603, 502, "AGENT_UNREACHABLE"),
        _ => (-32006, 500, "INVALID_AGENT_RESPONSE"),
    };
    assert_eq!(error.code(), (dialect != Rest).then_some(code), "{word} {dialect:?}");
    let whole = got.frames.len() == 1 && !got.frames[0].starts_with(b"event:");
    assert_eq!(got.status.as_u16(), if dialect == Rest && whole { status } else { 200 }, "{word} {dialect:?}");
    if reason == "INVALID_AGENT_RESPONSE" {
        assert_eq!(error.reason(), Some(reason), "{word} {dialect:?}");
        assert_eq!(error.a2a_error().unwrap().name(), "InvalidAgentResponseError");
    }
    let last = String::from_utf8_lossy(got.frames.last().unwrap()).into_owned();
    let (outcome, class) = word.split_once('/').unwrap();
    for part in
        [format!(r#""outcome":"{outcome}""#), format!(r#""class":"{class}""#), format!(r#""reason":"{reason}""#)]
    {
        assert!(last.contains(&part), "{word} {dialect:?}: {last}");
    }
}

#[tokio::test(start_paused = true)]
async fn before_the_head() {
    for (word, fault) in UNARY {
        for dialect in [V1, V03, V02, Rest] {
            check(word, dialect, || dialect.send(), fault(dialect)).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn in_a_stream() {
    for (word, fault) in STREAMED {
        for dialect in [V1, V03, V02, Rest] {
            check(word, dialect, || dialect.stream(), fault(dialect)).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_downgrade() {
    for dialect in [V1, V03, Rest] {
        let answer = Answer::json(dialect.result(&dialect.task("COMPLETED")));
        check("broken/silent_downgrade", dialect, || dialect.stream(), answer).await;
    }
}

/// HTTP+JSON of 0.3 has JSON-RPC's codes.
#[tokio::test(start_paused = true)]
async fn over_http_json_0_3() {
    let request = || rest_03("GET", "/v1/tasks/task-1");
    let got = call(plain(), request(), Answer::lost(std::io::ErrorKind::ConnectionRefused)).await;
    let error = again(&got, request()).await;
    assert_eq!(
        (error.class().as_str(), error.code(), error.http_status().unwrap().as_u16()),
        ("peer_error", Some(-32603), 502)
    );
}
