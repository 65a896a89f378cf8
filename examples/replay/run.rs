//! Runs one case: the request goes through the layers and meets the scripted response.

use std::{
    future::Future,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use a2a_guard::{
    CallBody, CallError, CallLayer, Outcome, OutcomeKind, ProbeCacheLayer, TerminalStateLayer,
    card_consistency::{CardConsistencyLayer, CardStore},
    probe_cache::{Availability, Change, Link, SkillAvailability, SkillKey, Store},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, error::Elapsed, timeout};
use tower::{Layer, Service, ServiceBuilder, ServiceExt};

use crate::{
    card::{self, Resolved},
    case::{BoxError, Case, REGION_HEADER, SKILL_HEADER},
    facts::{Facts, asserted, differences},
    h2_peer,
    loopback::Loopback,
    peer::{Chunk, Peer, Request},
};

/// A case that has not ended this long after its last bound never will.
const GRACE: Duration = Duration::from_secs(3);

/// What became of a case: the line to print.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Line {
    pub(crate) id: String,
    #[serde(flatten)]
    facts: Facts,
    elapsed_ms: Option<u64>,
    expected: Map<String, Value>,
    pub(crate) pass: Option<bool>,
    /// What went against the case's expectation, or why it was not run.
    #[serde(skip)]
    pub(crate) complaints: Vec<String>,
}

impl Line {
    /// The line of a case that could not be run.
    pub(crate) fn error(id: String, complaint: impl ToString) -> Self {
        Self { id, pass: Some(false), complaints: vec![complaint.to_string()], ..Self::default() }
    }

    /// The line of a case of which only this is told: whether it passed, `None` if it was not run.
    #[allow(dead_code, reason = "not each program that runs cases has a use for it")]
    pub(crate) fn brief(id: String, pass: Option<bool>, complaints: Vec<String>) -> Self {
        Self { id, pass, complaints, ..Self::default() }
    }

    pub(crate) fn failed(&self) -> bool {
        self.pass == Some(false)
    }

    /// The line of a case that was run. Beside the facts stands what else is known.
    fn new(case: &Case, facts: Facts, besides: Value, elapsed: Duration, mut complaints: Vec<String>) -> Self {
        let mut known = json!(facts);
        if let (Value::Object(known), Value::Object(besides)) = (&mut known, besides) {
            known.extend(besides);
        }
        let expected = asserted(case);
        complaints.extend(differences(&expected, &known));
        Self {
            id: case.id.clone(),
            facts,
            elapsed_ms: u64::try_from(elapsed.as_millis()).ok(),
            expected,
            pass: Some(complaints.is_empty()),
            complaints,
        }
    }
}

/// An [`Outcome`], kept.
struct Observed {
    kind: OutcomeKind,
    /// Whether the layer knew what was asked; if not, it passes the response whatever it says.
    named: bool,
    facts: Facts,
    error: Option<CallError>,
}

impl Observed {
    fn new(outcome: &Outcome<'_>) -> Self {
        Self {
            kind: outcome.kind(),
            named: outcome.call().operation().is_some(),
            facts: Facts::of_outcome(outcome),
            error: outcome.error().cloned(),
        }
    }

    /// The caller and the observer are to be told the same.
    fn disagreement(&self, returned: Option<&CallError>) -> Option<String> {
        match returned {
            Some(error) => {
                let told = (Some(error.outcome().as_str()), Some(error.class().as_str()));
                let seen = (self.facts.outcome, self.facts.class);
                (told != seen).then(|| format!("the observer was told {seen:?}, the caller {told:?}"))
            }
            None => {
                let missed = self.named && self.kind != OutcomeKind::Success;
                missed.then(|| "a call that failed was handed on as a success".to_owned())
            }
        }
    }
}

/// Runs a case, if what it needs is built.
pub(crate) async fn run(case: &Case) -> Line {
    if let Some(reason) = case.skipped() {
        return Line {
            id: case.id.clone(),
            expected: asserted(case),
            complaints: vec![reason.to_owned()],
            ..Line::default()
        };
    }
    let line = match case.is_of_card() {
        true => card::play(case, GRACE).await.map(|resolved| judge(case, resolved)),
        false => call(case).await.map(|played| compare(case, played)),
    };
    line.unwrap_or_else(|error| Line::error(case.id.clone(), error))
}

/// Holds what became of a card against what the case expects.
fn judge(case: &Case, resolved: Resolved) -> Line {
    let Resolved { facts, known, elapsed, complaints } = resolved;
    Line::new(case, facts, known, elapsed, complaints)
}

