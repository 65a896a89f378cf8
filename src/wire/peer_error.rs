//! Reads an error that a peer wrote, in any of the shapes that servers use (A2A 1.0 §9.5 and §11.6; RFC 9457).
//!
//! This is the rare path: it builds a tree. The caller bounds the bytes.

#[cfg(test)]
mod tests;

mod a2a_error;
mod details;
mod scan;

use std::time::Duration;

use serde_json::{Map, Value};

use super::{media_type::MediaType, readable::readable, sse::event_data};
pub use a2a_error::A2aError;

/// The shape in which an error was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorForm {
    /// A JSON-RPC error object (JSON-RPC 2.0 §5.1).
    JsonRpc,
    /// A `google.rpc.Status`: `{error: {code, status, message, details}}` (A2A 1.0 §11.6).
    RpcStatus,
    /// `{code, message[, data]}` with a JSON-RPC code.
    CodeMessage,
    /// `application/problem+json` (RFC 9457).
    Problem,
    /// `grpc-status`, in trailers or in a head (A2A 1.0 §10.6).
    Grpc,
    /// Words only: `{message}`, `{detail}`, `{error: "text"}`.
    Text,
}

/// An error as its peer wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerError {
    /// The shape.
    pub form: ErrorForm,
    /// The JSON-RPC error code. Any integer that stands in a JSON-RPC error is kept, also one that JSON-RPC does not
    /// know.
    pub code: Option<i64>,
    /// The name of a `google.rpc.Code`, `NOT_FOUND` for one.
    pub status: Option<String>,
    /// What it says, up to 1 KiB.
    pub message: Option<String>,
    /// `ErrorInfo.reason` of domain `a2a-protocol.org`, or of none.
    pub reason: Option<String>,
    /// `RetryInfo.retryDelay`.
    pub retry_after: Option<Duration>,
    /// The region in which something is not available.
    pub region: Option<String>,
    /// The skills that are available there; at most 64.
    pub available_skills: Option<Vec<String>>,
    /// `type` of a problem.
    pub problem_type: Option<String>,
    /// `BadRequest.fieldViolations`: field and description; at most 32.
    pub field_violations: Vec<(String, String)>,
    /// `ErrorInfo.metadata`, and `domain` and `reason` of an `ErrorInfo` of another domain; at most 32 entries.
    pub metadata: Vec<(String, String)>,
}

/// Bytes kept of a message.
const MESSAGE_MAX: usize = 1024;
/// Bytes kept of anything else.
const WORD_MAX: usize = 256;

impl PeerError {
    /// Reads the error in a body. `None` if it is no JSON, or no error stands in it.
    #[must_use]
    pub fn parse(bytes: &[u8], media: MediaType) -> Option<Self> {
        // HTML and plain text never say more than their status.
        if matches!(media, MediaType::Html | MediaType::Text) {
            return None;
        }
        // Some servers send the error that refuses a stream as its first event, whatever the status; others as it is.
        if media == MediaType::EventStream {
            let data = event_data(bytes);
            if !data.is_empty() {
                return Self::parse(&data, MediaType::Json);
            }
        }
        let document = serde_json::from_slice(bytes).or_else(|_| serde_json::from_slice(&readable(bytes)));
        let body = match document {
            Ok(Value::Object(body)) => body,
            Ok(_) => return None,
            // Cut, or followed by something else.
            Err(_) => return Self::scan(bytes),
        };
        match body.get("error") {
            Some(Value::Object(error)) => return Self::of_error_object(&body, error),
            Some(Value::String(text)) => return Some(Self::of_text(text)),
            Some(Value::Number(number)) => return Some(Self::of_text(&number.to_string())),
            _ => {}
        }
        if let Some(error) = Self::of_bare_code(&body) {
            return Some(error);
        }
        // Some servers call it plain JSON; A2A's own type says enough.
        let names_itself =
            body.get("type").and_then(Value::as_str).is_some_and(|uri| A2aError::from_problem_type(uri).is_some());
        if media == MediaType::ProblemJson || names_itself {
            return Self::of_problem(&body);
        }
        let text = words(&body)?;
        Some(Self::of_text(text))
    }

    /// True if the peer said no in a defined way, and not in mere words.
    #[must_use]
    pub fn is_typed(&self) -> bool {
        self.form != ErrorForm::Text
    }

    /// Which A2A error this is. In order of trust: the reason, the JSON-RPC code, the problem's type, and last the
    /// status where only one error has it. `None` if nothing of this decides: HTTP 400 and `FAILED_PRECONDITION`
    /// stand for six errors.
    #[must_use]
    pub fn kind(&self, http_status: Option<u16>) -> Option<A2aError> {
        self.reason
            .as_deref()
            .and_then(A2aError::from_reason)
            .or_else(|| self.code.and_then(A2aError::from_code))
            .or_else(|| self.problem_type.as_deref().and_then(A2aError::from_problem_type))
            .or_else(|| self.kind_by_status(http_status))
    }

