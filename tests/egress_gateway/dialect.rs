//! What the agent says, in every binding of 1.0 and of 0.3.

use serde_json::{Value, json};

use crate::{agent::framed, messages};

/// How a call came, and goes.
#[derive(Clone)]
pub(crate) struct Dialect {
    pub(crate) binding: Binding,
    /// 0.3.
    pub(crate) old: bool,
}

#[derive(Clone)]
pub(crate) enum Binding {
    Rpc { id: Value, method: String },
    Rest,
    Grpc,
}

impl Dialect {
    /// By where the call came to; `None` if nobody is called there.
    pub(crate) fn of(path: &str, body: &[u8]) -> Option<Self> {
        if path == "/a2a" {
            let body: Value = serde_json::from_slice(body).unwrap_or_default();
            let method = body["method"].as_str().unwrap_or_default().to_owned();
            let old = method.contains('/');
            return Some(Self { binding: Binding::Rpc { id: body["id"].clone(), method }, old });
        }
        let under = |prefix: &str| path.starts_with(prefix);
        let (binding, old) = if under("/rest/") {
            (Binding::Rest, under("/rest/v1/"))
        } else if under("/lf.a2a.v1.A2AService/") {
            (Binding::Grpc, false)
        } else if under("/a2a.v1.A2AService/") {
            (Binding::Grpc, true)
        } else {
            return None;
        };
        Some(Self { binding, old })
    }

    pub(crate) fn is_grpc(&self) -> bool {
        matches!(self.binding, Binding::Grpc)
    }

    pub(crate) fn media(&self) -> &'static str {
        match self.binding {
            Binding::Grpc => "application/grpc",
            Binding::Rest if !self.old => "application/a2a+json",
            _ => "application/json",
        }
    }

    /// A result as an answer has it.
    pub(crate) fn result(&self, json: Value, grpc: Vec<u8>) -> Vec<u8> {
        match &self.binding {
            Binding::Rpc { id, .. } => json!({ "jsonrpc": "2.0", "id": id, "result": json }).to_string().into(),
            Binding::Rest => json.to_string().into(),
            Binding::Grpc => framed(&grpc),
        }
    }

    /// One kind of result. Over JSON-RPC, 0.3 names it inside.
    fn named(&self, name: &str, kind: &str, mut it: Value, grpc: Vec<u8>) -> Vec<u8> {
        let json = match (&self.binding, self.old) {
            (Binding::Rpc { .. }, true) => {
                it["kind"] = kind.into();
                it
            }
            _ => json!({ name: it }),
        };
        self.result(json, grpc)
    }

    fn state(&self, state: &str) -> String {
        match (&self.binding, self.old) {
            (Binding::Rpc { .. }, true) => state.to_ascii_lowercase().replace('_', "-"),
            _ => format!("TASK_STATE_{state}"),
        }
    }

    pub(crate) fn task(&self, state: &str) -> Vec<u8> {
        let task = json!({ "id": "task-1", "contextId": "c-1", "status": { "state": self.state(state) } });
        self.named("task", "task", task, messages::task(code(state)))
    }

    pub(crate) fn update(&self, state: &str) -> Vec<u8> {
        let mut update = json!({ "taskId": "task-1", "contextId": "c-1", "status": { "state": self.state(state) } });
        if self.old {
            update["final"] = (state != "WORKING").into();
        }
        self.named("statusUpdate", "status-update", update, messages::update(code(state)))
    }

    pub(crate) fn artifact(&self, text: &str) -> Vec<u8> {
        let part = match (&self.binding, self.old) {
            (Binding::Rpc { .. }, true) => json!({ "kind": "text", "text": text }),
            _ => json!({ "text": text }),
        };
        let artifact = json!({ "artifactId": "a-1", "parts": [part] });
        let update = json!({ "taskId": "task-1", "contextId": "c-1", "artifact": artifact });
        let grpc = if self.old { messages::old_artifact(text) } else { messages::artifact(text) };
        self.named("artifactUpdate", "artifact-update", update, grpc)
    }

    /// A result as one event of a stream.
    pub(crate) fn event(&self, result: Vec<u8>) -> Vec<u8> {
        match self.binding {
            Binding::Grpc => result,
            _ => [b"data: ", &result[..], b"\n\n"].concat(),
        }
    }
}

fn code(state: &str) -> u8 {
    match state {
        "WORKING" => messages::WORKING,
        "AUTH_REQUIRED" => messages::AUTH_REQUIRED,
        _ => messages::COMPLETED,
    }
}
