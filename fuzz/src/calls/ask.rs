//! What is asked, and in which words.

use a2a_guard::wire::{Envelope, Expected, GrpcDialect, GrpcExpected, GrpcPayload, Payload, Wrapping};
use bytes::Bytes;
use http::Request;

/// An operation, or none that anybody could name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    Send,
    Stream,
    Get,
    Subscribe,
    Delete,
    List,
    Unnamed,
}

/// A binding in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// JSON-RPC 1.0
    V1,
    /// JSON-RPC 0.3
    V03,
    /// JSON-RPC 0.2
    V02,
    /// HTTP+JSON 1.0
    Rest,
    /// HTTP+JSON 0.3
    RestV03,
    /// gRPC 1.0
    Grpc,
    /// gRPC 0.3
    GrpcV03,
}

impl Dialect {
    /// Those that a fuzzer's bytes pick from.
    pub const ALL: [Self; 6] = [Self::V1, Self::V03, Self::V02, Self::Rest, Self::Grpc, Self::GrpcV03];
    /// All that there are.
    pub const EVERY: [Self; 7] = [Self::V1, Self::V03, Self::V02, Self::Rest, Self::RestV03, Self::Grpc, Self::GrpcV03];

    #[must_use]
    pub fn is_grpc(self) -> bool {
        matches!(self, Self::Grpc | Self::GrpcV03)
    }

    #[must_use]
    pub fn is_rest(self) -> bool {
        matches!(self, Self::Rest | Self::RestV03)
    }
}

const MESSAGE: &str = r#""message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}"#;
/// The same over gRPC: an id, a role and a part.
const MESSAGE_BYTES: &[u8] = b"\x0a\x01m\x20\x01\x2a\x03\x0a\x01h";

impl Ask {
    pub const ALL: [Self; 9] = [
        Self::Send,
        Self::Stream,
        Self::Stream,
        Self::Send,
        Self::Get,
        Self::Subscribe,
        Self::Delete,
        Self::List,
        Self::Unnamed,
    ];

    #[must_use]
    pub fn is_stream(self) -> bool {
        matches!(self, Self::Stream | Self::Subscribe)
    }

    /// The request for it. JSON-RPC's have the id 1.
    #[must_use]
    pub fn request(self, dialect: Dialect) -> Request<Bytes> {
        match dialect {
            Dialect::V1 | Dialect::V03 | Dialect::V02 => self.json_rpc(dialect),
            Dialect::Rest | Dialect::RestV03 => self.rest(dialect),
            Dialect::Grpc | Dialect::GrpcV03 => self.grpc(dialect),
        }
    }

