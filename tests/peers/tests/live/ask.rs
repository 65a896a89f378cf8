//! What a caller asks, and how each binding spells it.

use std::sync::atomic::{AtomicU32, Ordering};

use a2a_guard::Binding;
use a2a_guard_peers::Server;
use bytes::Bytes;
use http::{Method, Request, header};
use http_body_util::Full;
use serde_json::{Value, json};

/// One of the operations, with what it is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask<'a> {
    /// `SendMessage` with this text.
    Send(&'a str),
    /// `SendMessage` that does not wait for the task.
    SendAndReturn(&'a str),
    /// `SendMessage` to a task.
    FollowUp {
        task: &'a str,
        text: &'a str,
    },
    /// `SendStreamingMessage` with this text.
    Stream(&'a str),
    Get(&'a str),
    /// `ListTasks` of a context.
    List(&'a str),
    Cancel(&'a str),
    Subscribe(&'a str),
    CreatePush(&'a str),
    GetPush {
        task: &'a str,
        config: &'a str,
    },
    ListPush(&'a str),
    DeletePush {
        task: &'a str,
        config: &'a str,
    },
    ExtendedCard,
}

/// The push configuration that [`Ask::CreatePush`] makes. Nobody is ever notified: its tasks have come to rest.
const WEBHOOK: &str = "https://hooks.example.com/a2a";

impl Ask<'_> {
    pub(crate) fn request(self, server: &Server, binding: Binding) -> Request<Full<Bytes>> {
        match binding {
            Binding::JsonRpc => self.json_rpc(&server.rpc()),
            Binding::HttpJson => self.http_json(&server.rest()),
            other => panic!("the server does not speak {other:?}"),
        }
    }

    fn json_rpc(self, url: &str) -> Request<Full<Bytes>> {
        let (method, params) = match self {
            Self::Send(_) | Self::SendAndReturn(_) | Self::FollowUp { .. } => ("SendMessage", self.body()),
            Self::Stream(_) => ("SendStreamingMessage", self.body()),
            Self::Get(task) => ("GetTask", json!({ "id": task })),
            Self::List(context) => ("ListTasks", json!({ "contextId": context })),
            Self::Cancel(task) => ("CancelTask", json!({ "id": task })),
            Self::Subscribe(task) => ("SubscribeToTask", json!({ "id": task })),
            Self::CreatePush(task) => ("CreateTaskPushNotificationConfig", json!({ "taskId": task, "url": WEBHOOK })),
            Self::GetPush { task, config } => {
                ("GetTaskPushNotificationConfig", json!({ "taskId": task, "id": config }))
            }
            Self::ListPush(task) => ("ListTaskPushNotificationConfigs", json!({ "taskId": task })),
            Self::DeletePush { task, config } => {
                ("DeleteTaskPushNotificationConfig", json!({ "taskId": task, "id": config }))
            }
            Self::ExtendedCard => ("GetExtendedAgentCard", json!({})),
        };
        let envelope = json!({ "jsonrpc": "2.0", "id": "call-1", "method": method, "params": params });
        self.built(Method::POST, url, Some(&envelope))
    }

    fn http_json(self, base: &str) -> Request<Full<Bytes>> {
        let (method, path, body) = match self {
            Self::Send(_) | Self::SendAndReturn(_) | Self::FollowUp { .. } => {
                (Method::POST, "/message:send".into(), Some(self.body()))
            }
            Self::Stream(_) => (Method::POST, "/message:stream".into(), Some(self.body())),
            Self::Get(task) => (Method::GET, format!("/tasks/{task}"), None),
            Self::List(context) => (Method::GET, format!("/tasks?contextId={context}"), None),
            Self::Cancel(task) => (Method::POST, format!("/tasks/{task}:cancel"), Some(json!({}))),
            Self::Subscribe(task) => (Method::POST, format!("/tasks/{task}:subscribe"), None),
            Self::CreatePush(task) => {
                (Method::POST, format!("/tasks/{task}/pushNotificationConfigs"), Some(json!({ "url": WEBHOOK })))
            }
            Self::GetPush { task, config } => {
                (Method::GET, format!("/tasks/{task}/pushNotificationConfigs/{config}"), None)
            }
            Self::ListPush(task) => (Method::GET, format!("/tasks/{task}/pushNotificationConfigs"), None),
            Self::DeletePush { task, config } => {
                (Method::DELETE, format!("/tasks/{task}/pushNotificationConfigs/{config}"), None)
            }
            Self::ExtendedCard => (Method::GET, "/extendedAgentCard".into(), None),
        };
        self.built(method, &format!("{base}{path}"), body.as_ref())
    }

    fn built(self, method: Method, url: &str, body: Option<&Value>) -> Request<Full<Bytes>> {
        let streams = matches!(self, Self::Stream(_) | Self::Subscribe(_));
        let mut request = Request::builder()
            .method(method)
            .uri(url)
            .header("a2a-version", "1.0")
            .header(header::ACCEPT, if streams { "text/event-stream" } else { "application/json" });
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let bytes = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        request.body(Full::new(bytes)).unwrap()
    }

    /// The message of a send; each has an id of its own.
    fn body(self) -> Value {
        static MESSAGES: AtomicU32 = AtomicU32::new(0);
        let (text, task) = match self {
            Self::Send(text) | Self::SendAndReturn(text) | Self::Stream(text) => (text, None),
            Self::FollowUp { task, text } => (text, Some(task)),
            other => panic!("{other:?} carries no message"),
        };
        let number = MESSAGES.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({
            "messageId": format!("message-{number}"),
            "role": "ROLE_USER",
            "parts": [{ "text": text }],
        });
        if let Some(task) = task {
            message["taskId"] = task.into();
        }
        let mut body = json!({ "message": message });
        if matches!(self, Self::SendAndReturn(_)) {
            body["configuration"] = json!({ "returnImmediately": true });
        }
        body
    }
}
