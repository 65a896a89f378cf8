//! What hyper's and hyper-util's own errors say, without a socket: connections are pipes in memory.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use a2a_guard::{CallBody, CallError, CallLayer, Retry, TerminalStateLayer};
use bytes::Bytes;
use http::{Request, Response, Uri, Version};
use http_body_util::{BodyExt, Full};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::{
    client::legacy::{
        Client,
        connect::{Connected, Connection},
    },
    rt::{TokioExecutor, TokioIo},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};

use crate::mock::{Dialect::V1, ms};

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
    failed_as(send(), connect).await
}

fn send() -> Request<Full<Bytes>> {
    let mut request = V1.send();
    *request.uri_mut() = "http://agent.example.com/a2a".parse().unwrap();
    request
}

/// The same of this request.
async fn failed_as<C, F>(request: Request<Full<Bytes>>, connect: C) -> CallError
where
    C: Fn() -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Pipe, BoxError>> + Send + 'static,
{
    let connect = move |_: Uri| Box::pin(connect());
    let client = Client::builder(TokioExecutor::new())
        .retry_canceled_requests(false)
        .build::<_, CallBody<Full<Bytes>>>(service_fn(connect));
    failed_by(client, request).await
}

async fn failed_by<S, R>(client: S, request: Request<Full<Bytes>>) -> CallError
where
    S: Service<Request<CallBody<Full<Bytes>>>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
    R: http_body::Body<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    let mut stack = ServiceBuilder::new().layer(CallLayer::new()).layer(TerminalStateLayer::new()).service(client);
    match stack.ready().await.unwrap().call(request).await {
        Ok(_) => panic!("it succeeded"),
        Err(error) => error,
    }
}

fn word(error: &CallError) -> String {
    format!("{}/{}", error.outcome(), error.class())
}

/// A timer around the connector says no more than that there was no connection.
#[tokio::test(start_paused = true)]
async fn a_connection_that_is_not_made_in_time_is_none() {
    let error = failed_over(|| async { Ok(tokio::time::timeout(ms(10), std::future::pending()).await?) }).await;
    assert_eq!((word(&error).as_str(), error.retry()), ("transport/connect", Retry::Safe), "{error}");
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
            let _ = theirs.read(&mut buffer).await;
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

/// What hyper's client does not even take, it sends to nobody.
#[tokio::test(start_paused = true)]
async fn a_request_that_the_client_refuses_was_not_sent() {
    let nowhere = || async { Err("nobody connects for it".into()) };
    let mut relative = send();
    *relative.uri_mut() = "/a2a".parse().unwrap();
    let of_version = |version| {
        let mut request = send();
        *request.version_mut() = version;
        request
    };
    let silent = || async {
        let (ours, theirs) = tokio::io::duplex(4096);
        // It is not closed before the runtime ends.
        tokio::spawn(async move {
            std::future::pending::<()>().await;
            drop(theirs);
        });
        Ok(Pipe { io: TokioIo::new(ours), h2: false })
    };
    for (what, error) in [
        ("a relative URI", failed_as(relative, nowhere).await),
        ("a version of which it knows nothing", failed_as(of_version(Version::HTTP_3), nowhere).await),
        ("HTTP/2 over a connection of HTTP/1.1", failed_as(of_version(Version::HTTP_2), silent).await),
    ] {
        assert_eq!((word(&error).as_str(), error.retry()), ("transport/connect", Retry::Safe), "{what}: {error}");
        assert!(!error.work_may_have_started(), "{what}");
    }
}

/// The connection stands, and breaks before HTTP does.
#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_in_its_handshake_carried_nothing() {
    let error = failed_over(|| async {
        let (ours, theirs) = tokio::io::duplex(1);
        drop(theirs);
        Ok(Pipe { io: TokioIo::new(ours), h2: true })
    })
    .await;
    assert_eq!((word(&error).as_str(), error.retry()), ("transport/connect", Retry::Safe), "{error}");
}

/// A connection that idled is found closed when the next request is about to go out over it.
#[tokio::test(start_paused = true)]
async fn a_request_that_was_still_queued_when_its_connection_closed_was_not_sent() {
    let theirs = Arc::new(Mutex::new(None));
    let connect = {
        let theirs = Arc::clone(&theirs);
        move |_: Uri| {
            let (ours, other) = tokio::io::duplex(64 << 10);
            *theirs.lock().unwrap() = Some(other);
            std::future::ready(Ok::<_, BoxError>(Pipe { io: TokioIo::new(ours), h2: false }))
        }
    };
    let client = Client::builder(TokioExecutor::new())
        .retry_canceled_requests(false)
        .build::<_, CallBody<Full<Bytes>>>(service_fn(connect));

    let first = tokio::spawn(client.request(send().map(CallBody::unread)));
    let peer_of = || theirs.lock().unwrap().take();
    let mut peer = peer_of();
    while peer.is_none() {
        tokio::task::yield_now().await;
        peer = peer_of();
    }
    let mut peer = peer.unwrap();
    assert!(peer.read(&mut [0; 4096]).await.unwrap() > 0);
    peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
    let answer = first.await.unwrap().unwrap();
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "{}");
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;

    drop(peer);
    let error = failed_by(client, send()).await;
    assert_eq!((word(&error).as_str(), error.retry()), ("transport/connection_lost", Retry::Safe), "{error}");
    assert!(!error.work_may_have_started());
    assert!(theirs.lock().unwrap().is_none(), "another connection was made");
}

/// The same of a connection that is the caller's own.
#[tokio::test(start_paused = true)]
async fn nor_was_one_in_the_queue_of_a_connection_that_nobody_drives_any_more() {
    let (ours, _theirs) = tokio::io::duplex(4096);
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(ours)).await.unwrap();
    let both = Arc::new(Mutex::new(Some((sender, connection))));
    let client = service_fn(move |request: Request<CallBody<Full<Bytes>>>| {
        let (mut sender, connection) = both.lock().unwrap().take().unwrap();
        let answer = sender.send_request(request);
        drop(connection);
        answer
    });
    let error = failed_by(client, send()).await;
    assert_eq!((word(&error).as_str(), error.retry()), ("transport/connection_lost", Retry::Safe), "{error}");
}
