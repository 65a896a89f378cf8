//! What hyper's and hyper-util's own errors say, without a socket: connections are pipes in memory.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use a2a_guard::{CallBody, CallError, CallLayer, Retry, TerminalStateLayer};
use bytes::Bytes;
use http::Uri;
use http_body_util::Full;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::{
    client::legacy::{
        Client,
        connect::{Connected, Connection},
    },
    rt::{TokioExecutor, TokioIo},
};
use tokio::io::DuplexStream;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};

use crate::mock::Dialect::V1;

/// A connection in memory.
struct Pipe {
    io: TokioIo<DuplexStream>,
    h2: bool,
}

impl Connection for Pipe {
    fn connected(&self) -> Connected {
        if self.h2 { Connected::new().negotiated_h2() } else { Connected::new() }
    }
}

impl Read for Pipe {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl Write for Pipe {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// How a send through hyper's client fails over what `connect` gives.
async fn failed_over<C, F>(connect: C) -> CallError
where
    C: Fn() -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Pipe, BoxError>> + Send + 'static,
{
    let connect = move |_: Uri| Box::pin(connect());
    let client = Client::builder(TokioExecutor::new())
        .retry_canceled_requests(false)
        .build::<_, CallBody<Full<Bytes>>>(service_fn(connect));
    let mut stack = ServiceBuilder::new().layer(CallLayer::new()).layer(TerminalStateLayer::new()).service(client);
    let mut request = V1.send();
    *request.uri_mut() = "http://agent.example.com/a2a".parse().unwrap();
    stack.ready().await.unwrap().call(request).await.unwrap_err()
}

fn word(error: &CallError) -> String {
    format!("{}/{}", error.outcome(), error.class())
}

#[tokio::test(start_paused = true)]
async fn a_connector_that_fails_is_no_connection_whatever_its_error() {
    for kind in [io::ErrorKind::ConnectionRefused, io::ErrorKind::ConnectionReset, io::ErrorKind::TimedOut] {
        let error = failed_over(move || async move { Err(io::Error::from(kind).into()) }).await;
        assert_eq!((word(&error).as_str(), error.retry()), ("transport/connect", Retry::Safe), "{error}");
    }
    let error = failed_over(|| async { Err("no such host".into()) }).await;
    assert_eq!(word(&error), "transport/connect");
    assert!(std::error::Error::source(&error).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_fails_is_no_secure_connection() {
    let bad = || io::Error::new(io::ErrorKind::InvalidData, "invalid peer certificate: Expired");
    let error = failed_over(move || async move { Err(bad().into()) }).await;
    assert_eq!((word(&error).as_str(), error.retry()), ("transport/tls", Retry::Safe), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_closes_without_an_answer_was_lost() {
    let error = failed_over(|| async {
        let (ours, theirs) = tokio::io::duplex(4096);
        tokio::spawn(async move {
            let mut theirs = theirs;
            let mut buffer = [0; 64];
            let _ = tokio::io::AsyncReadExt::read(&mut theirs, &mut buffer).await;
        });
        Ok(Pipe { io: TokioIo::new(ours), h2: false })
    })
    .await;
    assert_eq!((word(&error).as_str(), error.retry()), ("transport/connection_lost", Retry::Unsafe), "{error}");
}

/// How an HTTP/2 server that resets the stream for this reason leaves the call.
async fn reset_with(reason: h2::Reason) -> CallError {
    failed_over(move || async move {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        tokio::spawn(async move {
            let mut connection = h2::server::handshake(theirs).await.unwrap();
            while let Some(Ok((_request, mut respond))) = connection.accept().await {
                respond.send_reset(reason);
            }
        });
        Ok(Pipe { io: TokioIo::new(ours), h2: true })
    })
    .await
}

/// RFC 9113 §8.7: the peer did nothing with it.
#[tokio::test(start_paused = true)]
async fn a_stream_that_the_peer_refused_can_be_sent_again() {
    let error = reset_with(h2::Reason::REFUSED_STREAM).await;
    assert_eq!((word(&error).as_str(), error.retry()), ("transport/connection_lost", Retry::Safe), "{error}");
    assert!(!error.work_may_have_started());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_the_peer_reset_otherwise_can_not() {
    for reason in [h2::Reason::INTERNAL_ERROR, h2::Reason::CANCEL] {
        let error = reset_with(reason).await;
        assert_eq!((word(&error).as_str(), error.retry()), ("transport/connection_lost", Retry::Unsafe), "{error}");
    }
}
