//! Errors as gRPC says them: in trailers, or in a head that is its own trailers (A2A 1.0 §10.6).

use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::{base64, problem::Problem, reply::Version};
use crate::wire::{A2aError, grpc::encode::Message};
#[cfg(feature = "tonic")]
use crate::{call::ProtocolVersion, error::CallError};

/// All that a `grpc-message` may not hold as it is, beside what is no ASCII.
const ENCODED: &AsciiSet = &CONTROLS.add(b'%');

const UNIMPLEMENTED: u8 = 12;

pub(super) fn trailers(problem: &Problem, version: Version) -> HeaderMap {
    let code = match (version, problem.row.error) {
        // As servers of 0.3 say it; 1.0 has FAILED_PRECONDITION for these (§5.4).
        (Version::Old, Some(A2aError::UnsupportedOperation | A2aError::PushNotificationNotSupported)) => UNIMPLEMENTED,
        _ => problem.row.grpc,
    };
    let message = utf8_percent_encode(&problem.message, ENCODED).to_string();
    let details = base64::encode(status(problem, code).as_bytes());
    let mut trailers = HeaderMap::with_capacity(4);
    trailers.insert(HeaderName::from_static("grpc-status"), HeaderValue::from(u16::from(code)));
    for (name, text) in [("grpc-message", message), ("grpc-status-details-bin", details)] {
        // Only visible ASCII is left of either.
        if let Ok(value) = HeaderValue::try_from(text) {
            trailers.insert(HeaderName::from_static(name), value);
        }
    }
    trailers
}

/// The same for an error that nothing but tonic renders.
#[cfg(feature = "tonic")]
pub(crate) fn trailers_of(error: &CallError) -> HeaderMap {
    let version = match error.call().version() {
        Some(version) if version < ProtocolVersion::V1_0 => Version::Old,
        known => Version::Current(known),
    };
    trailers(&Problem::of(&error.clone().into()), version)
}

/// A `google.rpc.Status`, with an `ErrorInfo` and perhaps a `RetryInfo` in it.
fn status(problem: &Problem, code: u8) -> Message {
    let mut info = Message::new().text(1, &problem.row.reason).text(2, problem.row.domain);
    for (name, value) in &problem.metadata {
        info = info.message(3, Message::new().text(1, name).text(2, value));
    }
    let mut status = Message::new()
        .number(1, u64::from(code))
        .text(2, &problem.message)
        .message(3, any("type.googleapis.com/google.rpc.ErrorInfo", &info));
    if let Some(after) = problem.retry_after {
        let delay = Message::new().number(1, after.as_secs()).number(2, u64::from(after.subsec_nanos()));
        let info = Message::new().message(1, delay);
        status = status.message(3, any("type.googleapis.com/google.rpc.RetryInfo", &info));
    }
    status
}

fn any(name: &str, message: &Message) -> Message {
    Message::new().text(1, name).bytes(2, message.as_bytes())
}
