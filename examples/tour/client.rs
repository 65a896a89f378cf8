//! The two callers of a scenario: hyper as it comes, and the same client behind the guard.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use a2a_guard::card_consistency::{CardConsistencyLayer, CardStore, Route};
use a2a_guard::{CallBody, CallError, CallLayer, Limits, Outcome, TerminalStateLayer};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::time::timeout;
use tower::{Layer, Service, ServiceBuilder, ServiceExt};

use crate::loopback::Loopback;
use crate::peer::Script;
use crate::plain;
use crate::scenarios::{Ask, SKILL_HEADER};

/// How long a caller is watched; one that has not ended by then is said to hang.
pub(crate) const WATCH: Duration = Duration::from_secs(3);

/// How long a guarded caller is: it ends by itself, and on a busy machine later.
const PATIENCE: Duration = Duration::from_secs(12);

pub(crate) const HEAD: Duration = Duration::from_secs(1);
pub(crate) const FIRST_EVENT: Duration = Duration::from_secs(1);
pub(crate) const IDLE: Duration = Duration::from_millis(800);
pub(crate) const EVENT_GAP: Duration = Duration::from_millis(1200);
pub(crate) const TOTAL: Duration = Duration::from_millis(2500);
pub(crate) const LINGER: Duration = Duration::from_millis(300);
pub(crate) const MAX_BODY: usize = 1 << 20;

/// Far below the defaults, so that every bound can be seen within the time a caller is watched.
fn limits() -> Limits {
    Limits::within(TOTAL)
        .head(HEAD)
        .blocking_head(HEAD)
        .first_event(FIRST_EVENT)
        .idle(IDLE)
        .event_gap(EVENT_GAP)
        .linger(LINGER)
        .max_unary_body(MAX_BODY)
}

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

pub(crate) fn hyper_client<B>() -> Client<HttpConnector, B>
where
    B: http_body::Body + Send,
    B::Data: Send,
{
    Client::builder(TokioExecutor::new()).build_http()
}

/// What the bare caller knows when its call has ended, or when nobody waits any longer.
#[derive(Debug, Default)]
pub(crate) struct Bare {
    pub(crate) status: Option<StatusCode>,
    media: String,
    bytes: usize,
    pub(crate) end: End,
    pub(crate) elapsed: Duration,
}

#[derive(Debug, Default)]
pub(crate) enum End {
    #[default]
    Hanging,
    Clean,
    Failed(String),
}

impl Bare {
    pub(crate) fn describe(&self) -> String {
        let (status, size) = match self.status {
            Some(status) => (status.as_u16().to_string(), size(self.bytes)),
            None => ("no head".to_owned(), size(0)),
        };
        match &self.end {
            End::Hanging => format!("still hanging: {status}, {size} so far"),
            End::Clean => format!("{status} {}, {size}, complete", self.media),
            End::Failed(error) if self.status.is_none() => error.clone(),
            End::Failed(error) => format!("{status}, {size}, then {error}"),
        }
    }
}

/// Sends the request and reads the body to its end, as a client without any bound does.
pub(crate) async fn bare(address: SocketAddr, ask: Ask) -> Result<Bare, BoxError> {
    let request = ask.request(address)?;
    let mut seen = Bare::default();
    let started = Instant::now();
    if let Ok(ended) = timeout(WATCH, read_all(request, &mut seen)).await {
        seen.end = match ended {
            Ok(()) => End::Clean,
            Err(error) => End::Failed(root_cause(error.as_ref())),
        };
    }
    seen.elapsed = started.elapsed();
    Ok(seen)
}

async fn read_all(request: Request<Full<Bytes>>, seen: &mut Bare) -> Result<(), BoxError> {
    let response = hyper_client().request(request).await?;
    seen.status = Some(response.status());
    let media = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media = media.unwrap_or("no type").split(';').next();
    seen.media = media.unwrap_or_default().to_owned();
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        // Counted and dropped: what a caller who keeps them pays for a body without end is memory.
        seen.bytes += frame?.data_ref().map_or(0, Bytes::len);
    }
    Ok(())
}

/// What the guarded caller knows: how its call ended, and the facts by name.
#[derive(Debug, Default)]
pub(crate) struct Guarded {
    /// `outcome/class`, from the error or, for a success, from the observer.
    pub(crate) end: String,
    pub(crate) facts: BTreeMap<&'static str, String>,
    /// `outcome/class` of each `Outcome` that the observer was given.
    pub(crate) observed: Vec<String>,
    pub(crate) elapsed: Duration,
}

