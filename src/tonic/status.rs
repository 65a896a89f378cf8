use std::sync::{Arc, OnceLock};

use http::HeaderMap;
use tonic::{Code, Status, metadata::MetadataMap};

use crate::{
    call::{Binding, Operation},
    error::{BoxError, CallError, CardFailure, Failure, PeerResponse, chain},
    outcome::OutcomeKind,
    refusal_response::grpc_trailers_of,
};

const STATUS: &str = "grpc-status";
const DETAILS: &str = "grpc-status-details-bin";

/// The error of a call that a [`Status`] comes of, with everything that it knows: outcome and class, whether a retry is
/// safe, the task.
///
/// ```
/// fn may_be_repeated(status: &tonic::Status) -> bool {
///     a2a_guard::tonic::call_error(status).is_some_and(|error| error.retry() == a2a_guard::Retry::Safe)
/// }
/// ```
#[must_use]
pub fn call_error(status: &Status) -> Option<&CallError> {
    chain(status).find_map(|error| error.downcast_ref::<CallError>())
}

impl From<CallError> for Status {
    /// What a tonic client sees of the error: the peer's own status where the peer typed it, else a status that says
    /// what happened. The error is its source.
    fn from(error: CallError) -> Self {
        let mut status = of(&error);
        status.set_source(Arc::new(error));
        status
    }
}

impl From<&CallError> for Status {
    fn from(error: &CallError) -> Self {
        error.clone().into()
    }
}

/// The status of a failure, made when it is first asked for. A failure that is changed has to be asked again: a clone
/// starts empty.
#[derive(Debug, Default)]
pub(crate) struct StatusCell(OnceLock<Status>);

