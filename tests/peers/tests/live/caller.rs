//! A caller with the layers and one without, and what each of them sees.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use a2a_guard::{
    Binding, Call, CallBody, CallError, CallLayer, Limits, Observe, Outcome, Recovery, TerminalStateBody,
    TerminalStateLayer,
};
use a2a_guard_peers::{Profile, Server};
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tower::{ServiceBuilder, ServiceExt};

use crate::ask::Ask;
use crate::tap::{FromSocket, Tap};

/// What every call ends by, whatever it is under test for.
const LONG: Duration = Duration::from_secs(30);

/// What a call may take beyond its bound, on a machine that does other things too. That is less than its other bounds:
/// it was not one of them that ended it.
const SLACK: Duration = Duration::from_secs(10);

/// A server, and the binding over which it is called.
pub(crate) struct Peer {
    pub(crate) server: Server,
    pub(crate) binding: Binding,
    pub(crate) limits: Limits,
}

/// What the observer was told.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) outcome: &'static str,
    pub(crate) class: &'static str,
    pub(crate) with_error: bool,
    pub(crate) task_id: Option<String>,
    pub(crate) task_state: Option<&'static str>,
    pub(crate) events: u64,
    pub(crate) tolerated: Vec<&'static str>,
}

/// A call that came to its end.
pub(crate) struct Ended {
    pub(crate) result: Result<Success, CallError>,
    pub(crate) seen: Seen,
}

/// What the caller got of a success.
pub(crate) struct Success {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Whether the body passed as it came from the socket.
    unchanged: bool,
}

impl Peer {
    pub(crate) async fn start(profile: Profile, binding: Binding) -> Self {
        Self::of(Server::start(profile).await.unwrap(), binding)
    }

    pub(crate) fn of(server: Server, binding: Binding) -> Self {
        Self { server, binding, limits: Limits::within(LONG) }
    }

    pub(crate) async fn full(binding: Binding) -> Self {
        Self::start(Profile::Full, binding).await
    }

    pub(crate) fn limits(mut self, change: impl FnOnce(Limits) -> Limits) -> Self {
        self.limits = change(self.limits);
        self
    }

    /// Asks through the layers, and waits for the end.
    pub(crate) async fn ask(&self, ask: Ask<'_>) -> Ended {
        self.call(ask.request(&self.server, self.binding)).await
    }

    /// The same with a request that no [`Ask`] makes.
    pub(crate) async fn call(&self, request: Request<Full<Bytes>>) -> Ended {
        let outcomes = Outcomes::default();
        let tap = Tap::default();
        let result = match self.guarded(&outcomes, &tap, None, request).await {
            Ok(response) => {
                let (head, body) = response.into_parts();
                body.collect().await.map(|collected| {
                    let body = collected.to_bytes();
                    Success { status: head.status, headers: head.headers, unchanged: body == tap.bytes(), body }
                })
            }
            Err(error) => Err(error),
        };
        Ended { result, seen: outcomes.one() }
    }

    /// The response as it comes from the layers.
    pub(crate) async fn guarded(
        &self,
        outcomes: &Outcomes,
        tap: &Tap,
        recovery: Option<fn(Recovery) -> Recovery>,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<TerminalStateBody<FromSocket, Outcomes>>, CallError> {
        let mut layer = TerminalStateLayer::builder().limits(self.limits.clone()).observe(outcomes.clone());
        if let Some(options) = recovery {
            layer = layer.recovery(options(Recovery::new(client::<CallBody<Full<Bytes>>>())));
        }
        ServiceBuilder::new()
            .layer(CallLayer::new())
            .layer(layer.build().unwrap())
            .layer(tap.clone())
            .service(client::<CallBody<Full<Bytes>>>())
            .oneshot(request)
            .await
    }

    /// Asks without the layers.
    pub(crate) async fn ask_bare(&self, ask: Ask<'_>) -> Bytes {
        let request = ask.request(&self.server, self.binding);
        let response = client().request(request).await.unwrap();
        response.into_body().collect().await.unwrap().to_bytes()
    }

    /// A task that was sent, came to rest there, and is known by its id.
    pub(crate) async fn task(&self, text: &str) -> String {
        let ended = self.ask(Ask::Send(text)).await;
        ended.expect_success();
        ended.seen.task_id.expect("an answer with a task")
    }

    /// What a guarded caller gets and what a bare one gets look alike: ids and times apart.
    pub(crate) async fn same_as_bare(&self, ask: Ask<'_>) -> Ended {
        let guarded = self.ask(ask).await;
        let bare = self.ask_bare(ask).await;
        assert_eq!(shape(&guarded.expect_success().body), shape(&bare));
        guarded
    }
}

pub(crate) fn client<B>() -> Client<HttpConnector, B>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    Client::builder(TokioExecutor::new()).build_http()
}

/// What the observer of one layer was told, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcomes(Arc<Mutex<Vec<Seen>>>);

