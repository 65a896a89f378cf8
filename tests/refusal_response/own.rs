//! The peer's own refusal, as it came.

use a2a_guard::Limits;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response};

use crate::{
    call,
    mock::{Answer, Dialect, MockBody},
    plain,
};

use Dialect::{Rest, V1, V03};

fn answer(status: u16, headers: &[(&'static str, &'static str)], body: MockBody) -> Answer {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    Answer::response(response.body(body).unwrap())
}

#[tokio::test(start_paused = true)]
async fn status_headers_and_body_are_the_peers() {
    let cases: [(Dialect, u16, &str, &str); 6] = [
        (
            V1,
            200,
            "application/json; charset=utf-8",
            r#"{"error":{"code":-32001,"message":"ny\u0065t"},"id":1,"jsonrpc":"2.0"}"#,
        ),
        (V1, 401, "text/plain", "invalid token"),
        (V03, 400, "application/json", r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"x"}}"#),
        (V1, 404, "text/html", "<html>nothing here</html>"),
        (
            Rest,
            404,
            "application/problem+json",
            r#"{"error":{"code":404,"status":"NOT_FOUND","message":"no","details":[]}}"#,
        ),
        (Rest, 429, "application/json", "{}"),
    ];
    for (dialect, status, media, body) in cases {
        let headers = [
            ("content-type", media),
            ("www-authenticate", "Bearer a"),
            ("www-authenticate", "Basic b"),
            ("x-request-id", "7"),
            ("retry-after", "3"),
            ("set-cookie", "a=b"),
        ];
        let sent = Bytes::from_static(body.as_bytes());
        let got = call(plain(), dialect.get(), answer(status, &headers, MockBody::of([sent.clone()]))).await;
        assert_eq!(got.status.as_u16(), status, "{body}");
        let mut expected = HeaderMap::new();
        for (name, value) in headers {
            expected.append(name, HeaderValue::from_static(value));
        }
        assert_eq!(got.headers, expected);
        assert_eq!(got.frames.len(), 1);
        assert_eq!(got.frames[0].as_ptr(), sent.as_ptr());
        assert_eq!(got.bytes(), body.as_bytes());
        assert_eq!(got.error.unwrap().outcome().as_str(), "refused");
    }
}

#[tokio::test(start_paused = true)]
async fn what_concerns_the_connection_stays_there() {
    let headers = [
        ("content-type", "application/json"),
        ("connection", "close, X-Hop"),
        ("keep-alive", "timeout=5"),
        ("transfer-encoding", "chunked"),
        ("x-hop", "1"),
        ("x-end", "2"),
    ];
    let got = call(plain(), Rest.get(), answer(503, &headers, MockBody::new().data("{}"))).await;
    let names: Vec<_> = got.headers.keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["content-type", "x-end"]);
}

#[tokio::test(start_paused = true)]
async fn a_length_is_that_of_the_body() {
    for (declared, kept) in [("2", "2"), ("3", ""), ("x", "")] {
        let headers = [("content-type", "application/json"), ("content-length", declared)];
        let got = call(plain(), Rest.get(), answer(429, &headers, MockBody::new().data("{}"))).await;
        assert_eq!((got.header("content-length"), got.text().as_str()), (kept, "{}"));
    }
}

#[tokio::test(start_paused = true)]
async fn trailers_pass() {
    let body = MockBody::new().data("{}").trailers("x-check", "sum");
    let got = call(plain(), Rest.get(), answer(429, &[("content-type", "application/json")], body)).await;
    assert_eq!((got.text().as_str(), &got.trailers.unwrap()["x-check"]), ("{}", &HeaderValue::from_static("sum")));
}

#[tokio::test(start_paused = true)]
async fn a_first_event_that_refuses_is_the_whole_stream() {
    let event = "event: error\r\nid: 4\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32004,\"message\":\"no\"}}\r\n\r\n";
    let headers = [("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-store")];
    let got = call(plain(), V1.stream(), answer(200, &headers, MockBody::new().data(event))).await;
    assert_eq!((got.status.as_u16(), got.text().as_str()), (200, event));
    assert_eq!((got.header("content-type"), got.header("cache-control")), (headers[0].1, "no-store"));
}

