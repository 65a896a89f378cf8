//! An agent that answers by what it is asked, and the stack around it.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use a2a_guard::{
    Call, CallBody, CallError, CallLayer, CallService, ProbeCacheLayer, StaleAgentCardError, TerminalStateLayer,
    TerminalStateService,
    probe_cache::{ProbeCacheBuilder, ProbeCacheService, SkillAvailability, SkillKey},
};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tokio::time::Instant;
use tower::{Layer, Service, ServiceExt};

use crate::mock::{Answer, BoxError, Dialect, Ended, MockBody, Notes, read};

/// What the agent was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) at: Instant,
}

impl Asked {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The JSON-RPC method, or method and path.
    pub(crate) fn what(&self) -> String {
        match self.json()["method"].as_str() {
            Some(method) => method.to_owned(),
            None => format!("{} {}", self.method, self.uri.path()),
        }
    }

    /// Whether it asks for a task that no test ever made.
    pub(crate) fn is_probe(&self) -> bool {
        let of_rpc = self.json()["id"] == "a2a-guard-probe";
        let of_rest = self.method == Method::GET && self.uri.path().contains("/tasks/") && !self.is_of_test();
        let of_grpc = self.uri.path().ends_with("A2AService/GetTask") && !contains(&self.body, b"task-1");
        of_rpc || of_rest || of_grpc
    }

