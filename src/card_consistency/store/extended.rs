//! The extended card, which an agent shows to those whose credentials it knows (A2A 1.0 §3.1.11).
//!
//! It stands beside the public one, for one credential, and in for it. Whatever goes wrong with it leaves the public
//! one.

mod answer;
mod grpc;
mod question;

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Uri, response::Parts};
use tokio::time::{Instant, timeout};

use super::{
    CardAsk, CardKeyRef, CardStore, HeldCard, Inner,
    get::{FlightKey, Landed},
    key::Scope,
    refused::Refused,
    shelf::Slot,
};
use crate::{
    call::{Binding, Capability, ProtocolVersion},
    card::AgentInterface,
    clock::Millis,
    error::CardFailure,
    flights::{Joined, Landing, join},
};

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

/// Which of the agents of a public card is asked. Where its URLs have no query, calls may have in theirs what they
/// like.
fn agent_of<'a>(at: CardKeyRef<'a>, public: &HeldCard) -> CardKeyRef<'a> {
    let has_query = |interface: &AgentInterface| interface.parsed_url().is_ok_and(|url| url.query().is_some());
    if at.query.is_some() && !public.card().interfaces().iter().any(has_query) { at.with_query(None) } else { at }
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
}
