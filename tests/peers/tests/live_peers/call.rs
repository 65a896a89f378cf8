//! One call through the full stack, and what came of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_guard::card_consistency::{CardConsistencyLayer, CardStore, CardTarget};
use a2a_guard::{CallError, CallLayer, Class, Limits, Observe, Outcome, ProbeCacheLayer, TerminalStateLayer};
use bytes::Bytes;
use http::{Request, Uri, header};
use http_body_util::{BodyExt, Full};
use tokio::time::timeout;
use tower::{ServiceBuilder, ServiceExt};

use crate::client::{Http, http, is_grpc};
use crate::line::Endpoint;
use crate::tap::{Exchange, Tap};

/// What a bound may be missed by: by the way to it, and on a machine that does other things too.
const EARLY: Duration = Duration::from_secs(1);
const LATE: Duration = Duration::from_secs(4);

/// Beyond its longest bound no call may go on.
const HUNG: Duration = Duration::from_secs(5);

/// What every call of a server goes through.
#[derive(Clone)]
pub(crate) struct Stack {
    client: Http,
    pub(crate) cards: CardStore,
    pub(crate) probes: ProbeCacheLayer,
}

impl Stack {
    /// For calls to an agent at `at`.
    pub(crate) fn new(at: &Endpoint) -> Self {
        Self::with(CardStore::builder(http()).location_fn(beside_grpc(at)).build().unwrap())
    }

    pub(crate) fn with(cards: CardStore) -> Self {
        let probes = ProbeCacheLayer::builder(http()).build().unwrap();
        Self { client: http(), cards, probes }
    }
}

/// At a gRPC port no card is served. It is at the agent's other one.
pub(crate) fn beside_grpc(at: &Endpoint) -> impl Fn(CardTarget<'_>) -> Option<Uri> + Send + Sync + 'static {
    let grpc: Uri = at.grpc.parse().unwrap();
    let card: Uri = well_known(at);
    move |target| (target.uri.port_u16() == grpc.port_u16()).then(|| card.clone())
}

/// Where §8.2 puts the card of an agent.
pub(crate) fn well_known(at: &Endpoint) -> Uri {
    format!("{}/.well-known/agent-card.json", at.origin).parse().unwrap()
}

/// The bounds of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// For verbs that no server has a reason to be slow about.
    Long,
    /// For those that some server never ends. Still so long that a busy machine is no fault of a server's.
    Short,
    /// Longer than the servers' own interval of keep-alives (15 s), in `idle`, and beyond that in `event_gap`.
    KeepAlive,
}

impl Patience {
    pub(crate) fn limits(self) -> Limits {
        let (head, idle, gap) = match self {
            Self::Long => (30, 30, 30),
            Self::Short => (15, 6, 6),
            Self::KeepAlive => (15, 20, 40),
        };
        let seconds = Duration::from_secs;
        Limits::default()
            .head(seconds(head))
            .blocking_head(seconds(head))
            // Not as long as the servers' interval of keep-alives, which are bytes, if no events.
            .first_event(seconds(10))
            .idle(seconds(idle))
            .event_gap(seconds(gap))
            .linger(seconds(1))
            .auth_wait(seconds(2))
            .total(self.total())
    }

    fn total(self) -> Duration {
        Duration::from_secs(60)
    }
}

/// How a call ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ended {
    /// `outcome/class`, as the caller got it.
    pub(crate) what: String,
    pub(crate) task_id: Option<String>,
    pub(crate) task_state: Option<&'static str>,
    pub(crate) tolerated: Vec<&'static str>,
    pub(crate) a2a_error: Option<&'static str>,
    /// The error in words.
    pub(crate) message: String,
    pub(crate) exchanges: Vec<Exchange>,
    /// What no call may do, whatever its outcome.
    pub(crate) violations: Vec<String>,
}

/// What the observer was told.
#[derive(Clone, Debug)]
struct Told {
    what: String,
    task_id: Option<String>,
    task_state: Option<&'static str>,
    tolerated: Vec<&'static str>,
}

#[derive(Clone, Debug, Default)]
struct Outcomes(Arc<Mutex<Vec<Told>>>);

impl Observe for Outcomes {
    fn observe(&self, outcome: &Outcome<'_>) {
        self.0.lock().unwrap().push(Told {
            what: format!("{}/{}", outcome.kind().as_str(), outcome.class().as_str()),
            task_id: outcome.task_id().map(str::to_owned),
            task_state: outcome.task_state().map(|state| state.as_str()),
            tolerated: outcome.tolerated().iter().collect(),
        });
    }
}

impl Stack {
    pub(crate) async fn call(&self, request: Request<Full<Bytes>>, patience: Patience) -> Ended {
        self.watched(request, patience, &Tap::default()).await
    }

