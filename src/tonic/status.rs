use std::sync::{Arc, OnceLock};

use http::HeaderMap;
use tonic::{Code, Status, metadata::MetadataMap};

use crate::{
    call::{Binding, Operation},
    error::{BoxError, CallError, CardFailure, Failure, GrpcStatus, PeerResponse, chain},
    outcome::OutcomeKind,
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
        if matches!(failure.call.binding(), Some(Binding::JsonRpc | Binding::HttpJson)) {
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
    let GrpcStatus { code, message, details } = GrpcStatus::of(error);
    Status::with_details(Code::from(code), message, details.into())
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
