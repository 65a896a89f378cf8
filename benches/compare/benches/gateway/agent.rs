//! An agent that answers from memory.

use std::{
    convert::Infallible,
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Either, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    time::{Instant, Interval, interval},
};

/// How many events a stream has between the task and its completion.
pub(crate) const EVENTS: usize = 998;

pub(crate) async fn start() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
    let addr = listener.local_addr().expect("an address");
    let texts = Texts::new(addr);
    tokio::spawn(async move {
        loop {
            let Ok((socket, _)) = listener.accept().await else { continue };
            let _ = socket.set_nodelay(true);
            let texts = texts.clone();
            let answer = service_fn(move |request| answer(request, texts.clone()));
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), answer));
        }
    });
    addr
}

#[derive(Clone)]
struct Texts {
    card: Bytes,
    small: Bytes,
    large: Bytes,
    first: Bytes,
    event: Bytes,
    last: Bytes,
}

impl Texts {
    fn new(addr: SocketAddr) -> Self {
        let interfaces = ["/send", "/send-large", "/stream", "/timed"].map(|path| {
            json!({ "url": format!("http://{addr}{path}"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0" })
        });
        let card = json!({
            "name": "a", "description": "d", "version": "1", "capabilities": { "streaming": true },
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{ "id": "a", "name": "a", "description": "a", "tags": ["a"] }],
            "supportedInterfaces": interfaces,
        });
        let task = |text: String| {
            let artifacts = json!([{ "artifactId": "a", "parts": [{ "text": text }] }]);
            let status = json!({ "state": "TASK_STATE_COMPLETED" });
            rpc(json!({ "task": { "artifacts": artifacts, "contextId": "c", "id": "t", "status": status } })).into()
        };
        let status = |state: &str| json!({ "state": format!("TASK_STATE_{state}") });
        let update = json!({ "taskId": "t", "contextId": "c", "status": status("COMPLETED") });
        Self {
            card: card.to_string().into(),
            small: task("x".repeat(800)),
            large: task("x".repeat(16 << 10)),
            first: event(json!({ "task": { "id": "t", "contextId": "c", "status": status("WORKING") } })),
            event: artifact(&"x".repeat(160)),
            last: event(json!({ "statusUpdate": update })),
        }
    }
}

fn rpc(result: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string()
}

fn event(result: Value) -> Bytes {
    format!("data: {}\n\n", rpc(result)).into()
}

fn artifact(text: &str) -> Bytes {
    let artifact = json!({ "artifactId": "a", "parts": [{ "text": text }] });
    event(json!({ "artifactUpdate": { "taskId": "t", "contextId": "c", "artifact": artifact } }))
}

type Answer = Response<Either<Full<Bytes>, Events>>;

async fn answer(request: Request<Incoming>, texts: Texts) -> Result<Answer, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let of = |media: &'static str, body| {
        Ok(Response::builder().header("content-type", media).body(body).expect("a response"))
    };
    let json = |text: Bytes| of("application/json", Either::Left(Full::from(text)));
    if body.windows(9).any(|part| part == b"\"GetTask\"") {
        let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
        let error = json!({ "code": -32001, "message": "no such task" });
        return json(json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error }).to_string().into());
    }
    let stream = |every: Option<Duration>| {
        let events = Events { texts: texts.clone(), sent: 0, pace: every.map(interval) };
        of("text/event-stream", Either::Right(events))
    };
    match head.uri.path() {
        "/send" => json(texts.small),
        "/send-large" => json(texts.large),
        "/stream" => stream(None),
        "/timed" => stream(Some(Duration::from_millis(2))),
        "/.well-known/agent-card.json" => json(texts.card),
        _ => Ok(Response::builder().status(404).body(Either::Left(Full::default())).expect("a response")),
    }
}

/// A task, events, and its completion: as fast as they are taken, or each at its time, which it then tells.
struct Events {
    texts: Texts,
    sent: usize,
    pace: Option<Interval>,
}

thread_local! {
    /// Where the agent's and the callers' clock begins: they share a thread.
    pub(crate) static BEGAN: Instant = Instant::now();
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(pace) = &mut self.pace {
            std::task::ready!(pace.poll_tick(cx));
        }
        let event = match self.sent {
            0 => self.texts.first.clone(),
            1..=EVENTS if self.pace.is_some() => {
                artifact(&format!("at {:020}", BEGAN.with(|began| began.elapsed().as_nanos())))
            }
            1..=EVENTS => self.texts.event.clone(),
            _ if self.sent == EVENTS + 1 => self.texts.last.clone(),
            _ => return Poll::Ready(None),
        };
        self.sent += 1;
        Poll::Ready(Some(Ok(Frame::data(event))))
    }
}
