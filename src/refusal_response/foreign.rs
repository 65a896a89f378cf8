//! What an error from below is, whoever made it.

use crate::{
    call::Call,
    error::{BoxError, CallError, Failure, broke_off, recognise},
    outcome::{Class, OutcomeKind},
    transport::{self, Fault},
};

/// A failure that is to be rendered.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub(super) error: CallError,
    /// A layer in between failed, and nobody knows of what. Its error says no more than that a connection may have
    /// been lost.
    pub(super) unknown: bool,
}

impl From<CallError> for Failed {
    fn from(error: CallError) -> Self {
        Self { error, unknown: false }
    }
}

/// The inner service was not even ready.
pub(super) fn before_sending(error: BoxError, call: &Call) -> Failed {
    understand(error, call, true)
}

/// No response came.
pub(super) fn before_head(error: BoxError, call: Option<&Call>) -> Failed {
    match call {
        Some(call) => understand(error, call, false),
        None => understand(error, &Call::new(), false),
    }
}

/// A body broke off.
pub(super) fn in_body(error: BoxError, call: &Call) -> CallError {
    if !transport::is_expired(&*error) {
        return broke_off(error, call);
    }
    recognise(error).unwrap_or_else(|error| {
        let mut failure = expired(call);
        failure.caused_by(error);
        CallError::new(failure)
    })
}

fn understand(error: BoxError, call: &Call, before_sending: bool) -> Failed {
    let error = match recognise(error) {
        Ok(error) => return error.into(),
        Err(error) => error,
    };
    let (mut failure, unknown) = if transport::is_expired(&*error) {
        (expired(call), false)
    } else {
        let known = transport::known(&*error);
        let fault = known.unwrap_or(Fault { what: "a layer between the caller and the agent failed", ..Fault::LOST });
        let mut failure = failure(fault.kind(), fault.class, fault.what, call);
        failure.never_sent = fault.never_sent;
        (failure, known.is_none())
    };
    failure.never_sent |= before_sending;
    failure.caused_by(error);
    Failed { error: CallError::new(failure), unknown }
}

fn failure(kind: OutcomeKind, class: Class, what: &'static str, call: &Call) -> Failure {
    Failure::new(kind, class, what, call.clone(), call.elapsed())
}

fn expired(call: &Call) -> Failure {
    failure(OutcomeKind::Timeout, Class::Total, "a timeout between the caller and the agent ended the call", call)
}
