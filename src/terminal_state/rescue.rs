//! The layer's own requests about a task, and what their answers become.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, Version,
    header::{ACCEPT, CONTENT_TYPE, TE},
    response::Parts,
    uri::PathAndQuery,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::value::RawValue;

use super::{grpc, judging};
use crate::{
    call::{self, Binding, Call, Operation, ProtocolVersion},
    hop,
    wire::{
        Envelope, Expected, Facts, GrpcDialect, GrpcEnd, GrpcExpected, GrpcJudge, GrpcPayload, JsonRpcId, Judge,
        MediaType, Payload, TaskState, Verdict, Wrapping,
        grpc::{
            encode::{about_task, with_task},
            frame::PREFIX,
        },
    },
};

/// Unreserved characters of RFC 3986 stay as they are in a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The id of the layer's own JSON-RPC requests: no caller of ours meets their answers.
const OWN_ID: &str = "a2a-guard";

/// Headers that belong to the first request's body or connection, or that make it this one and no other.
const NOT_REPEATED: [&str; 32] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-digest",
    "content-encoding",
    "content-length",
    "content-md5",
    "content-type",
    "digest",
    "expect",
    "grpc-accept-encoding",
    "grpc-encoding",
    "grpc-timeout",
    "idempotency-key",
    "http2-settings",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "last-event-id",
    "proxy-connection",
    "range",
    "repr-digest",
    "signature",
    "signature-input",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-amz-content-sha256",
];

/// The request that a task came of, as far as another about the same task needs it.
#[derive(Debug)]
pub(super) struct Origin {
    call: Call,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
}

/// A task that turned out to have finished.
#[derive(Debug)]
pub(super) struct Rescued {
    pub(super) state: TaskState,
    /// The task's JSON, in one line; or its message.
    task: Bytes,
}

/// The answer to a request of the layer's own.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) head: Parts,
    pub(super) body: Bytes,
    pub(super) trailers: Option<HeaderMap>,
}

impl Origin {
    /// `None` for calls whose loss leaves no task behind.
    pub(super) fn of<B>(call: &Call, request: &Request<B>) -> Option<Self> {
        let operation = call.operation()?;
        let leaves_task = operation.is_send() || operation == Operation::SubscribeToTask;
        (leaves_task && call.binding().is_some()).then(|| Self {
            call: call.clone(),
            method: request.method().clone(),
            uri: request.uri().clone(),
            headers: request.headers().clone(),
        })
    }

    pub(super) fn get_task(&self, task_id: &str) -> Option<Request<Bytes>> {
        self.request(Operation::GetTask, Method::GET, task_id, "")
    }

    pub(super) fn cancel_task(&self, task_id: &str) -> Option<Request<Bytes>> {
        self.request(Operation::CancelTask, Method::POST, task_id, ":cancel")
    }

    pub(super) fn reader(&self, task_id: &str) -> Reader {
        let form = match self.call.binding() {
            Some(Binding::Grpc) => {
                Form::Grpc(GrpcExpected { payload: GrpcPayload::Task, dialect: self.grpc_dialect() })
            }
            Some(Binding::JsonRpc) => Form::JsonRpc,
            _ => Form::HttpJson,
        };
        Reader { form, task_id: task_id.into() }
    }

    /// The event that tells a stream's reader of the finished task.
    pub(super) fn event(&self, rescued: &Rescued) -> Bytes {
        if self.is_grpc() {
            return self.body(rescued);
        }
        format!("data: {}\n\n", self.answer(rescued)).into()
    }

    /// The body that answers a unary send with the finished task.
    pub(super) fn body(&self, rescued: &Rescued) -> Bytes {
        if self.is_grpc() {
            return with_task(&rescued.task).framed().unwrap_or_default();
        }
        self.answer(rescued).into()
    }

    fn is_grpc(&self) -> bool {
        self.call.binding() == Some(Binding::Grpc)
    }

    fn grpc_dialect(&self) -> GrpcDialect {
        call::grpc_dialect_at(self.uri.path()).unwrap_or(GrpcDialect::V1)
    }

