//! What a failed call is in gRPC: code, message and details, for whom the peer's own status does not say it.

use std::time::Duration;

use http::StatusCode;

use super::CallError;
use crate::{
    outcome::{Class, OutcomeKind},
    wire::A2aError,
};

/// The domain of the specification's reasons (A2A 1.0 §10.6).
const A2A: &str = "a2a-protocol.org";
/// The domain of ours.
const OURS: &str = "a2a-guard";

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const RETRY_INFO: &str = "type.googleapis.com/google.rpc.RetryInfo";

/// A status as gRPC has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GrpcStatus {
    pub(crate) code: i32,
    pub(crate) message: String,
    /// An encoded `google.rpc.Status`.
    pub(crate) details: Vec<u8>,
}

impl GrpcStatus {
    /// The status that says what the error says.
    pub(crate) fn of(error: &CallError) -> Self {
        let code = i32::from(code(error));
        // A refusal is the peer's word, everything else ours.
        let of_peer = error.peer_message().filter(|_| error.outcome() == OutcomeKind::Refused);
        let message = of_peer.map_or_else(|| error.to_string(), str::to_owned);
        let (reason, domain) = reason(error);
        let shape = error.shape().to_string();
        let metadata = [
            ("outcome", error.outcome().as_str()),
            ("class", error.class().as_str()),
            ("capability", error.capability().map_or("none", |capability| capability.as_str())),
            ("shape", &shape),
        ];
        let details = details(code, &message, &error_info(&reason, domain, &metadata), error.retry_after());
        Self { code, message, details }
    }
}

/// The code (A2A 1.0 §10.6, and the names of `google.rpc.Code` for what is not A2A's).
fn code(error: &CallError) -> u8 {
    const UNKNOWN: u8 = 2;
    const INVALID_ARGUMENT: u8 = 3;
    const DEADLINE_EXCEEDED: u8 = 4;
    const PERMISSION_DENIED: u8 = 7;
    const RESOURCE_EXHAUSTED: u8 = 8;
    const FAILED_PRECONDITION: u8 = 9;
    const ABORTED: u8 = 10;
    const UNIMPLEMENTED: u8 = 12;
    const INTERNAL: u8 = 13;
    const UNAVAILABLE: u8 = 14;
    const UNAUTHENTICATED: u8 = 16;

    match (error.outcome(), error.class()) {
        (OutcomeKind::Broken, _) => INTERNAL,
        (OutcomeKind::Timeout, _) => DEADLINE_EXCEEDED,
        (OutcomeKind::Transport, _) => UNAVAILABLE,
        (OutcomeKind::Card, _) => error.a2a_error().map_or(FAILED_PRECONDITION, A2aError::grpc_code),
        (OutcomeKind::Stale, _) => FAILED_PRECONDITION,
        (_, Class::Auth) if error.http_status() == Some(StatusCode::FORBIDDEN) => PERMISSION_DENIED,
        (_, Class::Auth) => UNAUTHENTICATED,
        (_, Class::RateLimited | Class::TooLarge) => RESOURCE_EXHAUSTED,
        (_, Class::Unavailable) => UNAVAILABLE,
        (_, Class::EndpointNotFound) => UNIMPLEMENTED,
        (_, Class::UnsupportedMedia) => INVALID_ARGUMENT,
        (_, Class::PeerError) => {
            let of_peer = error.grpc_code().and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0);
            let of_status = || match error.http_status().map(|status| status.as_u16()) {
                Some(400 | 422) => INVALID_ARGUMENT,
                Some(404) => 5,
                Some(409) => ABORTED,
                Some(501) => UNIMPLEMENTED,
                Some(500..) => INTERNAL,
                _ => UNKNOWN,
            };
            let of_spec = || error.a2a_error().map(A2aError::grpc_code);
            of_peer.or_else(of_spec).unwrap_or_else(of_status)
        }
        _ => UNKNOWN,
    }
}

