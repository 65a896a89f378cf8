//! An agent over all three bindings, HTTP/1.1 and HTTP/2. What it does with a message, the first word of its text says.

use std::{
    convert::Infallible,
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, mpsc},
    task::JoinHandle,
    time::sleep,
};

use crate::{
    dialect::{Binding, Dialect},
    messages,
};

/// How the agent is reached, and what it was asked.
pub(crate) struct Agent {
    pub(crate) addr: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

struct Shared {
    addr: SocketAddr,
    seen: Mutex<Vec<Seen>>,
    /// An event of a stream that waits for it, each.
    steps: Semaphore,
    kind: Kind,
}

/// What the card says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Able,
    /// Nothing of streaming.
    Modest,
    /// All of it, in 0.3.
    Old,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) target: String,
    pub(crate) version: Version,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// So long is the text of a long answer: more than a gateway takes at once, and than connections hold. A debug build
/// judges it in a moment.
pub(crate) const LONG: usize = 1_000_000;

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

impl Agent {
    pub(crate) async fn start() -> Self {
        Self::with(Kind::Able).await
    }

    /// Its card does not say that it streams.
    pub(crate) async fn modest() -> Self {
        Self::with(Kind::Modest).await
    }

    /// It speaks 0.3.
    pub(crate) async fn old() -> Self {
        Self::with(Kind::Old).await
    }

    async fn with(kind: Kind) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { addr, seen: Mutex::default(), steps: Semaphore::new(0), kind });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Self { addr, shared, accepting }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// The last request whose body has this text.
    pub(crate) fn last(&self, text: &str) -> Seen {
        let seen = self.seen();
        let last = seen.iter().rev().find(|seen| contains(&seen.body, text));
        last.unwrap_or_else(|| panic!("nobody asked for {text:?}")).clone()
    }

    /// Lets streams that wait for it send so many events.
    pub(crate) fn step(&self, events: usize) {
        self.shared.steps.add_permits(events);
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((socket, _)) = listener.accept().await {
        socket.set_nodelay(true).unwrap();
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let shared = Arc::clone(&shared);
                async move { Ok::<_, Infallible>(answer(request, shared).await) }
            });
            let server = auto::Builder::new(TokioExecutor::new());
            let _ = server.serve_connection(TokioIo::new(socket), answer).await;
        });
    }
}

async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Response<Frames> {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else { return Response::new(Frames::default()) };
    let body = body.to_bytes();
    let seen = Seen {
        method: head.method.clone(),
        target: head.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        version: head.version,
        headers: head.headers.clone(),
        body: body.clone(),
    };
    shared.seen.lock().unwrap().push(seen);
    let text = String::from_utf8_lossy(&body).into_owned();
    let path = head.uri.path();
    if path == "/.well-known/agent-card.json" {
        return card(&head.headers, &shared);
    }
    let nothing = || Response::builder().status(404).body(Frames::default()).unwrap();
    if path.contains("/.well-known/") {
        return nothing();
    }
    if path == "/moved" {
        let moved = Response::builder().status(307).header("location", format!("http://{}/a2a?x=1", shared.addr));
        return moved.body(Frames::default()).unwrap();
    }
    let Some(dialect) = Dialect::of(path, &body) else { return nothing() };
    if text.contains("do-coded") && accepts(&head.headers, "gzip") {
        let mut coded = ok(dialect.media()).map(|_| Frames::of(b"\x1f\x8b\x08 and so on"));
        coded.headers_mut().insert("content-encoding", HeaderValue::from_static("gzip"));
        return coded;
    }
    let method = match &dialect.binding {
        Binding::Rpc { method, .. } => method.as_str(),
        _ => path.rsplit(['/', ':']).next().unwrap_or_default(),
    };
    match method {
        "GetTask" | "tasks/get" => not_found(&dialect),
        "GetExtendedAgentCard" | "extendedAgentCard" => extended(&dialect, &head.headers, &shared),
        "SendMessage" | "message/send" | "send" => unary(&dialect, &text).await,
        // What goes wrong before a head goes wrong for a stream too.
        "SendStreamingMessage" | "message/stream" | "stream"
            if ["do-page", "do-hang"].iter().any(|does| text.contains(does)) =>
        {
            unary(&dialect, &text).await
        }
        "SendStreamingMessage" | "message/stream" | "stream" => stream(dialect, text, shared),
        _ if path.contains("/tasks/") => not_found(&dialect),
        _ => panic!("nobody asks for {method}"),
    }
}

pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    [&[0][..], &u32::try_from(message.len()).unwrap().to_be_bytes(), message].concat()
}

fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    headers.get("accept-encoding").is_some_and(|codings| codings.to_str().unwrap().contains(coding))
}

fn contains(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|window| window == text.as_bytes())
}

