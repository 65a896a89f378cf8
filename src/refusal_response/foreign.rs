//! What an error from below is, whoever made it.

use std::{error::Error as StdError, sync::Arc};

use crate::{
    call::Call,
    error::{BoxError, CallError, Failure, broke_off, chain, recognise},
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
    if !is_elapsed(&*error) {
        return broke_off(error, call);
    }
    recognise(error).unwrap_or_else(|error| {
        let mut failure = elapsed(call);
        failure.source = Some(Arc::new(error));
        CallError::new(failure)
    })
}

fn understand(error: BoxError, call: &Call, before_sending: bool) -> Failed {
    let error = match recognise(error) {
        Ok(error) => return error.into(),
        Err(error) => error,
    };
    let mut unknown = false;
    let mut failure = if is_elapsed(&*error) {
        elapsed(call)
    } else if is_overload(&*error) {
        let mut failure =
            failure(OutcomeKind::Refused, Class::Unavailable, "too many calls at once: this one was shed", call);
        failure.never_sent = true;
        failure
    } else {
        let known = transport::known(&*error);
        unknown = known.is_none();
        let Fault { class, what, never_sent } =
            known.unwrap_or(Fault { what: "a layer between the caller and the agent failed", ..Fault::LOST });
        let mut failure = failure(OutcomeKind::Transport, class, what, call);
        failure.never_sent = never_sent;
        failure
    };
    failure.never_sent |= before_sending;
    failure.source = Some(Arc::new(transport::without_secrets(error)));
    Failed { error: CallError::new(failure), unknown }
}

fn failure(kind: OutcomeKind, class: Class, what: &'static str, call: &Call) -> Failure {
    Failure::new(kind, class, what, call.clone(), call.elapsed())
}

fn elapsed(call: &Call) -> Failure {
    failure(OutcomeKind::Timeout, Class::Total, "a timeout between the caller and the agent ended the call", call)
}

/// tokio's own, and tower's with feature `tower`: an error can only be recognised by its type.
fn is_elapsed(error: &(dyn StdError + 'static)) -> bool {
    chain(error).any(|error| {
        #[cfg(feature = "tower")]
        if error.is::<tower::timeout::error::Elapsed>() {
            return true;
        }
        error.is::<tokio::time::error::Elapsed>()
    })
}

#[cfg(feature = "tower")]
fn is_overload(error: &(dyn StdError + 'static)) -> bool {
    chain(error).any(|error| error.is::<tower::load_shed::error::Overloaded>())
}

#[cfg(not(feature = "tower"))]
fn is_overload(_: &(dyn StdError + 'static)) -> bool {
    false
}