/// `ErrorInfo.reason`, and the domain that it is of.
fn reason(error: &CallError) -> (String, &'static str) {
    let ours = |reason: &str| (reason.to_owned(), OURS);
    match (error.outcome(), error.class()) {
        (OutcomeKind::Timeout, _) => ours("CAPABILITY_TIMEOUT"),
        (OutcomeKind::Transport, _) => ours("AGENT_UNREACHABLE"),
        (OutcomeKind::Stale, Class::EndpointNotConforming) => ours("ENDPOINT_NOT_CONFORMING"),
        (OutcomeKind::Stale, _) => (A2aError::UnsupportedOperation.reason().to_owned(), A2A),
        (outcome, class) => {
            let of_peer = error.reason().map(str::to_owned);
            let of_spec = || error.a2a_error().map(|error| error.reason().to_owned());
            match of_peer.or_else(of_spec) {
                Some(reason) => (reason, A2A),
                None if outcome == OutcomeKind::Card => ours("AGENT_CARD_RESOLUTION"),
                None => (class.as_str().to_ascii_uppercase(), OURS),
            }
        }
    }
}

/// `google.rpc.Status { code = 1, message = 2, details = 3 }`
fn details(code: i32, message: &str, error_info: &[u8], retry_after: Option<Duration>) -> Vec<u8> {
    let mut status = Vec::with_capacity(message.len() + error_info.len() + 128);
    number(&mut status, 1, code.unsigned_abs().into());
    text(&mut status, 2, message);
    bytes(&mut status, 3, &any(ERROR_INFO, error_info));
    if let Some(after) = retry_after {
        bytes(&mut status, 3, &any(RETRY_INFO, &retry_info(after)));
    }
    status
}

/// `google.protobuf.Any { type_url = 1, value = 2 }`
fn any(type_url: &str, value: &[u8]) -> Vec<u8> {
    let mut any = Vec::with_capacity(type_url.len() + value.len() + 8);
    text(&mut any, 1, type_url);
    bytes(&mut any, 2, value);
    any
}

/// `google.rpc.ErrorInfo { reason = 1, domain = 2, map<string, string> metadata = 3 }`
fn error_info(reason: &str, domain: &str, metadata: &[(&str, &str)]) -> Vec<u8> {
    let mut info = Vec::new();
    text(&mut info, 1, reason);
    text(&mut info, 2, domain);
    for (key, value) in metadata {
        let mut entry = Vec::new();
        text(&mut entry, 1, key);
        text(&mut entry, 2, value);
        bytes(&mut info, 3, &entry);
    }
    info
}

/// `google.rpc.RetryInfo { google.protobuf.Duration { seconds = 1, nanos = 2 } retry_delay = 1 }`
fn retry_info(after: Duration) -> Vec<u8> {
    let mut delay = Vec::new();
    number(&mut delay, 1, after.as_secs());
    number(&mut delay, 2, after.subsec_nanos().into());
    let mut info = Vec::new();
    bytes(&mut info, 1, &delay);
    info
}

/// A field of wire type 0; the default is not written.
fn number(to: &mut Vec<u8>, field: u8, value: u64) {
    if value != 0 {
        to.push(field << 3);
        varint(to, value);
    }
}

fn text(to: &mut Vec<u8>, field: u8, value: &str) {
    bytes(to, field, value.as_bytes());
}

/// A field of wire type 2.
fn bytes(to: &mut Vec<u8>, field: u8, value: &[u8]) {
    to.push(field << 3 | 2);
    varint(to, value.len() as u64);
    to.extend_from_slice(value);
}

fn varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80); // its low seven bits
        value >>= 7;
    }
    to.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_encoded_as_protobuf_has_them() {
        let info = error_info("R", "d", &[("k", "v")]);
        assert_eq!(info, b"\x0a\x01R\x12\x01d\x1a\x06\x0a\x01k\x12\x01v");
        assert_eq!(any("t", b"xy"), b"\x0a\x01t\x12\x02xy");
        assert_eq!(retry_info(Duration::from_millis(300_500)), b"\x0a\x09\x08\xac\x02\x10\x80\xca\xb5\xee\x01");
        let status = details(9, "no", b"", None);
        assert_eq!(status[..6], *b"\x08\x09\x12\x02no");
    }
}
