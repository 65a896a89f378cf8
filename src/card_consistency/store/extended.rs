//! The extended card, which an agent shows to those whose credentials it knows (A2A 1.0 §3.1.11).
//!
//! It stands beside the public one, for one credential, and in for it. Whatever goes wrong with it leaves the public one.

mod grpc;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, Version,
    header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, TE, WWW_AUTHENTICATE},
    response::Parts,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout};

use super::{
    CardAsk, CardKeyRef, CardStore, HeldCard, Inner, VerifiedTransport,
    exchange::{VERSION, check_media_type, lost, not_json, text, unauthorized},
    freshness::{self, Freshness},
    get::{FlightKey, Landed},
    held::{self, Lease, Validators},
    key::Scope,
    refused::Refused,
    search::of_flaw,
    shelf::Slot,
    witness::Witness,
};
use crate::{
    call::{Binding, Call, Capability, Operation, ProtocolVersion},
    card::{AgentCard, AgentInterface},
    clock::{Millis, span},
    error::{BoxError, CardFailure, recognise},
    flights::{Joined, Landing, join},
    outcome::Class,
    wire::{A2aError, JsonRpcId, MediaType, PeerError},
};

/// What the call activates, its question activates too: an agent may insist.
const EXTENSIONS: [HeaderName; 2] =
    [HeaderName::from_static("a2a-extensions"), HeaderName::from_static("x-a2a-extensions")];

/// `GetExtendedAgentCard`, as the call would be written that wants the card.
#[derive(Clone, Debug)]
pub(in crate::card_consistency) struct ExtendedCall {
    pub(in crate::card_consistency) method: Method,
    /// At the call's own target, so that its credentials go nowhere else.
    pub(in crate::card_consistency) uri: Uri,
    /// Of JSON-RPC, with the id 1; of gRPC, one message.
    pub(in crate::card_consistency) body: Bytes,
    pub(in crate::card_consistency) binding: Binding,
    pub(in crate::card_consistency) version: ProtocolVersion,
}

impl ExtendedCall {
    /// The part of the agent's address that no key of a public card has.
    fn query(&self) -> Option<&str> {
        self.uri.query().filter(|_| self.binding == Binding::JsonRpc)
    }
}

/// Which of the agents of a public card is asked. Where its URLs have no query, calls may have in theirs what they like.
fn agent_of<'a>(at: CardKeyRef<'a>, public: &HeldCard) -> CardKeyRef<'a> {
    let has_query = |interface: &AgentInterface| interface.parsed_url().is_ok_and(|url| url.query().is_some());
    if at.query.is_some() && !public.card().interfaces().iter().any(has_query) { at.with_query(None) } else { at }
}

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

/// What was asked and came back.
struct Answer {
    head: Parts,
    card: Bytes,
    sent: Millis,
}

impl CardStore {
    /// The card that counts for a call whose public card is held: that, or the extended one. `None` if the agent has to
    /// be asked.
    pub(in crate::card_consistency) fn stands_in(
        &self,
        at: &CardKeyRef<'_>,
        public: Arc<HeldCard>,
        now: Instant,
    ) -> Option<Arc<HeldCard>> {
        self.inner.stands_in(at, public, now)
    }
}

impl Inner {
    fn stands_in(&self, at: &CardKeyRef<'_>, public: Arc<HeldCard>, now: Instant) -> Option<Arc<HeldCard>> {
        let keying = self.shelf.keying();
        if !public.card().declares(Capability::ExtendedAgentCard) || !keying.has_credentials(at.headers) {
            return Some(public);
        }
        let now = self.clock.millis(now);
        match self.shelf.extended(&agent_of(*at, &public))? {
            Slot::Card(card) if card.is_fresh_at(now) && card.stands_in_for(&public) => Some(card),
            Slot::Refused(refused) if refused.holds(now) => Some(public),
            _ => None,
        }
    }

