//! Answers of which nobody said what they are: their bytes do.

use a2a_guard::Limits;
use http::Response;

use crate::{
    mock::{Answer, Dialect, MockBody, call, s},
    plain, with,
};

use Dialect::V1;

fn undeclared(status: u16, body: MockBody) -> Answer {
    Answer::response(Response::builder().status(status).body(body).unwrap())
}

#[tokio::test(start_paused = true)]
async fn events_are_a_stream() {
    let frames = [V1.task_event("WORKING"), V1.update_event("COMPLETED")];
    let ended = call(plain(), V1.stream(), undeclared(200, MockBody::of(frames.clone()))).await;
    assert_eq!((ended.word().as_str(), &ended.frames[..]), ("success/success", &frames[..]));
    assert_eq!(ended.notes.one().events, 2);
    // Its first event has its time, and is handed on before the next one comes.
    let body = MockBody::new().data(V1.task_event("WORKING")).hang();
    let ended = call(with(Limits::default().idle(s(5))), V1.stream(), undeclared(200, body)).await;
    assert_eq!((ended.word().as_str(), ended.frames.len()), ("timeout/idle", 1));
}

#[tokio::test(start_paused = true)]
async fn a_document_is_an_answer_to_a_unary_call() {
    let document = V1.result(&V1.task("COMPLETED"));
    let ended = call(plain(), V1.send(), undeclared(200, MockBody::new().data(document.clone()))).await;
    assert_eq!((ended.word().as_str(), ended.bytes()), ("success/success", document.into_bytes()));
    let ended = call(plain(), V1.send(), undeclared(200, MockBody::new().data(V1.task_event("COMPLETED")))).await;
    assert_eq!((ended.word().as_str(), ended.status), ("broken/malformed", None));
}

#[tokio::test(start_paused = true)]
async fn a_document_is_a_downgrade_where_a_stream_was_asked() {
    let document = V1.result(&V1.task("COMPLETED"));
    let ended = call(plain(), V1.stream(), undeclared(200, MockBody::new().data(document))).await;
    assert_eq!(ended.word(), "broken/silent_downgrade");
    // There are no events under a status that says so.
    let events = MockBody::new().data(V1.task_event("COMPLETED"));
    let ended = call(plain(), V1.stream(), undeclared(204, events)).await;
    assert_eq!(ended.word(), "broken/malformed");
    assert_eq!(call(plain(), V1.stream(), undeclared(204, MockBody::new())).await.word(), "broken/empty");
}
