//! Asks one location after the other, and judges what comes.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, Uri, response::Parts};

use super::{
    CardAsk, CardEvidence, HeldCard, Inner, VerifiedTransport,
    exchange::{Answer, Question, VERSION, not_json},
    freshness::{self, Freshness},
    held::{self, Lease, Validators},
    key::{Credential, Scope},
    location::{CardTarget, Location, locations},
};
use crate::{
    card::{AgentCard, CardFlaw},
    clock::{Millis, span},
    error::CardFailure,
};

/// How a search is made.
#[derive(Clone)]
pub(super) struct Plan {
    /// The card that stands, to be renewed if it is still the one.
    pub(super) before: Option<Arc<HeldCard>>,
    /// Past every cache.
    pub(super) forced: bool,
    /// Where to begin, and with credentials: it answered 401 without them a moment ago.
    pub(super) challenged: Option<Uri>,
    /// When it begins.
    pub(super) asked: Millis,
}

/// What a search has learned, even if it does not come to its end.
#[derive(Debug, Default)]
pub(super) struct Learned {
    pub(super) scope: Scope,
    pub(super) challenge: Option<(Uri, CardFailure)>,
    /// It failed because cards that were found do not count for who asks.
    pub(super) judged: bool,
}

/// A card that was found.
pub(super) enum Got {
    New { parts: Box<held::Parts>, keep: bool },
    Renewed { card: Arc<HeldCard>, headers: HeaderMap, lease: Lease, keep: bool },
}

/// Why an answer is no card for the target.
enum Unfit {
    /// It is another target's: the next location may have the right one.
    Other(CardFailure),
    /// It is none.
    Bad(CardFailure),
}

/// What servers answer to a path that they do not know, other than 404: a page for people, or what an authentication in
/// front of the agent makes of a request without a token. A server that is in trouble, or says no, is another matter:
/// who goes on then ends at the card of all agents together.
fn is_no_card(failure: &CardFailure) -> bool {
    match failure {
        CardFailure::NotJson { .. } => true,
        CardFailure::HttpStatus { status, .. } => *status == StatusCode::BAD_REQUEST,
        _ => false,
    }
}

impl Inner {
    pub(super) async fn search(&self, ask: &CardAsk, plan: &Plan, learned: &mut Learned) -> Result<Got, CardFailure> {
        let target = CardTarget { uri: &ask.target, tenant: ask.tenant.as_deref() };
        let locations = locations(target, self.settings.template.as_ref(), self.settings.legacy_location)?;
        let start = plan.challenged.as_ref().and_then(|uri| locations.iter().position(|there| there.uri == *uri));
        let mut tried = Vec::new();
        let mut another: Option<CardFailure> = None;
        let mut guess: Option<CardFailure> = None;
        let mut knows_the_name = false;
        for (index, location) in locations.iter().enumerate().skip(start.unwrap_or(0)) {
            // The older name is for agents that do not know the current one: they answer it with 404.
            if location.legacy && (another.is_some() || knows_the_name) {
                break;
            }
            tried.push(location.uri.clone());
            let answer = match self.ask(ask, plan, location, start == Some(index), learned).await {
                Err(failure) if location.guessed && is_no_card(&failure) => {
                    guess.get_or_insert(failure);
                    continue;
                }
                answer => answer?,
            };
            match answer {
                Answer::NotModified { headers, transport, sent } => {
                    if let Some(card) = &plan.before {
                        return self.renewed(plan, card, &headers, transport, sent, learned).await;
                    }
                }
                Answer::Card { head, body, sent } => match self.judge(ask, location, &head, body).await {
                    Ok(read) => return Ok(self.found(plan, location, &head, read, sent, learned)),
                    Err(Unfit::Other(failure)) => another = Some(failure.found_at(&location.uri)),
                    Err(Unfit::Bad(failure)) => return Err(failure),
                },
                Answer::Missing(status) => {
                    knows_the_name |= !location.legacy && status != StatusCode::NOT_FOUND;
                }
                Answer::Challenge(_) => {}
            }
        }
        learned.judged = another.is_some();
        Err(another.or(guess).unwrap_or(CardFailure::NotFound { tried }))
    }

    /// Asks one location: without credentials, then, if it wants them, with the call's.
    async fn ask(
        &self,
        ask: &CardAsk,
        plan: &Plan,
        location: &Location,
        challenged: bool,
        learned: &mut Learned,
    ) -> Result<Answer, CardFailure> {
        let has_credentials = self.shelf.keying().credential(&ask.headers) != Credential::NONE;
        let mut credentials = challenged && has_credentials && location.own;
        learned.scope.credential |= credentials;
        let standing = plan.before.as_ref().filter(|card| !plan.forced && *card.location() == location.uri);
        let mut unless = standing.map(|card| &card.validators).filter(|validators| !validators.is_empty());
        loop {
            let question = Question { location, ask, credentials, unless, forced: plan.forced };
            match self.exchange(question).await? {
                Answer::Challenge(failure) => {
                    if !location.own {
                        return Err(failure);
                    }
                    learned.scope.credential = true;
                    if credentials || !has_credentials {
                        if !credentials {
                            learned.challenge = Some((location.uri.clone(), failure.clone()));
                        }
                        return Err(failure);
                    }
                    learned.challenge = Some((location.uri.clone(), failure));
                    credentials = true;
                }
                // About another card than the one we have: that one is no good, whatever this one is.
                Answer::NotModified { headers, .. } if unless.is_some_and(|ours| !ours.admit(&headers)) => {
                    unless = None
                }
                answer => return Ok(answer),
            }
        }
    }

