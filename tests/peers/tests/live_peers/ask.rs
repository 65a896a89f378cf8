//! What is asked, and how each binding and version spells it.

use std::sync::atomic::{AtomicU32, Ordering};

use a2a_guard::{Binding, ProtocolVersion};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, header};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::grpc;
use crate::line::Endpoint;
use crate::rule::Mode;

/// One of the operations, with what it is about.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    /// A blocking send of this text, to a task if one is named.
    Send {
        text: String,
        task: Option<String>,
    },
    /// The same as a stream.
    Stream {
        text: String,
        task: Option<String>,
    },
    Get {
        task: String,
    },
    Cancel {
        task: String,
    },
    Subscribe {
        task: String,
    },
    CreatePush {
        task: String,
    },
    DeletePush {
        task: String,
    },
    ExtendedCard,
}

/// The id of the push configuration that [`Ask::CreatePush`] makes, which [`Ask::DeletePush`] deletes.
pub(crate) const CONFIG: &str = "config-1";
/// Nobody is ever notified: the tasks of those configurations have come to rest.
pub(crate) const WEBHOOK: &str = "https://hooks.example.com/a2a";

impl Ask {
    pub(crate) fn send(text: impl Into<String>) -> Self {
        Self::Send { text: text.into(), task: None }
    }

    pub(crate) fn stream(text: impl Into<String>) -> Self {
        Self::Stream { text: text.into(), task: None }
    }

    pub(crate) fn mode(&self) -> Mode {
        match self {
            Self::Stream { .. } | Self::Subscribe { .. } => Mode::Stream,
            _ => Mode::Unary,
        }
    }

    pub(crate) fn request(&self, at: &Endpoint, binding: Binding, credentials: Option<&str>) -> Request<Full<Bytes>> {
        let (method, url, body) = match binding {
            Binding::JsonRpc => (Method::POST, at.rpc.clone(), Some(bytes(&self.json_rpc(at.version)))),
            Binding::Grpc => {
                let (path, message) = grpc::request(self, at.version);
                (Method::POST, format!("{}{path}", at.grpc), Some(message))
            }
            _ => {
                let (method, path, body) = self.http_json(at.version);
                (method, format!("{}{path}", at.rest), body.as_ref().map(bytes))
            }
        };
        let mut request = Request::builder().method(method).uri(url);
        if let Some(version) = at.header {
            request = request.header("a2a-version", version);
        }
        if let Some(credentials) = credentials {
            request = request.header(header::AUTHORIZATION, HeaderValue::from_str(credentials).unwrap());
        }
        if binding == Binding::Grpc {
            request = request.header(header::TE, "trailers").header(header::CONTENT_TYPE, "application/grpc");
        } else {
            let accept = if self.mode() == Mode::Stream { "text/event-stream" } else { "application/json" };
            request = request.header(header::ACCEPT, accept);
            if body.is_some() {
                request = request.header(header::CONTENT_TYPE, "application/json");
            }
        }
        request.body(Full::new(body.unwrap_or_default())).unwrap()
    }

    fn json_rpc(&self, version: ProtocolVersion) -> Value {
        let old = version == ProtocolVersion::V0_3;
        let (method, old_method, params) = match self {
            Self::Send { text, task } => ("SendMessage", "message/send", self.message(text, task, version)),
            Self::Stream { text, task } => {
                ("SendStreamingMessage", "message/stream", self.message(text, task, version))
            }
            Self::Get { task } => ("GetTask", "tasks/get", json!({ "id": task })),
            Self::Cancel { task } => ("CancelTask", "tasks/cancel", json!({ "id": task })),
            Self::Subscribe { task } => ("SubscribeToTask", "tasks/resubscribe", json!({ "id": task })),
            Self::CreatePush { task } => (
                "CreateTaskPushNotificationConfig",
                "tasks/pushNotificationConfig/set",
                match old {
                    false => json!({ "taskId": task, "id": CONFIG, "url": WEBHOOK }),
                    true => json!({ "taskId": task, "pushNotificationConfig": { "id": CONFIG, "url": WEBHOOK } }),
                },
            ),
            Self::DeletePush { task } => (
                "DeleteTaskPushNotificationConfig",
                "tasks/pushNotificationConfig/delete",
                match old {
                    false => json!({ "taskId": task, "id": CONFIG }),
                    true => json!({ "id": task, "pushNotificationConfigId": CONFIG }),
                },
            ),
            Self::ExtendedCard => ("GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard", json!({})),
        };
        let method = if old { old_method } else { method };
        let mut envelope = json!({ "jsonrpc": "2.0", "id": "call-1", "method": method });
        // 0.3 has no params for the extended card.
        if !(old && matches!(self, Self::ExtendedCard)) {
            envelope["params"] = params;
        }
        envelope
    }

