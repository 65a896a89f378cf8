//! The agents of a mesh, as one client: each host does what it is told to, and all that comes to it is kept.

use std::{
    collections::HashMap,
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use a2a_guard::BoxError;
use bytes::Bytes;
use http::{HeaderMap, Request, Response, Version};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tower::Service;

#[derive(Clone, Debug)]
pub(crate) enum Does {
    /// The work, after so long.
    Work(Duration),
    /// Says no with this JSON-RPC error.
    Refuse(Value),
    /// Answers with this status, and headers.
    Status(u16, Vec<(&'static str, &'static str)>),
    /// Takes the work and gives no answer.
    Hang,
    /// Fails so after a while. `ConnectionRefused`: nothing came to it.
    Fail(io::ErrorKind, Duration),
    /// Streams these events.
    Stream(&'static str),
}

/// One request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Got {
    pub(crate) uri: String,
    pub(crate) version: Version,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Got {
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn is_probe(&self) -> bool {
        self.body.to_string().contains("__probe__")
    }
}

#[derive(Clone, Default)]
pub(crate) struct Agents {
    does: Arc<Mutex<HashMap<String, Does>>>,
    probed: Arc<Mutex<HashMap<String, Does>>>,
    asked_for_tasks: Arc<Mutex<HashMap<String, Does>>>,
    got: Arc<Mutex<Vec<Got>>>,
    /// How often work was begun, whatever became of it.
    begun: Arc<Mutex<usize>>,
}

impl Agents {
    pub(crate) fn set(&self, host: &str, does: Does) {
        self.does.lock().unwrap().insert(host.into(), does);
    }

    /// What it does about probes; the work, if nothing is said.
    pub(crate) fn set_probed(&self, host: &str, does: Does) {
        self.probed.lock().unwrap().insert(host.into(), does);
    }

    /// What it does when it is asked for a task; the work, if nothing is said.
    pub(crate) fn set_got(&self, host: &str, does: Does) {
        self.asked_for_tasks.lock().unwrap().insert(host.into(), does);
    }

    /// What came, since this was last called.
    pub(crate) fn got(&self) -> Vec<Got> {
        std::mem::take(&mut *self.got.lock().unwrap())
    }

    /// To whom, since this was last called.
    pub(crate) fn asked(&self) -> Vec<String> {
        let host = |got: &Got| got.uri.parse::<http::Uri>().unwrap().host().unwrap().to_owned();
        self.got().iter().map(host).collect()
    }

    pub(crate) fn begun(&self) -> usize {
        *self.begun.lock().unwrap()
    }
}

impl<B> Service<Request<B>> for Agents
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let host = parts.uri.host().unwrap().to_owned();
            let body = Box::pin(body).collect().await.map_err(Into::into)?.to_bytes();
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let (uri, version) = (parts.uri.to_string(), parts.version);
            let got = Got { uri, version, headers: parts.headers, body: body.clone() };
            let does = {
                let probed = this.probed.lock().unwrap().get(&host).cloned().filter(|_| got.is_probe());
                let got_task =
                    this.asked_for_tasks.lock().unwrap().get(&host).cloned().filter(|_| got.method() == "GetTask");
                probed.or(got_task).or_else(|| this.does.lock().unwrap().get(&host).cloned())
            };
            let is_work = !got.is_probe();
            this.got.lock().unwrap().push(got);
            let id = body["id"].clone();
            let json = |value: Value| {
                Response::builder().header("content-type", "application/json").body(Full::from(value.to_string()))
            };
            let begin = || *this.begun.lock().unwrap() += usize::from(is_work);
            let task = serde_json::json!({"id": "t-1", "contextId": "c-1", "status": {"state":
                if is_work { "TASK_STATE_COMPLETED" } else { "TASK_STATE_SUBMITTED" }}});
            Ok(match does.unwrap_or(Does::Fail(io::ErrorKind::ConnectionRefused, Duration::ZERO)) {
                Does::Work(after) => {
                    begin();
                    tokio::time::sleep(after).await;
                    let result = match body["method"].as_str() {
                        Some("SendMessage") => serde_json::json!({"task": task}),
                        Some("message/send") => {
                            serde_json::json!({"kind": "task", "id": "t-1", "contextId": "c-1", "status": {"state": "completed"}})
                        }
                        Some(_) => task,
                        None => return Ok(json(serde_json::json!({"task": task}))?),
                    };
                    json(serde_json::json!({"jsonrpc": "2.0", "id": id, "result": result}))?
                }
                Does::Refuse(error) => json(serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error}))?,
                Does::Status(status, headers) => {
                    let mut response = Response::builder().status(status);
                    for (name, value) in headers {
                        response = response.header(name, value);
                    }
                    response.body(Full::default())?
                }
                Does::Hang => {
                    begin();
                    std::future::pending().await
                }
                Does::Fail(kind, after) => {
                    if kind != io::ErrorKind::ConnectionRefused {
                        begin();
                    }
                    tokio::time::sleep(after).await;
                    return Err(io::Error::from(kind).into());
                }
                Does::Stream(events) => {
                    begin();
                    Response::builder().header("content-type", "text/event-stream").body(Full::from(events))?
                }
            })
        })
    }
}
