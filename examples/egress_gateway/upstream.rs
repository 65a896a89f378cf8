//! The way to the agent: HTTP/1.1, and HTTP/2 by prior knowledge for gRPC, which needs it.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use a2a_guard::CallBody;
use http::{
    HeaderMap, HeaderName, HeaderValue, Request, Response, Version,
    header::{ACCEPT_ENCODING, CONTENT_TYPE},
};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, Error, ResponseFuture, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use tower::Service;

/// What a caller sends.
pub(crate) type Body = CallBody<Incoming>;

/// How long a connection may take to stand.
const CONNECT: Duration = Duration::from_secs(10);

/// How long an idle connection is used again. Several servers close theirs after 5 s, and a request that meets that is
/// lost.
const IDLE: Duration = Duration::from_secs(4);

/// How often an agent over HTTP/2 is asked whether it is still there.
const STILL_THERE: Duration = Duration::from_secs(20);

/// How much of one HTTP/2 stream may wait for its caller, in bytes; and of all streams of a connection. Callers that do
/// not read must not use up what the others need.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 64 << 20;

/// Two clients, of which one has the call. They are shared: the stack around them is cloned for every call.
#[derive(Clone, Debug)]
pub(crate) struct Upstream(Arc<Clients>);

#[derive(Debug)]
struct Clients {
    http1: Client<HttpConnector, Body>,
    http2: Client<HttpConnector, Body>,
}

impl Upstream {
    pub(crate) fn new() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT));
        let mut builder = Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE).timer(TokioTimer::new());
        let http1 = builder.build(connector.clone());
        let http2 = builder
            .http2_only(true)
            .http2_keep_alive_interval(STILL_THERE)
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
            .build(connector);
        Self(Arc::new(Clients { http1, http2 }))
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
        not_coded(request.headers_mut(), is_grpc);
        if is_grpc { self.0.http2.request(request) } else { self.0.http1.request(request) }
    }
}

const GRPC_ACCEPT_ENCODING: HeaderName = HeaderName::from_static("grpc-accept-encoding");
const IDENTITY: HeaderValue = HeaderValue::from_static("identity");

/// Most callers ask for codings, and what is coded nobody here can judge. They read what has none as well.
fn not_coded(headers: &mut HeaderMap, is_grpc: bool) {
    headers.insert(ACCEPT_ENCODING, IDENTITY);
    if is_grpc {
        headers.insert(GRPC_ACCEPT_ENCODING, IDENTITY);
    }
}

fn is_grpc(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"application/grpc"))
}