    async fn judge(&self, ask: &CardAsk, location: &Location, head: &Parts, body: Bytes) -> Result<Read, Unfit> {
        let card = AgentCard::read(&body).map_err(|flaw| Unfit::Bad(of_flaw(flaw, head, &location.uri)))?;
        if let Some(counts) = &ask.counts {
            counts(&card).map_err(Unfit::Other)?;
        }
        let transport = head.extensions.get::<VerifiedTransport>().cloned();
        self.verify(&card, &body, &location.uri, transport.as_ref()).await.map_err(Unfit::Bad)?;
        Ok(Read { card, bytes: body, transport })
    }

    /// What the configuration asks of a card, beyond being one.
    pub(super) async fn verify(
        &self,
        card: &AgentCard,
        bytes: &Bytes,
        location: &Uri,
        transport: Option<&VerifiedTransport>,
    ) -> Result<(), CardFailure> {
        if self.settings.strict {
            card.strict().map_err(|warning| CardFailure::MissingField {
                field: warning.path().to_owned(),
                why: format!("is not as it should be: {}", warning.what()),
                location: Some(Box::new(location.clone())),
            })?;
        }
        match &self.settings.verifier {
            Some(verifier) => {
                let evidence = CardEvidence { bytes, card, location, transport };
                verifier.verify(evidence).await.map_err(|why| CardFailure::Signature { why })
            }
            None => Ok(()),
        }
    }

    fn found(
        &self,
        plan: &Plan,
        location: &Location,
        head: &Parts,
        Read { card, bytes, transport }: Read,
        sent: Millis,
        learned: &mut Learned,
    ) -> Got {
        let (lease, keep) = self.lease(&head.headers, sent, learned);
        let forced =
            if plan.forced { Some(plan.asked) } else { plan.before.as_ref().and_then(|card| card.forced_at()) };
        // What was seen of the agent is not undone by a newer card, unless there is a reason to ask.
        let before = plan.before.as_ref().filter(|_| !plan.forced);
        let parts = held::Parts {
            card,
            bytes,
            location: location.uri.clone(),
            legacy: location.legacy,
            private: learned.scope.credential,
            transport,
            base: None,
            witness: before.map(|card| card.witness.clone()).unwrap_or_default(),
            validators: Validators::of(&head.headers),
            stored: freshness::kept(&head.headers),
            asked: plan.asked,
            forced,
            lease,
        };
        Got::New { parts: Box::new(parts), keep }
    }

    /// The card that stands, confirmed: if it is still vouched for. Keys are revoked, and whoever has one that was may
    /// say for ever that nothing changed.
    async fn renewed(
        &self,
        plan: &Plan,
        card: &Arc<HeldCard>,
        not_modified: &HeaderMap,
        transport: Option<VerifiedTransport>,
        sent: Millis,
        learned: &mut Learned,
    ) -> Result<Got, CardFailure> {
        let transport = common(card.transport(), transport);
        self.verify(card.card(), card.bytes(), card.location(), transport.as_ref()).await?;
        let headers = card.updated_by(not_modified);
        let (lease, keep) = self.lease(&headers, sent, learned);
        learned.scope.credential |= card.is_private();
        if transport.as_ref() == card.transport() {
            return Ok(Got::Renewed { card: Arc::clone(card), headers, lease, keep });
        }
        let parts = held::Parts {
            card: card.card().clone(),
            bytes: card.bytes().clone(),
            location: card.location().clone(),
            legacy: card.is_legacy(),
            private: learned.scope.credential,
            transport,
            base: None,
            witness: card.witness.clone(),
            validators: card.validators.clone(),
            stored: freshness::kept(&headers),
            asked: plan.asked,
            forced: card.forced_at(),
            lease,
        };
        Ok(Got::New { parts: Box::new(parts), keep })
    }

    /// How long an answer holds, counted from its request, and whether it may be kept at all; for whom, is learned.
    fn lease(&self, headers: &HeaderMap, sent: Millis, learned: &mut Learned) -> (Lease, bool) {
        let freshness = Freshness::of(headers, self.clock.date(sent));
        let keying = self.shelf.keying();
        let by_credential = freshness::varies_by(headers, keying.credential_headers.iter());
        let by_version = freshness::varies_by(headers, [&VERSION].into_iter());
        // What varies by everything varies by these.
        learned.scope.credential |= freshness.private || by_credential != Some(false);
        learned.scope.version |= by_version != Some(false);
        let lifetime = match by_version {
            // It varies by everything: it must be asked for again each time.
            None => std::time::Duration::ZERO,
            Some(_) => freshness.lifetime_or(self.settings.default_ttl).min(self.settings.max_age),
        };
        let lease = Lease {
            fetched: sent,
            fresh_until: sent.saturating_add(span(lifetime)),
            // Nor may it stand in for an answer: nobody knows whose it is (RFC 9111 §4.1).
            may_be_stale: freshness.may_be_stale && by_version.is_some(),
        };
        (lease, !freshness.no_store)
    }
}

/// What was verified of the connection that a card came over, and of the one by which it is said to be the same still.
fn common(card: Option<&VerifiedTransport>, renewal: Option<VerifiedTransport>) -> Option<VerifiedTransport> {
    let renewal = renewal?;
    card.filter(|card| card.host().eq_ignore_ascii_case(renewal.host())).cloned()
}

struct Read {
    card: AgentCard,
    bytes: Bytes,
    transport: Option<VerifiedTransport>,
}

/// A flaw of what was read, with what the head says where that matters.
pub(super) fn of_flaw(flaw: CardFlaw, head: &Parts, location: &Uri) -> CardFailure {
    match flaw {
        CardFlaw::NotJson(_) | CardFlaw::RepeatedField { .. } => not_json(head, location, flaw),
        flaw => CardFailure::of(flaw, location),
    }
}