    /// Method, path behind the base (which has the `/v1` of 0.3), body.
    fn http_json(&self, version: ProtocolVersion) -> (Method, String, Option<Value>) {
        let old = version == ProtocolVersion::V0_3;
        match self {
            Self::Send { text, task } => {
                (Method::POST, "/message:send".into(), Some(self.http_message(text, task, version)))
            }
            Self::Stream { text, task } => {
                (Method::POST, "/message:stream".into(), Some(self.http_message(text, task, version)))
            }
            Self::Get { task } => (Method::GET, format!("/tasks/{task}"), None),
            Self::Cancel { task } => (Method::POST, format!("/tasks/{task}:cancel"), Some(json!({}))),
            Self::Subscribe { task } => (Method::POST, format!("/tasks/{task}:subscribe"), None),
            Self::CreatePush { task } => {
                let config = json!({ "id": CONFIG, "url": WEBHOOK });
                let body = match old {
                    false => config,
                    true => json!({
                        "parent": format!("tasks/{task}"),
                        "configId": CONFIG,
                        "config": {
                            "name": format!("tasks/{task}/pushNotificationConfigs/{CONFIG}"),
                            "pushNotificationConfig": config,
                        },
                    }),
                };
                (Method::POST, format!("/tasks/{task}/pushNotificationConfigs"), Some(body))
            }
            Self::DeletePush { task } => {
                (Method::DELETE, format!("/tasks/{task}/pushNotificationConfigs/{CONFIG}"), None)
            }
            Self::ExtendedCard if old => (Method::GET, "/card".into(), None),
            Self::ExtendedCard => (Method::GET, "/extendedAgentCard".into(), None),
        }
    }

    /// The params of a send over JSON-RPC.
    fn message(&self, text: &str, task: &Option<String>, version: ProtocolVersion) -> Value {
        let mut message = match version {
            ProtocolVersion::V0_3 => json!({
                "kind": "message",
                "messageId": fresh_id(),
                "role": "user",
                "parts": [{ "kind": "text", "text": text }],
            }),
            _ => json!({ "messageId": fresh_id(), "role": "ROLE_USER", "parts": [{ "text": text }] }),
        };
        if let Some(task) = task {
            message["taskId"] = task.as_str().into();
        }
        json!({ "message": message })
    }

    /// HTTP+JSON in 0.3 is the protobuf message as JSON: other names, and a send blocks only where that is asked for.
    fn http_message(&self, text: &str, task: &Option<String>, version: ProtocolVersion) -> Value {
        if version != ProtocolVersion::V0_3 {
            return self.message(text, task, version);
        }
        let mut message = json!({ "messageId": fresh_id(), "role": "ROLE_USER", "content": [{ "text": text }] });
        if let Some(task) = task {
            message["taskId"] = task.as_str().into();
        }
        json!({ "message": message, "configuration": { "blocking": true } })
    }
}

/// Each message has an id of its own.
pub(crate) fn fresh_id() -> String {
    static MESSAGES: AtomicU32 = AtomicU32::new(0);
    format!("message-{}", MESSAGES.fetch_add(1, Ordering::Relaxed))
}

fn bytes(body: &Value) -> Bytes {
    Bytes::from(body.to_string())
}