    /// The extended card, asked for if need be, or the public one.
    pub(super) async fn extended(self: Arc<Self>, ask: Arc<CardAsk>, public: Arc<HeldCard>) -> Arc<HeldCard> {
        let Some(call) = ask.extend.as_ref().and_then(|extend| extend(public.card())) else {
            return public;
        };
        // Once more, if what landed was asked for by an older card than ours.
        for _ in 0..2 {
            let at = agent_of(ask.key().with_query(call.query()), &public);
            if let Some(card) = self.stands_in(&at, Arc::clone(&public), Instant::now()) {
                return card;
            }
            let key = (self.shelf.key(&at, Scope::EXTENDED), false);
            let waiting = match self.flights.find(&key) {
                Some(waiting) => waiting,
                None => {
                    let Some(turn) = self.turns.take(&ask.target).await else { return public };
                    match join(&self.flights, key) {
                        Joined::Later(waiting) => waiting,
                        Joined::First(landing, waiting) => {
                            let (this, ask, public, call) =
                                (Arc::clone(&self), Arc::clone(&ask), Arc::clone(&public), call.clone());
                            tokio::spawn(async move {
                                this.lead_extended(landing, &ask, public, &call).await;
                                drop(turn);
                            });
                            waiting
                        }
                    }
                }
            };
            match waiting.await.map(|landed| landed.result.clone()) {
                Ok(Ok(card)) if card.stands_in_for(&public) => return card,
                Ok(Ok(_)) => {}
                Ok(Err(_)) | Err(_) => return public,
            }
        }
        public
    }

    async fn lead_extended(
        &self,
        landing: Landing<FlightKey, Arc<Landed>>,
        ask: &CardAsk,
        public: Arc<HeldCard>,
        call: &ExtendedCall,
    ) {
        let at = agent_of(ask.key().with_query(call.query()), &public);
        let landed = |result| {
            let credential = self.shelf.keying().credential(&ask.headers);
            Arc::new(Landed { scope: Scope::EXTENDED, credential, version: ask.version, judge: None, result })
        };
        // Another flight may have landed between our look and our joining.
        if let Some(card) = self.stands_in(&at, Arc::clone(&public), Instant::now()) {
            return landing.land(landed(Ok(card)));
        }
        self.stats.count(&self.stats.searches);
        let asked = self.clock.millis(Instant::now());
        let before = self.shelf.extended(&at);
        let doubted = match &before {
            Some(Slot::Card(card)) => Some(card).filter(|card| card.is_distrusted()),
            _ => None,
        };
        if doubted.is_some() {
            self.stats.count(&self.stats.forced);
        }
        let generation = self.shelf.generation();
        let bound = self.settings.fetch_timeout;
        let question = async {
            let answer = self.put_question(ask, call, doubted.is_some()).await?;
            self.believe(ask, call, answer).await
        };
        let result = match timeout(bound, question).await {
            Ok(result) => result,
            Err(_) => Err(CardFailure::FetchTimeout { bound }),
        };
        let result = match result {
            Ok((mut parts, keep)) => {
                let earlier = match &before {
                    Some(Slot::Card(card)) => card.forced_at(),
                    _ => None,
                };
                parts.asked = asked;
                parts.forced = doubted.map(|_| asked).or(earlier);
                parts.base = Some(public);
                let card = self.hold(parts);
                if keep {
                    self.keep_extended(generation, &at, Slot::Card(Arc::clone(&card)));
                }
                Ok(card)
            }
            Err(failure) => {
                self.stats.count(&self.stats.failures);
                let before = match &before {
                    Some(Slot::Refused(refused)) => Some(&**refused),
                    _ => None,
                };
                let (ttl, now) = (&self.settings.negative_ttl, self.clock.millis(Instant::now()));
                // One layer's word is remembered for all: what it costs another layer is the public card.
                let refused = Refused::new(failure.clone(), ttl, before, asked, now);
                self.keep_extended(generation, &at, Slot::Refused(Arc::new(refused)));
                Err(failure)
            }
        };
        landing.land(landed(result));
    }

    fn keep_extended(&self, generation: u64, at: &CardKeyRef<'_>, slot: Slot) {
        self.shelf.write(generation, |shelf| {
            if let Some(shelf) = shelf {
                shelf.put_extended(at, slot);
            }
        });
    }

