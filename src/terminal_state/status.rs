//! What an error status says, alone and with its body.

use http::StatusCode;

use crate::{
    call::Binding,
    outcome::{Class, OutcomeKind},
    wire::{ErrorForm, MediaType, PeerError},
};

/// The outcome of an answer that is no success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatusVerdict {
    pub(super) kind: OutcomeKind,
    pub(super) class: Class,
    pub(super) what: &'static str,
}

/// An error object, under whatever status.
pub(super) const PEER_ERROR: StatusVerdict = refused(Class::PeerError, "the peer refused");

pub(super) const fn refused(class: Class, what: &'static str) -> StatusVerdict {
    StatusVerdict { kind: OutcomeKind::Refused, class, what }
}

/// The verdict of statuses that decide whatever their body says.
pub(super) fn by_status_alone(status: StatusCode) -> Option<StatusVerdict> {
    Some(match status.as_u16() {
        300..=399 => refused(Class::Redirected, "the peer redirects, and redirects are not followed"),
        401 | 403 | 407 => refused(Class::Auth, "the peer wants other credentials"),
        413 => refused(Class::TooLarge, "the request is too large for the peer"),
        415 => refused(Class::UnsupportedMedia, "the peer does not take this media type"),
        429 => refused(Class::RateLimited, "the peer limits the rate"),
        503 => refused(Class::Unavailable, "the peer is unavailable"),
        _ => return None,
    })
}

/// Whether a body of this type may say more than this status. A page does not, whether it can be read or not.
pub(super) fn leaves_word_to(media: MediaType, status: StatusCode) -> bool {
    by_status_alone(status).is_none() && !matches!(media, MediaType::Html | MediaType::Text)
}

/// The verdict of status and body together.
pub(super) fn with_body(
    status: StatusCode,
    binding: Option<Binding>,
    names_task: bool,
    peer: Option<&PeerError>,
) -> StatusVerdict {
    if let Some(verdict) = by_status_alone(status) {
        return verdict;
    }
    let typed = peer.is_some_and(PeerError::is_typed);
    let http_json = binding == Some(Binding::HttpJson);
    let text = peer.filter(|peer| http_json && peer.form == ErrorForm::Text).and_then(|peer| peer.message.as_deref());
    let code = status.as_u16();
    let says_no = match code {
        _ if typed => true,
        404 | 405 | 410 => names_task && text.is_some_and(|text| !says_no_more(status, text)),
        400..=499 | 501 => text.is_some(),
        _ => false,
    };
    if says_no {
        PEER_ERROR
    } else if matches!(code, 404 | 405 | 410) {
        refused(Class::EndpointNotFound, "the peer has no such endpoint")
    } else {
        let what = match code {
            500..=599 => "the peer failed without a typed error",
            _ => "the peer answered with a status that is no success, and without a typed error",
        };
        StatusVerdict { kind: OutcomeKind::Broken, class: Class::HttpStatus, what }
    }
}

/// Whether a text says no more than the status itself.
fn says_no_more(status: StatusCode, text: &str) -> bool {
    let text = text.trim().trim_end_matches('.');
    text.is_empty() || status.canonical_reason().is_some_and(|phrase| text.eq_ignore_ascii_case(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(status: u16, binding: Binding, names_task: bool, body: &str, media: &str) -> (OutcomeKind, Class) {
        let peer = PeerError::parse(body.as_bytes(), MediaType::of(Some(media.as_bytes())));
        let status = StatusCode::from_u16(status).unwrap();
        let verdict = with_body(status, Some(binding), names_task, peer.as_ref());
        (verdict.kind, verdict.class)
    }

    #[test]
    fn some_statuses_decide_alone() {
        for (status, expected) in [
            (307, Class::Redirected),
            (401, Class::Auth),
            (403, Class::Auth),
            (407, Class::Auth),
            (413, Class::TooLarge),
            (415, Class::UnsupportedMedia),
            (429, Class::RateLimited),
            (503, Class::Unavailable),
        ] {
            let body = r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"no"}}"#;
            let got = class(status, Binding::HttpJson, true, body, "application/json");
            assert_eq!(got, (OutcomeKind::Refused, expected), "{status}");
        }
    }

    #[test]
    fn a_text_says_no_only_where_the_rules_let_it() {
        use Binding::{HttpJson, JsonRpc};
        let json = "application/json";
        let peer_error = (OutcomeKind::Refused, Class::PeerError);
        let not_found = (OutcomeKind::Refused, Class::EndpointNotFound);
        let http_status = (OutcomeKind::Broken, Class::HttpStatus);
        assert_eq!(class(404, HttpJson, true, r#"{"message":"Task not found"}"#, json), peer_error);
        assert_eq!(class(404, HttpJson, false, r#"{"message":"Task not found"}"#, json), not_found);
        assert_eq!(class(404, HttpJson, true, r#"{"detail":"Not Found"}"#, json), not_found);
        assert_eq!(class(405, HttpJson, true, r#"{"detail":"Method Not Allowed"}"#, json), not_found);
        assert_eq!(class(404, HttpJson, true, r#"{"detail":""}"#, json), not_found);
        assert_eq!(class(410, HttpJson, true, r#"{"message":" "}"#, json), not_found);
        assert_eq!(class(409, HttpJson, true, r#"{"message":"not cancelable"}"#, json), peer_error);
        assert_eq!(class(501, HttpJson, true, r#"{"message":"no push"}"#, json), peer_error);
        assert_eq!(class(500, HttpJson, true, r#"{"message":"unknown exception"}"#, json), http_status);
        assert_eq!(class(400, JsonRpc, true, r#"{"detail":"bad"}"#, json), http_status);
        assert_eq!(class(400, HttpJson, true, "invalid token", "text/plain"), http_status);
        assert_eq!(
            class(500, JsonRpc, true, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}"#, json),
            peer_error
        );
        assert_eq!(class(524, JsonRpc, true, "<html>", "text/html"), http_status);
    }

    #[test]
    fn a_status_without_a_typed_error_says_whose_failure_it_is() {
        let what = |status: u16| with_body(StatusCode::from_u16(status).unwrap(), None, false, None).what;
        for status in [500, 502, 524, 599] {
            assert_eq!(what(status), "the peer failed without a typed error", "{status}");
        }
        for status in [100, 400, 418, 600] {
            assert!(what(status).starts_with("the peer answered with a status that is no success"), "{status}");
        }
        for status in [404, 405, 410] {
            assert_eq!(what(status), "the peer has no such endpoint", "{status}");
        }
    }
}
