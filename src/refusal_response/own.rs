//! The peer's own refusal, on its way to the caller as it came.

use bytes::{Bytes, BytesMut};
use http::{
    HeaderMap, HeaderValue, Response,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};

use super::body::Whole;
use crate::{
    error::{CallError, PeerResponse},
    hop,
    outcome::OutcomeKind,
    wire::{MediaType, sse::Frame, sse::Framing},
};

/// The whole answer, if all of it was kept.
pub(super) fn response(error: &CallError) -> Option<Response<Whole>> {
    let kept = whole(error)?;
    let mut headers = kept.headers.clone();
    hop::remove(&mut headers);
    let mut body = kept.body.clone();
    if media_type(&headers) == MediaType::EventStream {
        if is_json(&body) {
            // Whoever reads events would find none in it.
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        } else {
            body = complete(body);
        }
    }
    if !declares(&headers, body.len()) {
        headers.remove(CONTENT_LENGTH);
    }
    let mut response = Response::new(Whole::new(body, kept.trailers.clone()));
    *response.status_mut() = kept.status;
    *response.headers_mut() = headers;
    response.extensions_mut().insert(error.clone());
    Some(response)
}

/// The event of a stream that refused, its end supplied if it lacks it.
pub(super) fn event(error: &CallError) -> Option<Bytes> {
    let kept = whole(error)?;
    (!kept.body.is_empty() && !is_json(&kept.body)).then(|| complete(kept.body.clone()))
}

/// The trailers of a stream that refused in them.
pub(super) fn trailers(error: &CallError) -> Option<HeaderMap> {
    let trailers = whole(error)?.trailers.clone();
    trailers.filter(|trailers| trailers.contains_key("grpc-status"))
}

/// The answer with which the peer said no, as far as it was kept.
pub(super) fn refusal(error: &CallError) -> Option<&PeerResponse> {
    error.response().filter(|_| matches!(error.outcome(), OutcomeKind::Refused | OutcomeKind::Stale))
}

fn whole(error: &CallError) -> Option<&PeerResponse> {
    refusal(error).filter(|kept| !kept.truncated)
}

fn media_type(headers: &HeaderMap) -> MediaType {
    MediaType::of(headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes))
}

/// Whether every declared length is this one. Of two that differ, readers take one each, and see two ends of one
/// answer.
fn declares(headers: &HeaderMap, len: usize) -> bool {
    let mut declared = headers.get_all(CONTENT_LENGTH).iter();
    // One that cannot be read is never the body's.
    declared.all(|value| value.to_str().is_ok_and(|text| text.parse() == Ok(len)))
}

/// A JSON document, where events are due.
fn is_json(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    matches!(body.first(), Some(b'{' | b'['))
}

/// Supplies the end that a last event lacks; without it strict readers drop the event.
fn complete(events: Bytes) -> Bytes {
    let mut framing = Framing::new();
    let mut at = 0;
    loop {
        let (used, frame) = framing.next(events.get(at..).unwrap_or_default());
        at += used;
        if frame == Frame::More {
            break;
        }
    }
    let missing = if framing.in_event() { framing.missing() } else { &[] };
    match missing {
        [] => events,
        missing => {
            let mut whole = BytesMut::with_capacity(events.len() + missing.len());
            whole.extend_from_slice(&events);
            whole.extend_from_slice(missing);
            whole.freeze()
        }
    }
}
