//! The client below all layers: HTTP/1.1, and HTTP/2 alone for gRPC.

use std::task::{Context, Poll};
use std::time::Duration;

use a2a_guard::CallBody;
use bytes::Bytes;
use http::{HeaderMap, Request, Response, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error, ResponseFuture};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tower::Service;

/// How long an idle connection is used again. These servers close theirs after 5 s, and a request that meets that is
/// lost.
const IDLE: Duration = Duration::from_secs(2);

type Body = CallBody<Full<Bytes>>;

#[derive(Clone, Debug)]
pub(crate) struct Http {
    http1: Client<HttpConnector, Body>,
    http2: Client<HttpConnector, Body>,
}

pub(crate) fn http() -> Http {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE);
    Http { http1: builder.build_http(), http2: builder.http2_only(true).build_http() }
}

pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|media_type| media_type.as_bytes().starts_with(b"application/grpc"))
}

impl Service<Request<Body>> for Http {
    type Response = Response<Incoming>;
    type Error = Error;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> ResponseFuture {
        if is_grpc(request.headers()) { self.http2.request(request) } else { self.http1.request(request) }
    }
}