    fn answer(&self, Rescued { task, .. }: &Rescued) -> String {
        let task = String::from_utf8_lossy(task);
        if self.call.binding() != Some(Binding::JsonRpc) {
            return format!("{{\"task\":{task}}}");
        }
        let id = self.call.id().map_or_else(|| "null".into(), JsonRpcId::to_json);
        if self.version() >= ProtocolVersion::V1_0 {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"task\":{task}}}}}")
        } else {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{task}}}")
        }
    }

    fn version(&self) -> ProtocolVersion {
        self.call.version().unwrap_or(ProtocolVersion::V1_0)
    }

    fn request(&self, operation: Operation, method: Method, task_id: &str, verb: &str) -> Option<Request<Bytes>> {
        let json_rpc = self.call.binding() == Some(Binding::JsonRpc);
        let mut request = Request::new(Bytes::new());
        *request.headers_mut() = self.headers.clone();
        hop::remove_named(request.headers_mut());
        for name in NOT_REPEATED {
            request.headers_mut().remove(name);
        }
        if self.is_grpc() {
            return self.grpc_request(operation, task_id, request);
        }
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json, application/a2a+json"));
        if json_rpc {
            let mut params = serde_json::Map::new();
            params.insert("id".into(), task_id.into());
            if let Some(tenant) = self.call.tenant() {
                params.insert("tenant".into(), tenant.into());
            }
            let body = serde_json::json!({
                "jsonrpc": "2.0",
                "id": OWN_ID,
                "method": call::method_of(operation, self.version())?,
                "params": params,
            });
            *request.body_mut() = body.to_string().into();
            *request.method_mut() = Method::POST;
            *request.uri_mut() = self.uri.clone();
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        } else {
            let tenant = self.tenant_of_body();
            let is_get = method == Method::GET;
            *request.method_mut() = method;
            *request.uri_mut() = self.task_uri(task_id, verb, tenant.filter(|_| is_get))?;
            if let Some(tenant) = tenant.filter(|_| !is_get) {
                *request.body_mut() = serde_json::json!({"tenant": tenant}).to_string().into();
                request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
        }
        Some(request)
    }

    fn grpc_request(&self, operation: Operation, task_id: &str, mut request: Request<Bytes>) -> Option<Request<Bytes>> {
        let path = call::grpc_path_beside(self.uri.path(), operation)?;
        *request.uri_mut() = self.uri_with(PathAndQuery::try_from(path).ok()?)?;
        *request.method_mut() = Method::POST;
        *request.version_mut() = Version::HTTP_2;
        *request.body_mut() = about_task(self.grpc_dialect(), task_id, self.call.tenant()).framed()?;
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        request.headers_mut().insert(TE, HeaderValue::from_static("trailers"));
        Some(request)
    }

    /// The tenant of a call over HTTP+JSON that had it in its body.
    fn tenant_of_body(&self) -> Option<&str> {
        let prefix = call::operation_prefix(&self.method, self.uri.path()).unwrap_or_default();
        call::tenant_of_body(self.call.tenant(), self.version(), prefix, self.uri.query())
    }

    fn uri_with(&self, path: PathAndQuery) -> Option<Uri> {
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query = Some(path);
        Uri::from_parts(parts).ok()
    }

    /// The task's URI beside the one that was called.
    fn task_uri(&self, task_id: &str, verb: &str, tenant: Option<&str>) -> Option<Uri> {
        // Servers take a step in a path out, and what stands before it, however it is encoded (RFC 3986 §5.2.4).
        if verb.is_empty() && matches!(task_id, "." | "..") {
            return None;
        }
        let prefix = call::operation_prefix(&self.method, self.uri.path())?;
        let id = utf8_percent_encode(task_id, SEGMENT);
        let path = call::with_query(format!("{prefix}/tasks/{id}{verb}"), self.uri.query(), tenant);
        self.uri_with(PathAndQuery::try_from(path).ok()?)
    }
}

/// Reads the answer to [`Origin::get_task`].
#[derive(Debug)]
pub(super) struct Reader {
    form: Form,
    task_id: Box<str>,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    JsonRpc,
    HttpJson,
    Grpc(GrpcExpected),
}

impl Reader {
    /// The task, if the answer is valid, about that task, and the task has finished.
    pub(super) fn finished_task(&self, answer: &Answer) -> Option<Rescued> {
        let media = judging::media_type(&answer.head.headers);
        match self.form {
            Form::Grpc(expected) => {
                let is_grpc =
                    answer.head.status == StatusCode::OK && matches!(media, MediaType::Grpc | MediaType::Absent);
                let status = grpc::status_of(&answer.head.headers, answer.trailers.as_ref())?;
                (is_grpc && status.is_ok()).then(|| self.finished_message(expected, &answer.body)).flatten()
            }
            Form::JsonRpc | Form::HttpJson => {
                let is_json = media.is_json() || media == MediaType::Absent;
                (answer.head.status.is_success() && is_json).then(|| self.finished_json(&answer.body)).flatten()
            }
        }
    }