    fn json_rpc(self, dialect: Dialect) -> Request<Bytes> {
        let names = match self {
            Self::Send => ["SendMessage", "message/send", "tasks/send"],
            Self::Stream => ["SendStreamingMessage", "message/stream", "tasks/sendSubscribe"],
            Self::Get => ["GetTask", "tasks/get", "tasks/get"],
            Self::Subscribe => ["SubscribeToTask", "tasks/resubscribe", "tasks/resubscribe"],
            Self::Delete => [
                "DeleteTaskPushNotificationConfig",
                "tasks/pushNotificationConfig/delete",
                "tasks/pushNotification/get",
            ],
            Self::List => ["ListTasks", "tasks/pushNotificationConfig/list", "tasks/pushNotification/get"],
            Self::Unnamed => ["acme/doIt"; 3],
        };
        let method = match dialect {
            Dialect::V1 => names[0],
            Dialect::V03 => names[1],
            _ => names[2],
        };
        let params = match (self, dialect) {
            (Self::Send | Self::Stream, Dialect::V02) => format!(r#""id":"t",{MESSAGE}"#),
            (Self::Send | Self::Stream, _) => MESSAGE.to_owned(),
            _ => r#""id":"t""#.to_owned(),
        };
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#);
        request("POST", "/a2a", "application/json", body)
    }

    fn rest(self, dialect: Dialect) -> Request<Bytes> {
        let (method, path) = match self {
            Self::Send => ("POST", "/message:send"),
            Self::Stream => ("POST", "/message:stream"),
            Self::Get => ("GET", "/tasks/t"),
            Self::Subscribe => ("POST", "/tasks/t:subscribe"),
            Self::Delete => ("DELETE", "/tasks/t/pushNotificationConfigs/c"),
            Self::List => ("GET", "/tasks"),
            Self::Unnamed => ("GET", "/picture"),
        };
        let body = if matches!(self, Self::Send | Self::Stream) { format!("{{{MESSAGE}}}") } else { String::new() };
        if dialect == Dialect::RestV03 {
            let body = body.replacen("message", "request", 1).replace("parts", "content");
            return request(method, &format!("/v1{path}"), "application/json", body);
        }
        let mut request = request(method, path, "application/json", body);
        request.headers_mut().insert("a2a-version", http::HeaderValue::from_static("1.0"));
        request
    }

    fn grpc(self, dialect: Dialect) -> Request<Bytes> {
        let is_v03 = dialect == Dialect::GrpcV03;
        let (package, message, id) = if is_v03 { ("a2a.v1", 0x0a, 0x0a) } else { ("lf.a2a.v1", 0x12, 0x12) };
        let name = match self {
            Self::Send => "SendMessage",
            Self::Stream => "SendStreamingMessage",
            Self::Get => "GetTask",
            Self::Subscribe if is_v03 => "TaskSubscription",
            Self::Subscribe => "SubscribeToTask",
            Self::Delete => "DeleteTaskPushNotificationConfig",
            Self::List if is_v03 => "ListTaskPushNotificationConfig",
            Self::List => "ListTasks",
            Self::Unnamed => "DoIt",
        };
        let (key, value): (u8, &[u8]) = match self {
            Self::Send | Self::Stream => (message, MESSAGE_BYTES),
            _ if is_v03 => (id, b"tasks/t"),
            _ => (id, b"t"),
        };
        let mut body = vec![0, 0, 0, 0, value.len() as u8 + 2, key, value.len() as u8];
        body.extend_from_slice(value);
        let mut request = request("POST", &format!("/{package}.A2AService/{name}"), "application/grpc", body);
        request.headers_mut().insert("te", http::HeaderValue::from_static("trailers"));
        request
    }

    /// What its answer should be, if that is JSON and anybody can say.
    #[must_use]
    pub fn expected(self, dialect: Dialect) -> Option<Expected> {
        let payload = match (self, dialect) {
            (Self::Send, _) => Payload::SendResult,
            (Self::Stream | Self::Subscribe, _) => Payload::StreamEvent,
            (Self::Get, _) => Payload::Task,
            // The oldest version had neither, and asks for one that there is.
            (Self::Delete | Self::List, Dialect::V02) => Payload::Object,
            (Self::Delete, _) => Payload::Anything,
            (Self::List, Dialect::V03) => Payload::ObjectOrArray,
            (Self::List, _) => Payload::Object,
            (Self::Unnamed, _) => return None,
        };
        let (envelope, wrapping) = match dialect {
            Dialect::V1 => (Envelope::JsonRpc, Wrapping::Member),
            Dialect::V03 => (Envelope::JsonRpc, Wrapping::Kind),
            // Of these the names are those of 0.3.
            Dialect::V02 if matches!(self, Self::Get | Self::Subscribe) => (Envelope::JsonRpc, Wrapping::Kind),
            Dialect::V02 => (Envelope::JsonRpc, Wrapping::Legacy),
            Dialect::Rest | Dialect::RestV03 => (Envelope::Bare, Wrapping::Member),
            Dialect::Grpc | Dialect::GrpcV03 => return None,
        };
        Some(Expected { envelope, wrapping, payload })
    }

    /// The same over gRPC.
    #[must_use]
    pub fn grpc_expected(self, dialect: Dialect) -> Option<GrpcExpected> {
        let payload = match self {
            Self::Send => GrpcPayload::SendResult,
            Self::Stream | Self::Subscribe => GrpcPayload::StreamEvent,
            Self::Get => GrpcPayload::Task,
            Self::Delete | Self::List => GrpcPayload::Other,
            Self::Unnamed => return None,
        };
        let dialect = match dialect {
            Dialect::Grpc => GrpcDialect::V1,
            Dialect::GrpcV03 => GrpcDialect::V03,
            _ => return None,
        };
        Some(GrpcExpected { payload, dialect })
    }
}

fn request(method: &str, path: &str, media: &str, body: impl Into<Bytes>) -> Request<Bytes> {
    let request = Request::builder().method(method).uri(format!("https://agent.example.com{path}"));
    request.header("content-type", media).body(body.into()).expect("a request")
}