    fn kind_by_status(&self, http_status: Option<u16>) -> Option<A2aError> {
        let by_status = matches!(self.form, ErrorForm::RpcStatus | ErrorForm::Problem | ErrorForm::Grpc);
        if !by_status {
            return None;
        }
        match (self.status.as_deref(), http_status) {
            (Some("NOT_FOUND"), _) => Some(A2aError::TaskNotFound),
            // Over gRPC four errors of 0.3 have this code.
            (Some("UNIMPLEMENTED"), _) if self.form != ErrorForm::Grpc => Some(A2aError::MethodNotFound),
            _ => None,
        }
    }

    /// An error of which nothing is known but the shape.
    pub(in crate::wire) fn new(form: ErrorForm) -> Self {
        Self {
            form,
            code: None,
            status: None,
            message: None,
            reason: None,
            retry_after: None,
            region: None,
            available_skills: None,
            problem_type: None,
            field_violations: Vec::new(),
            metadata: Vec::new(),
        }
    }

    pub(in crate::wire) fn set_message(&mut self, text: &str) {
        self.message = Some(bounded(text, MESSAGE_MAX));
    }

    fn of_text(text: &str) -> Self {
        Self { message: Some(bounded(text, MESSAGE_MAX)), ..Self::new(ErrorForm::Text) }
    }

    /// `{"error": {…}}`: JSON-RPC's or google.rpc's, told apart by what else stands there.
    fn of_error_object(body: &Map<String, Value>, error: &Map<String, Value>) -> Option<Self> {
        let code = error.get("code").and_then(integer);
        let has_status = error.get("status").is_some_and(Value::is_string);
        let has_details = error.get("details").is_some_and(Value::is_array);
        let is_json_rpc = body.contains_key("jsonrpc") || code.is_some_and(is_json_rpc_code);
        let form = if is_json_rpc {
            ErrorForm::JsonRpc
        } else if has_status || has_details || code.is_some() {
            ErrorForm::RpcStatus
        } else {
            return Some(Self::of_text(words(error).unwrap_or_default()));
        };
        let mut read = Self::new(form);
        read.message = text_of(error, "message", MESSAGE_MAX);
        if is_json_rpc {
            read.code = code;
        }
        if has_status {
            read.status = text_of(error, "status", WORD_MAX);
        }
        read.read_details(error.get("data"));
        read.read_details(error.get("details"));
        Some(read)
    }

    /// `{"code": …, "message": …}`.
    fn of_bare_code(body: &Map<String, Value>) -> Option<Self> {
        let code = body.get("code").and_then(integer)?;
        let message = text_of(body, "message", MESSAGE_MAX)?;
        let has_details = body.get("details").is_some_and(Value::is_array);
        let form = if is_json_rpc_code(code) {
            ErrorForm::CodeMessage
        } else if has_details {
            ErrorForm::RpcStatus
        } else {
            ErrorForm::Text
        };
        let mut read = Self::new(form);
        read.message = Some(message);
        read.code = is_json_rpc_code(code).then_some(code);
        read.read_details(body.get("data"));
        read.read_details(body.get("details"));
        Some(read)
    }

    /// RFC 9457 §3.1; every member is optional there.
    fn of_problem(body: &Map<String, Value>) -> Option<Self> {
        let is_problem = ["type", "title", "detail", "status"].iter().any(|name| body.contains_key(*name));
        if !is_problem {
            return None;
        }
        let mut read = Self::new(ErrorForm::Problem);
        read.problem_type = text_of(body, "type", MESSAGE_MAX);
        read.message = text_of(body, "detail", MESSAGE_MAX).or_else(|| text_of(body, "title", MESSAGE_MAX));
        read.read_details(body.get("details"));
        read.read_availability(body);
        Some(read)
    }
}

/// The codes that JSON-RPC keeps for itself and for servers (JSON-RPC 2.0 §5.1).
pub(super) fn is_json_rpc_code(code: i64) -> bool {
    (-32768..=-32000).contains(&code)
}

/// A whole number, also one that is written as `-32001.0` or `-3.2001e4`.
fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| whole(value.as_f64()?))
}

/// The same, of a number as it is written.
pub(super) fn integer_of(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| whole(text.parse().ok()?))
}

/// As an integer, if it is one that no other reads as. `serde_json` is off by a unit in the last place at times: below
/// this that is no integer.
fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = 4_503_599_627_370_496.0;
    (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i64)
}

/// The words of an error that has no other form. FastAPI writes a list of them.
fn words(body: &Map<String, Value>) -> Option<&str> {
    let detail = || match body.get("detail")? {
        Value::String(text) => Some(text.as_str()),
        Value::Array(list) => list.first()?.get("msg")?.as_str(),
        _ => None,
    };
    body.get("message").and_then(Value::as_str).or_else(detail)
}

fn text_of(object: &Map<String, Value>, name: &str, max: usize) -> Option<String> {
    object.get(name).and_then(Value::as_str).map(|text| bounded(text, max))
}

/// At most so many bytes of a text, never half a character.
fn bounded(text: &str, max: usize) -> String {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}