/// What happened.
struct Played {
    /// The error that the caller got, if it got one; `Err` if the call did not end.
    ended: Result<Option<CallError>, Elapsed>,
    elapsed: Duration,
    delivered: Delivered,
    observed: Vec<Observed>,
    /// What the peer was asked.
    requests: Vec<Request>,
    /// Whether a skill that was known to be available still is, where the case says what becomes of it.
    kept: Option<bool>,
}

/// A skill that is known to be available when the call is made. No field of a request names one, so that one is named
/// for it.
struct Known {
    skills: SkillAvailability,
    key: SkillKey,
}

impl Known {
    async fn new(request: &mut http::Request<Full<Bytes>>) -> Result<Self, BoxError> {
        let names = [SKILL_HEADER, REGION_HEADER].map(HeaderName::from_static);
        for (name, value) in names.into_iter().zip(["replayed", "here"]) {
            request.headers_mut().insert(name, http::HeaderValue::from_static(value));
        }
        let key = SkillKey::of(request.uri(), "replayed").map_err(|fault| fault.to_string())?.in_region("here");
        let skills = SkillAvailability::builder().store(Arc::new(Found(key.clone()))).build()?;
        let known = Self { skills, key };
        while !known.is_available() {
            tokio::task::yield_now().await;
        }
        Ok(known)
    }

    fn is_available(&self) -> bool {
        matches!(self.skills.get(&self.key), Availability::Available { .. })
    }
}

/// Another replica, which found the skill.
struct Found(SkillKey);

impl Store for Found {
    fn serve(self: Arc<Self>, link: Link) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            link.apply(Change::Available { key: self.0.clone(), lasts: Duration::from_secs(60) });
        })
    }
}

/// Plays a case of a call. What becomes of a skill that it does not name is seen in a second call, which names one: the
/// first is the case's own.
async fn call(case: &Case) -> Result<Played, BoxError> {
    if case.keeps_availability().is_none() || case.names_skill() {
        return play(case, case.keeps_availability().is_some()).await;
    }
    let kept = play(case, true).await?.kept;
    Ok(Played { kept, ..play(case, false).await? })
}

/// Serves the case's response, and sends its request through the layers, about a skill that is known if `knowing`.
async fn play(case: &Case, knowing: bool) -> Result<Played, BoxError> {
    let peer = Agent::serve(case).await?;
    let observed = Arc::new(Mutex::new(Vec::new()));
    let observer = Arc::clone(&observed);
    let naming = CallLayer::new()
        .skill_header(HeaderName::from_static(SKILL_HEADER))
        .region_header(HeaderName::from_static(REGION_HEADER));
    let ending = TerminalStateLayer::builder()
        .limits(case.limits())
        .observe(move |outcome: &Outcome<'_>| {
            let mut observed = observer.lock().unwrap_or_else(PoisonError::into_inner);
            observed.push(Observed::new(outcome));
        })
        .build()?;
    let client = Client::builder(TokioExecutor::new())
        .http2_only(case.is_grpc())
        .build::<_, CallBody<Full<Bytes>>>(Loopback(peer.addr()));
    let judged = ServiceBuilder::new().layer(ending).service(client);
    // The card is served by a peer of its own, so that what is dispatched can be counted.
    let shown = match case.card() {
        Some(card) => Some(Peer::serve([card]).await?),
        None => None,
    };

    let mut delivered = Delivered::default();
    let mut request = case.request()?.map(Full::new);
    let known = if knowing { Some(Known::new(&mut request).await?) } else { None };
    // The peer has answers for the caller alone, so that nothing is probed.
    let probing = match &known {
        Some(known) => Some(ProbeCacheLayer::without_probes().availability(known.skills.clone()).build()?),
        None if case.names_skill() => Some(ProbeCacheLayer::without_probes().build()?),
        None => None,
    };
    let started = Instant::now();
    let bound = case.total() + GRACE;
    let matching = match &shown {
        Some(shown) => Some(CardConsistencyLayer::new(cards(shown)?)),
        None => None,
    };
    let ended = match (matching, probing) {
        (None, None) => timeout(bound, exchange(naming.layer(judged), request, &mut delivered)).await,
        (Some(matching), None) => {
            timeout(bound, exchange(naming.layer(matching.layer(judged)), request, &mut delivered)).await
        }
        (None, Some(probing)) => {
            timeout(bound, exchange(naming.layer(probing.layer(judged)), request, &mut delivered)).await
        }
        (Some(matching), Some(probing)) => {
            let stack = naming.layer(matching.layer(probing.layer(judged)));
            timeout(bound, exchange(stack, request, &mut delivered)).await
        }
    };
    let elapsed = started.elapsed();
    let observed = std::mem::take(&mut *observed.lock().unwrap_or_else(PoisonError::into_inner));
    let kept = known.map(|known| known.is_available());
    Ok(Played { ended: ended.map(Result::err), elapsed, delivered, observed, requests: peer.requests(), kept })
}

