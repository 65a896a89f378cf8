//! An agent that answers from memory, in a process of its own: this program, started with [`HERE`].

use std::{
    convert::Infallible,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    process::{Child, Command, Stdio},
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response, header};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Either, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::net::TcpListener;

/// The word by which this program knows that it is the agent.
pub(crate) const HERE: &str = "--agent";

/// Of one stream, its first and its last included.
pub(crate) const EVENTS: usize = 100;

/// The agent as its callers see it. It ends with this.
pub(crate) struct Agent {
    process: Child,
    addr: SocketAddr,
}

impl Agent {
    pub(crate) fn start() -> Self {
        let program = std::env::current_exe().expect("this program");
        let mut process = Command::new(program)
            .arg(HERE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program once more");
        let mut line = String::new();
        let out = process.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("its address");
        let addr = line.trim().parse().expect("an address");
        Self { process, addr }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub(crate) fn process(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It ends when nobody holds its input any longer.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Serves until the input ends.
pub(crate) fn run() {
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let addr = listener.local_addr().expect("an address");
        println!("{addr}");
        std::io::stdout().flush().expect("someone who reads it");
        let texts = Arc::new(Texts::new(addr));
        loop {
            let Ok((socket, _)) = listener.accept().await else { continue };
            let _ = socket.set_nodelay(true);
            let texts = Arc::clone(&texts);
            tokio::spawn(async move {
                let answer = service_fn(move |request| answer(request, Arc::clone(&texts)));
                let server = auto::Builder::new(TokioExecutor::new());
                // Whoever is done closes the connection, which is no fault.
                let _ = server.serve_connection(TokioIo::new(socket), answer).await;
            });
        }
    });
}

/// Answers without what differs from call to call, its id.
struct Texts {
    card: Bytes,
    task: String,
    first: String,
    event: String,
    last: String,
}

impl Texts {
    fn new(addr: SocketAddr) -> Self {
        let card = json!({
            "name": "a", "description": "d", "version": "1", "capabilities": { "streaming": true },
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{ "id": "a", "name": "a", "description": "a", "tags": ["a"] }],
            "supportedInterfaces": [{
                "url": format!("http://{addr}/rpc"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0",
            }],
        });
        let status = |state: &str| json!({ "state": format!("TASK_STATE_{state}") });
        let artifact = |text: String| json!({ "artifactId": "a", "parts": [{ "text": text }] });
        let rest = |result: serde_json::Value| format!(r#","result":{result}}}"#);
        Self {
            card: card.to_string().into(),
            task: rest(json!({ "task": {
                "id": "t", "contextId": "c", "status": status("COMPLETED"), "artifacts": [artifact("x".repeat(840))],
            } })),
            first: rest(json!({ "task": { "id": "t", "contextId": "c", "status": status("WORKING") } })),
            event: rest(json!({ "artifactUpdate": {
                "taskId": "t", "contextId": "c", "artifact": artifact("x".repeat(220)),
            } })),
            last: rest(json!({ "statusUpdate": { "taskId": "t", "contextId": "c", "status": status("COMPLETED") } })),
        }
    }
}

#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    method: &'a str,
}

type Answer = Response<Either<Full<Bytes>, Events>>;

async fn answer(request: Request<Incoming>, texts: Arc<Texts>) -> Result<Answer, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let of = |media: &'static str, body| {
        Ok(Response::builder().header(header::CONTENT_TYPE, media).body(body).expect("a response"))
    };
    if head.uri.path().ends_with("agent-card.json") {
        return of("application/json", Either::Left(Full::new(texts.card.clone())));
    }
    let Ok(Asked { id, method }) = serde_json::from_slice(&body) else {
        return Ok(Response::builder().status(404).body(Either::Left(Full::default())).expect("a response"));
    };
    let begin = format!(r#"{{"jsonrpc":"2.0","id":{id}"#);
    match method {
        "SendMessage" => of("application/json", Either::Left(Full::from(begin + &texts.task))),
        "SendStreamingMessage" => of("text/event-stream", Either::Right(Events::new(&begin, &texts))),
        "GetTask" => {
            let error = r#","error":{"code":-32001,"message":"no such task"}}"#;
            of("application/json", Either::Left(Full::from(begin + error)))
        }
        _ => {
            let error = r#","error":{"code":-32601,"message":"no such method"}}"#;
            of("application/json", Either::Left(Full::from(begin + error)))
        }
    }
}

/// A task, updates, and its completion, as fast as they are taken.
struct Events {
    first: Bytes,
    event: Bytes,
    last: Bytes,
    sent: usize,
}

impl Events {
    fn new(begin: &str, texts: &Texts) -> Self {
        let event = |rest: &str| Bytes::from(format!("data: {begin}{rest}\n\n"));
        Self { first: event(&texts.first), event: event(&texts.event), last: event(&texts.last), sent: 0 }
    }
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.sent += 1;
        let event = match self.sent {
            1 => &self.first,
            EVENTS => &self.last,
            sent if sent > EVENTS => return Poll::Ready(None),
            _ => &self.event,
        };
        Poll::Ready(Some(Ok(Frame::data(event.clone()))))
    }
}
