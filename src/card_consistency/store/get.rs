//! From a call's wish to a card: what stands, what is on its way, or a search.

use std::sync::Arc;

use tokio::time::{Instant, timeout};

use super::{
    CardAsk, CardKeyRef, HeldCard, Inner,
    key::{CardKey, Credential, Judge, Scope},
    refused::{Refused, is_outage, is_passing, is_word},
    search::{Got, Learned, Plan},
    shelf::{Challenge, Found, Slot},
};
use crate::{
    call::ProtocolVersion,
    clock::{Millis, span},
    error::CardFailure,
    flights::{Joined, Landing, Lost, Waiting, join},
    outcome::Class,
    turns::Turn,
};

/// What a flight is for: a key, and whether it goes past every cache.
pub(super) type FlightKey = (CardKey, bool);

/// What a search came to, for all who waited for it.
pub(super) struct Landed {
    /// For whom: those who are like the one who asked, within this scope.
    pub(super) scope: Scope,
    pub(super) credential: Credential,
    pub(super) version: Option<ProtocolVersion>,
    pub(super) judge: Option<Judge>,
    pub(super) result: Result<Arc<HeldCard>, CardFailure>,
}

/// Why a card is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// A call needs it.
    Call,
    /// Somebody wants it anew, whatever stands.
    Refresh,
}

/// What to do about a wish.
enum Next {
    Done(Result<Arc<HeldCard>, CardFailure>),
    /// Use this one, and have it renewed meanwhile.
    Behind(Arc<HeldCard>, Plan),
    Search(Plan),
}

impl Inner {
    pub(super) async fn get(self: Arc<Self>, ask: CardAsk, wish: Wish) -> Result<Arc<HeldCard>, CardFailure> {
        let (bound, began, ask) = (ask.bound, Instant::now(), Arc::new(ask));
        let public = match timeout(bound, Arc::clone(&self).resolve(Arc::clone(&ask), wish)).await {
            Ok(result) => result?,
            Err(_) => return Err(CardFailure::FetchTimeout { bound }),
        };
        if ask.extend.is_none() || wish != Wish::Call {
            return Ok(public);
        }
        // Who cannot wait any longer goes by the public one.
        let left = bound.saturating_sub(began.elapsed());
        Ok(timeout(left, self.extended(ask, Arc::clone(&public))).await.unwrap_or(public))
    }

    async fn resolve(self: Arc<Self>, ask: Arc<CardAsk>, wish: Wish) -> Result<Arc<HeldCard>, CardFailure> {
        let mut lost = Lost::Cancelled;
        let mut narrow = false;
        // At most: somebody else's card, then our own; and once more, if the runtime that was fetching ended.
        for _ in 0..3 {
            let found = self.shelf.find(&ask.key());
            let (scope, plan) = match self.next(&ask, found, wish) {
                (_, Next::Done(result)) => return result,
                (scope, Next::Behind(card, plan)) => {
                    self.renew_behind(&ask, scope, plan);
                    return Ok(card);
                }
                (scope, Next::Search(plan)) => (scope, plan),
            };
            let key = match narrow {
                true => self.shelf.key(&ask.key().judged_by(ask.judge), Scope::FULL),
                false => self.shelf.key(&ask.key(), scope),
            };
            let key = (key, plan.forced);
            match self.fly(key, &ask, wish, plan).await {
                Ok(landed) if self.is_for(&landed, &ask) => return landed.result.clone(),
                // With all that can matter in the key, the next flight is ours alone.
                Ok(_) => narrow = true,
                Err(Lost::Cancelled) => {}
                Err(Lost::Panicked) => {
                    lost = Lost::Panicked;
                    break;
                }
            }
        }
        Err(broken(lost))
    }

    fn is_for(&self, landed: &Landed, ask: &CardAsk) -> bool {
        (!landed.scope.version || landed.version == ask.version)
            && (!landed.scope.credential || landed.credential == self.shelf.keying().credential(&ask.headers))
            && (landed.judge == ask.judge || !landed.result.as_ref().is_err_and(is_word))
    }

    /// That no card counts for a call, if that is remembered and was found after the card that stands.
    pub(super) fn word(&self, at: &CardKeyRef<'_>, card: Option<&HeldCard>, now: Millis) -> Option<Arc<Refused>> {
        let word = at.judge.and_then(|_| self.shelf.find(at).refused)?;
        (word.holds(now) && card.is_none_or(|card| card.asked < word.asked)).then_some(word)
    }

