//! What heads and statuses of gRPC say of a call (gRPC over HTTP/2, "Responses").

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};

use super::{
    flight::Flight,
    judging::{self, CODED, MEDIA},
    status::{self, StatusVerdict},
};
use crate::{
    error::{CallError, PeerResponse},
    outcome::{Class, Observe, OutcomeKind},
    wire::{GrpcStatus, MediaType},
};

/// How an answer is to be judged, by its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrpcPlan {
    /// The head is also the end, and says no.
    Refused,
    /// An HTTP status that gRPC has not: head and the first of the body decide.
    ErrorBody,
    /// Its messages, and the status behind them.
    Messages,
    /// The head alone says that this is no answer.
    Broken(Class, &'static str),
}

pub(super) fn plan(status: StatusCode, headers: &HeaderMap) -> GrpcPlan {
    if GrpcStatus::of(headers).is_some_and(|status| !status.is_ok()) {
        return GrpcPlan::Refused;
    }
    let coded = judging::coding(headers).is_some();
    if status != StatusCode::OK {
        let decides = status::by_status_alone(status).is_some();
        return if coded && !decides { GrpcPlan::Broken(Class::ContentEncoding, CODED) } else { GrpcPlan::ErrorBody };
    }
    match judging::media_type(headers) {
        MediaType::Grpc | MediaType::Absent if coded => GrpcPlan::Broken(Class::ContentEncoding, CODED),
        MediaType::Grpc | MediaType::Absent => GrpcPlan::Messages,
        _ => GrpcPlan::Broken(Class::WrongMediaType, MEDIA),
    }
}

/// Whether messages may be compressed: how, nobody here has to know.
pub(super) fn may_compress(headers: &HeaderMap) -> bool {
    headers.get("grpc-encoding").is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// What a status other than 0 says.
pub(super) fn verdict(http: StatusCode, code: u8, asks_to_wait: bool) -> StatusVerdict {
    if let Some(verdict) = status::by_status_alone(http) {
        return verdict;
    }
    match code {
        7 | 16 => status::refused(Class::Auth, "the peer wants other credentials"),
        8 if asks_to_wait => status::refused(Class::RateLimited, "the peer limits the rate"),
        14 => status::refused(Class::Unavailable, "the peer is unavailable"),
        _ => status::PEER_ERROR,
    }
}

/// An answer, as far as it is kept.
pub(super) struct Kept<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) trailers: Option<&'a HeaderMap>,
    pub(super) body: Bytes,
    /// The body went on behind what was kept.
    pub(super) truncated: bool,
}

impl<'a> Kept<'a> {
    /// The status of trailers, else of the head.
    pub(super) fn status(&self) -> Option<GrpcStatus<'a>> {
        status_of(self.headers, self.trailers)
    }

    /// The refusal that the status is, if it is one.
    pub(super) fn refusal<O>(self, flight: &Flight<O>) -> Option<CallError>
    where
        O: Observe,
    {
        let status = self.status().filter(|status| !status.is_ok())?;
        let peer = status.to_error();
        let verdict = verdict(flight.status(), status.code(), peer.retry_after.is_some());
        let mut failure = flight.failure(verdict.kind, verdict.class, verdict.what);
        failure.peer = Some(Box::new(peer));
        failure.seen.retry_after = judging::retry_after(self.headers);
        failure.response = Some(PeerResponse {
            status: flight.status(),
            headers: self.headers.clone(),
            body: self.body,
            trailers: self.trailers.cloned(),
            truncated: self.truncated,
        });
        Some(CallError::new(failure))
    }
}

/// The status of trailers, else of the head.
pub(super) fn status_of<'a>(headers: &'a HeaderMap, trailers: Option<&'a HeaderMap>) -> Option<GrpcStatus<'a>> {
    trailers.and_then(GrpcStatus::of).or_else(|| GrpcStatus::of(headers))
}

/// How a call that nobody named ended, by a status that was seen on the way.
pub(super) fn unnamed<O>(status: GrpcStatus<'_>, flight: &mut Flight<O>) -> (OutcomeKind, Class)
where
    O: Observe,
{
    if status.is_ok() {
        return (OutcomeKind::Success, Class::Success);
    }
    flight.seen.grpc_code = Some(status.code());
    let verdict = verdict(flight.status(), status.code(), status.to_error().retry_after.is_some());
    (verdict.kind, verdict.class)
}

/// The trailers of a stream that is a success: as they came, if they say so, and else with the status that it has. Clients
/// take a missing one for a failure.
pub(super) fn ok_trailers(trailers: Option<HeaderMap>) -> HeaderMap {
    let mut trailers = trailers.unwrap_or_default();
    if !GrpcStatus::of(&trailers).is_some_and(|status| status.is_ok()) {
        trailers.remove("grpc-message");
        trailers.remove("grpc-status-details-bin");
        trailers.insert("grpc-status", HeaderValue::from_static("0"));
    }
    trailers
}