    /// The same, with what passes noted for somebody else too.
    pub(crate) async fn watched(&self, request: Request<Full<Bytes>>, patience: Patience, tap: &Tap) -> Ended {
        let outcomes = Outcomes::default();
        let ends = patience.total() + HUNG;
        let mut unfinished = false;
        let result = timeout(ends, self.run(request, patience, &outcomes, tap, &mut unfinished)).await;
        let mut ended = match &result {
            Ok(Ok(_)) => Ended { what: "success/success".into(), ..Ended::default() },
            Ok(Err(error)) => failed(error),
            Err(_) => Ended { what: "hung".into(), ..Ended::default() },
        };
        ended.exchanges = tap.exchanges();
        let told = outcomes.0.lock().unwrap().clone();
        if let Ok(Err(error)) = &result {
            check_time(&mut ended, error);
        }
        check_told(&mut ended, &told);
        if unfinished {
            ended.violations.push("a success without grpc-status 0 in its trailers".into());
        }
        if let (Ok(Ok(body)), [exchange]) = (&result, ended.exchanges.as_slice()) {
            // A stream that the layer ended is cut behind the event that it took for the last.
            let streams = exchange.head.as_ref().is_some_and(|head| may_be_cut(&head.headers));
            if *body != exchange.body && !(streams && exchange.body.starts_with(body)) {
                ended.violations.push("the bytes handed on are not those that came".into());
            }
        }
        ended
    }

    async fn run(
        &self,
        request: Request<Full<Bytes>>,
        patience: Patience,
        outcomes: &Outcomes,
        tap: &Tap,
        unfinished: &mut bool,
    ) -> Result<Bytes, CallError> {
        let is_grpc = is_grpc(request.headers());
        let terminal = TerminalStateLayer::builder().limits(patience.limits()).observe(outcomes.clone());
        let response = ServiceBuilder::new()
            .layer(CallLayer::new())
            .layer(CardConsistencyLayer::new(self.cards.clone()))
            .layer(self.probes.clone())
            .layer(terminal.build().unwrap())
            .layer(tap.clone())
            .service(self.client.clone())
            .oneshot(request)
            .await?;
        let body = response.into_body().collect().await?;
        if is_grpc && body.trailers().and_then(|trailers| trailers.get("grpc-status")).is_none_or(|code| code != "0") {
            // What a gRPC client takes for a success, and nothing else.
            *unfinished = true;
        }
        Ok(body.to_bytes())
    }
}

fn failed(error: &CallError) -> Ended {
    Ended {
        what: format!("{}/{}", error.outcome().as_str(), error.class().as_str()),
        task_id: error.task_id().map(str::to_owned),
        task_state: error.task_state().map(|state| state.as_str()),
        tolerated: error.tolerated().iter().collect(),
        a2a_error: error.a2a_error().map(|known| known.name()),
        message: error.to_string(),
        ..Ended::default()
    }
}

/// A bound in silence is reached neither before its time nor long after it.
fn check_time(ended: &mut Ended, error: &CallError) {
    let (Some(bound), [exchange]) = (error.bound(), &ended.exchanges[..]) else { return };
    let silence = exchange.last.elapsed();
    let of_silence = matches!(error.class(), Class::Head | Class::FirstEvent | Class::Idle);
    // The layer's clock may have begun a moment before what is seen here.
    if of_silence && (silence + EARLY < bound || silence > bound + LATE) {
        ended.violations.push(format!("ended after a silence of {silence:?} with a bound of {bound:?}"));
    }
}

/// One outcome for each call that was sent, none for others, and the same one that the caller got.
fn check_told(ended: &mut Ended, told: &[Told]) {
    let refused_before = ended.what.starts_with("card/") || ended.what == "stale/endpoint_not_conforming";
    match told {
        [] if refused_before || ended.what == "hung" => {}
        [told] if told.what == ended.what && !refused_before => {
            if ended.what == "success/success" {
                ended.task_id = told.task_id.clone();
                ended.task_state = told.task_state;
                ended.tolerated = told.tolerated.clone();
            } else if told.task_state != ended.task_state {
                ended.violations.push(format!("the observer saw the state {:?}", told.task_state));
            }
        }
        other => {
            let words: Vec<_> = other.iter().map(|told| told.what.as_str()).collect();
            ended.violations.push(format!("the observer was told {words:?}"));
        }
    }
    if refused_before && !ended.exchanges.is_empty() {
        ended.violations.push("refused before dispatch, and sent all the same".into());
    }
}

/// A stream that the layer ended is shorter than what came.
fn may_be_cut(headers: &http::HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media_type.starts_with("text/event-stream") || media_type.starts_with("application/grpc")
}
