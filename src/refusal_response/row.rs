//! What a failure is called in each binding.

use std::borrow::Cow;

use http::StatusCode;

use crate::{
    error::CallError,
    outcome::{Class, OutcomeKind},
    wire::{A2aError, text::escape},
};

/// The domain of the specification's reasons (A2A 1.0 §9.5, §10.6, §11.6).
const SPECIFIED: &str = "a2a-protocol.org";
/// The domain of this library's.
const OWN: &str = "a2a-guard";

const INTERNAL: i64 = -32603;

/// gRPC's codes, as far as they are used here.
mod grpc {
    pub(super) const UNKNOWN: u8 = 2;
    pub(super) const INVALID_ARGUMENT: u8 = 3;
    pub(super) const DEADLINE_EXCEEDED: u8 = 4;
    pub(super) const PERMISSION_DENIED: u8 = 7;
    pub(super) const RESOURCE_EXHAUSTED: u8 = 8;
    pub(super) const FAILED_PRECONDITION: u8 = 9;
    pub(super) const UNIMPLEMENTED: u8 = 12;
    pub(super) const INTERNAL: u8 = 13;
    pub(super) const UNAVAILABLE: u8 = 14;
    pub(super) const UNAUTHENTICATED: u8 = 16;
}

/// One failure in every binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The JSON-RPC code.
    pub(super) code: i64,
    pub(super) http: StatusCode,
    pub(super) grpc: u8,
    pub(super) reason: Cow<'static, str>,
    pub(super) domain: &'static str,
    pub(super) error: Option<A2aError>,
}

impl Row {
    const fn own(code: i64, http: StatusCode, grpc: u8, reason: &'static str) -> Self {
        Self { code, http, grpc, reason: Cow::Borrowed(reason), domain: OWN, error: None }
    }

    fn specified(error: A2aError) -> Self {
        Self {
            code: error.code(),
            http: StatusCode::from_u16(error.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            grpc: error.grpc_code(),
            reason: Cow::Borrowed(error.reason()),
            domain: SPECIFIED,
            error: Some(error),
        }
    }

    /// The row of a failure that a layer in between made, for reasons of its own.
    pub(super) const fn of_unknown() -> Self {
        Self::own(INTERNAL, StatusCode::INTERNAL_SERVER_ERROR, grpc::INTERNAL, "INTERNAL_ERROR")
    }

    pub(super) fn of(error: &CallError) -> Self {
        match error.outcome() {
            OutcomeKind::Refused => Self::of_refusal(error),
            OutcomeKind::Broken => Self::specified(A2aError::InvalidAgentResponse),
            OutcomeKind::Timeout => {
                Self::own(INTERNAL, StatusCode::GATEWAY_TIMEOUT, grpc::DEADLINE_EXCEEDED, "CAPABILITY_TIMEOUT")
            }
            OutcomeKind::Transport => {
                Self::own(INTERNAL, StatusCode::BAD_GATEWAY, grpc::UNAVAILABLE, "AGENT_UNREACHABLE")
            }
            OutcomeKind::Card => error.a2a_error().map_or(
                Self::own(INTERNAL, StatusCode::BAD_GATEWAY, grpc::FAILED_PRECONDITION, "AGENT_CARD_RESOLUTION"),
                Self::specified,
            ),
            OutcomeKind::Stale if error.class() == Class::SkillUnavailable => {
                Self::specified(A2aError::UnsupportedOperation)
            }
            OutcomeKind::Stale => {
                Self::own(INTERNAL, StatusCode::BAD_GATEWAY, grpc::FAILED_PRECONDITION, "ENDPOINT_NOT_CONFORMING")
            }
            // No error is made of these.
            OutcomeKind::Success | OutcomeKind::Abandoned => Self::of_unknown(),
        }
    }

    /// A refusal that cannot be handed on as it came: said again, with all that was understood of it.
    fn of_refusal(error: &CallError) -> Self {
        let mut row = match error.a2a_error() {
            Some(specified) => Self::specified(specified),
            None => Self::of_refusal_class(error),
        };
        if let Some(code) = error.code() {
            row.code = code;
        }
        if let Some(reason) = error.reason() {
            row.reason = Cow::Owned(escape(reason, 128).to_string());
            row.domain = SPECIFIED;
        }
        if let Some(status) = error.http_status().filter(|status| !status.is_success()) {
            row.http = status;
        }
        if let Some(code) = error.grpc_code().and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0) {
            row.grpc = code;
        }
        row
    }

    fn of_refusal_class(error: &CallError) -> Self {
        match error.class() {
            Class::Auth if error.http_status() == Some(StatusCode::FORBIDDEN) => {
                Self::own(INTERNAL, StatusCode::FORBIDDEN, grpc::PERMISSION_DENIED, "PERMISSION_DENIED")
            }
            Class::Auth => Self::own(INTERNAL, StatusCode::UNAUTHORIZED, grpc::UNAUTHENTICATED, "UNAUTHENTICATED"),
            Class::RateLimited => {
                Self::own(INTERNAL, StatusCode::TOO_MANY_REQUESTS, grpc::RESOURCE_EXHAUSTED, "RATE_LIMITED")
            }
            Class::Unavailable => {
                Self::own(INTERNAL, StatusCode::SERVICE_UNAVAILABLE, grpc::UNAVAILABLE, "UNAVAILABLE")
            }
            Class::EndpointNotFound => {
                Self::own(-32601, StatusCode::NOT_FOUND, grpc::UNIMPLEMENTED, "ENDPOINT_NOT_FOUND")
            }
            Class::Redirected => Self::own(INTERNAL, StatusCode::BAD_GATEWAY, grpc::FAILED_PRECONDITION, "REDIRECTED"),
            Class::UnsupportedMedia => {
                Self::own(-32005, StatusCode::UNSUPPORTED_MEDIA_TYPE, grpc::INVALID_ARGUMENT, "UNSUPPORTED_MEDIA")
            }
            Class::TooLarge => {
                Self::own(-32600, StatusCode::PAYLOAD_TOO_LARGE, grpc::INVALID_ARGUMENT, "REQUEST_TOO_LARGE")
            }
            _ => Self::own(INTERNAL, StatusCode::INTERNAL_SERVER_ERROR, grpc::UNKNOWN, "PEER_ERROR"),
        }
    }
}
