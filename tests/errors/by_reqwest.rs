//! What reqwest's own errors say, without a socket: no name resolves.

use std::{io, sync::Arc, time::Duration};

use a2a_guard::{
    CallError, CallLayer, Retry, TerminalStateLayer,
    card_consistency::{CardConsistencyLayer, CardStore},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use reqwest::dns::{Name, Resolve, Resolving};
use tower::{Layer, ServiceExt, service_fn};

use crate::mock::{Dialect::Rest, Peer};

/// Why no name resolves.
#[derive(Clone, Copy)]
enum NoNames {
    Io(io::ErrorKind),
    TimedOut,
}

impl Resolve for NoNames {
    fn resolve(&self, _: Name) -> Resolving {
        let why = *self;
        Box::pin(async move {
            match why {
                Self::Io(kind) => Err(io::Error::new(kind, "no such name").into()),
                Self::TimedOut => Ok(tokio::time::timeout(Duration::ZERO, std::future::pending()).await?),
            }
        })
    }
}

fn client(why: NoNames) -> reqwest::Client {
    reqwest::Client::builder().no_proxy().dns_resolver(Arc::new(why)).build().unwrap()
}

/// How a send to `uri` through reqwest fails.
async fn failed_with(why: NoNames, uri: &str) -> CallError {
    let client = client(why);
    let adapter = service_fn(move |request: Request<Full<Bytes>>| {
        let client = client.clone();
        async move {
            let uri = request.uri().to_string();
            let response = client.post(uri).body("{}").send().await?;
            Ok::<_, reqwest::Error>(Response::<reqwest::Body>::from(response))
        }
    });
    let mut request = Rest.send();
    *request.uri_mut() = uri.parse().unwrap();
    TerminalStateLayer::new().layer(adapter).oneshot(request).await.unwrap_err()
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_no_connection() {
    let error = failed_with(NoNames::Io(io::ErrorKind::Other), "http://agent.example.com/message:send").await;
    assert_eq!((error.class().as_str(), error.retry()), ("connect", Retry::Safe), "{error}");
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.is::<reqwest::Error>());
}

#[tokio::test]
async fn a_handshake_that_fails_is_no_secure_connection() {
    let error = failed_with(NoNames::Io(io::ErrorKind::InvalidData), "http://agent.example.com/message:send").await;
    assert_eq!((error.class().as_str(), error.retry()), ("tls", Retry::Safe), "{error}");
}

/// A timer around the connector says no more than that there was no connection.
#[tokio::test]
async fn a_name_that_is_not_resolved_in_time_is_no_connection() {
    let error = failed_with(NoNames::TimedOut, "http://agent.example.com/message:send").await;
    assert_eq!((error.class().as_str(), error.retry()), ("connect", Retry::Safe), "{error}");
}

/// reqwest's own messages hold the URL with its query.
#[tokio::test]
async fn secrets_of_the_target_are_not_told_by_the_source_either() {
    for why in [NoNames::Io(io::ErrorKind::Other), NoNames::TimedOut] {
        let error = failed_with(why, "http://agent.example.com/message:send?key=hunter2").await;
        assert_tells_no_secret(&error);
    }
}

#[tokio::test]
async fn secrets_of_a_cards_location_are_not_told_either() {
    let client = client(NoNames::Io(io::ErrorKind::Other));
    let cards = service_fn(move |request: Request<Full<Bytes>>| {
        let client = client.clone();
        async move {
            let response = client.get(request.uri().to_string()).send().await?;
            Ok::<_, reqwest::Error>(Response::<reqwest::Body>::from(response))
        }
    });
    let store = CardStore::builder(cards).location_template("http://cards.example.com/card?key=hunter2");
    let layer = CardConsistencyLayer::new(store.build().unwrap());
    let never = Peer::new([]);
    let error = CallLayer::new().layer(layer.layer(never)).oneshot(Rest.send()).await.unwrap_err();
    assert_eq!(error.outcome().as_str(), "transport", "{error}");
    assert_tells_no_secret(&error);
}

fn assert_tells_no_secret(error: &CallError) {
    let texts = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    for text in texts.map(ToString::to_string).chain([format!("{error:?}")]) {
        assert!(!text.contains("hunter2"), "{text}");
    }
}