/// The agent that a case is about.
pub(crate) enum Agent {
    Http1(Peer),
    Http2(h2_peer::Peer),
}

impl Agent {
    pub(crate) async fn serve(case: &Case) -> Result<Self, BoxError> {
        Ok(match case.is_grpc() {
            true => Self::Http2(h2_peer::Peer::serve(case.h2_scripts()?).await?),
            false => Self::Http1(Peer::serve(case.scripts()?).await?),
        })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        match self {
            Self::Http1(peer) => peer.addr(),
            Self::Http2(peer) => peer.addr(),
        }
    }

    fn requests(&self) -> Vec<Request> {
        match self {
            Self::Http1(peer) => peer.requests(),
            Self::Http2(peer) => peer.requests(),
        }
    }
}

fn cards(peer: &Peer) -> Result<CardStore, BoxError> {
    let client = Client::builder(TokioExecutor::new()).build::<_, Full<Bytes>>(Loopback(peer.addr()));
    Ok(CardStore::builder(client).build()?)
}

/// Holds what happened against what the case expects.
fn compare(case: &Case, played: Played) -> Line {
    let Played { ended, elapsed, delivered, mut observed, requests, kept } = played;
    let mut complaints = Vec::new();
    if kept != case.keeps_availability() {
        complaints.push(format!("the availability of the skill was kept: {kept:?}"));
    }
    if ended.is_err() {
        complaints.push("the call did not end".to_owned());
    }
    // What is refused for its card does not come down to where outcomes are observed.
    let due = usize::from(case.card().is_none() || !requests.is_empty());
    if observed.len() != due {
        complaints.push(format!("{} outcomes were observed", observed.len()));
    }
    let observed = observed.pop();
    let returned = ended.unwrap_or_default();
    if let Some(observed) = &observed {
        complaints.extend(observed.disagreement(returned.as_ref()));
    }
    // Where the layer passes an answer as it is, the outcome alone tells what came of the call.
    let success = returned.is_none();
    let error = returned.or_else(|| observed.as_ref()?.error.clone());
    let ended = Ended { success, after: elapsed };
    complaints.extend(bytes_changed(case, &requests, &delivered, error.as_ref(), ended));

    let facts = match (&error, observed) {
        (Some(error), _) => Facts::of_error(error),
        // What passes as it is, is the caller's to read.
        (None, Some(observed)) => observed.facts.with_words_of(&delivered.body),
        (None, None) => Facts::default(),
    };
    let known = json!({
        "www_authenticate": error.as_ref().and_then(|error| error.www_authenticate()),
        "requests": requests.len(),
        "dispatched": !requests.is_empty(),
    });
    Line::new(case, facts, known, elapsed, complaints)
}

/// Says where bytes on their way through the layers became others.
fn bytes_changed(
    case: &Case,
    requests: &[Request],
    delivered: &Delivered,
    error: Option<&CallError>,
    ended: Ended,
) -> Option<String> {
    let (Ok(request), Ok(sent)) = (case.request(), Sent::by(case)) else { return None };
    if requests.first().is_some_and(|first| !same_body(case, &first.body, request.body())) {
        return Some("the peer got another request body".to_owned());
    }
    let kept = error.and_then(|error| error.response());
    if kept.is_some_and(|kept| !contains(&sent.body, &kept.body)) {
        return Some("the error keeps bytes that the peer did not send".to_owned());
    }
    delivered.complaint(&sent, ended, case.linger())
}

/// Whether a request arrived as it was sent. Where a card names the tenant, it may have been set.
fn same_body(case: &Case, arrived: &[u8], sent: &[u8]) -> bool {
    let without_tenant = |body: &[u8]| {
        let mut body: Value = serde_json::from_slice(body).ok()?;
        body.get_mut("params").and_then(Value::as_object_mut).and_then(|params| params.remove("tenant"));
        Some(body)
    };
    arrived == sent || (case.card().is_some() && without_tenant(arrived) == without_tenant(sent))
}

/// How a call ended, and when.
#[derive(Clone, Copy)]
struct Ended {
    success: bool,
    after: Duration,
}

