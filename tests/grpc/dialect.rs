//! Requests, messages and trailers of gRPC. The task is `task-1`.

use a2a_guard::wire::grpc::{
    GrpcDialect,
    encode::{Message, about_task, send_text},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use http_body_util::Full;

use crate::mock::{Answer, MockBody, Step};

pub(crate) const SUBMITTED: u64 = 1;
pub(crate) const WORKING: u64 = 2;
pub(crate) const COMPLETED: u64 = 3;
pub(crate) const FAILED: u64 = 4;
pub(crate) const CANCELED: u64 = 5;
pub(crate) const INPUT_REQUIRED: u64 = 6;
pub(crate) const REJECTED: u64 = 7;
pub(crate) const AUTH_REQUIRED: u64 = 8;

/// What ErrorInfo with this reason, under A2A's own domain, looks like in `grpc-status-details-bin`.
pub(crate) fn error_info(code: u64, reason: &str) -> String {
    let info = Message::new().text(1, reason).text(2, "a2a-protocol.org");
    details(code, [("google.rpc.ErrorInfo", info)])
}

/// `RetryInfo` of so many seconds.
pub(crate) fn retry_info(code: u64, seconds: u64) -> String {
    let delay = Message::new().message(1, Message::new().number(1, seconds));
    details(code, [("google.rpc.RetryInfo", delay)])
}

pub(crate) fn details<const N: usize>(code: u64, details: [(&str, Message); N]) -> String {
    let status = details.into_iter().fold(Message::new().number(1, code).text(2, "no"), |status, (name, detail)| {
        let any = Message::new().text(1, &format!("type.googleapis.com/{name}")).message(2, detail);
        status.message(3, any)
    });
    base64(status.as_bytes())
}

/// Without padding, as most servers send it.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            text.push(char::from(ALPHABET[(bits >> (18 - 6 * place)) as usize & 63]));
        }
    }
    text
}

pub(crate) fn request(path: &str, message: &Message) -> Request<Full<Bytes>> {
    Request::post(format!("https://agent.example.com{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("authorization", "Bearer t")
        .body(Full::from(message.framed().unwrap()))
        .unwrap()
}

pub(crate) fn send() -> Request<Full<Bytes>> {
    request("/lf.a2a.v1.A2AService/SendMessage", &send_text(GrpcDialect::V1, "m-1", "hello", &[], None))
}

pub(crate) fn stream() -> Request<Full<Bytes>> {
    request("/lf.a2a.v1.A2AService/SendStreamingMessage", &send_text(GrpcDialect::V1, "m-1", "hello", &[], None))
}

pub(crate) fn get() -> Request<Full<Bytes>> {
    request("/lf.a2a.v1.A2AService/GetTask", &about_task(GrpcDialect::V1, "task-1", Some("acme")))
}

pub(crate) fn subscribe() -> Request<Full<Bytes>> {
    request("/lf.a2a.v1.A2AService/SubscribeToTask", &about_task(GrpcDialect::V1, "task-1", None))
}

pub(crate) fn delete() -> Request<Full<Bytes>> {
    let message = Message::new().text(2, "task-1").text(3, "config-1");
    request("/lf.a2a.v1.A2AService/DeleteTaskPushNotificationConfig", &message)
}

/// `task-1` as `GetTask` gives it.
pub(crate) fn bare_task(state: u64) -> Message {
    Message::new().text(1, "task-1").text(2, "ctx-1").message(3, Message::new().number(1, state))
}

/// `task-1` as a send or a stream gives it.
pub(crate) fn task(state: u64) -> Bytes {
    framed(&Message::new().message(1, bare_task(state)))
}

/// A change of `task-1`'s status.
pub(crate) fn update(state: u64) -> Bytes {
    framed(&Message::new().message(3, bare_task(state)))
}

/// A piece of `task-1`'s output.
pub(crate) fn artifact(text: &str) -> Bytes {
    let artifact = Message::new().text(1, "a-1").message(4, Message::new().text(1, text));
    framed(&Message::new().message(4, Message::new().text(1, "task-1").text(2, "ctx-1").message(3, artifact)))
}

/// A message that is the whole answer.
pub(crate) fn message() -> Bytes {
    let message = Message::new().text(1, "m-2").number(4, 2).message(5, Message::new().text(1, "hi"));
    framed(&Message::new().message(2, message))
}

pub(crate) fn framed(message: &Message) -> Bytes {
    message.framed().unwrap()
}

/// A message that says it is compressed.
pub(crate) fn compressed() -> Bytes {
    Bytes::from_static(&[1, 0, 0, 0, 4, 0x1f, 0x8b, 8, 0])
}

pub(crate) fn fields(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs.iter().map(|&(name, value)| (HeaderName::from_static(name), HeaderValue::try_from(value).unwrap())).collect()
}

/// Trailers behind what a body does so far.
pub(crate) fn ended(body: MockBody, pairs: &[(&'static str, &str)]) -> MockBody {
    body.then(Step::Trailers(fields(pairs)))
}

/// The messages, and that all is well.
pub(crate) fn ok(messages: &[Bytes]) -> MockBody {
    ended(MockBody::of(messages.to_vec()), &[("grpc-status", "0")])
}

/// An answer with this body.
pub(crate) fn answer(body: MockBody) -> Answer {
    Answer::new(200, "application/grpc", body)
}

/// A head that is also the end.
pub(crate) fn trailers_only(pairs: &[(&'static str, &str)]) -> Answer {
    let mut response = http::Response::new(MockBody::new());
    *response.headers_mut() = fields(pairs);
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    Answer::response(response)
}
