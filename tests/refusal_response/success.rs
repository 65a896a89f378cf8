//! What succeeds passes untouched.

use a2a_guard::{Call, CallBody, RefusalResponseBody, RefusalResponseLayer};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use tower::{Layer, Service, ServiceExt};

use crate::{
    call, infallible,
    mock::{Answer, Dialect, MockBody, Peer, ms},
    plain,
};

use Dialect::{Rest, V1, V03};

fn places(frames: &[Bytes]) -> Vec<(*const u8, usize)> {
    frames.iter().map(|frame| (frame.as_ptr(), frame.len())).collect()
}

#[tokio::test(start_paused = true)]
async fn unary_answers_frame_by_frame() {
    for dialect in [V1, V03, Rest] {
        let body = Bytes::from(dialect.result(&dialect.task("COMPLETED")));
        let sent = [body.slice(..20), body.slice(20..21), body.slice(21..)];
        let answer = Answer::new(200, "application/json", MockBody::of(sent.clone()).trailers("x-check", "sum"));
        let got = call(plain(), dialect.send(), answer.header("x-request-id", "7").header("content-length", "5")).await;
        assert_eq!((got.status.as_u16(), got.header("x-request-id"), got.header("content-length")), (200, "7", "5"));
        assert_eq!(places(&got.frames), places(&sent));
        assert_eq!(got.trailers.unwrap()["x-check"], "sum");
        assert!(got.error.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn streams_frame_by_frame() {
    for dialect in [V1, V03, Rest] {
        let sent =
            [dialect.task_event("WORKING"), Bytes::from_static(b": still here\n\n"), dialect.update_event("COMPLETED")];
        let body = sent.iter().cloned().fold(MockBody::new(), |body, frame| body.data(frame).wait(ms(10)));
        let got = call(plain(), dialect.stream(), Answer::sse(body)).await;
        assert_eq!(places(&got.frames), places(&sent));
    }
}

/// The layer alone above a client, without the one that judges.
async fn alone(request: Request<Full<Bytes>>, answer: Answer) -> Response<RefusalResponseBody<MockBody>> {
    let mut service = RefusalResponseLayer::new().layer(Peer::new([answer]));
    let Ok(ready) = service.ready().await;
    let Ok(response) = ready.call(request).await;
    response
}

#[tokio::test(start_paused = true)]
async fn sizes_pass_where_the_end_cannot_change() {
    let response = alone(Rest.get(), Answer::json("{}")).await;
    assert_eq!(response.body().size_hint().exact(), Some(2));
    assert!(!response.body().is_end_stream());
    let response = alone(Rest.get(), Answer::new(204, "", MockBody::new())).await;
    assert!(response.body().is_end_stream());
    let stream = Answer::sse(MockBody::of([Rest.task_event("COMPLETED")])).header("content-length", "99");
    let response = alone(Rest.stream(), stream).await;
    assert_eq!(response.body().size_hint().upper(), None);
    assert!(!response.headers().contains_key("content-length"), "it may get another end");
}

#[tokio::test(start_paused = true)]
async fn requests_pass_with_all_they_carry() {
    #[derive(Clone, Debug, PartialEq)]
    struct Mark(u8);
    let peer: Peer<CallBody<Full<Bytes>>> = Peer::new([Answer::json("{}")]);
    let mut request = Rest.get().map(CallBody::unread);
    request.extensions_mut().insert(Mark(7));
    request.extensions_mut().insert(Call::new().with_skill("s"));
    let mut service = RefusalResponseLayer::new().layer(peer.clone());
    let Ok(ready) = service.ready().await;
    let Ok(response) = ready.call(request).await;
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "{}");
    let seen = peer.requests().pop().unwrap();
    assert_eq!(seen.extensions().get::<Mark>(), Some(&Mark(7)));
    assert_eq!(seen.extensions().get::<Call>().unwrap().skill(), Some("s"));
    assert_eq!((seen.uri().path(), seen.headers()["a2a-version"].to_str().unwrap()), ("/tasks/task-1", "1.0"));
}

/// A body in which nothing can be said any more breaks off, so that it cannot be taken for a whole one.
#[tokio::test(start_paused = true)]
async fn a_unary_body_that_fails_does_not_look_finished() {
    let got = infallible(
        RefusalResponseLayer::new().layer(Peer::new([Answer::new(
            200,
            "application/json",
            MockBody::new().data("{").reset(),
        )])),
        Rest.get(),
    )
    .await;
    let error = got.failed.unwrap();
    assert_eq!((error.outcome().as_str(), error.class().as_str()), ("broken", "truncated"));
    assert_eq!(error.task_id(), Some("task-1"));
}

#[tokio::test(start_paused = true)]
async fn nor_does_a_stream_that_is_coded() {
    let coded = Answer::sse(MockBody::new().data("\x1f\u{8b}").reset()).header("content-encoding", "gzip");
    let got = infallible(RefusalResponseLayer::new().layer(Peer::new([coded])), Rest.stream()).await;
    assert!(got.failed.is_some());
}

/// The service that was polled ready is the one that is called.
#[tokio::test(start_paused = true)]
async fn readiness_is_the_inner_services() {
    let mut service = RefusalResponseLayer::new().layer(Peer::<Full<Bytes>>::new([]).ready_after(ms(50)));
    let began = tokio::time::Instant::now();
    let Ok(_) = ServiceExt::<Request<Full<Bytes>>>::ready(&mut service).await;
    assert_eq!(began.elapsed(), ms(50));
    let clone = service.clone();
    drop((service, clone));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let mut never = RefusalResponseLayer::new().layer(Peer::<Full<Bytes>>::new([]).never_ready());
    assert!(Service::<Request<Full<Bytes>>>::poll_ready(&mut never, &mut cx).is_pending());
}
