//! A service below that panics, as an agent's own router may: typed by option, and nobody's matter without.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use a2a_guard::{CallBody, Guard, Retry};
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full};
use tower::{Layer, Service, ServiceExt};

use crate::{
    call,
    mock::{BoxError, Dialect, Ended, MockBody, Notes, s},
};

use Dialect::V1;

/// Where it panics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    Ready,
    Call,
    Head,
    /// Behind what the body has.
    Frame,
    /// Wherever the body is asked how much of it there is.
    Size,
    /// Never until it is dropped: without a head, and in the middle of its body.
    Drop,
    Nowhere,
}

fn boom() -> ! {
    // Without the hook, whose report would be noise here.
    std::panic::resume_unwind(Box::new("attempt to divide by zero"))
}

/// A service that panics once, and then does as it should.
#[derive(Clone)]
struct Panics {
    at: At,
    status: u16,
    media: &'static str,
    body: &'static [&'static str],
}

const DONE: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"task-1","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}}"#,
];
const WORKING: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"task\":{\"id\":\"task-1\",\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_WORKING\"}}}}\n\n";
const COMPLETED: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"statusUpdate\":{\"taskId\":\"task-1\",\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_COMPLETED\"}}}}\n\n";

impl Panics {
    fn unary(at: At) -> Self {
        Self { at, status: 200, media: "application/json", body: DONE }
    }

    fn stream(at: At, body: &'static [&'static str]) -> Self {
        Self { at, status: 200, media: "text/event-stream", body }
    }

    /// Where it panics, for the last time.
    fn take(&mut self) -> At {
        std::mem::replace(&mut self.at, At::Nowhere)
    }
}

impl Service<Request<CallBody<Full<Bytes>>>> for Panics {
    type Response = Response<Bodies>;
    type Error = BoxError;
    type Future = Head;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        if self.at == At::Ready {
            self.take();
            boom()
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<CallBody<Full<Bytes>>>) -> Head {
        let at = self.take();
        if at == At::Call {
            boom()
        }
        let frames = self.body.iter().fold(MockBody::new(), |body, data| body.data(*data));
        // Two that panic in one drop are more than Rust bears.
        let body = Bodies { frames, at: if self.status == 202 { At::Nowhere } else { at } };
        let response = Response::builder().status(self.status).header("content-type", self.media).body(body);
        Head { response: Some(response.unwrap()), at }
    }
}

struct Head {
    response: Option<Response<Bodies>>,
    at: At,
}

impl Future for Head {
    type Output = Result<Response<Bodies>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        match self.at {
            At::Head => boom(),
            At::Drop if self.response.as_ref().is_some_and(|response| response.status() == 202) => Poll::Pending,
            _ => Poll::Ready(Ok(self.response.take().unwrap())),
        }
    }
}

impl Drop for Head {
    fn drop(&mut self) {
        if self.at == At::Drop {
            boom()
        }
    }
}

struct Bodies {
    frames: MockBody,
    at: At,
}

impl Body for Bodies {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match Pin::new(&mut self.frames).poll_frame(cx) {
            Poll::Ready(None) if self.at == At::Frame => boom(),
            Poll::Ready(None) if self.at == At::Drop => Poll::Pending,
            polled => polled.map_err(Into::into),
        }
    }

    fn is_end_stream(&self) -> bool {
        if self.at == At::Size { boom() } else { false }
    }

    fn size_hint(&self) -> SizeHint {
        if self.at == At::Size { boom() } else { SizeHint::default() }
    }
}

impl Drop for Bodies {
    fn drop(&mut self) {
        if self.at == At::Drop {
            boom()
        }
    }
}

async fn ended(service: Panics, request: Request<Full<Bytes>>) -> Ended {
    let notes = Notes::default();
    let guard = Guard::builder().catch_panics(true).observe(notes.clone()).build().unwrap();
    let mut ended = call(&mut guard.layer(service), request).await;
    assert_eq!(notes.words(), [ended.word()], "told of once");
    ended.notes = notes;
    ended
}

#[tokio::test(start_paused = true)]
async fn before_a_head_it_is_an_opaque_500() {
    for at in [At::Call, At::Head] {
        let ended = ended(Panics::unary(at), V1.send()).await;
        assert_eq!(ended.word(), "broken/http_status", "{at:?}");
        let error = ended.error();
        assert_eq!((error.http_status(), error.retry()), (None, Retry::Unsafe));
        let line = error.to_string();
        assert!(
            line.starts_with(
                "broken/http_status: the service below panicked: panicked: attempt to divide by zero; SendMessage"
            ),
            "{line}"
        );
    }
    let ended = ended(Panics::unary(At::Head), V1.get()).await;
    assert_eq!(ended.error().retry(), Retry::Safe, "asking again does no harm");
}

