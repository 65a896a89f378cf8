//! Calls that nobody can name, or whose binding nobody judges here: they pass, within bounds and caps.

use a2a_guard::Limits;
use http::Request;
use http_body_util::Full;

use crate::{
    fate,
    mock::{Answer, Dialect, MockBody, call, s},
    plain, with,
};

use Dialect::V1;

fn picture() -> Request<Full<bytes::Bytes>> {
    V1.request("GET", "/picture", String::new())
}

fn vendor() -> Request<Full<bytes::Bytes>> {
    V1.rpc("acme/doIt", "")
}

#[tokio::test(start_paused = true)]
async fn whatever_they_are_answered_passes() {
    for status in [200, 204, 304, 404, 500] {
        let answer = Answer::new(status, "text/html", MockBody::new().data("<html>").data("</html>"));
        let ended = call(plain(), picture(), answer).await;
        assert!(ended.error.is_none());
        assert_eq!((ended.status.unwrap().as_u16(), &ended.bytes()[..]), (status, &b"<html></html>"[..]));
    }
}

#[tokio::test(start_paused = true)]
async fn their_outcome_tells_what_their_status_said() {
    let rows = [
        (200, "", "success/success"),
        (204, "", "success/success"),
        (302, "", "refused/redirected"),
        // What was asked for on condition that it is another one: a card, say.
        (304, "", "success/success"),
        (401, "", "refused/auth"),
        (404, "", "refused/endpoint_not_found"),
        (429, "", "refused/rate_limited"),
        (500, "{\"detail\":\"oh\"}", "broken/http_status"),
        (400, r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"no"}}"#, "refused/peer_error"),
    ];
    for (status, body, word) in rows {
        let answer = Answer::new(status, "application/json", MockBody::new().data(body));
        let ended = call(plain(), picture(), answer).await;
        assert!(ended.error.is_none());
        let noted = ended.notes.one();
        assert_eq!((noted.word().as_str(), noted.status.unwrap().as_u16()), (word, status), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_vendors_method_may_answer_what_it_likes() {
    for (document, word) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":7}"#, "success/success"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#, "refused/peer_error"),
    ] {
        let ended = call(plain(), vendor(), Answer::json(document)).await;
        assert!(ended.error.is_none());
        assert_eq!(ended.bytes(), document.as_bytes());
        assert_eq!(ended.notes.words(), [word]);
    }
}

/// What was sent is nothing that can be read, and what comes back may still be JSON-RPC's own word for that.
#[tokio::test(start_paused = true)]
async fn a_json_rpc_error_is_told_whatever_was_sent() {
    let error = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"no"}}}}"#);
    for sent in ["", "{", "[]", r#"{"method":"SendMessage","id":1}"#, r#"{"jsonrpc":"1.0","method":"SendMessage"}"#] {
        let request = || V1.request("POST", "/a2a", sent.to_owned());
        for (document, word) in [
            (error("null"), "refused/peer_error"),
            (error("1"), "refused/peer_error"),
            (r#"{"jsonrpc":"2.0","id":1,"result":7}"#.to_owned(), "success/success"),
            // Another interface's own matter.
            (r#"{"error":{"code":-32600,"message":"no"}}"#.to_owned(), "success/success"),
            (r#"{"code":-32600,"message":"no"}"#.to_owned(), "success/success"),
            ("[1,2".to_owned(), "success/success"),
        ] {
            let ended = call(plain(), request(), Answer::json(document.clone())).await;
            assert!(ended.error.is_none());
            assert_eq!(ended.bytes(), document.as_bytes());
            assert_eq!(ended.notes.words(), [word], "{sent} {document}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_read_and_is_no_send_has_the_head_of_any_call() {
    let limits = || with(Limits::default().head(s(7)).blocking_head(s(11)));
    assert_eq!(call(limits(), vendor(), Answer::never()).await.fate(), fate("timeout/head", s(7)));
    assert_eq!(call(limits(), picture(), Answer::never()).await.fate(), fate("timeout/head", s(7)));
}

#[tokio::test(start_paused = true)]
async fn their_silence_is_idle() {
    let answer = Answer::new(200, "text/plain", MockBody::new().every(s(4), "x", 3).hang());
    let ended = call(with(Limits::default().idle(s(5))), picture(), answer).await;
    assert_eq!(ended.fate(), fate("timeout/idle", s(12 + 5)));
    assert_eq!(ended.bytes(), b"xxx");
}

#[tokio::test(start_paused = true)]
async fn their_trickle_ends_at_total() {
    let limits = || with(Limits::within(s(100)).total_unary(s(101)).total_stream(s(202)).idle(s(5)));
    let body = || MockBody::new().every(s(4), "x", 1000);
    let ended = call(limits(), picture(), Answer::new(200, "text/plain", body())).await;
    assert_eq!(ended.fate(), fate("timeout/total", s(101)));
    for media in ["text/event-stream", "application/grpc"] {
        let ended = call(limits(), picture(), Answer::new(200, media, body())).await;
        assert_eq!(ended.fate(), fate("timeout/total", s(202)), "{media}");
    }
}

#[tokio::test(start_paused = true)]
async fn their_body_is_capped_unless_it_is_a_stream() {
    let limits = || with(Limits::default().max_unary_body(10));
    let body = || MockBody::new().data("12345").data("67890").data("1");
    let ended = call(limits(), picture(), Answer::new(200, "text/plain", body())).await;
    assert_eq!((ended.word().as_str(), &ended.bytes()[..]), ("broken/too_large", &b"1234567890"[..]));
    let ended = call(limits(), picture(), Answer::new(200, "text/event-stream", body())).await;
    assert_eq!(ended.word(), "success/success");
}

#[tokio::test(start_paused = true)]
async fn their_body_that_breaks_off_is_truncated() {
    let ended = call(plain(), picture(), Answer::new(200, "text/plain", MockBody::new().data("x").reset())).await;
    assert_eq!(ended.word(), "broken/truncated");
    assert_eq!(ended.notes.words(), ["broken/truncated"]);
}

#[tokio::test(start_paused = true)]
async fn their_coded_bodies_pass() {
    let answer =
        Answer::new(200, "application/json", MockBody::new().data("\x1f\x7f")).header("content-encoding", "gzip");
    let ended = call(plain(), picture(), answer).await;
    assert_eq!((ended.word().as_str(), &ended.bytes()[..]), ("success/success", &b"\x1f\x7f"[..]));
}

fn foreign_grpc() -> http::Request<http_body_util::Full<bytes::Bytes>> {
    let mut request = V1.request("POST", "/grpc.health.v1.Health/Check", "\0\0\0\0\0".into());
    request.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
    request
}

#[tokio::test(start_paused = true)]
async fn grpc_of_another_service_passes_with_its_trailers() {
    let body = MockBody::new().data(&b"\0\0\0\0\x01x"[..]).trailers("grpc-status", "0");
    let ended = call(plain(), foreign_grpc(), Answer::new(200, "application/grpc", body)).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(ended.bytes(), b"\0\0\0\0\x01x");
    assert_eq!(ended.trailers.unwrap()["grpc-status"], "0");
    // A stream of messages has no size of its own.
    let body = MockBody::new().data(vec![0; 100]).trailers("grpc-status", "0");
    let answer = Answer::new(200, "application/grpc", body);
    let ended = call(with(Limits::default().max_unary_body(10)), foreign_grpc(), answer).await;
    assert_eq!(ended.word(), "success/success");
}

#[tokio::test(start_paused = true)]
async fn its_refusals_pass_and_are_told() {
    let answer = Answer::new(200, "application/grpc", MockBody::new()).header("grpc-status", "12");
    let ended = call(plain(), foreign_grpc(), answer).await;
    assert_eq!(
        (ended.word().as_str(), ended.notes.words()),
        ("success/success", vec!["refused/peer_error".to_owned()])
    );
    assert_eq!(ended.headers["grpc-status"], "12");
    let body = MockBody::new().data(&b"\0\0\0\0\0"[..]).trailers("grpc-status", "16");
    let ended = call(plain(), foreign_grpc(), Answer::new(200, "application/grpc", body)).await;
    assert_eq!((ended.word().as_str(), ended.notes.words()), ("success/success", vec!["refused/auth".to_owned()]));
    let ended = call(plain(), foreign_grpc(), Answer::new(502, "text/html", MockBody::new().data("<html>"))).await;
    assert_eq!(ended.notes.words(), ["broken/http_status"]);
}

#[tokio::test(start_paused = true)]
async fn grpc_of_another_service_has_its_bounds() {
    let ended = call(with(Limits::default().head(s(7)).blocking_head(s(9))), foreign_grpc(), Answer::never()).await;
    assert_eq!(ended.fate(), fate("timeout/head", s(7)));
}
