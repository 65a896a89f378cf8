//! Request URIs without scheme and host, as axum's handlers and generated clients have them.

use a2a_guard::CardFailure;

use crate::{
    mock::Dialect,
    support::{Card, Cards, ROOT, failure, layer, through},
};

use Dialect::{Rest, V1};

#[tokio::test(start_paused = true)]
async fn without_an_origin_it_is_refused_and_the_fix_is_named() {
    let mut request = V1.send();
    *request.uri_mut() = "/a2a".parse().unwrap();
    let cards = Cards::of(Card::plain());
    let (ended, sent) = through(layer(&cards), request).await;
    assert_eq!(ended.word(), "card/unusable_url");
    let CardFailure::UnusableUrl { url, why, .. } = failure(&ended) else { panic!("{ended:?}") };
    assert_eq!((url.as_str(), why.as_str()), ("/a2a", "it is relative: set origin(uri) on CardConsistencyLayer"));
    assert!(sent.is_none());
    assert_eq!(cards.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn with_an_origin_it_is_completed() {
    let origin = "https://agent.example.com/ignored?as=well".parse::<http::Uri>().unwrap();
    let mut request = V1.send();
    *request.uri_mut() = "/a2a".parse().unwrap();
    let (ended, sent) = through(layer(&Cards::of(Card::plain())).origin(origin.clone()), request).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(*sent.unwrap().uri(), "https://agent.example.com/a2a");

    let mut request = Rest.get();
    *request.uri_mut() = "/tasks/task-1?historyLength=1".parse().unwrap();
    let cards = Cards::default().put(ROOT, Card::rest());
    let (_, sent) = through(layer(&cards).origin(origin), request).await;
    assert_eq!(*sent.unwrap().uri(), "https://agent.example.com/tasks/task-1?historyLength=1");
}

/// RFC 9112 §3.2: a `Host` field that names another server than the target would be sent on to it.
#[tokio::test(start_paused = true)]
async fn the_host_field_of_the_server_that_took_the_request_in_goes() {
    let layer = || layer(&Cards::of(Card::plain())).origin("https://agent.example.com".parse().unwrap());
    for (uri, kept) in [("/a2a", false), ("https://agent.example.com/a2a", true)] {
        let mut request = V1.send();
        *request.uri_mut() = uri.parse().unwrap();
        request.headers_mut().insert("host", "gateway.example.net".parse().unwrap());
        let (_, sent) = through(layer(), request).await;
        assert_eq!(sent.unwrap().headers().contains_key("host"), kept, "{uri}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_absolute_one_is_left_as_it_is() {
    let origin = "https://other.example.com".parse().unwrap();
    let (ended, sent) = through(layer(&Cards::of(Card::plain())).origin(origin), V1.send()).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(*sent.unwrap().uri(), "https://agent.example.com/a2a");
}

#[tokio::test(start_paused = true)]
async fn errors_name_the_whole_url() {
    let mut request = V1.stream();
    *request.uri_mut() = "/a2a".parse().unwrap();
    let origin = "https://agent.example.com".parse().unwrap();
    let (ended, _) = through(layer(&Cards::of(Card::plain())).origin(origin), request).await;
    assert_eq!(ended.word(), "card/capability_missing");
    assert_eq!(ended.error().call().target().unwrap(), "https://agent.example.com/a2a");
}
