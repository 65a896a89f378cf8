//! The way to the agent: HTTP/1.1, and HTTP/2 for gRPC, which needs it.

use std::task::{Context, Poll};

use a2a_guard::CallBody;
use http::{HeaderMap, HeaderName, Request, Response, Version, header};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, Error, ResponseFuture, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use tower::Service;

/// What a caller sends.
pub(crate) type Body = CallBody<Incoming>;

/// Two clients, of which one has the call.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    http1: Client<HttpConnector, Body>,
    http2: Client<HttpConnector, Body>,
}

impl Upstream {
    pub(crate) fn new() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let mut builder = Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).timer(TokioTimer::new());
        let http1 = builder.build(connector.clone());
        let http2 = builder.http2_only(true).build(connector);
        Self { http1, http2 }
    }
}

impl Service<Request<Body>> for Upstream {
    type Response = Response<Incoming>;
    type Error = Error;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> ResponseFuture {
        let is_grpc = is_grpc(request.headers());
        *request.version_mut() = if is_grpc { Version::HTTP_2 } else { Version::HTTP_11 };
        if is_grpc { self.http2.request(request) } else { self.http1.request(request) }
    }
}

fn is_grpc(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"application/grpc"))
}

/// What belongs to one connection and goes no further (RFC 9110 §7.6.1). `te: trailers` is renewed, for gRPC asks for it.
pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let of_old = ["keep-alive", "proxy-connection"].map(HeaderName::from_static);
    let known = [header::CONNECTION, header::TRANSFER_ENCODING, header::UPGRADE, header::PROXY_AUTHENTICATE];
    let trailers = headers.get(header::TE).is_some_and(|te| te.as_bytes().eq_ignore_ascii_case(b"trailers"));
    for name in named.into_iter().chain(of_old).chain(known).chain([header::TE]) {
        headers.remove(name);
    }
    if trailers {
        headers.insert(header::TE, http::HeaderValue::from_static("trailers"));
    }
}
