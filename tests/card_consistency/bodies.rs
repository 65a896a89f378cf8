//! What comes back passes: frames, trailers, sizes, and errors as they are.

use a2a_guard::{CallError, CallLayer};
use bytes::Bytes;
use http::Response;
use http_body::Body;
use http_body_util::BodyExt;
use tower::{Layer, ServiceExt};

use crate::{
    mock::{Answer, Dialect, MockBody, frames_of},
    support::{Card, Cards, Page, agent, call, guard, layer},
};

use Dialect::V1;

/// What comes back through the layer alone, with nothing between it and the client.
async fn bare(answer: Answer) -> Result<Response<impl Body<Data = Bytes, Error = CallError> + Unpin>, CallError> {
    let cards = Cards::of(Card::plain());
    CallLayer::new().layer(layer(&cards).layer(agent([answer]))).oneshot(V1.send()).await
}

#[tokio::test(start_paused = true)]
async fn head_frames_and_trailers_pass() {
    let body = MockBody::of(["one".into(), "two".into()]).trailers("x-sum", "7");
    let response = bare(Answer::new(207, "text/odd", body).header("x-a", "b")).await.unwrap();
    assert_eq!((response.status().as_u16(), &response.headers()["x-a"]), (207, &"b".parse().unwrap()));
    let (frames, trailers) = frames_of(response.into_body()).await;
    assert_eq!(frames, ["one", "two"]);
    assert_eq!(trailers.unwrap()["x-sum"], "7");
}

#[tokio::test(start_paused = true)]
async fn size_and_end_are_those_of_the_body() {
    let mut body = bare(Answer::json("12345")).await.unwrap().into_body();
    assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(5), false));
    body.frame().await.unwrap().unwrap();
    assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(0), true));

    let endless = bare(Answer::new(200, "text/plain", MockBody::new().hang())).await.unwrap().into_body();
    assert_eq!((endless.size_hint().lower(), endless.size_hint().upper(), endless.is_end_stream()), (0, None, false));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_fails_is_typed_also_without_the_layer_below() {
    let Err(error) = bare(Answer::lost(std::io::ErrorKind::ConnectionRefused)).await else { panic!("no error") };
    assert_eq!((error.outcome().as_str(), error.class().as_str()), ("transport", "connect"));
    let body = MockBody::new().data("x").reset();
    let mut body = bare(Answer::new(200, "text/plain", body)).await.unwrap().into_body();
    body.frame().await.unwrap().unwrap();
    let error = body.frame().await.unwrap().unwrap_err();
    assert_eq!((error.outcome().as_str(), error.class().as_str()), ("broken", "truncated"));
    assert!(std::error::Error::source(&error).is_some());
}

/// A typed error of a layer below is not wrapped.
#[tokio::test(start_paused = true)]
async fn errors_from_below_pass_as_they_are() {
    let cards = Cards::of(Page::from(Card::streaming()).max_age(300));
    let begun = || MockBody::of([V1.task_event("WORKING")]);
    for (request, answer, word) in [
        (V1.get(), Answer::json(V1.error(-32001)), "refused/peer_error"),
        (V1.send(), Answer::json("{"), "broken/malformed"),
        (V1.stream(), Answer::sse(begun()), "broken/truncated"),
        (V1.stream(), Answer::sse(begun().hang()), "timeout/idle"),
    ] {
        let ended = call(&mut guard(layer(&cards), &agent([answer])), request).await;
        assert_eq!(ended.word(), word);
        let source = std::error::Error::source(ended.error());
        assert!(source.is_none_or(|source| !source.is::<CallError>()), "wrapped: {}", ended.error());
    }
}