/// What the peer answers first.
struct Sent {
    status: Option<u16>,
    body: Bytes,
    /// The places in the body before which the peer waited.
    waited_at: Vec<usize>,
    trailers: Option<HeaderMap>,
    /// Whether it is a stream of events, the last of which may gain its line end.
    events: bool,
    /// Where the last whole message of gRPC ends: half of one behind a terminal event is nothing that a caller could
    /// read.
    whole: Option<usize>,
}

impl Sent {
    fn by(case: &Case) -> Result<Self, BoxError> {
        if case.is_grpc() {
            let script = case.h2_scripts()?.swap_remove(0);
            let body = script.body();
            let waited_at = waited_at(&script.chunks);
            let trailers = match script.end {
                h2_peer::End::Trailers(trailers) => Some(trailers),
                _ => None,
            };
            let whole = Some(whole_messages(&body));
            return Ok(Self { status: script.status, body, waited_at, trailers, events: false, whole });
        }
        let script = case.scripts()?.swap_remove(0);
        let media = script.header_value("content-type").map(str::to_ascii_lowercase);
        let events = media.is_some_and(|media| media.starts_with("text/event-stream"));
        let waited_at = waited_at(&script.chunks);
        Ok(Self { status: script.status, body: script.body(), waited_at, trailers: None, events, whole: None })
    }
}

fn waited_at(chunks: &[Chunk]) -> Vec<usize> {
    let mut at = 0;
    let mut places = Vec::new();
    for chunk in chunks {
        if !chunk.after.is_zero() {
            places.push(at);
        }
        at += chunk.data.len() * usize::try_from(chunk.times).unwrap_or(usize::MAX);
    }
    places
}

/// What the caller got of the peer's response.
#[derive(Default)]
struct Delivered {
    status: Option<StatusCode>,
    body: Vec<u8>,
    trailers: Option<HeaderMap>,
}

/// One call, its body read to the end. What came before an error stays in `delivered`.
async fn exchange<S, B>(
    mut stack: S,
    request: http::Request<Full<Bytes>>,
    delivered: &mut Delivered,
) -> Result<(), CallError>
where
    S: Service<http::Request<Full<Bytes>>, Response = http::Response<B>, Error = CallError>,
    B: http_body::Body<Data = Bytes, Error = CallError> + Unpin,
{
    let response = stack.ready().await?.call(request).await?;
    delivered.status = Some(response.status());
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        match frame?.into_data() {
            Ok(data) => delivered.body.extend_from_slice(&data),
            Err(frame) => delivered.trailers = frame.into_trailers().ok(),
        }
    }
    Ok(())
}

impl Delivered {
    /// A success is delivered byte for byte, a failure up to some byte. The last event of a
    /// stream may have gained the line end that it lacked, and a stream that went on behind its terminal event is
    /// ended as the success it is.
    fn complaint(&self, sent: &Sent, ended: Ended, linger: Duration) -> Option<String> {
        let Self { status, body, trailers } = self;
        let cut_short = ended.after >= linger && sent.waited_at.contains(&body.len()) && sent.body.starts_with(body);
        let success = ended.success && !cut_short;
        let status = (*status)?.as_u16();
        if sent.status != Some(status) {
            return Some(format!("{:?} arrived as {status}", sent.status));
        }
        // Where the peer sent none, a success that was cut short may have gained some; and what the peer says behind a
        // terminal event unsays nothing.
        let status_of = |trailers: &Option<HeaderMap>| Some(trailers.as_ref()?.get("grpc-status")?.clone());
        let unsaid =
            status_of(trailers).is_some_and(|status| status == "0") && status_of(&sent.trailers) != status_of(trailers);
        if success && sent.trailers.is_some() && *trailers != sent.trailers && !unsaid {
            return Some(format!("the trailers {:?} arrived as {trailers:?}", sent.trailers));
        }
        let unchanged = match body.strip_prefix(&sent.body[..]) {
            Some([]) => true,
            Some(gained) => sent.events && gained.len() <= 4 && is_line_end(gained),
            None => (!success || sent.whole == Some(body.len())) && sent.body.starts_with(body),
        };
        match unchanged {
            true => None,
            false => Some(format!("{} bytes were sent, {} delivered, and they differ", sent.body.len(), body.len())),
        }
    }
}

/// How much of the bytes is whole messages.
fn whole_messages(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some(([0 | 1, len @ ..], behind)) = rest.split_first_chunk::<5>() {
        let Some(behind) = behind.get(u32::from_be_bytes(*len) as usize..) else { break };
        rest = behind;
    }
    bytes.len() - rest.len()
}

fn is_line_end(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| b"\r\n".contains(byte))
}

/// Whether `part` stands somewhere in `bytes`.
fn contains(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
}