#[tokio::test(start_paused = true)]
async fn before_it_was_called_nothing_was_sent() {
    let ended = ended(Panics::unary(At::Ready), V1.send()).await;
    assert_eq!((ended.word().as_str(), ended.error().retry()), ("broken/http_status", Retry::Safe));
}

#[tokio::test(start_paused = true)]
async fn behind_a_head_it_is_a_body_that_broke_off() {
    let cut = Panics { body: &["{\"jsonrpc\":"], ..Panics::unary(At::Frame) };
    let unary = ended(cut, V1.get()).await;
    assert_eq!((unary.word().as_str(), unary.error().retry()), ("broken/truncated", Retry::Safe));
    // A whole answer whose end did not come is none either.
    assert_eq!(ended(Panics::unary(At::Frame), V1.send()).await.word(), "broken/truncated");

    let stream = ended(Panics::stream(At::Frame, &[WORKING]), V1.stream()).await;
    assert_eq!((stream.word().as_str(), stream.bytes()), ("broken/truncated", WORKING.as_bytes().to_vec()));
    let error = stream.error();
    assert_eq!((error.task_id(), error.events(), error.retry()), (Some("task-1"), 1, Retry::Unsafe));
    assert_eq!(ended(Panics::stream(At::Frame, &[]), V1.stream()).await.word(), "broken/truncated");
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_it_counts() {
    // Behind the end of its task a stream is the success that it is.
    let stream = ended(Panics::stream(At::Frame, &[WORKING, COMPLETED]), V1.stream()).await;
    assert_eq!((stream.word().as_str(), stream.frames.len()), ("success/success", 2));
    // And a status that says it all.
    let refused = Panics { status: 401, body: &[], ..Panics::unary(At::Frame) };
    assert_eq!(ended(refused, V1.send()).await.word(), "refused/auth");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_passes_as_it_is_breaks_off_too() {
    let card = Request::get("https://agent.example.com/.well-known/agent-card.json").body(Full::default()).unwrap();
    let ended = ended(Panics { body: &["{"], ..Panics::unary(At::Frame) }, card).await;
    assert_eq!((ended.word().as_str(), ended.bytes()), ("broken/truncated", b"{".to_vec()));
}

#[tokio::test(start_paused = true)]
async fn who_panics_over_its_size_has_none() {
    assert_eq!(ended(Panics::unary(At::Size), V1.send()).await.word(), "success/success");
    let card = Request::get("https://agent.example.com/.well-known/agent-card.json").body(Full::default()).unwrap();
    let passing = ended(Panics::unary(At::Size), card).await;
    assert_eq!((passing.word().as_str(), passing.bytes()), ("success/success", DONE[0].as_bytes().to_vec()));
}

#[tokio::test(start_paused = true)]
async fn a_drop_that_panics_changes_nothing() {
    // Of a future that is given up for its time, of one that is over, and of a body that is.
    let hangs = ended(Panics { status: 202, ..Panics::unary(At::Drop) }, V1.get()).await;
    assert_eq!(hangs.fate(), ("timeout/head".into(), s(30)));
    let stream = ended(Panics::stream(At::Drop, &[WORKING, COMPLETED]), V1.stream()).await;
    assert_eq!(stream.word(), "success/success");
    let stream = ended(Panics::stream(At::Drop, &[WORKING]), V1.stream()).await;
    assert_eq!(stream.word(), "timeout/idle");
    // And where the caller lets go.
    let notes = Notes::default();
    let guard = Guard::builder().catch_panics(true).observe(notes.clone()).build().unwrap();
    let mut service = guard.layer(Panics { status: 202, ..Panics::unary(At::Drop) });
    assert!(tokio::time::timeout(s(1), service.ready().await.unwrap().call(V1.get())).await.is_err());
    assert_eq!(notes.words(), ["abandoned/abandoned"]);
}

#[tokio::test(start_paused = true)]
async fn the_service_stays() {
    let guard = Guard::builder().catch_panics(true).build().unwrap();
    for at in [At::Ready, At::Call, At::Head, At::Frame] {
        let mut service = guard.layer(Panics::unary(at));
        assert!(call(&mut service, V1.send()).await.error.is_some(), "{at:?}");
        assert_eq!(call(&mut service, V1.send()).await.word(), "success/success", "{at:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn callers_are_not_told_what_it_said() {
    for at in [At::Call, At::Head, At::Frame] {
        let guard = Guard::builder().catch_panics(true).build().unwrap().rendered();
        let response = guard.layer(Panics::unary(at)).oneshot(V1.send()).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&1.into(), &(-32006).into()), "{at:?}");
        assert!(!String::from_utf8_lossy(&body).contains("divide"), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_option_it_unwinds() {
    for at in [At::Ready, At::Call, At::Head, At::Frame] {
        let mut service = Guard::new().layer(Panics::unary(at));
        let called = tokio::spawn(async move { call(&mut service, V1.send()).await.word() }).await;
        assert!(called.unwrap_err().is_panic(), "{at:?}");
    }
}