impl Clone for StatusCell {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl StatusCell {
    /// The status that stands between an error and its source, where tonic looks for one. Errors of other bindings'
    /// calls have none: their sources are what they are without the feature.
    pub(crate) fn get(&self, failure: &Failure, error: impl FnOnce() -> CallError) -> Option<&Status> {
        if failure.call.binding() != Some(Binding::Grpc) {
            return None;
        }
        let status = || {
            let mut status = of(&error());
            if let Some(source) = &failure.source {
                status.set_source(Arc::new(Below(Arc::clone(source))));
            } else if let Some(card) = &failure.card {
                status.set_source(Arc::new(CardFailure::clone(card)));
            }
            status
        };
        Some(self.0.get_or_init(status))
    }
}

/// The error of what lies below the layers, as a source that can be shared.
#[derive(Debug, thiserror::Error)]
#[error("the client below failed")]
struct Below(#[source] Arc<BoxError>);

/// Without a source.
fn of(error: &CallError) -> Status {
    let typed = matches!(error.outcome(), OutcomeKind::Refused | OutcomeKind::Stale);
    let streams = error.call().operation().is_some_and(Operation::is_streaming);
    if let Some(status) = error.response().filter(|_| typed).and_then(|response| of_peer(response, streams)) {
        return status;
    }
    // Ours are a refusal always, and well-formed.
    of_headers(&grpc_trailers_of(error)).unwrap_or_else(|| Status::unknown(error.to_string()))
}

/// The status that tonic makes of an answer.
fn of_peer(response: &PeerResponse, streams: bool) -> Option<Status> {
    // Trailers-only: then nothing else counts.
    if let Some(status) = of_headers(&response.headers) {
        return Some(status);
    }
    let mut status = of_headers(response.trailers.as_ref()?)?;
    // A unary client adds the head's metadata, unless a message stands in between.
    if !streams && !has_message(response) {
        status.metadata_mut().as_mut().extend(response.headers.clone());
    }
    Some(status)
}

/// `None` where there is no status, or a good one.
fn of_headers(headers: &HeaderMap) -> Option<Status> {
    if !headers.contains_key(STATUS) {
        return None;
    }
    let mut metadata = MetadataMap::from_headers(headers.clone());
    let details = metadata.get_bin(DETAILS).and_then(|details| details.to_bytes().ok()).unwrap_or_default();
    // Details that are no base64 make `from_header_map` panic.
    metadata.remove_bin(DETAILS);
    let status = Status::from_header_map(metadata.as_ref())?;
    let refused = status.code() != Code::Ok;
    refused
        .then(|| Status::with_details_and_metadata(status.code(), status.message(), details, status.metadata().clone()))
}

/// Whether a whole message came before the status.
fn has_message(response: &PeerResponse) -> bool {
    let Some((prefix, message)) = response.body.split_first_chunk::<5>() else {
        return false;
    };
    let [_, length @ ..] = *prefix;
    response.truncated || message.len() as u64 >= u64::from(u32::from_be_bytes(length))
}

#[cfg(test)]
mod tests {
    use std::{error::Error as StdError, io, time::Duration};

    use super::*;
    use crate::{
        call::{Call, Capability, ProtocolVersion},
        outcome::Class,
    };

    fn failure(binding: Binding, kind: OutcomeKind, class: Class) -> Failure {
        Failure::new(kind, class, "it failed", Call::new().with_binding(binding), Duration::ZERO)
    }

    #[test]
    fn a_status_stands_between_the_error_and_its_source() {
        let mut failure = failure(Binding::Grpc, OutcomeKind::Broken, Class::Truncated);
        failure.source = Some(Arc::new(io::Error::from(io::ErrorKind::ConnectionReset).into()));
        let error = CallError::new(failure);
        let CallError::Untyped(kind) = &error else { panic!("{error}") };
        for error in [&error as &(dyn StdError + 'static), kind] {
            let status = error.source().and_then(|source| source.downcast_ref::<Status>()).unwrap();
            assert_eq!(status.code(), Code::Internal);
            let io = chain(status).find_map(|error| error.downcast_ref::<io::Error>()).unwrap();
            assert_eq!(io.kind(), io::ErrorKind::ConnectionReset);
        }
        // As tonic does it.
        let status = Status::from_error(Box::new(error));
        assert_eq!(status.code(), Code::Internal);
        assert_eq!(call_error(&status).map(CallError::class), Some(Class::Truncated));
    }

    #[test]
    fn errors_of_other_bindings_keep_their_sources() {
        for binding in [Binding::JsonRpc, Binding::HttpJson] {
            let mut failure = failure(binding, OutcomeKind::Timeout, Class::Idle);
            assert!(CallError::new(failure.clone()).source().is_none());
            failure.source = Some(Arc::new(io::Error::other("x").into()));
            assert!(CallError::new(failure).source().is_some_and(|source| source.is::<io::Error>()));
        }
    }

    #[test]
    fn any_error_can_be_told_over_grpc() {
        let card = CardFailure::CapabilityMissing { capability: Capability::Streaming };
        let error = CallError::new(Failure::of_card(card, Call::new().with_binding(Binding::JsonRpc), Duration::ZERO));
        let status = Status::from(&error);
        assert_eq!(status.code(), Code::FailedPrecondition);
        let details = String::from_utf8_lossy(status.details());
        assert!(details.contains("UNSUPPORTED_OPERATION") && details.contains("a2a-protocol.org"), "{details}");
        assert_eq!(call_error(&status).map(CallError::class), Some(Class::CapabilityMissing));
        let late = CallError::new(failure(Binding::Grpc, OutcomeKind::Timeout, Class::Head));
        assert_eq!(Status::from(late).code(), Code::DeadlineExceeded);
    }

    /// Servers of 0.3 say it with another code.
    #[test]
    fn a_missing_capability_is_told_in_the_calls_version() {
        for (version, code) in [
            (None, Code::FailedPrecondition),
            (Some(ProtocolVersion::V1_0), Code::FailedPrecondition),
            (Some(ProtocolVersion::new(1, 1)), Code::FailedPrecondition),
            (Some(ProtocolVersion::V0_3), Code::Unimplemented),
        ] {
            let call = Call::new().with_binding(Binding::Grpc);
            let call = version.into_iter().fold(call, Call::with_version);
            let card = CardFailure::CapabilityMissing { capability: Capability::Streaming };
            let error = CallError::new(Failure::of_card(card, call, Duration::ZERO));
            assert_eq!(Status::from(error).code(), code, "{version:?}");
        }
    }

    /// An error that is found deep in a foreign one is another error, of which the foreign one is the source.
    #[test]
    fn a_changed_failure_is_asked_again() {
        let mut failure = failure(Binding::Grpc, OutcomeKind::Timeout, Class::Head);
        let error = CallError::new(failure.clone());
        assert!(chain(error.source().unwrap()).count() == 1);
        failure = error.failure().clone();
        failure.source = Some(Arc::new("foreign".into()));
        assert!(chain(CallError::new(failure).source().unwrap()).any(|error| error.to_string() == "foreign"));
    }
}
