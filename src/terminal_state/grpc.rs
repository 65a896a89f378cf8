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
    wire::{
        GrpcStatus, MediaType,
        grpc::status::{drop_status, drop_unreadable},
    },
};

/// How an answer is to be judged, by its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrpcPlan {
    /// The head is also the end, and says no.
    Refused,
    /// An HTTP status that gRPC has not: head and the first of the body decide.
    ErrorBody,
    /// Its messages, which may be compressed, and the status behind them. It may be in the head already.
    Messages { coded: bool, has_status: bool },
    /// The head alone says that this is no answer.
    Broken(Class, &'static str),
}

/// What of a head counts, found in one pass.
#[derive(Clone, Copy)]
struct Head<'a> {
    media: Option<&'a HeaderValue>,
    status: Option<&'a HeaderValue>,
    has_coding: bool,
    /// Messages may be compressed: how, nobody here has to know.
    compresses: bool,
}

impl<'a> Head<'a> {
    fn of(headers: &'a HeaderMap) -> Self {
        let mut head = Self { media: None, status: None, has_coding: false, compresses: false };
        for (name, value) in headers {
            match name.as_str() {
                "content-type" => head.media = head.media.or(Some(value)),
                "grpc-status" => head.status = head.status.or(Some(value)),
                "content-encoding" => head.has_coding = true,
                "grpc-encoding" => head.compresses = !value.as_bytes().eq_ignore_ascii_case(b"identity"),
                _ => {}
            }
        }
        head
    }
}

pub(super) fn plan(status: StatusCode, headers: &HeaderMap) -> GrpcPlan {
    let head = Head::of(headers);
    if head.status.is_some_and(|value| !GrpcStatus::with_value(value, headers).is_ok()) {
        return GrpcPlan::Refused;
    }
    let coded = head.has_coding && judging::coding(headers).is_some();
    let media = MediaType::of(head.media.map(HeaderValue::as_bytes));
    if status != StatusCode::OK {
        let unreadable = coded && status::leaves_word_to(media, status);
        return if unreadable { GrpcPlan::Broken(Class::ContentEncoding, CODED) } else { GrpcPlan::ErrorBody };
    }
    match media {
        MediaType::Grpc | MediaType::Absent if coded => GrpcPlan::Broken(Class::ContentEncoding, CODED),
        MediaType::Grpc | MediaType::Absent => {
            GrpcPlan::Messages { coded: head.compresses, has_status: head.status.is_some() }
        }
        _ => GrpcPlan::Broken(Class::WrongMediaType, MEDIA),
    }
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
    fn status(&self) -> Option<GrpcStatus<'a>> {
        status_of(self.headers, self.trailers)
    }

    /// The refusal that the status is, if it is one.
    pub(super) fn refusal<O>(self, flight: &Flight<O>) -> Option<CallError>
    where
        O: Observe,
    {
        let status = self.status().filter(|status| !status.is_ok())?;
        Some(self.refused(status, flight))
    }

    /// What a status that says no means.
    pub(super) fn refused<O>(self, status: GrpcStatus<'_>, flight: &Flight<O>) -> CallError
    where
        O: Observe,
    {
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
        CallError::new(failure)
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

/// The trailers of a stream that is a success: as they came, if they say so, and else with the status that it has.
/// Clients take a missing one for a failure.
pub(super) fn ok_trailers(trailers: Option<HeaderMap>) -> HeaderMap {
    let mut trailers = trailers.unwrap_or_default();
    if GrpcStatus::of(&trailers).is_some_and(|status| status.is_ok()) {
        readable(&mut trailers);
    } else {
        drop_status(&mut trailers);
        trailers.insert("grpc-status", HeaderValue::from_static("0"));
    }
    trailers
}

/// Trailers with a status that is good, without what else they say if no client can read it.
#[inline]
pub(super) fn readable(trailers: &mut HeaderMap) {
    // Most say nothing else.
    if trailers.len() > 1 {
        drop_unreadable(trailers);
    }
}
