//! What is sent again is what was sent.

use std::time::Duration;

use a2a_guard::{Call, CallLayer, LimitOverrides, TerminalStateLayer, retry::RetryPolicy};
use http::{Request, header::AUTHORIZATION};
use http_body_util::BodyExt;
use tower::{Layer, ServiceExt, retry::RetryLayer};

use crate::{
    attempt,
    mock::{Answer, Dialect, MockBody, Peer, s},
    refused,
};
use Dialect::{Rest, V1};

#[derive(Clone, Debug, PartialEq)]
struct Mine(u32);

#[tokio::test(start_paused = true)]
async fn each_attempt_is_sent_whole_with_all_that_belongs_to_it() {
    for request in [V1.send(), Rest.send(), Rest.get()] {
        let mut request = request;
        request.headers_mut().insert(AUTHORIZATION, "Bearer t".parse().unwrap());
        request.extensions_mut().insert(Mine(7));
        request.extensions_mut().insert(Call::new().with_skill("translate"));
        let (method, uri, headers) = (request.method().clone(), request.uri().clone(), request.headers().clone());
        let body = request.body().clone().collect().await.unwrap().to_bytes();

        let tried = attempt(RetryPolicy::new(), request, (0..3).map(|_| refused())).await;
        assert_eq!(tried.requests.len(), 3);
        let began = tried.requests[0].extensions().get::<Call>().unwrap().began();
        assert!(began.is_some());
        for sent in tried.requests {
            assert_eq!((sent.method(), sent.uri(), sent.headers()), (&method, &uri, &headers));
            assert_eq!(sent.extensions().get(), Some(&Mine(7)));
            let call = sent.extensions().get::<Call>().unwrap();
            assert_eq!((call.skill(), call.began()), (Some("translate"), began));
            assert_eq!(sent.into_body().collect().await.unwrap().to_bytes(), body);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_calls_own_bounds_hold_for_each_attempt() {
    let mut request = V1.get();
    request.extensions_mut().insert(LimitOverrides::default().head(s(2)));
    let tried = attempt(RetryPolicy::new(), request, (0..3).map(|_| Answer::never())).await;
    assert_eq!((tried.fate().0.as_str(), tried.requests.len()), ("timeout/head", 3));
    tried.assert_within(s(6), s(6) + Duration::from_millis(302));
}

/// Makes a call that cannot be connected, with a body that comes in these frames, of which so many bytes are read.
async fn sent(frames: [&'static str; 2], max_body: usize) -> usize {
    let body = MockBody::new().data(frames[0]).data(frames[1]);
    let request = Request::post("https://agent.example.com/a2a").body(body).unwrap();
    let peer = Peer::new((0..9).map(|_| refused()));
    let retrying = RetryLayer::new(RetryPolicy::new()).layer(TerminalStateLayer::new().layer(peer.clone()));
    let stack = CallLayer::new().max_body(max_body).layer(retrying);
    assert!(stack.oneshot(request).await.is_err());
    peer.requests().len()
}

#[tokio::test(start_paused = true)]
async fn a_body_in_pieces_is_sent_again_if_it_is_whole_in_memory() {
    let frames = || [r#"{"jsonrpc":"2.0","id":1,"#, r#""method":"GetTask","params":{"id":"task-1"}}"#];
    assert_eq!(sent(frames(), 1 << 20).await, 3);
    assert_eq!(sent(frames(), 8).await, 1, "the rest of it is gone after the first time");
}
