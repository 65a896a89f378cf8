//! What reqwest's own errors say, without a socket: no name resolves.

use std::{io, sync::Arc};

use a2a_guard::{CallError, Retry, TerminalStateLayer};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use reqwest::dns::{Name, Resolve, Resolving};
use tower::{Layer, ServiceExt, service_fn};

use crate::mock::Dialect::Rest;

/// Fails with an error of this kind.
struct NoNames(io::ErrorKind);

impl Resolve for NoNames {
    fn resolve(&self, _: Name) -> Resolving {
        let error = io::Error::new(self.0, "no such name");
        Box::pin(async move { Err(error.into()) })
    }
}

/// How a send to `uri` through reqwest fails.
async fn failed_with(kind: io::ErrorKind, uri: &str) -> CallError {
    let client = reqwest::Client::builder().no_proxy().dns_resolver(Arc::new(NoNames(kind))).build().unwrap();
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
    let error = failed_with(io::ErrorKind::Other, "http://agent.example.com/message:send").await;
    assert_eq!((error.class().as_str(), error.retry()), ("connect", Retry::Safe), "{error}");
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.is::<reqwest::Error>());
}

#[tokio::test]
async fn a_handshake_that_fails_is_no_secure_connection() {
    let error = failed_with(io::ErrorKind::InvalidData, "http://agent.example.com/message:send").await;
    assert_eq!((error.class().as_str(), error.retry()), ("tls", Retry::Safe), "{error}");
}

/// reqwest's own messages hold the URL with its query.
#[tokio::test]
async fn secrets_of_the_target_are_not_told_by_the_source_either() {
    let error = failed_with(io::ErrorKind::Other, "http://agent.example.com/message:send?key=hunter2").await;
    assert!(!error.to_string().contains("hunter2"), "{error}");
}