    fn next(&self, ask: &CardAsk, found: Found, wish: Wish) -> (Scope, Next) {
        let now = self.clock.millis(Instant::now());
        let Found { scope, card, refused, challenge } = found;
        let challenge = challenge.filter(|challenge| now < challenge.until);
        let challenged = challenge.as_ref().map(|challenge| challenge.location.clone());
        let mut plan = Plan { before: card.clone(), forced: wish == Wish::Refresh, challenged, asked: now };
        if plan.forced {
            return (scope, Next::Search(plan));
        }
        if card.as_ref().is_none_or(|card| !card.is_fresh_at(now))
            && let Some(word) = self.word(&ask.key().judged_by(ask.judge), card.as_deref(), now)
        {
            self.stats.count(&self.stats.remembered);
            return (scope, Next::Done(Err(word.failure.clone())));
        }
        let Some(card) = card else {
            let anonymous = || self.shelf.keying().credential(&ask.headers) == Credential::NONE;
            let failure = match (refused.filter(|refused| refused.holds(now)), challenge) {
                (Some(refused), _) => refused.failure.clone(),
                (None, Some(challenge)) if anonymous() => challenge.failure,
                _ => return (scope, Next::Search(plan)),
            };
            self.stats.count(&self.stats.remembered);
            return (scope, Next::Done(Err(failure)));
        };
        if card.is_fresh_at(now) {
            return (scope, Next::Done(Ok(card)));
        }
        if let Some(trouble) = card.trouble().filter(|trouble| trouble.holds(now)) {
            self.stats.count(&self.stats.remembered);
            return (scope, Next::Done(self.in_spite_of(trouble.failure, &card, now)));
        }
        if card.must_be_forced(now) {
            plan.forced = true;
            return (scope, Next::Search(plan));
        }
        match self.settings.stale_while_revalidate {
            Some(reach) if card.is_usable_for(reach, now) => (scope, Next::Behind(card, plan)),
            _ => (scope, Next::Search(plan)),
        }
    }

    /// The card that stands, where an option lets it stand in for an answer that did not come.
    fn in_spite_of(
        &self,
        failure: CardFailure,
        card: &Arc<HeldCard>,
        now: Millis,
    ) -> Result<Arc<HeldCard>, CardFailure> {
        match self.settings.stale_if_error {
            Some(reach) if is_outage(&failure) && card.is_usable_for(reach, now) => Ok(Arc::clone(card)),
            _ => Err(failure),
        }
    }

    /// Joins the flight, or starts it. It goes on without whoever started it.
    async fn fly(
        self: &Arc<Self>,
        key: FlightKey,
        ask: &Arc<CardAsk>,
        wish: Wish,
        plan: Plan,
    ) -> Result<Arc<Landed>, Lost> {
        if let Some(waiting) = self.flights.find(&key) {
            self.stats.count(&self.stats.joined);
            return waiting.await;
        }
        // So many searches at once, and no more: that bounds the flights as well. Whoever waits here has not begun one.
        let Some(turn) = self.turns.take(&ask.target).await else { return Err(Lost::Cancelled) };
        self.start(key, ask, wish, plan, turn).await
    }

    fn start(
        self: &Arc<Self>,
        key: FlightKey,
        ask: &Arc<CardAsk>,
        wish: Wish,
        plan: Plan,
        turn: Turn,
    ) -> Waiting<Arc<Landed>> {
        match join(&self.flights, key) {
            Joined::Later(waiting) => {
                self.stats.count(&self.stats.joined);
                waiting
            }
            Joined::First(landing, waiting) => {
                let (this, ask) = (Arc::clone(self), Arc::clone(ask));
                tokio::spawn(async move {
                    this.lead(landing, &ask, wish, plan).await;
                    drop(turn);
                });
                waiting
            }
        }
    }

    fn renew_behind(self: &Arc<Self>, ask: &Arc<CardAsk>, scope: Scope, plan: Plan) {
        let key = (self.shelf.key(&ask.key(), scope), plan.forced);
        // If as many searches as may be are under way, the next call tries again.
        if let Some(turn) = self.turns.try_take(&ask.target) {
            drop(self.start(key, ask, Wish::Call, plan, turn));
        }
    }

