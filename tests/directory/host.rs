//! Where cards come from: a map from URLs to documents, as a client.

use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use a2a_guard::{
    BoxError,
    card::UrlPolicy,
    card_consistency::CardStore,
    directory::{AuditEvent, Decision, Directory, DirectoryBuilder, DirectoryObserver, PeerId, PermissionEvent},
};
use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::Full;
use tower::Service;

/// Cards, by the base URL of their agent.
#[derive(Clone, Default)]
pub(crate) struct Host {
    cards: Arc<Mutex<HashMap<String, Card>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone)]
struct Card {
    json: String,
    max_age: u64,
    delay: Duration,
}

impl Host {
    pub(crate) fn serve(&self, base: &str, json: impl Into<String>) {
        self.serve_for(base, json, 60, Duration::ZERO);
    }

    pub(crate) fn serve_for(&self, base: &str, json: impl Into<String>, max_age: u64, delay: Duration) {
        let card = Card { json: json.into(), max_age, delay };
        self.cards.lock().unwrap().insert(format!("{base}/.well-known/agent-card.json"), card);
    }

    pub(crate) fn remove(&self, base: &str) {
        self.cards.lock().unwrap().remove(&format!("{base}/.well-known/agent-card.json"));
    }

    /// The URLs that were asked for, since this was last called.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    pub(crate) fn store(&self) -> CardStore {
        CardStore::builder(self.clone()).build().unwrap()
    }

    /// A directory of the agents that are served here, and what it tells.
    pub(crate) fn directory(&self, set: impl FnOnce(DirectoryBuilder) -> DirectoryBuilder) -> (Directory, Log) {
        let log = Log::default();
        let directory = set(Directory::builder(self.store()).observe(log.clone())).build();
        (directory, log)
    }
}

impl Service<Request<Full<Bytes>>> for Host {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let url = request.uri().to_string();
        self.asked.lock().unwrap().push(url.clone());
        let card = self.cards.lock().unwrap().get(&url).cloned();
        Box::pin(async move {
            let Some(Card { json, max_age, delay }) = card else {
                return Ok(Response::builder().status(404).body(Full::default())?);
            };
            tokio::time::sleep(delay).await;
            Ok(Response::builder()
                .header("content-type", "application/json")
                .header("cache-control", format!("max-age={max_age}"))
                .body(Full::from(json))?)
        })
    }
}

/// What a directory told.
#[derive(Clone, Default)]
pub(crate) struct Log {
    audit: Arc<Mutex<Vec<AuditEvent>>>,
    permissions: Arc<Mutex<Vec<String>>>,
    decisions: Arc<Mutex<Vec<Decision>>>,
}

impl Log {
    /// The lines of the audit, without their numbers, since this was last called.
    pub(crate) fn audit(&self) -> Vec<String> {
        let events = std::mem::take(&mut *self.audit.lock().unwrap());
        events.iter().map(|event| event.to_string().split_once(' ').unwrap().1.to_owned()).collect()
    }

    /// The permissions that were asked for, since this was last called.
    pub(crate) fn permissions(&self) -> Vec<String> {
        std::mem::take(&mut *self.permissions.lock().unwrap())
    }

    /// What was decided, since this was last called.
    pub(crate) fn decisions(&self) -> Vec<Decision> {
        std::mem::take(&mut *self.decisions.lock().unwrap())
    }

    pub(crate) fn sequence(&self) -> Vec<u64> {
        self.audit.lock().unwrap().iter().map(|event| event.sequence).collect()
    }
}

impl DirectoryObserver for Log {
    fn audit(&self, event: &AuditEvent) {
        self.audit.lock().unwrap().push(event.clone());
    }

    fn permission(&self, event: &PermissionEvent) {
        self.permissions.lock().unwrap().push(event.to_string());
    }

    fn decided(&self, decision: &Decision) {
        self.decisions.lock().unwrap().push(decision.clone());
    }
}

/// `id: description`, and tags behind a `#`.
pub(crate) fn skill(text: &str) -> String {
    let (id, rest) = text.split_once(':').unwrap_or((text, ""));
    let (description, tags) = rest.split_once('#').unwrap_or((rest, ""));
    serde_json::json!({
        "id": id.trim(), "name": id.trim(), "description": description.trim(),
        "tags": tags.split_whitespace().map(|tag| tag.trim_start_matches('#')).collect::<Vec<_>>(),
    })
    .to_string()
}

pub(crate) fn interface(url: &str, binding: &str, version: &str) -> String {
    serde_json::json!({"url": url, "protocolBinding": binding, "protocolVersion": version}).to_string()
}

/// A card of these interfaces and skills.
pub(crate) fn card(interfaces: &[String], skills: &[&str]) -> String {
    let skills: Vec<_> = skills.iter().map(|text| skill(text)).collect();
    format!(
        r#"{{"name":"a","description":"d","version":"1","capabilities":{{"streaming":true}},
        "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
        "skills":[{}],"supportedInterfaces":[{}]}}"#,
        skills.join(","),
        interfaces.join(",")
    )
}

/// The card of an agent that speaks JSON-RPC 1.0 at its base URL.
pub(crate) fn plain_card(base: &str, skills: &[&str]) -> String {
    card(&[interface(base, "JSONRPC", "1.0")], skills)
}

pub(crate) fn uri(text: &str) -> Uri {
    text.parse().unwrap()
}

pub(crate) fn peer(url: &str) -> PeerId {
    PeerId::parse(url).unwrap()
}

pub(crate) fn loopback() -> UrlPolicy {
    UrlPolicy::strict().allow_loopback()
}
