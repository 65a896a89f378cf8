//! The requests that probe an endpoint: what the call that caused them is written in, and carries.

use std::{
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, Version,
    header::{ACCEPT, CONTENT_TYPE, TE},
    uri::PathAndQuery,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use crate::{
    call::{self, Binding, Call, Operation, ProtocolVersion},
    card_consistency::{CardAsk, CardStore},
    wire::{
        Envelope, Expected, Facts, GrpcExpected, GrpcJudge, GrpcPayload, JsonRpcId, Judge, Payload, Wrapping,
        grpc::encode::{Message, about_task, send_text},
    },
};

/// Unreserved characters of RFC 3986 stay as they are in a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The id of the layer's own JSON-RPC requests: no caller of ours meets their answers.
const OWN_ID: &str = "a2a-guard-probe";

/// Headers that say how the call is to be read.
const PROTOCOL: [HeaderName; 3] = [
    HeaderName::from_static("a2a-version"),
    HeaderName::from_static("a2a-extensions"),
    HeaderName::from_static("x-a2a-extensions"),
];

/// What of a call its probe is made of.
pub(crate) struct Probe {
    uri: Uri,
    /// What stands in front of the operation over HTTP+JSON.
    prefix: Box<str>,
    binding: Binding,
    version: ProtocolVersion,
    tenant: Option<Box<str>>,
    headers: HeaderMap,
    credential: u64,
    /// Whose cards are told of it.
    noted: Option<CardStore>,
}

impl Probe {
    /// Where it goes, as the call did.
    pub(super) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// `None` for calls whose binding nobody knows, and for those that no other operation's path can be told from.
    /// `names`: the headers that hold credentials or a tenant. `credential` tells callers apart.
    pub(crate) fn of(
        call: &Call,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        names: &[HeaderName],
        credential: u64,
    ) -> Option<Self> {
        let binding = call.binding()?;
        let prefix = match binding {
            Binding::HttpJson => call::operation_prefix(method, uri.path())?,
            Binding::Grpc => {
                call::grpc_dialect_at(uri.path())?;
                ""
            }
            Binding::JsonRpc => "",
        };
        let mut kept = HeaderMap::new();
        for name in names.iter().chain(&PROTOCOL) {
            // Named twice, it goes along once.
            if kept.contains_key(name) {
                continue;
            }
            for value in headers.get_all(name) {
                kept.append(name.clone(), value.clone());
            }
        }
        Some(Self {
            uri: uri.clone(),
            prefix: prefix.into(),
            binding,
            version: call.version().unwrap_or(ProtocolVersion::V1_0),
            tenant: call.tenant().map(Into::into),
            headers: kept,
            credential,
            noted: None,
        })
    }

    /// This store is told whether the probe passed.
    pub(super) fn noted_by(self, store: Option<&CardStore>) -> Self {
        Self { noted: store.cloned(), ..self }
    }

    pub(super) fn noted(&self) -> Option<&CardStore> {
        self.noted.as_ref()
    }

    /// Whose call it is: a hash, keyed anew by each layer.
    pub(super) fn credential(&self) -> u64 {
        self.credential
    }

    /// What the card of the call is kept under.
    pub(super) fn card(&self) -> CardAsk {
        CardAsk::new(self.base(), self.headers.clone()).version(self.version).tenant(self.tenant.as_deref())
    }

    /// The agent's base: where its card is looked for.
    fn base(&self) -> Uri {
        let path = match self.binding {
            Binding::HttpJson => &*self.prefix,
            Binding::Grpc => call::split_grpc_path(self.uri.path()).0,
            Binding::JsonRpc => self.uri.path(),
        };
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query = if path.is_empty() { "/" } else { path }.parse().ok();
        Uri::from_parts(parts).unwrap_or_else(|_| self.uri.clone())
    }

    fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// The tenant of a call over HTTP+JSON that had it in its body.
    fn tenant_of_body(&self) -> Option<&str> {
        call::tenant_of_body(self.tenant(), self.version, &self.prefix, self.uri.query())
    }

    /// The task in the answer to a message, if it goes on.
    pub(crate) fn unfinished_task(&self, body: &[u8]) -> Option<Box<str>> {
        if self.binding == Binding::Grpc {
            let dialect = call::grpc_dialect_of(Some(self.version));
            let mut judge = GrpcJudge::new(GrpcExpected { payload: GrpcPayload::SendResult, dialect }, usize::MAX);
            judge.feed(body);
            let _whatever_it_is = judge.finish();
            return task_that_goes_on(judge.facts());
        }
        let (envelope, wrapping) = match self.binding {
            Binding::JsonRpc if self.version >= ProtocolVersion::V1_0 => (Envelope::JsonRpc, Wrapping::Member),
            Binding::JsonRpc if self.version >= ProtocolVersion::V0_3 => (Envelope::JsonRpc, Wrapping::Kind),
            Binding::JsonRpc => (Envelope::JsonRpc, Wrapping::Legacy),
            _ => (Envelope::Bare, Wrapping::Member),
        };
        let mut judge = Judge::new(Expected { envelope, wrapping, payload: Payload::SendResult });
        judge.feed(body);
        judge.finish(&JsonRpcId::Text(OWN_ID.into()));
        task_that_goes_on(judge.facts())
    }

    /// Asks for a task that does not exist: nothing is begun by it, and nothing changed.
    pub(super) fn task_request(&self) -> Option<Request<Bytes>> {
        self.about_task(Operation::GetTask, &synthetic_id())
    }

    /// Cancels what a message probe began.
    pub(crate) fn cancel_request(&self, task_id: &str) -> Option<Request<Bytes>> {
        self.about_task(Operation::CancelTask, task_id)
    }

    /// Sends a message that says what it is, and does not wait for what becomes of it.
    pub(crate) fn message_request(&self) -> Option<Request<Bytes>> {
        let call = self.call(Operation::SendMessage).with_blocking(false);
        match self.binding {
            Binding::Grpc => self.grpc(call, &self.grpc_message()),
            Binding::JsonRpc => self.json_rpc(call, self.message()),
            Binding::HttpJson => {
                let uri = self.at("/message:send", None)?;
                self.request(call, Method::POST, uri, Value::Object(self.message()).to_string().into())
            }
        }
    }

    /// `SendMessageRequest`, which does not wait: in 1.0 it says so, in 0.3 it says nothing else.
    fn grpc_message(&self) -> Message {
        const CONFIGURATION: u32 = 3;
        const RETURN_IMMEDIATELY: u32 = 4;
        let dialect = call::grpc_dialect_of(Some(self.version));
        let message = send_text(dialect, &synthetic_id(), "__probe__", &[("a2a_probe", true)], self.tenant());
        match self.version >= ProtocolVersion::V1_0 {
            true => message.message(CONFIGURATION, Message::new().number(RETURN_IMMEDIATELY, 1)),
            false => message,
        }
    }

    fn message(&self) -> Map<String, Value> {
        let marked = json!({"a2a_probe": true});
        let is_json_rpc = self.binding == Binding::JsonRpc;
        let mut body = Map::new();
        if self.version >= ProtocolVersion::V1_0 {
            let parts = json!([{"text": "__probe__"}]);
            body.insert(
                "message".into(),
                json!({"messageId": synthetic_id(), "role": "ROLE_USER", "parts": parts, "metadata": marked}),
            );
            body.insert("configuration".into(), json!({"returnImmediately": true}));
        } else if self.version >= ProtocolVersion::V0_3 && is_json_rpc {
            let parts = json!([{"kind": "text", "text": "__probe__"}]);
            body.insert("message".into(), json!({"kind": "message", "messageId": synthetic_id(), "role": "user", "parts": parts, "metadata": marked}));
            body.insert("configuration".into(), json!({"blocking": false}));
        } else if is_json_rpc {
            let parts = json!([{"type": "text", "text": "__probe__"}]);
            body.insert("id".into(), synthetic_id().into());
            body.insert("message".into(), json!({"role": "user", "parts": parts, "metadata": marked}));
        } else {
            // 0.3 over HTTP+JSON has the names of its protocol buffers.
            let content = json!([{"text": "__probe__"}]);
            body.insert(
                "message".into(),
                json!({"messageId": synthetic_id(), "role": "ROLE_USER", "content": content, "metadata": marked}),
            );
            body.insert("configuration".into(), json!({"blocking": false}));
        }
        body.insert("metadata".into(), marked);
        self.add_tenant(&mut body);
        body
    }

    fn about_task(&self, operation: Operation, task_id: &str) -> Option<Request<Bytes>> {
        let call = self.call(operation).with_task_id(task_id);
        if self.binding == Binding::Grpc {
            return self.grpc(call, &about_task(call::grpc_dialect_of(Some(self.version)), task_id, self.tenant()));
        }
        if self.binding == Binding::JsonRpc {
            let mut params = Map::new();
            params.insert("id".into(), task_id.into());
            self.add_tenant(&mut params);
            return self.json_rpc(call, params);
        }
        let path = format!("/tasks/{}", utf8_percent_encode(task_id, SEGMENT));
        let tenant = self.tenant_of_body();
        if operation == Operation::CancelTask {
            let body = tenant.map(|tenant| json!({"tenant": tenant}).to_string().into());
            return self.request(
                call,
                Method::POST,
                self.at(&format!("{path}:cancel"), None)?,
                body.unwrap_or_default(),
            );
        }
        self.request(call, Method::GET, self.at(&path, tenant)?, Bytes::new())
    }

    /// The tenant stands in the params over JSON-RPC, and over HTTP+JSON in the path, or where parameters of the
    /// request stand that are in no path (A2A 1.0 §8.3.2, §11.5): in the body, or in the query where there is none.
    fn add_tenant(&self, params: &mut Map<String, Value>) {
        let tenant = match self.binding {
            Binding::JsonRpc => self.tenant(),
            _ => self.tenant_of_body(),
        };
        if let Some(tenant) = tenant {
            params.insert("tenant".into(), tenant.into());
        }
    }

    fn call(&self, operation: Operation) -> Call {
        let call = Call::new().with_operation(operation).with_binding(self.binding).with_version(self.version);
        match self.binding {
            Binding::JsonRpc => call.with_id(JsonRpcId::Text(OWN_ID.into())),
            _ => call,
        }
    }

    fn json_rpc(&self, call: Call, params: Map<String, Value>) -> Option<Request<Bytes>> {
        let method = call::method_of(call.operation()?, self.version)?;
        let body = json!({"jsonrpc": "2.0", "id": OWN_ID, "method": method, "params": params});
        self.request(call, Method::POST, self.uri.clone(), body.to_string().into())
    }

    fn grpc(&self, call: Call, message: &Message) -> Option<Request<Bytes>> {
        let path = call::grpc_path_beside(self.uri.path(), call.operation()?)?;
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(path).ok()?);
        let uri = Uri::from_parts(parts).ok()?;
        let mut request = self.request(call, Method::POST, uri, message.framed()?)?;
        *request.version_mut() = Version::HTTP_2;
        let headers = request.headers_mut();
        headers.remove(ACCEPT);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert(TE, HeaderValue::from_static("trailers"));
        Some(request)
    }

    fn request(&self, call: Call, method: Method, uri: Uri, body: Bytes) -> Option<Request<Bytes>> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri.clone();
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json, application/a2a+json"));
        if !request.body().is_empty() {
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        request.extensions_mut().insert(call.with_target(uri));
        Some(request)
    }

    /// Beside the URI that was called, with its query: the version may stand in it, and a key.
    fn at(&self, operation: &str, tenant: Option<&str>) -> Option<Uri> {
        let path = call::with_query(format!("{}{operation}", self.prefix), self.uri.query(), tenant);
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(path).ok()?);
        Uri::from_parts(parts).ok()
    }
}

fn task_that_goes_on(facts: &Facts) -> Option<Box<str>> {
    let goes_on = !facts.state.is_some_and(|state| state.is_terminal());
    let named = !facts.task_id.is_empty() && !facts.task_id.is_truncated();
    (goes_on && named).then(|| facts.task_id.as_str().into())
}

/// Without URI and headers, which may hold what is secret.
impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("binding", &self.binding).field("version", &self.version).finish_non_exhaustive()
    }
}

/// An id that is nobody's: a UUID (RFC 9562), for some servers take no other.
fn synthetic_id() -> String {
    let word = || RandomState::new().build_hasher().finish();
    let (high, low) = (word(), word());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff,
    )
}
