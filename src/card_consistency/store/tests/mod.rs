//! The store against an agent that is a function, in paused time.

mod apart;
mod apart_extended;
mod credentials;
mod distrust;
mod fetch;
mod flight;
mod holding;
mod negative;
mod renewal;
mod revoked;
mod rfc9111;
mod turns;

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Uri};
use http_body::{Body, Frame};
use http_body_util::Full;
use tokio::time::{Instant, sleep};
use tower_service::Service;

use super::*;
use crate::outcome::Class;

const TARGET: &str = "https://agent.example.com/a2a";
const SCOPED: &str = "https://agent.example.com/a2a/.well-known/agent-card.json";
const ROOT: &str = "https://agent.example.com/.well-known/agent-card.json";
const LEGACY: &str = "https://agent.example.com/a2a/.well-known/agent.json";
const LEGACY_ROOT: &str = "https://agent.example.com/.well-known/agent.json";

/// A card, told apart by its name.
fn card(name: &str) -> String {
    format!(
        r#"{{"name":"{name}","description":"d","version":"1","supportedInterfaces":[{{"url":"{TARGET}","protocolBinding":"JSONRPC","protocolVersion":"1.0"}}],"capabilities":{{"streaming":true}},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{{"id":"s","name":"s","description":"s","tags":["t"]}}]}}"#
    )
}

/// What the agent answers.
#[derive(Clone, Default)]
struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    frames: Vec<Bytes>,
    /// The body never ends.
    hangs: bool,
    after: Duration,
    /// No answer, but a failure of the connection.
    fails: Option<std::io::ErrorKind>,
    transport: Option<VerifiedTransport>,
}

impl Reply {
    fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    fn card(name: &str) -> Self {
        Self::json(card(name))
    }

    fn json(body: impl Into<Bytes>) -> Self {
        Self { frames: vec![body.into()], ..Self::status(200) }.header("content-type", "application/json")
    }

    fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn after(mut self, after: Duration) -> Self {
        self.after = after;
        self
    }

    fn fails(kind: std::io::ErrorKind) -> Self {
        Self { fails: Some(kind), ..Self::default() }
    }
}

/// A request as the agent saw it.
#[derive(Clone, Debug)]
struct Seen {
    uri: String,
    headers: HeaderMap,
    at: Instant,
}

impl Seen {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

type Answers = Box<dyn FnMut(&Seen) -> Reply + Send>;

/// The agent: a client of which every clone reaches the same one.
#[derive(Clone)]
struct Agent {
    seen: Arc<Mutex<Vec<Seen>>>,
    answers: Arc<Mutex<Answers>>,
    /// Frames of bodies that were read.
    frames: Arc<Mutex<usize>>,
}

impl Agent {
    fn new(answers: impl FnMut(&Seen) -> Reply + Send + 'static) -> Self {
        Self { seen: Arc::default(), answers: Arc::new(Mutex::new(Box::new(answers))), frames: Arc::default() }
    }

    /// Answers at one location, and 404 elsewhere.
    fn at(location: &'static str, mut answers: impl FnMut(&Seen) -> Reply + Send + 'static) -> Self {
        Self::new(move |seen| if seen.uri == location { answers(seen) } else { Reply::status(404) })
    }

    /// One answer after the other, whatever is asked; the last one again and again.
    fn script(replies: impl IntoIterator<Item = Reply>) -> Self {
        let mut replies: VecDeque<Reply> = replies.into_iter().collect();
        Self::new(move |_| if replies.len() > 1 { replies.pop_front().unwrap() } else { replies[0].clone() })
    }

    fn store(&self) -> CardStore {
        CardStore::builder(self.clone()).build().unwrap()
    }

    fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    fn uris(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().map(|seen| seen.uri.clone()).collect()
    }

    fn seen(&self, index: usize) -> Seen {
        self.seen.lock().unwrap()[index].clone()
    }
}

impl Service<Request<Full<Bytes>>> for Agent {
    type Response = Response<Scripted>;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        assert_eq!(request.method(), http::Method::GET);
        let uri = request.uri().to_string();
        let seen = Seen { uri, headers: request.headers().clone(), at: Instant::now() };
        self.seen.lock().unwrap().push(seen.clone());
        let reply = (self.answers.lock().unwrap())(&seen);
        let frames = Arc::clone(&self.frames);
        Box::pin(async move {
            if !reply.after.is_zero() {
                sleep(reply.after).await;
            }
            if let Some(kind) = reply.fails {
                return Err(kind.into());
            }
            let body = Scripted { frames: reply.frames.into(), hangs: reply.hangs, read: frames };
            let mut response = Response::new(body);
            *response.status_mut() = StatusCode::from_u16(reply.status).unwrap();
            for (name, value) in reply.headers {
                response.headers_mut().append(HeaderName::from_static(name), value.parse().unwrap());
            }
            if let Some(transport) = reply.transport {
                response.extensions_mut().insert(transport);
            }
            Ok(response)
        })
    }
}

/// A body of given frames.
struct Scripted {
    frames: VecDeque<Bytes>,
    hangs: bool,
    read: Arc<Mutex<usize>>,
}

impl Body for Scripted {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match self.frames.pop_front() {
            Some(frame) => {
                *self.read.lock().unwrap() += 1;
                Poll::Ready(Some(Ok(Frame::data(frame))))
            }
            None if self.hangs => Poll::Pending,
            None => Poll::Ready(None),
        }
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match self.hangs {
            true => http_body::SizeHint::default(),
            false => http_body::SizeHint::with_exact(self.frames.iter().map(|frame| frame.len() as u64).sum()),
        }
    }
}

fn ask() -> CardAsk {
    ask_with(&[])
}

fn ask_with(headers: &[(&'static str, &'static str)]) -> CardAsk {
    CardAsk::new(Uri::from_static(TARGET), pairs(headers))
}

fn pairs(headers: &[(&'static str, &'static str)]) -> HeaderMap {
    headers.iter().map(|&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
}

fn bearer(token: &'static str) -> CardAsk {
    ask_with(&[("authorization", token)])
}

/// The name of the card that a call gets.
async fn name(store: &CardStore, ask: CardAsk) -> String {
    named(&store.get(ask).await.unwrap())
}

fn named(held: &HeldCard) -> String {
    let card: serde_json::Value = serde_json::from_slice(held.bytes()).unwrap();
    card["name"].as_str().unwrap().to_owned()
}

async fn class(store: &CardStore, ask: CardAsk) -> Class {
    store.get(ask).await.unwrap_err().class()
}

fn is_held(store: &CardStore, ask: &CardAsk) -> bool {
    store.held(&ask.key(), Instant::now()).is_some()
}

async fn pass(seconds: u64) {
    tokio::time::advance(Duration::from_secs(seconds)).await;
}

async fn pass_ms(milliseconds: u64) {
    tokio::time::advance(Duration::from_millis(milliseconds)).await;
}

async fn all(store: &CardStore, asks: impl IntoIterator<Item = CardAsk>) -> Vec<Result<Arc<HeldCard>, CardFailure>> {
    let calls: Vec<_> = asks.into_iter().map(|ask| tokio::spawn(store.get(ask))).collect();
    let mut results = Vec::new();
    for call in calls {
        results.push(call.await.unwrap());
    }
    results
}
