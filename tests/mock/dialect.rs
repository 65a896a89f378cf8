use bytes::Bytes;
use http::Request;
use http_body_util::Full;

/// A binding in a version: what requests and answers look like. JSON-RPC requests have the id 1, the task is `task-1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// JSON-RPC 1.0
    V1,
    /// JSON-RPC 0.3
    V03,
    /// JSON-RPC 0.2, `tasks/…`
    V02,
    /// HTTP+JSON 1.0
    Rest,
}

use Dialect::{Rest, V1, V02, V03};

impl Dialect {
    pub(crate) const ALL: [Self; 4] = [V1, V03, V02, Rest];

    /// A send that waits until its task rests.
    pub(crate) fn send(self) -> Request<Full<Bytes>> {
        self.message_request(false, "")
    }

    /// A send that does not wait.
    pub(crate) fn send_at_once(self) -> Request<Full<Bytes>> {
        let now = match self {
            V1 | Rest => r#","configuration":{"returnImmediately":true}"#,
            V03 | V02 => r#","configuration":{"blocking":false}"#,
        };
        self.message_request(false, now)
    }

    pub(crate) fn stream(self) -> Request<Full<Bytes>> {
        self.message_request(true, "")
    }

    /// Asks for `task-1`.
    pub(crate) fn get(self) -> Request<Full<Bytes>> {
        match self {
            V1 => self.rpc("GetTask", r#""id":"task-1""#),
            V03 | V02 => self.rpc("tasks/get", r#""id":"task-1""#),
            Rest => self.request("GET", "/tasks/task-1", String::new()),
        }
    }

    /// Takes up the stream of `task-1`.
    pub(crate) fn subscribe(self) -> Request<Full<Bytes>> {
        match self {
            V1 => self.rpc("SubscribeToTask", r#""id":"task-1""#),
            V03 | V02 => self.rpc("tasks/resubscribe", r#""id":"task-1""#),
            Rest => self.request("POST", "/tasks/task-1:subscribe", String::new()),
        }
    }

    fn message_request(self, stream: bool, more: &str) -> Request<Full<Bytes>> {
        let (role, part) = match self {
            V1 | Rest => ("ROLE_USER", r#"{"text":"hello"}"#),
            V03 => ("user", r#"{"kind":"text","text":"hello"}"#),
            V02 => ("user", r#"{"type":"text","text":"hello"}"#),
        };
        let message = format!(r#""message":{{"messageId":"m-1","role":"{role}","parts":[{part}]}}{more}"#);
        match (self, stream) {
            (V1, false) => self.rpc("SendMessage", &message),
            (V1, true) => self.rpc("SendStreamingMessage", &message),
            (V03, false) => self.rpc("message/send", &message),
            (V03, true) => self.rpc("message/stream", &message),
            (V02, false) => self.rpc("tasks/send", &format!(r#""id":"task-1",{message}"#)),
            (V02, true) => self.rpc("tasks/sendSubscribe", &format!(r#""id":"task-1",{message}"#)),
            (Rest, false) => self.request("POST", "/message:send", format!("{{{message}}}")),
            (Rest, true) => self.request("POST", "/message:stream", format!("{{{message}}}")),
        }
    }

    pub(crate) fn rpc(self, method: &str, params: &str) -> Request<Full<Bytes>> {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#);
        self.request("POST", "/a2a", body)
    }

    pub(crate) fn request(self, method: &str, path: &str, body: String) -> Request<Full<Bytes>> {
        let request = Request::builder()
            .method(method)
            .uri(format!("https://agent.example.com{path}"))
            .header("content-type", "application/json");
        let request = if self == Rest { request.header("a2a-version", "1.0") } else { request };
        request.body(Full::from(body)).unwrap()
    }

    /// A state as this dialect spells it; `state` is spelled as in `INPUT_REQUIRED`.
    pub(crate) fn state(self, state: &str) -> String {
        match self {
            V1 | Rest => format!("TASK_STATE_{state}"),
            V03 | V02 => state.to_ascii_lowercase().replace('_', "-"),
        }
    }

    /// `task-1` as `GetTask` gives it.
    pub(crate) fn bare_task(self, state: &str) -> String {
        let state = self.state(state);
        let (kind, context) = match self {
            V1 | Rest => ("", "contextId"),
            V03 => (r#""kind":"task","#, "contextId"),
            V02 => ("", "sessionId"),
        };
        format!(r#"{{{kind}"id":"task-1","{context}":"ctx-1","status":{{"state":"{state}"}}}}"#)
    }

    /// `task-1` as a send or a stream gives it.
    pub(crate) fn task(self, state: &str) -> String {
        match self {
            V1 | Rest => format!(r#"{{"task":{}}}"#, self.bare_task(state)),
            V03 | V02 => self.bare_task(state),
        }
    }

    /// A change of `task-1`'s status.
    pub(crate) fn update(self, state: &str) -> String {
        let state = self.state(state);
        match self {
            V1 | Rest => format!(
                r#"{{"statusUpdate":{{"taskId":"task-1","contextId":"ctx-1","status":{{"state":"{state}"}}}}}}"#
            ),
            V03 => format!(
                r#"{{"kind":"status-update","taskId":"task-1","contextId":"ctx-1","status":{{"state":"{state}"}},"final":false}}"#
            ),
            V02 => format!(r#"{{"id":"task-1","status":{{"state":"{state}"}},"final":false}}"#),
        }
    }

    /// A message that is the whole answer.
    pub(crate) fn message(self) -> String {
        match self {
            V1 | Rest => r#"{"message":{"messageId":"m-2","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}"#.into(),
            V03 => {
                r#"{"kind":"message","messageId":"m-2","role":"agent","parts":[{"kind":"text","text":"hi"}]}"#.into()
            }
            V02 => r#"{"role":"agent","parts":[{"type":"text","text":"hi"}]}"#.into(),
        }
    }

    /// A result as it stands in a body, or in an event's data.
    pub(crate) fn result(self, result: &str) -> String {
        match self {
            Rest => result.into(),
            _ => format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#),
        }
    }

    /// A refusal as it stands in a body, or in an event's data.
    pub(crate) fn error(self, code: i64) -> String {
        match self {
            Rest => r#"{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"no","details":[]}}"#.into(),
            _ => format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"no"}}}}"#),
        }
    }

    /// One event with a result in it.
    pub(crate) fn event(self, result: &str) -> Bytes {
        format!("data: {}\n\n", self.result(result)).into()
    }

    /// One event with `task-1` in it.
    /// An event that refuses.
    pub(crate) fn event_of_error(self, code: i64) -> Bytes {
        format!("data: {}\n\n", self.error(code)).into()
    }

    pub(crate) fn task_event(self, state: &str) -> Bytes {
        self.event(&self.task(state))
    }

    /// One event with a change of `task-1`'s status in it.
    pub(crate) fn update_event(self, state: &str) -> Bytes {
        self.event(&self.update(state))
    }
}