/// Makes the same call through the guard. `sent` is what the peer answers, to compare a success with; `cards` is where
/// cards are served, if they are asked.
pub(crate) async fn guarded(
    address: SocketAddr,
    cards: Option<SocketAddr>,
    ask: Ask,
    sent: Option<&Script>,
) -> Result<Guarded, BoxError> {
    let seen = Arc::new(Mutex::new(Guarded::default()));
    let observer = {
        let seen = Arc::clone(&seen);
        move |outcome: &Outcome<'_>| lock(&seen).note_outcome(outcome)
    };
    let naming = CallLayer::new().skill_header(HeaderName::from_static(SKILL_HEADER));
    let ending = TerminalStateLayer::builder().limits(limits()).observe(observer).build()?;
    let request = ask.request(address)?;
    let started = Instant::now();
    if let Ask::PlainStream = ask {
        let answered = timeout(PATIENCE, plain::call(naming, ending, address, request)).await;
        let mut seen = std::mem::take(&mut *lock(&seen));
        seen.elapsed = started.elapsed();
        match answered {
            Ok(answer) => seen.note_plain(&answer?),
            Err(_) => seen.end = "still hanging".to_owned(),
        }
        return Ok(seen);
    }
    let agent = ServiceBuilder::new().layer(ending).service(hyper_client::<CallBody<Full<Bytes>>>());
    let ended = match cards {
        None => timeout(PATIENCE, call(naming.layer(agent), request)).await,
        Some(cards) => {
            let store = card_store(cards)?;
            let gateway = format!("http://{address}").parse()?;
            let matching = CardConsistencyLayer::new(store.clone()).resolver(Route::new(store, gateway));
            timeout(PATIENCE, call(naming.layer(matching.layer(agent)), request)).await
        }
    };
    let elapsed = started.elapsed();

    let mut seen = std::mem::take(&mut *lock(&seen));
    seen.elapsed = elapsed;
    match ended {
        Ok(Ok(response)) => seen.note_success(&response, sent),
        Ok(Err(error)) => seen.note_error(&error),
        Err(_) => seen.end = "still hanging".to_owned(),
    }
    Ok(seen)
}

/// One call, its body read to the end.
async fn call<S, B>(mut agent: S, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, CallError>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = CallError>,
    B: http_body::Body<Data = Bytes, Error = CallError>,
{
    let response = agent.ready().await?.call(request).await?;
    let (head, body) = response.into_parts();
    let body = body.collect().await?.to_bytes();
    Ok(Response::from_parts(head, body))
}

/// Cards are asked at the agent's own URLs. Here another port stands for the gateway that serves those.
fn card_store(cards: SocketAddr) -> Result<CardStore, BoxError> {
    let client = Client::builder(TokioExecutor::new()).build::<_, Full<Bytes>>(Loopback(cards));
    Ok(CardStore::builder(client).build()?)
}

impl Guarded {
    pub(crate) fn fact(&mut self, name: &'static str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.facts.insert(name, value.to_string());
        }
    }

    fn note_outcome(&mut self, outcome: &Outcome<'_>) {
        self.observed.push(format!("{}/{}", outcome.kind().as_str(), outcome.class().as_str()));
        self.fact("task", outcome.task_id());
        self.fact("state", outcome.task_state().map(|state| state.as_str()));
        self.fact("events", Some(outcome.events()));
    }

    fn note_success(&mut self, response: &Response<Bytes>, sent: Option<&Script>) {
        self.end = self.observed.last().cloned().unwrap_or_else(|| "success, not observed".to_owned());
        let Some(sent) = sent else { return };
        let kept = Some(response.status().as_u16()) == sent.status
            && sent.headers.iter().all(|(name, value)| response.headers().get(name).is_some_and(|kept| kept == value));
        self.fact("head", Some(unchanged(kept)));
        self.fact("bytes", Some(unchanged(*response.body() == sent.body())));
    }

    /// What a client knows that knows JSON-RPC alone.
    fn note_plain(&mut self, answer: &plain::Answer) {
        self.end = self.observed.last().cloned().unwrap_or_default();
        self.fact("results", Some(answer.results));
        let Some(error) = &answer.error else { return };
        let text = |pointer: &str| error.pointer(pointer).map(|value| value.to_string().replace('"', ""));
        self.fact("code", text("/code"));
        self.fact("reason", text("/data/0/reason"));
        self.fact("task", text("/data/0/metadata/task_id"));
    }

    fn note_error(&mut self, error: &CallError) {
        self.end = format!("{}/{}", error.outcome().as_str(), error.class().as_str());
        self.fact("status", error.http_status().map(|status| status.as_u16()));
        self.fact("code", error.code());
        self.fact("region", error.region());
        self.fact("skills", error.available_skills().map(|skills| skills.join(",")));
        let routing = if error.is_routing_signal() { "yes" } else { "no" };
        self.fact("routing", Some(routing));
        self.fact("retry", Some(error.retry().as_str()));
        self.fact("after", error.retry_after().map(|after| format!("{}s", after.as_secs())));
        self.fact("error", error.a2a_error().map(|error| error.name()));
        self.fact("challenge", error.www_authenticate());
    }
}

fn unchanged(yes: bool) -> &'static str {
    if yes { "unchanged" } else { "CHANGED" }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let text = cause.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

fn size(bytes: usize) -> String {
    if bytes < 10_000 { format!("{bytes} B") } else { format!("{:.1} MB", bytes as f64 / 1e6) }
}
