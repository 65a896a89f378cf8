//! What came back for the question: an extended card, or why there is none.

use std::time::Duration;

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, StatusCode, Uri,
    header::{CONTENT_TYPE, WWW_AUTHENTICATE},
    response::Parts,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Answer, ExtendedCall, grpc};
use crate::{
    call::Binding,
    card::AgentCard,
    card_consistency::store::{
        CardAsk, Inner, VerifiedTransport,
        exchange::{lost, not_json, text},
        freshness::Freshness,
        held::{self, Lease, Validators},
        search::of_flaw,
        witness::Witness,
    },
    clock::{Millis, span},
    error::{BoxError, CardFailure, recognise},
    outcome::Class,
    times,
    wire::{A2aError, MediaType, PeerError},
};

/// A JSON-RPC answer, as far as it concerns us.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Option<serde_json::Value>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Inner {
    /// Whether what came is the agent's card: the checks that every card goes through.
    pub(super) async fn believe(
        &self,
        ask: &CardAsk,
        call: &ExtendedCall,
        Answer { head, card: bytes, sent }: Answer,
    ) -> Result<(held::Parts, bool), CardFailure> {
        let card = AgentCard::read(&bytes).map_err(|flaw| of_flaw(flaw, &head, &call.uri))?;
        if let Some(counts) = &ask.counts {
            counts(&card).map_err(|failure| failure.found_at(&call.uri))?;
        }
        let transport = head.extensions.get::<VerifiedTransport>().cloned();
        self.verify(&card, &bytes, &call.uri, transport.as_ref()).await?;
        let (lifetime, keep) = self.lifetime(call, &head.headers, sent);
        let parts = held::Parts {
            card,
            bytes,
            location: call.uri.clone(),
            legacy: false,
            private: true,
            transport,
            base: None,
            witness: Witness::default(),
            validators: Validators::default(),
            stored: HeaderMap::new(),
            asked: sent,
            forced: None,
            lease: Lease { fetched: sent, fresh_until: sent.saturating_add(span(lifetime)), may_be_stale: false },
        };
        Ok((parts, keep))
    }

    /// How long it stands in. It is for the session, or until the card's version changes (§3.1.11), and like all cards
    /// at most for the store's `max_age`. What an answer over HTTP+JSON says about being kept counts; over JSON-RPC
    /// and gRPC it would say it of the answer to a POST.
    fn lifetime(&self, call: &ExtendedCall, headers: &HeaderMap, sent: Millis) -> (Duration, bool) {
        let max = self.settings.max_age;
        if call.binding != Binding::HttpJson {
            return (max, true);
        }
        let freshness = Freshness::of(headers, self.clock.date(sent));
        (freshness.lifetime_or(max).min(max), !freshness.no_store)
    }

    /// Why there is no card in an answer.
    pub(super) fn refusal(&self, head: &Parts, bytes: &Bytes, uri: &Uri, sent: Millis) -> CardFailure {
        let media = MediaType::of(head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes));
        let error = PeerError::parse(bytes, media);
        let kind = error.as_ref().and_then(|error| error.kind(Some(head.status.as_u16())));
        if kind.is_some_and(is_none_there) {
            return CardFailure::NotFound { tried: vec![uri.clone()] };
        }
        match (head.status, error.and_then(|error| error.code)) {
            (StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::GONE, None) => {
                CardFailure::NotFound { tried: vec![uri.clone()] }
            }
            (status, Some(code)) if status.is_success() => {
                not_json(head, uri, format_args!("the error {code} instead of a card"))
            }
            (status, None) if status.is_success() => not_json(head, uri, "no JSON-RPC result for the request"),
            _ => self.of_status(head, uri, sent),
        }
    }

    pub(super) fn of_status(&self, head: &Parts, uri: &Uri, sent: Millis) -> CardFailure {
        CardFailure::HttpStatus {
            status: head.status,
            location: Box::new(uri.clone()),
            retry_after: times::retry_after(&head.headers, self.clock.date(sent)),
        }
    }
}

/// There is no extended card, whatever the public one says (§3.1.11, §3.3.4).
pub(super) fn is_none_there(kind: A2aError) -> bool {
    matches!(kind, A2aError::ExtendedAgentCardNotConfigured | A2aError::UnsupportedOperation | A2aError::MethodNotFound)
}

/// The card in a JSON-RPC answer to the question with the id 1, as its bytes stand there. Some servers turn ids into
/// text.
pub(super) fn result_of(bytes: &Bytes) -> Option<Bytes> {
    let envelope: Envelope<'_> = serde_json::from_slice(bytes).ok()?;
    let id = envelope.id?;
    let is_ours = id.as_i64() == Some(1) || id.as_str() == Some("1");
    // Exactly one of them (JSON-RPC 2.0 §5); one that is null is none.
    let has_error = envelope.error.is_some_and(|error| error.get() != "null");
    let result = envelope.result.filter(|result| is_ours && !has_error && result.get() != "null")?;
    Some(bytes.slice_ref(result.get().as_bytes()))
}

/// A guarded client types what the agent says, and what it does not.
pub(super) fn of_client(error: BoxError, uri: &Uri) -> CardFailure {
    let error = match recognise(error) {
        Ok(error) => error,
        Err(error) => return lost(error),
    };
    if error.a2a_error().is_some_and(is_none_there) || error.class() == Class::EndpointNotFound {
        return CardFailure::NotFound { tried: vec![uri.clone()] };
    }
    if error.call().binding() == Some(Binding::Grpc)
        && let Some(code) = error.grpc_code()
    {
        return grpc::of_code(code, error.a2a_error(), error.retry_after(), uri);
    }
    let headers = error.response().map(|response| &response.headers);
    let location = Box::new(uri.clone());
    match (error.class(), error.http_status()) {
        (Class::Auth, Some(status)) => CardFailure::Unauthorized {
            status,
            location,
            www_authenticate: headers.and_then(|headers| text(headers, &WWW_AUTHENTICATE)),
        },
        (_, Some(status)) if !status.is_success() => {
            CardFailure::HttpStatus { status, location, retry_after: error.retry_after() }
        }
        (class, Some(status)) => CardFailure::NotJson {
            status,
            content_type: headers.and_then(|headers| text(headers, &CONTENT_TYPE)),
            location,
            why: match error.code() {
                Some(code) => format!("the error {code} instead of a card"),
                None => format!("{class} instead of a card"),
            },
        },
        _ => lost(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_card_is_cut_out_of_its_envelope() {
        let result = |text: &'static str| result_of(&Bytes::from_static(text.as_bytes()));
        let card = r#"{"name": "A"}"#;
        assert_eq!(result(r#"{"jsonrpc":"2.0","id":1,"result":{"name": "A"}}"#).unwrap(), card);
        assert_eq!(result(r#"{"result": {"name": "A"} ,"id":"1","error":null}"#).unwrap(), card);
        for none in [
            r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32007,"message":"no"}}"#,
            r#"{"id":1,"result":{}"#,
            r#"{"id":1,"result":{},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-32007,"message":"no"}}"#,
            "[]",
        ] {
            assert_eq!(result(none), None, "{none}");
        }
    }
}
