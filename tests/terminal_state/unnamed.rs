//! Calls that nobody can name, or whose binding nobody judges here: they pass, within bounds and caps.

use a2a_guard::{Binding, Call, Limits, Operation};
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

#[tokio::test(start_paused = true)]
async fn grpc_passes_with_its_trailers() {
    let request = || {
        let mut request = V1.request("POST", "/lf.a2a.v1.A2AService/SendMessage", "\0\0\0\0\0".into());
        request.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
        request
    };
    let body = MockBody::new().data(&b"\0\0\0\0\x01x"[..]).trailers("grpc-status", "0");
    let ended = call(plain(), request(), Answer::new(200, "application/grpc", body)).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(ended.bytes(), b"\0\0\0\0\x01x");
    assert_eq!(ended.trailers.unwrap()["grpc-status"], "0");
    // A stream of messages has no size of its own.
    let body = MockBody::new().data(vec![0; 100]).trailers("grpc-status", "0");
    let answer = Answer::new(200, "application/grpc", body);
    assert_eq!(call(with(Limits::default().max_unary_body(10)), request(), answer).await.word(), "success/success");
}

#[tokio::test(start_paused = true)]
async fn grpc_that_the_caller_named_passes_within_its_bounds() {
    let request = || {
        let mut request = V1.request("POST", "/lf.a2a.v1.A2AService/GetTask", "\0\0\0\0\0".into());
        request.extensions_mut().insert(Call::new().with_operation(Operation::GetTask).with_binding(Binding::Grpc));
        request
    };
    let ended = call(with(Limits::default().head(s(7))), request(), Answer::never()).await;
    assert_eq!(ended.fate(), fate("timeout/head", s(7)));
    let body = MockBody::new().data(&b"\0\0\0\0\x01x"[..]).trailers("grpc-status", "0");
    let ended = call(plain(), request(), Answer::new(200, "application/grpc", body)).await;
    assert_eq!((ended.word().as_str(), &ended.bytes()[..]), ("success/success", &b"\0\0\0\0\x01x"[..]));
}
