//! The peer: serves HTTP/1.1 and HTTP/2 on one port, and does with each request what its `x-way` says. Its card and its
//! answers to probes are good.

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    sync::{mpsc, watch},
    time::interval,
};

use crate::{
    BoxError, traffic,
    ways::{self, Then, Way, Wire},
};

/// A body that a task feeds, frame by frame. It ends with the task.
pub(crate) struct Fed(mpsc::Receiver<Frame<Bytes>>);

impl Body for Fed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|frame| frame.map(Ok))
    }
}

#[derive(Clone)]
struct Peer {
    scripted: Arc<AtomicUsize>,
    go: watch::Receiver<bool>,
}

/// Serves until the process that started it is gone.
pub(crate) async fn run(addr: SocketAddr) -> Result<(), BoxError> {
    let listener = TcpListener::bind(addr).await?;
    let (go, heard) = watch::channel(false);
    let peer = Peer { scripted: Arc::default(), go: heard };
    println!("{}", listener.local_addr()?);
    tokio::spawn(serve(listener, peer.clone()));
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        match line.as_str() {
            "count" => println!("{}", peer.scripted.load(Relaxed)),
            _ => drop(go.send_replace(true)),
        }
    }
    Ok(())
}

async fn serve(listener: TcpListener, peer: Peer) {
    loop {
        let Ok((socket, _)) = listener.accept().await else { continue };
        let _ = socket.set_nodelay(true);
        let peer = peer.clone();
        tokio::spawn(async move {
            let service = hyper::service::service_fn(move |request| peer.clone().answer(request));
            let mut builder = Builder::new(TokioExecutor::new());
            builder.http1().timer(TokioTimer::new()).header_read_timeout(None);
            builder.http2().max_concurrent_streams(20_000).initial_connection_window_size(1 << 24);
            // However it ends: callers come and go.
            let _ = builder.serve_connection(TokioIo::new(socket), service).await;
        });
    }
}

impl Peer {
    async fn answer(self, request: Request<Incoming>) -> Result<Response<Fed>, Infallible> {
        if request.uri().path().contains("/.well-known/") {
            return Ok(card(&request));
        }
        let wire = wire_of(&request);
        let way = request.headers().get("x-way").and_then(|way| way.to_str().ok()).map(str::to_owned);
        let _read = request.into_body().collect().await;
        let Some(way) = way else { return Ok(no_such_task(wire)) };
        self.scripted.fetch_add(1, Relaxed);
        match ways::named(&way) {
            Some(way) => Ok(self.scripted(way, wire).await),
            None => Ok(traffic::answer(&way, wire).await),
        }
    }

    async fn scripted(mut self, way: &'static Way, wire: Wire) -> Response<Fed> {
        let Some((status, media)) = way.head else { return std::future::pending().await };
        let (feed, body) = mpsc::channel(8);
        tokio::spawn(async move {
            // One frame: it is one moment for who measures.
            let first: Vec<u8> = way.first.iter().flat_map(|piece| piece.bytes(wire)).collect();
            if !first.is_empty() && feed.send(Frame::data(first.into())).await.is_err() {
                return;
            }
            let repeated = match way.then {
                Then::Silence => return feed.closed().await,
                Then::Repeat(piece) => Some(piece.bytes(wire)),
                Then::Finish => None,
            };
            tokio::select! {
                () = feed.closed() => return,
                told = self.go.wait_for(|go| *go) => if told.is_err() { return },
            }
            let mut pace = interval(Duration::from_secs(1));
            while let Some(piece) = &repeated {
                pace.tick().await;
                if feed.send(Frame::data(piece.clone())).await.is_err() {
                    return;
                }
            }
            for piece in ways::finish() {
                let _ = feed.send(Frame::data(piece.bytes(wire))).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            end(wire, &feed).await;
        });
        answered(status, media.unwrap_or_else(|| media_of_stream(wire)), body)
    }
}

/// What ends a good answer.
pub(crate) async fn end(wire: Wire, feed: &mpsc::Sender<Frame<Bytes>>) {
    if wire == Wire::Grpc {
        let trailers = HeaderMap::from_iter([(http::HeaderName::from_static("grpc-status"), HeaderValue::from(0))]);
        let _ = feed.send(Frame::trailers(trailers)).await;
    }
}

pub(crate) fn media_of_stream(wire: Wire) -> &'static str {
    if wire == Wire::Grpc { "application/grpc" } else { "text/event-stream" }
}

pub(crate) fn answered(status: u16, media: &'static str, body: mpsc::Receiver<Frame<Bytes>>) -> Response<Fed> {
    let mut response = Response::new(Fed(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    response.headers_mut().insert("content-type", HeaderValue::from_static(media));
    response
}

/// An answer that is there at once.
pub(crate) fn whole(status: u16, media: &'static str, body: impl Into<Bytes>) -> Response<Fed> {
    let (feed, receiver) = mpsc::channel(1);
    let _ = feed.try_send(Frame::data(body.into()));
    answered(status, media, receiver)
}

fn wire_of(request: &Request<Incoming>) -> Wire {
    match request.uri().path() {
        "/a2a" => Wire::JsonRpc,
        path if path.contains("A2AService") => Wire::Grpc,
        _ => Wire::HttpJson,
    }
}

/// The answer to a probe.
fn no_such_task(wire: Wire) -> Response<Fed> {
    match wire {
        Wire::JsonRpc => {
            let error = r#"{"jsonrpc":"2.0","id":"a2a-guard-probe","error":{"code":-32001,"message":"no such task"}}"#;
            whole(200, "application/json", error)
        }
        Wire::HttpJson => {
            let info = r#"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}"#;
            let error = format!(r#"{{"error":{{"code":404,"status":"NOT_FOUND","message":"no","details":[{info}]}}}}"#);
            whole(404, "application/json", error)
        }
        Wire::Grpc => {
            let mut response = whole(200, "application/grpc", "");
            response.headers_mut().insert("grpc-status", HeaderValue::from(5));
            response
        }
    }
}

/// It speaks every binding at whatever name it is called by.
fn card(request: &Request<Incoming>) -> Response<Fed> {
    let host = request.headers().get("host").and_then(|host| host.to_str().ok());
    let host = request.uri().authority().map(|authority| authority.as_str()).or(host).unwrap_or_default();
    let interface = |path: &str, binding: &str| {
        format!(r#"{{"url":"http://{host}{path}","protocolBinding":"{binding}","protocolVersion":"1.0"}}"#)
    };
    let interfaces = [interface("/a2a", "JSONRPC"), interface("", "HTTP+JSON"), interface("", "GRPC")].join(",");
    let card = format!(
        r#"{{"name":"Soak","description":"d","version":"1","supportedInterfaces":[{interfaces}],"capabilities":{{"streaming":true}},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{{"id":"s","name":"S","description":"s","tags":["t"]}}]}}"#
    );
    let mut response = whole(200, "application/json", card);
    response.headers_mut().insert("cache-control", HeaderValue::from_static("max-age=300"));
    response
}
