//! What the answer to a probe says of its endpoint.

use std::{sync::Arc, time::Duration};

use http::StatusCode;

use crate::{
    call::{Binding, Call},
    error::{CallError, Failure},
    outcome::{Class, OutcomeKind},
    wire::{A2aError, ErrorForm, MediaType, text::escape},
};

/// What a probe came to.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    /// A2A is spoken there.
    Proved,
    /// Something else is.
    Disproved(Disproof),
    /// Nobody can say. The peer may have asked to wait.
    Unknown { wait: Option<Duration> },
}

/// What was seen instead of A2A.
#[derive(Clone, Debug)]
pub(crate) struct Disproof {
    /// How the probe ended.
    error: CallError,
    seen: Arc<str>,
    credential: u64,
    for_all: bool,
    again: bool,
}

impl Disproof {
    /// Whether it holds whoever asks: a typed error does, while a page may be one to sign in at.
    pub(super) fn is_for_all(&self) -> bool {
        self.for_all
    }

    /// With which credential it was seen.
    pub(super) fn credential(&self) -> u64 {
        self.credential
    }

    /// The same, for a call that did not wait for the probe.
    pub(super) fn again(&self) -> Self {
        Self { again: true, ..self.clone() }
    }

    /// The error of a call that is not sent for it.
    pub(super) fn refusal(&self, call: &Call) -> CallError {
        let what = "a probe of the endpoint got no answer that A2A knows";
        let class = Class::EndpointNotConforming;
        let mut failure = Failure::new(OutcomeKind::Stale, class, what, call.clone(), call.elapsed());
        failure.got = Some((*self.seen).into());
        failure.source = Some(Arc::new(self.error.clone().into()));
        failure.never_sent = true;
        failure.remembered = self.again;
        CallError::new(failure)
    }
}

/// Judges the end of a probe that asked for a task which does not exist.
///
/// A task in answer to it is strange, but it is A2A's own answer in the call's own dialect: that proves no less than
/// `TaskNotFound` does.
pub(super) fn of_task_probe(ended: Result<(), &CallError>, credential: u64) -> Verdict {
    let Err(error) = ended else { return Verdict::Proved };
    if is_task_not_found(error) {
        return Verdict::Proved;
    }
    if disproves(error) { disproved(error, credential) } else { unknown(error) }
}

/// Judges the end of a probe that sent a message, and whether it says that the card is stale for this region.
///
/// Any code in -32000..=-32099 says so of the card. -32001 and -32004 still prove that the lifecycle is there.
pub(crate) fn of_message_probe(ended: Result<(), &CallError>, credential: u64) -> (Verdict, bool) {
    let Err(error) = ended else { return (Verdict::Proved, false) };
    let code = error.code().or_else(|| error.a2a_error().map(A2aError::code)).filter(|_| is_refused(error));
    let is_of_server = code.is_some_and(|code| (-32099..=-32000).contains(&code));
    let verdict = match error.a2a_error() {
        Some(A2aError::TaskNotFound | A2aError::UnsupportedOperation) if is_refused(error) => Verdict::Proved,
        _ if is_of_server || disproves(error) => disproved(error, credential),
        _ => unknown(error),
    };
    (verdict, is_of_server)
}

fn is_refused(error: &CallError) -> bool {
    error.outcome() == OutcomeKind::Refused && error.class() == Class::PeerError
}

/// However it is spelled: the reason, -32001, the problem's type, `NOT_FOUND`; over HTTP+JSON also in words under 404,
/// if they are more than the status's own.
fn is_task_not_found(error: &CallError) -> bool {
    let in_words = || {
        let form = error.failure().peer.as_ref().map(|peer| peer.form);
        error.call().binding() == Some(Binding::HttpJson)
            && error.http_status() == Some(StatusCode::NOT_FOUND)
            && form == Some(ErrorForm::Text)
    };
    is_refused(error) && (error.a2a_error() == Some(A2aError::TaskNotFound) || in_words())
}

fn disproves(error: &CallError) -> bool {
    match (error.outcome(), error.class()) {
        (OutcomeKind::Refused, Class::EndpointNotFound) => true,
        (OutcomeKind::Refused, Class::PeerError) => {
            let by_kind = matches!(
                error.a2a_error(),
                Some(A2aError::MethodNotFound | A2aError::InvalidParams | A2aError::UnsupportedOperation)
            );
            // Which error of A2A this is over gRPC, nobody knows; that the method is not there, it says.
            by_kind || error.failure().peer.as_ref().is_some_and(|peer| peer.status.as_deref() == Some("UNIMPLEMENTED"))
        }
        // A page under a 5xx is a proxy's, and says nothing of what is behind it.
        (OutcomeKind::Broken, Class::WrongMediaType | Class::HttpStatus) => {
            is_page(error) && error.http_status().is_some_and(|status| !status.is_server_error())
        }
        _ => false,
    }
}

fn is_page(error: &CallError) -> bool {
    MediaType::of(media_type(error).map(str::as_bytes)) == MediaType::Html
}

fn media_type(error: &CallError) -> Option<&str> {
    error.response()?.headers.get(http::header::CONTENT_TYPE)?.to_str().ok()
}

fn disproved(error: &CallError, credential: u64) -> Verdict {
    let for_all = error.failure().peer.as_ref().is_some_and(|peer| peer.is_typed());
    let disproof = Disproof { error: error.clone(), seen: seen(error).into(), credential, for_all, again: false };
    Verdict::Disproved(disproof)
}

fn unknown(error: &CallError) -> Verdict {
    Verdict::Unknown { wait: error.retry_after() }
}

/// What came, in a few words.
fn seen(error: &CallError) -> String {
    let mut words = Vec::new();
    if let Some(status) = error.http_status() {
        words.push(format!("HTTP {}", status.as_u16()));
    }
    match (error.a2a_error().filter(|_| is_refused(error)), error.code()) {
        (Some(a2a), Some(code)) => words.push(format!("{} {code}", a2a.name())),
        (Some(a2a), None) => words.push(a2a.name().to_owned()),
        (None, Some(code)) => words.push(format!("{code}")),
        (None, None) if error.grpc_code().is_some_and(|code| code != 0) => {
            let name = error.failure().peer.as_ref().and_then(|peer| peer.status.clone());
            words.push(format!("grpc-status {}", name.unwrap_or_default()));
        }
        (None, None) => words.extend(media_type(error).map(|media| escape(media, 64).to_string())),
    }
    words.join(" ")
}