    fn finished_json(&self, body: &[u8]) -> Option<Rescued> {
        #[derive(serde::Deserialize)]
        struct Answer<'a> {
            #[serde(borrow)]
            result: &'a RawValue,
        }
        let json_rpc = matches!(self.form, Form::JsonRpc);
        let envelope = if json_rpc { Envelope::JsonRpc } else { Envelope::Bare };
        let mut judge = Judge::new(Expected { envelope, wrapping: Wrapping::Member, payload: Payload::Task });
        judge.feed(body);
        if !matches!(judge.finish(&JsonRpcId::Text(OWN_ID.into())), Verdict::Valid) {
            return None;
        }
        let state = self.finished_state(judge.facts())?;
        let text = std::str::from_utf8(body).ok()?;
        let task = if json_rpc { serde_json::from_str::<Answer<'_>>(text).ok()?.result.get() } else { text.trim() };
        // Line ends stand only between tokens of valid JSON, and would end a line of an event.
        Some(Rescued { state, task: task.replace(['\r', '\n'], " ").into() })
    }

    fn finished_message(&self, expected: GrpcExpected, body: &Bytes) -> Option<Rescued> {
        let mut judge = GrpcJudge::new(expected, usize::MAX);
        judge.feed(body);
        if judge.finish() != GrpcEnd::Message {
            return None;
        }
        let state = self.finished_state(judge.facts())?;
        Some(Rescued { state, task: body.slice(PREFIX.min(body.len())..) })
    }

    /// The state of the task that was asked for, if it is one that lasts.
    fn finished_state(&self, facts: &Facts) -> Option<TaskState> {
        if facts.task_id.is_truncated() || facts.task_id.as_str() != &*self.task_id {
            return None;
        }
        facts.state.filter(|state| state.is_terminal())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(binding: Binding, version: ProtocolVersion, uri: &str) -> Origin {
        let call = Call::new()
            .with_operation(Operation::SendStreamingMessage)
            .with_binding(binding)
            .with_version(version)
            .with_id(JsonRpcId::Number(7))
            .with_tenant("acme");
        let request = Request::post(uri)
            .header("authorization", "Bearer t")
            .header("content-length", "12")
            .header("accept", "text/event-stream")
            .body(())
            .unwrap();
        Origin::of(&call, &request).unwrap()
    }

    #[test]
    fn json_rpc_asks_at_the_same_place_with_the_same_credentials() {
        let request = origin(Binding::JsonRpc, ProtocolVersion::V0_3, "https://a.example/rpc").get_task("t-1").unwrap();
        assert_eq!(request.uri(), "https://a.example/rpc");
        assert_eq!(request.headers()["authorization"], "Bearer t");
        assert!(!request.headers().contains_key("content-length"));
        let body: serde_json::Value = serde_json::from_slice(request.body()).unwrap();
        assert_eq!(body["method"], "tasks/get");
        assert_eq!(body["params"], serde_json::json!({"id": "t-1", "tenant": "acme"}));
    }

    #[test]
    fn http_json_asks_beside_the_path_that_was_called() {
        let origin = origin(Binding::HttpJson, ProtocolVersion::V1_0, "https://a.example/x/v1/message:stream?k=v");
        let get = origin.get_task("a/b c").unwrap();
        assert_eq!(
            (get.method(), get.uri().to_string()),
            (&Method::GET, "https://a.example/x/v1/tasks/a%2Fb%20c?k=v&tenant=acme".into())
        );
        for step in [".", ".."] {
            assert!(origin.get_task(step).is_none(), "another place than the task's");
        }
        let cancel = origin.cancel_task("t").unwrap();
        assert_eq!(cancel.body(), r#"{"tenant":"acme"}"#, "which stood in the body of the call");
        assert_eq!(
            (cancel.method(), cancel.uri().to_string()),
            (&Method::POST, "https://a.example/x/v1/tasks/t:cancel?k=v".into())
        );
    }

    #[test]
    fn only_a_finished_task_is_a_success() {
        let reader = Reader { form: Form::JsonRpc, task_id: "t".into() };
        let answer = |state: &str| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":\"a2a-guard\",\"result\":{{\"id\":\"t\",\n\"status\":{{\"state\":\"{state}\"}}}}}}"
            )
        };
        assert!(reader.finished_json(answer("TASK_STATE_WORKING").as_bytes()).is_none());
        let rescued = reader.finished_json(answer("TASK_STATE_COMPLETED").as_bytes()).unwrap();
        let other = Reader { form: Form::JsonRpc, task_id: "another".into() };
        assert!(other.finished_json(answer("TASK_STATE_COMPLETED").as_bytes()).is_none());
        let event = origin(Binding::JsonRpc, ProtocolVersion::V1_0, "https://a.example/rpc").event(&rescued);
        assert_eq!(
            event,
            "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"task\":{\"id\":\"t\", \"status\":{\"state\":\"TASK_STATE_COMPLETED\"}}}}\n\n"
        );
    }
}