    async fn lead(&self, landing: Landing<FlightKey, Arc<Landed>>, ask: &CardAsk, wish: Wish, plan: Plan) {
        let credential = self.shelf.keying().credential(&ask.headers);
        let landed =
            |scope, result| Arc::new(Landed { scope, credential, version: ask.version, judge: ask.judge, result });
        // Another flight may have landed between our look and our joining.
        let plan = match self.next(ask, self.shelf.find(&ask.key()), wish) {
            (scope, Next::Done(result)) => return landing.land(landed(scope, result)),
            (_, Next::Search(now) | Next::Behind(_, now)) => Plan { forced: plan.forced, ..now },
        };
        self.stats.count(&self.stats.searches);
        if plan.forced {
            self.stats.count(&self.stats.forced);
        }
        let generation = self.shelf.generation();
        let mut learned = Learned::default();
        let bound = self.settings.fetch_timeout;
        let result = match timeout(bound, self.search(ask, &plan, &mut learned)).await {
            Ok(result) => result,
            Err(_) => Err(CardFailure::FetchTimeout { bound }),
        };
        let scope = learned.scope;
        let result = self.settle(ask, &plan, generation, learned, result);
        landing.land(landed(scope, result));
    }

    /// Keeps what a search came to.
    fn settle(
        &self,
        ask: &CardAsk,
        plan: &Plan,
        generation: u64,
        learned: Learned,
        result: Result<Got, CardFailure>,
    ) -> Result<Arc<HeldCard>, CardFailure> {
        let now = self.clock.millis(Instant::now());
        let at = ask.key();
        let ttl = &self.settings.negative_ttl;
        let challenge = learned.challenge.map(|(location, failure)| Challenge {
            location,
            failure,
            until: now.saturating_add(span(ttl.unauthorized)),
        });
        self.shelf.write(generation, |shelf| {
            let standing = self.shelf.find(&at);
            // What is public is so for all. Everything else adds to what is known to decide.
            let within = |scope: Scope| {
                if scope.is_narrow() { scope.and(standing.scope) } else { scope }
            };
            let got = result.map(|got| match got {
                Got::New { parts, keep } => (self.hold(*parts), keep),
                Got::Renewed { card, headers, lease, keep } => {
                    card.renew(headers, lease);
                    (card, keep)
                }
            });
            let failure = match got {
                Ok((card, keep)) => {
                    match shelf {
                        Some(shelf) if keep => {
                            shelf.put_within(&at, within(learned.scope), Slot::Card(Arc::clone(&card)), challenge);
                        }
                        Some(shelf) => shelf.drop_within(&at, standing.scope),
                        None => {}
                    }
                    return Ok(card);
                }
                Err(failure) => failure,
            };
            self.stats.count(&self.stats.failures);
            let scope = learned.scope.and(standing.scope);
            // Remembered for those who would say the same. For all others, there is nothing.
            let word = at.judged_by(ask.judge.filter(|_| learned.judged));
            let said = word.judge.and_then(|_| self.shelf.find(&word).refused);
            let before = standing.card.as_ref().and_then(|card| card.trouble());
            let before = before.as_ref().or(standing.refused.as_deref());
            let before = if learned.judged { said.as_deref() } else { before };
            let mut refused = Refused::new(failure.clone(), ttl, before, plan.asked, now);
            if plan.forced {
                let interval = span(self.settings.forced_refresh_interval);
                refused.until = refused.until.max(plan.asked.saturating_add(interval));
            }
            match (shelf, standing.card) {
                (Some(shelf), _) if is_word(&failure) => {
                    shelf.drop_within(&at, standing.scope);
                    if word.judge.is_some() {
                        shelf.put_within(&word, scope, Slot::Refused(Arc::new(refused)), challenge);
                    }
                }
                (_, Some(card)) if is_passing(&failure) && scope == standing.scope => {
                    card.set_trouble(refused);
                    return self.in_spite_of(failure, &card, now);
                }
                (Some(shelf), _) => shelf.put_within(&at, scope, Slot::Refused(Arc::new(refused)), challenge),
                (None, _) => {}
            }
            Err(failure)
        })
    }
}

fn broken(lost: Lost) -> CardFailure {
    let what = match lost {
        Lost::Panicked => "what was fetching the card panicked",
        Lost::Cancelled => "the runtime that was fetching the card ended",
    };
    CardFailure::Connection { fault: Class::ConnectionLost, source: Arc::new(what.into()) }
}
