//! The bindings in their versions: what a request for each kind of call looks like, and how an agent reads it.

use a2a_guard::{Binding, Operation, ProtocolVersion};
use a2a_pb::proto::{GetTaskRequest, Message, Part, Role, SendMessageRequest, part};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Uri, header::CONTENT_TYPE};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::proto;

/// A binding in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dialect {
    Rpc,
    RpcV03,
    Rest,
    RestV03,
    Grpc,
    GrpcV03,
}

use Dialect::{Grpc, GrpcV03, Rest, RestV03, Rpc, RpcV03};

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Send,
    Stream,
    Get,
}

use Kind::{Get, Send, Stream};

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Send, Stream, Get];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Send => "send",
            Stream => "stream",
            Get => "get",
        }
    }

    pub(crate) fn operation(self) -> Operation {
        match self {
            Send => Operation::SendMessage,
            Stream => Operation::SendStreamingMessage,
            Get => Operation::GetTask,
        }
    }
}

/// What an agent is asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) dialect: Dialect,
    pub(crate) kind: Kind,
    /// The message's id, or the task's.
    pub(crate) id: String,
    /// The JSON-RPC request's.
    pub(crate) rpc_id: Value,
}

impl Dialect {
    pub(crate) const ALL: [Self; 6] = [Rpc, RpcV03, Rest, RestV03, Grpc, GrpcV03];

    pub(crate) fn is_grpc(self) -> bool {
        matches!(self, Grpc | GrpcV03)
    }

    pub(crate) fn is_rpc(self) -> bool {
        matches!(self, Rpc | RpcV03)
    }

    pub(crate) fn is_v03(self) -> bool {
        matches!(self, RpcV03 | RestV03 | GrpcV03)
    }

    pub(crate) fn binding(self) -> Binding {
        match self {
            Rpc | RpcV03 => Binding::JsonRpc,
            Rest | RestV03 => Binding::HttpJson,
            Grpc | GrpcV03 => Binding::Grpc,
        }
    }

    pub(crate) fn version(self) -> ProtocolVersion {
        if self.is_v03() { ProtocolVersion::V0_3 } else { ProtocolVersion::V1_0 }
    }

    /// Its interface on a host's card: path of the URL, binding, version.
    pub(crate) fn interface(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Rpc => ("/a2a", "JSONRPC", "1.0"),
            RpcV03 => ("/a2a", "JSONRPC", "0.3"),
            Rest => ("/rest", "HTTP+JSON", "1.0"),
            RestV03 => ("/old", "HTTP+JSON", "0.3"),
            Grpc => ("", "GRPC", "1.0"),
            GrpcV03 => ("", "GRPC", "0.3"),
        }
    }

    /// The request of a call whose message, or task, has the id `id`.
    pub(crate) fn request(self, kind: Kind, target: &str, id: &str) -> Request<Full<Bytes>> {
        let (path, body): (String, Bytes) = match self {
            Rpc | RpcV03 => ("/a2a".into(), self.rpc_body(kind, id).into()),
            Rest | RestV03 => {
                let base = if self == Rest { "/rest" } else { "/old/v1" };
                let body = if self == Rest { "message" } else { "request" };
                let body = json!({body: self.message(id)}).to_string();
                match kind {
                    Send => (format!("{base}/message:send"), body.into()),
                    Stream => (format!("{base}/message:stream"), body.into()),
                    Get => (format!("{base}/tasks/{id}"), Bytes::new()),
                }
            }
            Grpc | GrpcV03 => {
                let package = if self == Grpc { "lf.a2a.v1" } else { "a2a.v1" };
                let name = match kind {
                    Send => "SendMessage",
                    Stream => "SendStreamingMessage",
                    Get => "GetTask",
                };
                (format!("/{package}.A2AService/{name}"), self.grpc_body(kind, id))
            }
        };
        let method = if kind == Get && matches!(self, Rest | RestV03) { Method::GET } else { Method::POST };
        let media = if self.is_grpc() { "application/grpc" } else { "application/json" };
        let mut request = Request::builder().method(method).uri(format!("http://{target}{path}"));
        request = request.header(CONTENT_TYPE, media);
        if matches!(self, Rpc | Rest) {
            request = request.header("a2a-version", "1.0");
        }
        if self.is_grpc() {
            request = request.header("te", "trailers");
        }
        request.body(Full::new(body)).expect("a well-formed request")
    }

    fn rpc_body(self, kind: Kind, id: &str) -> String {
        let (names, params) = match kind {
            Send => (["SendMessage", "message/send"], json!({"message": self.message(id)})),
            Stream => (["SendStreamingMessage", "message/stream"], json!({"message": self.message(id)})),
            Get => (["GetTask", "tasks/get"], json!({"id": id})),
        };
        json!({"jsonrpc": "2.0", "id": 1, "method": names[usize::from(self.is_v03())], "params": params}).to_string()
    }

    fn message(self, id: &str) -> Value {
        match self {
            RpcV03 => json!({
                "kind": "message", "messageId": id, "role": "user", "parts": [{"kind": "text", "text": "hello"}],
            }),
            RestV03 => json!({"messageId": id, "role": "ROLE_USER", "content": [{"text": "hello"}]}),
            _ => json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": "hello"}]}),
        }
    }

    fn grpc_body(self, kind: Kind, id: &str) -> Bytes {
        if kind == Get {
            return match self {
                Grpc => proto::framed(&GetTaskRequest { id: id.into(), ..GetTaskRequest::default() }),
                _ => proto::framed(&proto::GetTaskV03 { name: format!("tasks/{id}") }),
            };
        }
        let part = Part { content: Some(part::Content::Text("hello".into())), ..Part::default() };
        let message =
            Some(Message { message_id: id.into(), role: Role::User.into(), parts: vec![part], ..Message::default() });
        match self {
            Grpc => proto::framed(&SendMessageRequest { message, ..SendMessageRequest::default() }),
            _ => proto::framed(&proto::SendMessageV03 { request: message }),
        }
    }
}

