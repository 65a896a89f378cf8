//! What the caller of a failed call can do.

use std::fmt;

use super::{CallError, Failure};
use crate::{
    call::{Call, Operation, ProtocolVersion},
    outcome::{Class, OutcomeKind},
    wire::{A2aError, ErrorForm},
};

/// Whether a failed request may be sent again as it is (A2A 1.0 §3.3.1: a send need not be idempotent).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Retry {
    /// Nothing would be done twice: the request was not worked on, or the operation is idempotent.
    Safe,
    /// The work may have started: ask about the task first.
    Unsafe,
    /// After the time that the peer gave, or else a pause of the caller's choice.
    After,
    /// Only with other credentials.
    AfterCredentials,
}

impl Retry {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::After => "after",
            Self::AfterCredentials => "after_credentials",
        }
    }
}

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

pub(super) fn of(failure: &Failure) -> Retry {
    let asked_to_wait = failure.peer.as_ref().is_some_and(|peer| peer.retry_after.is_some());
    let nothing_done = !work_shows(failure) || is_idempotent(&failure.call);
    match failure.class {
        Class::Auth | Class::Unauthorized if nothing_done => return Retry::AfterCredentials,
        Class::RateLimited if nothing_done => return Retry::After,
        Class::Unavailable if nothing_done && (asked_to_wait || failure.seen.retry_after.is_some()) => {
            return Retry::After;
        }
        _ => {}
    }
    if failure.remembered && failure.seen.retry_after.is_some() {
        return Retry::After;
    }
    if failure.card.as_ref().is_some_and(|card| card.retry_after().is_some()) {
        return Retry::After;
    }
    if matches!(failure.kind, OutcomeKind::Refused | OutcomeKind::Stale) && asked_to_wait && nothing_done {
        return Retry::After;
    }
    if !work_may_have_started(failure) || is_idempotent(&failure.call) {
        return Retry::Safe;
    }
    Retry::Unsafe
}

pub(super) fn work_may_have_started(failure: &Failure) -> bool {
    if failure.never_sent {
        return false;
    }
    match failure.class {
        Class::Ready | Class::Connect | Class::Tls => false,
        _ if matches!(failure.kind, OutcomeKind::Refused | OutcomeKind::Stale) && work_shows(failure) => true,
        // Refused by a front door, before any agent saw it.
        Class::Auth | Class::RateLimited | Class::EndpointNotFound | Class::UnsupportedMedia => false,
        Class::TooLarge => failure.kind != OutcomeKind::Refused,
        Class::PeerError | Class::SkillUnavailable => !refuses_before_work(failure),
        // A redirect may stand for work done elsewhere (303), a 503 for a connection lost behind a proxy.
        _ => true,
    }
}

/// A refusal in the middle of a stream, or behind a message that names its task (gRPC has its status last), comes of
/// work that began.
fn work_shows(failure: &Failure) -> bool {
    failure.seen.events > 0 || failure.seen.task_id.is_some()
}

/// Errors that the specification gives to requests which are turned away as they are, no work done (§3.3.2).
fn refuses_before_work(failure: &Failure) -> bool {
    let status = failure.seen.status.map(|status| status.as_u16());
    let Some(peer) = failure.peer.as_ref() else {
        return false;
    };
    let Some(error) = peer.kind(status) else {
        // Whatever is not implemented, nothing was done.
        return peer.form == ErrorForm::Grpc && peer.status.as_deref() == Some("UNIMPLEMENTED");
    };
    !matches!(error, A2aError::Internal | A2aError::InvalidAgentResponse)
}

fn is_idempotent(call: &Call) -> bool {
    call.operation().is_some_and(Operation::is_idempotent)
}

/// `ListTasks` came with 1.0.
fn lists_tasks(call: &Call) -> bool {
    call.version().is_none_or(|version| version >= ProtocolVersion::V1_0)
}

pub(super) fn next_operations(error: &CallError) -> &'static [Operation] {
    use Operation as O;
    if !error.work_may_have_started() || error.outcome() == OutcomeKind::Refused {
        return match error.call().operation() {
            // Finished while nobody watched: the task has the result (§3.1.6).
            Some(O::SubscribeToTask) if error.a2a_error() == Some(A2aError::UnsupportedOperation) => &[O::GetTask],
            _ => &[],
        };
    }
    let finished = error.task_state().is_some_and(|state| state.is_terminal());
    match (error.call().operation(), error.task_id()) {
        (Some(_), Some(_)) if finished => &[O::GetTask],
        (Some(operation), Some(_)) if operation.is_streaming() => &[O::GetTask, O::SubscribeToTask, O::CancelTask],
        (Some(_), Some(_)) => &[O::GetTask],
        // Its id is not known, but its context or its place in the list may be.
        (Some(operation), None) if operation.is_send() && lists_tasks(error.call()) => &[O::ListTasks],
        _ => &[],
    }
}