impl Observe for Outcomes {
    fn observe(&self, outcome: &Outcome<'_>) {
        if let Some(error) = outcome.error() {
            assert_eq!((outcome.kind(), outcome.class()), (error.outcome(), error.class()));
        }
        self.0.lock().unwrap().push(Seen {
            outcome: outcome.kind().as_str(),
            class: outcome.class().as_str(),
            with_error: outcome.error().is_some(),
            task_id: outcome.task_id().map(str::to_owned),
            task_state: outcome.task_state().map(|state| state.as_str()),
            events: outcome.events(),
            tolerated: outcome.tolerated().iter().collect(),
        });
    }
}

impl Outcomes {
    /// The one outcome of the one call.
    pub(crate) fn one(&self) -> Seen {
        let told = self.0.lock().unwrap();
        assert_eq!(told.len(), 1, "exactly one outcome a call: {told:?}");
        told[0].clone()
    }

    pub(crate) fn none_yet(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }
}

impl Ended {
    /// A success that passed unchanged, and was reported as one.
    pub(crate) fn expect_success(&self) -> &Success {
        let success = self.result.as_ref().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((self.seen.outcome, self.seen.class, self.seen.with_error), ("success", "success", false));
        assert_eq!(self.seen.tolerated, [""; 0]);
        assert!(success.unchanged, "the bytes are those of the socket: {:?}", success.body);
        success
    }

    /// A success about a task in this state.
    pub(crate) fn expect_state(&self, state: &str) -> &Success {
        let success = self.expect_success();
        assert_eq!(self.seen.task_state, Some(state));
        assert!(self.seen.task_id.is_some());
        success
    }

    /// A failure of this outcome and class, reported as such.
    pub(crate) fn expect_failure(&self, outcome: &str, class: &str) -> &CallError {
        let error = match &self.result {
            Ok(success) => panic!("a success: {:?}", success.body),
            Err(error) => error,
        };
        assert_eq!((error.outcome().as_str(), error.class().as_str()), (outcome, class), "{error}");
        assert_eq!((self.seen.outcome, self.seen.class, self.seen.with_error), (outcome, class, true));
        assert_eq!(self.seen.task_state, error.task_state().map(|state| state.as_str()));
        assert_eq!(self.seen.events, error.events());
        error
    }

    /// The peer's typed refusal, the same over both bindings.
    pub(crate) fn expect_refusal(&self, a2a_error: &str, reason: &str) -> &CallError {
        let error = self.expect_failure("refused", "peer_error");
        assert_eq!(error.a2a_error().map(|known| known.name()), Some(a2a_error), "{error}");
        assert_eq!(error.reason(), Some(reason), "{error}");
        error
    }
}

impl Success {
    /// The payload: what stands under `result` in JSON-RPC, all of it in HTTP+JSON.
    pub(crate) fn payload(&self, binding: Binding) -> Value {
        let mut body: Value = serde_json::from_slice(&self.body).unwrap();
        match binding {
            Binding::JsonRpc => body["result"].take(),
            _ => body,
        }
    }

    pub(crate) fn media_type(&self) -> Option<&str> {
        self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok())
    }
}

/// The structure of a body (JSON, or events of it), without what differs from call to call.
fn shape(body: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(body).unwrap();
    let documents: Vec<&str> = match text.starts_with("id:") || text.starts_with("data:") {
        true => text.lines().filter_map(|line| line.strip_prefix("data: ")).collect(),
        false => vec![text],
    };
    let documents = documents.into_iter().filter(|document| !document.is_empty());
    documents.map(|document| scrubbed(serde_json::from_str(document).unwrap())).collect()
}

fn scrubbed(value: Value) -> Value {
    const FRESH: [&str; 5] = ["id", "taskId", "contextId", "messageId", "timestamp"];
    match value {
        Value::Object(members) => members
            .into_iter()
            .map(|(key, value)| match FRESH.contains(&key.as_str()) {
                true => (key, Value::from("fresh")),
                false => (key, scrubbed(value)),
            })
            .collect(),
        Value::Array(items) => items.into_iter().map(scrubbed).collect(),
        other => other,
    }
}

/// Runs `call`, which has to end within `bound` and not before it.
pub(crate) async fn bounded<T>(bound: Duration, call: impl Future<Output = T>) -> T {
    let begin = Instant::now();
    let ended = call.await;
    let taken = begin.elapsed();
    assert!(taken >= bound, "ended after {taken:?}, before its bound of {bound:?}");
    assert!(taken < bound + SLACK, "took {taken:?} with a bound of {bound:?}");
    ended
}

/// The call is known to the error: what it was for, and over what.
pub(crate) fn named(call: &Call) -> (Option<&'static str>, Option<&'static str>) {
    (call.operation().map(|operation| operation.as_str()), call.binding().map(|binding| binding.as_str()))
}