/// What a request asks; `None` for what no agent here knows.
pub(crate) fn read(method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Option<Asked> {
    let path = uri.path();
    if let Some(name) = path.strip_prefix("/lf.a2a.v1.A2AService/") {
        return read_grpc(Grpc, name, body);
    }
    if let Some(name) = path.strip_prefix("/a2a.v1.A2AService/") {
        return read_grpc(GrpcV03, name, body);
    }
    let sent: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |pointer: &str| sent.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let asked = |dialect, kind, id| Some(Asked { dialect, kind, id, rpc_id: sent["id"].clone() });
    if path == "/a2a" {
        return match text("/method").as_str() {
            "SendMessage" => asked(Rpc, Send, text("/params/message/messageId")),
            "SendStreamingMessage" => asked(Rpc, Stream, text("/params/message/messageId")),
            "GetTask" => asked(Rpc, Get, text("/params/id")),
            "message/send" => asked(RpcV03, Send, text("/params/message/messageId")),
            "message/stream" => asked(RpcV03, Stream, text("/params/message/messageId")),
            "tasks/get" => asked(RpcV03, Get, text("/params/id")),
            _ => None,
        };
    }
    let (dialect, message, rest) = match (path.strip_prefix("/rest/"), path.strip_prefix("/old/v1/")) {
        // A 1.0 agent turns other versions away (A2A 1.0 §3.6).
        (Some(rest), _) if headers.get("a2a-version").is_some_and(|version| version == "1.0") => {
            (Rest, "/message/messageId", rest)
        }
        (_, Some(rest)) => (RestV03, "/request/messageId", rest),
        _ => return None,
    };
    match (method, rest) {
        (&Method::POST, "message:send") => asked(dialect, Send, text(message)),
        (&Method::POST, "message:stream") => asked(dialect, Stream, text(message)),
        (&Method::GET, _) => asked(dialect, Get, rest.strip_prefix("tasks/")?.to_owned()),
        _ => None,
    }
}

fn read_grpc(dialect: Dialect, name: &str, body: &[u8]) -> Option<Asked> {
    let (kind, id) = match (name, dialect) {
        ("GetTask", Grpc) => (Get, proto::unframed::<GetTaskRequest>(body)?.id),
        ("GetTask", _) => (Get, proto::unframed::<proto::GetTaskV03>(body)?.name.strip_prefix("tasks/")?.to_owned()),
        ("SendMessage" | "SendStreamingMessage", _) => {
            let kind = if name == "SendMessage" { Send } else { Stream };
            let message = match dialect {
                Grpc => proto::unframed::<SendMessageRequest>(body)?.message,
                _ => proto::unframed::<proto::SendMessageV03>(body)?.request,
            };
            (kind, message?.message_id)
        }
        _ => return None,
    };
    Some(Asked { dialect, kind, id, rpc_id: Value::Null })
}