fn ok(media: &'static str) -> Response<Frames> {
    let head = Response::builder().header("content-type", media).header("x-agent", "1");
    head.header("connection", "x-hop").header("x-hop", "1").body(Frames::default()).unwrap()
}

fn grpc_status(code: &'static str) -> HeaderMap {
    HeaderMap::from_iter([
        ("grpc-status".parse().unwrap(), HeaderValue::from_static(code)),
        ("x-trailer".parse().unwrap(), HeaderValue::from_static("1")),
    ])
}

/// An answer of one piece.
fn whole(dialect: &Dialect, bytes: Vec<u8>) -> Response<Frames> {
    let (sender, frames) = Frames::channel();
    sender.send(Frame::data(bytes.into())).unwrap();
    if dialect.is_grpc() {
        sender.send(Frame::trailers(grpc_status("0"))).unwrap();
    }
    let mut response = ok(dialect.media()).map(|_| frames);
    if dialect.is_grpc() {
        // No such thing over HTTP/2.
        response.headers_mut().remove("connection");
    }
    response
}

fn not_found(dialect: &Dialect) -> Response<Frames> {
    let info = json!({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org" });
    match &dialect.binding {
        Binding::Rpc { id, .. } => {
            let mut error = json!({ "code": -32001, "message": "no such task" });
            if !dialect.old {
                error["data"] = json!([info]);
            }
            whole(dialect, json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into())
        }
        Binding::Rest => {
            let error = match dialect.old {
                true => json!({ "code": -32001, "message": "no such task" }),
                false => {
                    json!({ "error": { "code": 404, "status": "NOT_FOUND", "message": "no such task", "details": [info] } })
                }
            };
            let mut response = whole(dialect, error.to_string().into());
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
        Binding::Grpc => {
            let head = Response::builder().header("content-type", "application/grpc");
            head.header("grpc-status", "5").header("grpc-message", "no such task").body(Frames::default()).unwrap()
        }
    }
}

async fn unary(dialect: &Dialect, text: &str) -> Response<Frames> {
    let does = |word| text.contains(&format!("do-{word}"));
    if does("hang") {
        std::future::pending::<()>().await;
    }
    if does("wait") {
        sleep(Duration::from_millis(800)).await;
    }
    if does("page") {
        let page = Response::builder().status(500).header("content-type", "text/html");
        return page.body(Frames::of(b"<html>oh no</html>")).unwrap();
    }
    if does("big") {
        return whole(dialect, dialect.artifact(&"x".repeat(100_000)));
    }
    if does("long") {
        let artifact = json!({ "artifactId": "a-1", "parts": [{ "text": "x".repeat(LONG) }] });
        let status = json!({ "state": "TASK_STATE_COMPLETED" });
        let task = json!({ "id": "task-1", "contextId": "c-1", "status": status, "artifacts": [artifact] });
        return whole(dialect, dialect.result(json!({ "task": task }), messages::task(messages::COMPLETED)));
    }
    if does("half") {
        let task = dialect.task("COMPLETED");
        return whole(dialect, task[..task.len() / 2].to_vec());
    }
    if does("elsewhere") {
        let Binding::Rpc { id, .. } = &dialect.binding else { panic!("JSON-RPC alone has codes") };
        let error =
            json!({ "code": -32004, "message": "not here", "data": { "region": "eu", "availableSkills": ["b"] } });
        return whole(dialect, json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into());
    }
    whole(dialect, dialect.task("COMPLETED"))
}

fn stream(dialect: Dialect, text: String, shared: Arc<Shared>) -> Response<Frames> {
    let (sender, frames) = Frames::channel();
    let media = if dialect.is_grpc() { "application/grpc" } else { "text/event-stream" };
    let mut response = ok(media).map(|_| frames);
    if dialect.is_grpc() {
        response.headers_mut().remove("connection");
    }
    tokio::spawn(async move {
        // Whoever is gone need not be told.
        let _ = play(dialect, &text, &shared, &sender).await;
    });
    response
}

type Sender = mpsc::UnboundedSender<Frame<Bytes>>;

async fn play(
    dialect: Dialect,
    text: &str,
    shared: &Shared,
    sender: &Sender,
) -> Result<(), mpsc::error::SendError<Frame<Bytes>>> {
    let does = |word| text.contains(&format!("do-{word}"));
    let send = |result| sender.send(Frame::data(dialect.event(result).into()));
    if does("headonly") {
        sender.closed().await;
        return Ok(());
    }
    send(dialect.task("WORKING"))?;
    if let Some((_, count)) = text.split_once("do-count:") {
        let count: usize = count[..4].parse().unwrap();
        for number in 0..count {
            send(dialect.artifact(&format!("event {number:04}")))?;
            if number % 64 == 0 {
                tokio::task::yield_now().await;
            }
        }
    }
    if does("step") {
        for number in 0..5 {
            shared.steps.acquire().await.unwrap().forget();
            send(dialect.artifact(&format!("event {number:04}")))?;
        }
    }
    if does("big") {
        send(dialect.artifact(&"x".repeat(100_000)))?;
    }
    if does("quiet") {
        sender.closed().await;
    }
    if does("comments") || does("forever") {
        loop {
            sleep(Duration::from_millis(50)).await;
            match does("forever") {
                true => send(dialect.artifact("more"))?,
                false => sender.send(Frame::data(Bytes::from_static(b": still here\n\n")))?,
            }
        }
    }
    if does("cut") {
        return Ok(());
    }
    if does("auth") {
        send(dialect.update("AUTH_REQUIRED"))?;
        sender.closed().await;
    }
    send(dialect.update("COMPLETED"))?;
    if does("linger") {
        sender.closed().await;
    }
    if dialect.is_grpc() {
        sender.send(Frame::trailers(grpc_status("0")))?;
    }
    Ok(())
}

fn card_json(headers: &HeaderMap, shared: &Shared) -> Value {
    let at = |path: &str| format!("http://{}{path}", shared.addr);
    let interface =
        |binding: &str, url: String| json!({ "url": url, "protocolBinding": binding, "protocolVersion": "1.0" });
    let tenant = headers.get("x-tenant").map_or("union", |tenant| tenant.to_str().unwrap());
    if shared.kind == Kind::Old {
        let interface = |transport: &str, url: String| json!({ "url": url, "transport": transport });
        return json!({
            "name": format!("agent of {tenant}"),
            "description": "does as it is told",
            "version": "1",
            "protocolVersion": "0.3.0",
            "capabilities": { "streaming": true },
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [{ "id": "a", "name": "a", "description": "a", "tags": ["a"] }],
            "url": at("/a2a"),
            "preferredTransport": "JSONRPC",
            "additionalInterfaces": [
                interface("JSONRPC", at("/a2a")),
                interface("HTTP+JSON", at("/rest")),
                interface("GRPC", shared.addr.to_string()),
            ],
        });
    }
    json!({
        "name": format!("agent of {tenant}"),
        "description": "does as it is told",
        "version": "1",
        "documentationUrl": at("/docs"),
        "capabilities": if shared.kind == Kind::Modest { json!({}) } else { json!({ "streaming": true, "extendedAgentCard": true }) },
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{ "id": "a", "name": "a", "description": "a", "tags": ["a"] }],
        "signatures": [{ "protected": "e30", "signature": "AAAA" }],
        "supportedInterfaces": [
            interface("JSONRPC", at("/a2a")),
            interface("HTTP+JSON", at("/rest")),
            interface("GRPC", shared.addr.to_string()),
            interface("WEBSOCKET", "https://elsewhere.example/a2a".into()),
        ],
    })
}

fn card(headers: &HeaderMap, shared: &Shared) -> Response<Frames> {
    let etag = "\"the-agents\"";
    let head =
        Response::builder().header("etag", etag).header("cache-control", "max-age=60").header("vary", "a2a-version");
    if headers.get("if-none-match").is_some_and(|condition| condition == etag) {
        return head.status(304).body(Frames::default()).unwrap();
    }
    let head = head.header("content-type", "application/json").header("last-modified", "Mon, 01 Jan 2024 00:00:00 GMT");
    head.body(Frames::of(card_json(headers, shared).to_string().as_bytes())).unwrap()
}

fn extended(dialect: &Dialect, headers: &HeaderMap, shared: &Shared) -> Response<Frames> {
    let mut card = card_json(headers, shared);
    let interface = |url: &str, binding: &str| {
        messages::field(3, [messages::field(1, url), messages::field(2, binding), messages::field(4, "1.0")].concat())
    };
    let interfaces = card["supportedInterfaces"].as_array().unwrap().iter();
    let interfaces =
        interfaces.flat_map(|one| interface(one["url"].as_str().unwrap(), one["protocolBinding"].as_str().unwrap()));
    let grpc = [
        messages::field(1, "extended"),
        interfaces.collect(),
        messages::field(5, "1"),
        messages::field(13, messages::field(1, "e30")),
    ]
    .concat();
    card["name"] = "extended".into();
    whole(dialect, dialect.result(card, grpc))
}

/// A body of frames that come as they are sent.
#[derive(Default)]
pub(crate) struct Frames(Option<mpsc::UnboundedReceiver<Frame<Bytes>>>);

impl Frames {
    fn channel() -> (Sender, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (sender, Self(Some(receiver)))
    }

    fn of(bytes: &[u8]) -> Self {
        let (sender, frames) = Self::channel();
        sender.send(Frame::data(Bytes::copy_from_slice(bytes))).unwrap();
        frames
    }
}

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Some(receiver) => receiver.poll_recv(cx).map(|frame| frame.map(Ok)),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }
}