    fn is_of_test(&self) -> bool {
        self.uri.path().contains("task-1")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

type Mind = Arc<dyn Fn(&Asked) -> Answer + Send + Sync>;

/// Answers each request by what it is.
#[derive(Clone)]
pub(crate) struct Agent {
    mind: Arc<Mutex<Mind>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    ready: bool,
}

impl Agent {
    pub(crate) fn new(mind: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self { mind: Arc::new(Mutex::new(Arc::new(mind))), asked: Arc::default(), ready: false }
    }

    /// Answers probes so, and does what it is asked otherwise.
    pub(crate) fn probed(answer: impl Fn() -> Answer + Send + Sync + 'static) -> Self {
        Self::new(move |asked| if asked.is_probe() { answer() } else { does(asked) })
    }

    /// Conforms, and answers calls so.
    pub(crate) fn called(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::new(move |asked| if asked.is_probe() { no_task(asked) } else { answer(asked) })
    }

    /// Conforms, and does what it is asked.
    pub(crate) fn willing() -> Self {
        Self::called(does)
    }

    pub(crate) fn mind(&self) -> Mind {
        Arc::clone(&lock(&self.mind))
    }

    /// From now on it is of another mind.
    pub(crate) fn change(&self, mind: impl Fn(&Asked) -> Answer + Send + Sync + 'static) {
        *lock(&self.mind) = Arc::new(mind);
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        lock(&self.asked).clone()
    }

    /// How often it was probed, and how often called.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let asked = self.asked();
        let probes = asked.iter().filter(|asked| asked.is_probe()).count();
        (probes, asked.len() - probes)
    }

    pub(crate) fn probes(&self) -> usize {
        self.counts().0
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").finish_non_exhaustive()
    }
}

impl<B> Service<Request<B>> for Agent
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: fmt::Debug,
{
    type Response = Response<MockBody>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<MockBody>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        assert!(std::mem::take(&mut self.ready), "called without having been polled ready");
        let this = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.expect("a request body without fault").to_bytes();
            let asked = Asked { method: head.method, uri: head.uri, headers: head.headers, body, at: Instant::now() };
            lock(&this.asked).push(asked.clone());
            let mind = Arc::clone(&lock(&this.mind));
            mind(&asked).into_response().await
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// That task does not exist.
pub(crate) fn no_task(asked: &Asked) -> Answer {
    match asked.json()["id"].clone() {
        Value::Null => Answer::new(
            404,
            "application/json",
            MockBody::new().data(
                r#"{"error":{"code":404,"status":"NOT_FOUND","message":"no such task","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}}"#,
            ),
        ),
        id => rpc_error(&id, -32001, ""),
    }
}

/// A JSON-RPC error; `more` stands behind its message.
pub(crate) fn rpc_error(id: &Value, code: i64, more: &str) -> Answer {
    Answer::json(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no"{more}}}}}"#))
}

/// The refusal of a probe over JSON-RPC.
pub(crate) fn refused_probe(code: i64) -> Answer {
    rpc_error(&"a2a-guard-probe".into(), code, "")
}

/// -32004, to a test's own call over JSON-RPC.
pub(crate) fn unsupported() -> Answer {
    Answer::json(Dialect::V1.error(-32004))
}

/// The same with the region, and the skills that are there.
pub(crate) fn not_here() -> Answer {
    let data = r#","data":{"region":"eu","availableSkills":["summarize","translate-2"]}"#;
    rpc_error(&1.into(), -32004, data)
}

pub(crate) fn html(status: u16) -> Answer {
    Answer::new(status, "text/html; charset=utf-8", MockBody::new().data("<!doctype html><title>Welcome</title>"))
}

/// Does what it is asked, in whatever dialect.
pub(crate) fn does(asked: &Asked) -> Answer {
    let what = asked.what();
    let stream = |dialect: Dialect| {
        Answer::sse(MockBody::of([dialect.task_event("WORKING"), dialect.update_event("COMPLETED")]))
    };
    match what.as_str() {
        "SendMessage" => Answer::json(Dialect::V1.result(&Dialect::V1.task("COMPLETED"))),
        "SendStreamingMessage" | "SubscribeToTask" => stream(Dialect::V1),
        "GetTask" => Answer::json(Dialect::V1.result(&Dialect::V1.bare_task("COMPLETED"))),
        "ListTasks" | "GetExtendedAgentCard" => Answer::json(Dialect::V1.result("{}")),
        "CancelTask" => Answer::json(Dialect::V1.result(&Dialect::V1.bare_task("CANCELED"))),
        "message/send" => Answer::json(Dialect::V03.result(&Dialect::V03.task("COMPLETED"))),
        "message/stream" => stream(Dialect::V03),
        "tasks/send" => Answer::json(Dialect::V02.result(&Dialect::V02.task("COMPLETED"))),
        _ if what.ends_with("message:send") => Answer::json(Dialect::Rest.task("COMPLETED")),
        _ if what.ends_with("message:stream") || what.ends_with(":subscribe") => stream(Dialect::Rest),
        _ if what.starts_with("GET ") => Answer::json(Dialect::Rest.bare_task("COMPLETED")),
        _ => panic!("nobody taught the agent {what}"),
    }
}

/// All the layers around it.
pub(crate) type Guarded<O = ()> = CallService<ProbeCacheService<TerminalStateService<Agent, Notes>, O>>;

/// The usual layer, whose probes go to the agent.
pub(crate) fn builder(agent: &Agent) -> ProbeCacheBuilder {
    ProbeCacheLayer::builder::<_, Full<Bytes>, _>(agent.clone())
}

/// The whole stack around an agent.
pub(crate) fn guard<O>(layer: &ProbeCacheLayer<O>, agent: &Agent) -> Guarded<O> {
    guard_noting(layer, agent, &Notes::default())
}

pub(crate) fn guard_noting<O>(layer: &ProbeCacheLayer<O>, agent: &Agent, notes: &Notes) -> Guarded<O> {
    let ending = TerminalStateLayer::builder().observe(notes.clone()).build().unwrap();
    CallLayer::new().layer(layer.layer(ending.layer(agent.clone())))
}

/// The usual stack.
pub(crate) fn usual(agent: &Agent) -> (Guarded, ProbeCacheLayer) {
    let layer = builder(agent).build().unwrap();
    (guard(&layer, agent), layer)
}

/// Makes one call, and reads its body to the end.
pub(crate) async fn call<S, B>(service: &mut S, request: Request<Full<Bytes>>) -> Ended
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = CallError>,
    B: Body<Data = Bytes, Error = CallError> + Unpin,
{
    let started = Instant::now();
    let response = match service.ready().await {
        Ok(ready) => ready.call(request).await,
        Err(error) => Err(error),
    };
    read(started, response, Notes::default()).await
}

/// Calls a service once it is ready.
pub(crate) async fn begun<S, B>(service: &mut S, request: Request<B>) -> S::Future
where
    S: Service<Request<B>>,
    S::Error: fmt::Debug,
{
    is_ready(service, &request).await;
    service.call(request)
}

/// Waits until a service is ready for such a request.
pub(crate) async fn is_ready<S, B>(service: &mut S, _: &Request<B>)
where
    S: Service<Request<B>>,
    S::Error: fmt::Debug,
{
    std::future::poll_fn(|cx| service.poll_ready(cx)).await.unwrap();
}

/// A request for a skill in a region.
pub(crate) fn for_skill(mut request: Request<Full<Bytes>>, skill: &str, region: &str) -> Request<Full<Bytes>> {
    let call = Call::new().with_skill(skill);
    request.extensions_mut().insert(if region.is_empty() { call } else { call.with_region(region) });
    request
}

/// The usual skill of the usual agent.
pub(crate) fn translate() -> Request<Full<Bytes>> {
    for_skill(Dialect::V1.send(), "translate", "eu")
}

pub(crate) fn key(skill: &str, region: &str) -> SkillKey {
    SkillKey::of(&"https://agent.example.com/whatever".parse().unwrap(), skill).unwrap().in_region(region)
}

/// How long the usual skill is still available.
pub(crate) fn translate_lasts(skills: &SkillAvailability) -> Option<Duration> {
    match skills.get(&key("translate", "eu")) {
        a2a_guard::probe_cache::Availability::Available { lasts } => Some(lasts),
        _ => None,
    }
}

pub(crate) fn stale(ended: &Ended) -> &StaleAgentCardError {
    match ended.error() {
        CallError::Stale(error) => error,
        other => panic!("no routing signal: {other}"),
    }
}

/// Without `CallLayer`. HTTP+JSON is named by its head alone.
pub(crate) fn unread(request: Request<Full<Bytes>>) -> Request<CallBody<Full<Bytes>>> {
    request.map(CallBody::unread)
}