    async fn put_question(&self, ask: &CardAsk, call: &ExtendedCall, forced: bool) -> Result<Answer, CardFailure> {
        self.stats.count(&self.stats.requests);
        let sent = self.clock.millis(Instant::now());
        let request = self.extended_request(ask, call, forced);
        let response = self.client.send(request).await.map_err(|error| of_client(error, &call.uri))?;
        let (head, body) = response.into_parts();
        if matches!(head.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(unauthorized(&head, &call.uri));
        }
        if call.binding == Binding::Grpc {
            return self.grpc_answer(call, head, body, sent).await;
        }
        if head.status.is_success() {
            check_media_type(&head, &call.uri, self.settings.strict)?;
        }
        let bytes = self.read(body, &call.uri).await.map_err(|failure| match failure {
            // What a failure has to say may be as long as it likes.
            CardFailure::TooLarge { .. } if !head.status.is_success() => self.of_status(&head, &call.uri, sent),
            failure => failure,
        })?;
        let card = match call.binding {
            _ if !head.status.is_success() => None,
            Binding::JsonRpc => result_of(&bytes),
            _ => Some(bytes.clone()),
        };
        match card {
            Some(card) => Ok(Answer { head, card, sent }),
            None => Err(self.refusal(&head, &bytes, &call.uri, sent)),
        }
    }

    fn extended_request(&self, ask: &CardAsk, call: &ExtendedCall, forced: bool) -> Request<Bytes> {
        let mut request = Request::new(call.body.clone());
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = call.uri.clone();
        if call.binding == Binding::Grpc {
            *request.version_mut() = Version::HTTP_2;
        }
        // A guarded client is told what it guards.
        let named = Call::new()
            .with_operation(Operation::GetExtendedAgentCard)
            .with_binding(call.binding)
            .with_version(call.version);
        let named = if call.binding == Binding::JsonRpc { named.with_id(JsonRpcId::Number(1)) } else { named };
        request.extensions_mut().insert(named);
        let headers = request.headers_mut();
        if call.binding == Binding::Grpc {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
            headers.insert(TE, HeaderValue::from_static("trailers"));
        } else {
            headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
            if !call.body.is_empty() {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
        }
        if call.version == ProtocolVersion::V1_0 {
            headers.insert(VERSION, HeaderValue::from_static("1.0"));
        }
        if forced {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        let keying = self.shelf.keying();
        for name in keying.tenant_headers.iter().chain(&keying.credential_headers).chain(&EXTENSIONS) {
            for value in ask.headers.get_all(name) {
                headers.append(name.clone(), value.clone());
            }
        }
        request
    }

    /// Whether what came is the agent's card: the checks that every card goes through.
    async fn believe(
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

    /// How long it stands in. It is for the session, or until the card's version changes (§3.1.11), and like all cards at
    /// most for the store's `max_age`. What an answer over HTTP+JSON says about being kept counts; over JSON-RPC and gRPC it
    /// would say it of the answer to a POST.
    fn lifetime(&self, call: &ExtendedCall, headers: &HeaderMap, sent: Millis) -> (Duration, bool) {
        let max = self.settings.max_age;
        if call.binding != Binding::HttpJson {
            return (max, true);
        }
        let freshness = Freshness::of(headers, self.clock.date(sent));
        (freshness.lifetime_or(max).min(max), !freshness.no_store)
    }

    /// Why there is no card in an answer.
    fn refusal(&self, head: &Parts, bytes: &Bytes, uri: &Uri, sent: Millis) -> CardFailure {
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

    fn of_status(&self, head: &Parts, uri: &Uri, sent: Millis) -> CardFailure {
        CardFailure::HttpStatus {
            status: head.status,
            location: Box::new(uri.clone()),
            retry_after: freshness::retry_after(&head.headers, self.clock.date(sent)),
        }
    }
}

/// There is no extended card, whatever the public one says (§3.1.11, §3.3.4).
fn is_none_there(kind: A2aError) -> bool {
    matches!(kind, A2aError::ExtendedAgentCardNotConfigured | A2aError::UnsupportedOperation | A2aError::MethodNotFound)
}

/// The card in a JSON-RPC answer to the question with the id 1, as its bytes stand there. Some servers turn ids into text.
fn result_of(bytes: &Bytes) -> Option<Bytes> {
    let envelope: Envelope<'_> = serde_json::from_slice(bytes).ok()?;
    let id = envelope.id?;
    let is_ours = id.as_i64() == Some(1) || id.as_str() == Some("1");
    // Exactly one of them (JSON-RPC 2.0 §5); one that is null is none.
    let has_error = envelope.error.is_some_and(|error| error.get() != "null");
    let result = envelope.result.filter(|result| is_ours && !has_error && result.get() != "null")?;
    Some(bytes.slice_ref(result.get().as_bytes()))
}

/// A guarded client types what the agent says, and what it does not.
fn of_client(error: BoxError, uri: &Uri) -> CardFailure {
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
