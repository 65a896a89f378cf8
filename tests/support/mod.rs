//! What the tests over real sockets share: the calls they make, and the stack they make them through.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use a2a_guard::{CallBody, CallError, CallLayer, Class, Limits, Outcome, OutcomeKind, TerminalStateLayer};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tokio::time::Instant;
use tower::{Service, ServiceBuilder, ServiceExt};

use crate::loopback::Loopback;

/// What a test asks of the peer. JSON-RPC calls have the id 1; all are of version 1.0.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask {
    /// JSON-RPC `SendMessage`, which does not wait for the task
    Send,
    /// JSON-RPC `SendStreamingMessage`
    Stream,
    /// JSON-RPC `SubscribeToTask` of `task-1`
    Subscribe,
    /// JSON-RPC `GetTask` of `task-1`
    Get,
    /// `POST /message:send`
    RestSend,
    /// `POST /message:stream`
    RestStream,
    /// `GET /tasks/task-1`
    RestGet,
    /// `DELETE` of a push configuration, which is answered by nothing
    RestDelete,
}

const MESSAGE: &str = r#""message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hello"}]}"#;

impl Ask {
    /// The request, addressed to the agent; the connector knows where that is.
    pub(crate) fn request(self) -> Request<Full<Bytes>> {
        let rpc = |method: &str, params: &str| {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#);
            ("POST", "/a2a", body)
        };
        let now = r#","configuration":{"returnImmediately":true}"#;
        let (method, path, body) = match self {
            Self::Send => rpc("SendMessage", &format!("{MESSAGE}{now}")),
            Self::Stream => rpc("SendStreamingMessage", MESSAGE),
            Self::Subscribe => rpc("SubscribeToTask", r#""id":"task-1""#),
            Self::Get => rpc("GetTask", r#""id":"task-1""#),
            Self::RestSend => ("POST", "/message:send", format!("{{{MESSAGE}{now}}}")),
            Self::RestStream => ("POST", "/message:stream", format!("{{{MESSAGE}}}")),
            Self::RestGet => ("GET", "/tasks/task-1", String::new()),
            Self::RestDelete => {
                let path = "/tasks/task-1/pushNotificationConfigs/config-1";
                ("DELETE", path, String::new())
            }
        };
        let request = Request::builder()
            .method(method)
            .uri(format!("https://agent.example.com{path}"))
            .header("a2a-version", "1.0")
            .header("content-type", "application/json")
            .body(Full::from(body));
        request.expect("a well-formed request")
    }
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The head that the caller got, if it got one.
    pub(crate) status: Option<StatusCode>,
    /// What of the body it got.
    pub(crate) body: Vec<u8>,
    /// How much that was, where it was not kept.
    pub(crate) length: u64,
    pub(crate) error: Option<CallError>,
    pub(crate) started: Instant,
    /// From the call to the end of the body.
    pub(crate) elapsed: Duration,
    /// What the observer was told.
    pub(crate) outcomes: Vec<(OutcomeKind, Class, u64)>,
}

impl Ended {
    /// `broken/truncated`
    pub(crate) fn word(&self) -> String {
        match &self.error {
            Some(error) => format!("{}/{}", error.outcome(), error.class()),
            None => "success/success".to_owned(),
        }
    }
}

/// A call, and the bounds it is made under.
#[derive(Clone, Debug)]
pub(crate) struct Calling {
    pub(crate) ask: Ask,
    pub(crate) limits: Limits,
    pub(crate) strict: bool,
    /// Whether the body is kept, or only counted.
    pub(crate) keep: bool,
}

impl Calling {
    /// Makes the call through the whole stack and reads its body to the end.
    pub(crate) async fn to(self, addr: SocketAddr) -> Ended {
        let outcomes = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&outcomes);
        let ending = TerminalStateLayer::builder()
            .limits(self.limits)
            .strict(self.strict)
            .observe(move |outcome: &Outcome<'_>| {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.push((outcome.kind(), outcome.class(), outcome.events()));
            })
            .build()
            .expect("limits without contradictions");
        let client = Client::builder(TokioExecutor::new()).build::<_, CallBody<Full<Bytes>>>(Loopback(addr));
        let stack = ServiceBuilder::new().layer(CallLayer::new()).layer(ending).service(client);

        let mut ended = Ended {
            status: None,
            body: Vec::new(),
            length: 0,
            error: None,
            started: Instant::now(),
            elapsed: Duration::ZERO,
            outcomes: Vec::new(),
        };
        let request = self.ask.request();
        ended.started = Instant::now();
        ended.error = exchange(stack, request, self.keep, &mut ended).await.err();
        ended.elapsed = ended.started.elapsed();
        ended.outcomes = std::mem::take(&mut outcomes.lock().unwrap_or_else(PoisonError::into_inner));
        ended
    }
}

async fn exchange<S, B>(
    mut stack: S,
    request: Request<Full<Bytes>>,
    keep: bool,
    ended: &mut Ended,
) -> Result<(), CallError>
where
    S: Service<Request<Full<Bytes>>, Response = http::Response<B>, Error = CallError>,
    B: http_body::Body<Data = Bytes, Error = CallError> + Unpin,
{
    let response = stack.ready().await?.call(request).await?;
    ended.status = Some(response.status());
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        if let Some(data) = frame?.data_ref() {
            ended.length += data.len() as u64;
            if keep {
                ended.body.extend_from_slice(data);
            }
        }
    }
    Ok(())
}

/// `{"task":…}`, in this state
pub(crate) fn task(state: &str) -> String {
    format!(r#"{{"task":{{"id":"task-1","contextId":"ctx-1","status":{{"state":"TASK_STATE_{state}"}}}}}}"#)
}

/// `{"statusUpdate":…}`, to this state
pub(crate) fn update(state: &str) -> String {
    format!(r#"{{"statusUpdate":{{"taskId":"task-1","contextId":"ctx-1","status":{{"state":"TASK_STATE_{state}"}}}}}}"#)
}

/// The JSON-RPC envelope around a result.
pub(crate) fn rpc(result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)
}

/// The JSON-RPC envelope around an error.
pub(crate) fn rpc_error(code: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"no"}}}}"#)
}

/// One event.
pub(crate) fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}