#[tokio::test(start_paused = true)]
async fn an_event_without_its_end_gets_it() {
    for (line, end) in [("\n", "\n\n"), ("\r\n", "\r\n\r\n"), ("\r", "\r\r")] {
        let event = format!(
            ": hi{line}data: {{\"jsonrpc\":\"2.0\",\"id\":1,{line}data: \"error\":{{\"code\":-32004,\"message\":\"no\"}}}}"
        );
        let body = MockBody::new().data(event.clone());
        let got = call(plain(), V1.stream(), answer(200, &[("content-type", "text/event-stream")], body)).await;
        let event = event.split_once(line).unwrap().1; // the comment passed before it, and is no part of it
        assert_eq!(got.text(), format!("{event}{end}"), "{line:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_document_under_the_media_type_of_streams_is_said_to_be_json() {
    let document = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"no"}}"#;
    let body = MockBody::new().data(document);
    let got = call(plain(), V1.stream(), answer(200, &[("content-type", "text/event-stream")], body)).await;
    assert_eq!((got.header("content-type"), got.text().as_str()), ("application/json", document));
}

#[tokio::test(start_paused = true)]
async fn in_a_stream_its_event_is_the_last() {
    for dialect in [V1, V03, Rest] {
        let first = dialect.task_event("WORKING");
        let refusal = format!("id: 9\ndata: {}\n\n", dialect.error(-32603));
        let body = MockBody::of([first.clone()]).data(refusal.clone()).data("data: more\n\n").hang();
        let got = call(plain(), dialect.stream(), Answer::sse(body)).await;
        assert_eq!(got.text(), format!("{}{refusal}", std::str::from_utf8(&first).unwrap()));
    }
}

#[tokio::test(start_paused = true)]
async fn in_a_stream_an_event_without_its_end_gets_it() {
    let refusal = format!("data: {}", V1.error(-32603));
    let body = MockBody::of([V1.task_event("WORKING")]).data(refusal.clone());
    let got = call(plain(), V1.stream(), Answer::sse(body)).await;
    assert!(got.text().ends_with(&format!("{refusal}\n\n")), "{}", got.text());
}

#[tokio::test(start_paused = true)]
async fn of_what_was_cut_all_that_was_understood_is_said_again() {
    let long = "x".repeat(300);
    let cases = [
        (V1, 200, V1.error(-32001).replace("\"no\"", &format!("\"{long}\"")), 200, Some(-32001)),
        (Rest, 409, format!(r#"{{"error":{{"code":409,"status":"ABORTED","message":"{long}"}}}}"#), 409, None),
        (V1, 503, format!("<html>{long}"), 503, Some(-32603)),
    ];
    for (dialect, status, body, expected, code) in cases {
        let headers = [("content-type", "application/json"), ("retry-after", "7"), ("x-private", "1")];
        let builder = plain().limits(Limits::default().max_refusal(128));
        let got = call(builder, dialect.get(), answer(status, &headers, MockBody::new().data(body))).await;
        assert_eq!((got.status.as_u16(), got.header("content-type")), (expected, "application/json"));
        assert_eq!((got.header("retry-after"), got.header("x-private")), ("7", ""));
        assert!(got.word().starts_with("refused/"), "{}", got.text());
        assert_eq!(got.json()["error"]["code"].as_i64(), code.or(Some(i64::from(status))), "{}", got.text());
    }
}

#[tokio::test(start_paused = true)]
async fn in_a_stream_too() {
    let refusal = V1.error(-32001).replace("\"no\"", &format!("\"{}\"", "x".repeat(300)));
    let body = MockBody::of([V1.task_event("WORKING")]).data(format!("data: {refusal}\n\n"));
    let got = call(plain().limits(Limits::default().max_refusal(128)), V1.stream(), Answer::sse(body)).await;
    let last = got.frames.last().unwrap();
    let data = last.strip_prefix(b"event: error\ndata: ").unwrap();
    let json: serde_json::Value = serde_json::from_slice(data).unwrap();
    assert_eq!((&json["id"], &json["error"]["code"]), (&1.into(), &(-32001).into()));
    assert_eq!(json["error"]["data"][0]["reason"], "TASK_NOT_FOUND");
}

/// A skill that is not here is a routing signal, and the peer's refusal all the same.
#[tokio::test(start_paused = true)]
async fn so_does_a_refusal_about_a_skill() {
    let body = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"no","data":{"region":"eu","availableSkills":["x"]}}}"#;
    let mut request = V1.send();
    request.extensions_mut().insert(a2a_guard::Call::new().with_skill("translate"));
    let got = call(plain(), request, Answer::json(body)).await;
    assert_eq!(got.text(), body);
    assert_eq!(got.error.unwrap().class().as_str(), "skill_unavailable");
}
