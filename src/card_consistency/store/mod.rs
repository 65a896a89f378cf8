//! Fetches Agent Cards, and keeps them for as long as they have authority.

mod ask;
mod authority;
mod config;
mod exchange;
mod extended;
mod freshness;
mod get;
mod held;
mod key;
mod location;
mod memo;
mod refused;
mod search;
mod shelf;
mod stats;
mod verify;
mod witness;

#[cfg(all(test, not(shuttle)))]
mod tests;

use std::{fmt, future::Future, hash::Hash, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, Uri};
use http_body::Body;
use tokio::time::Instant;
use tower_service::Service;

pub use self::{
    ask::CardAsk,
    authority::{Authority, AuthorityCondition, AuthorityGap},
    config::{CardStoreBuilder, CardStoreError},
    held::HeldCard,
    key::CardKeyRef,
    location::CardTarget,
    refused::NegativeTtl,
    stats::{CardEntry, CardStoreStats},
    verify::{CardEvidence, TransportProof, Verdict, VerifiedTransport, VerifyCard},
};
use self::{
    config::Settings,
    get::{FlightKey, Landed, Wish},
    held::{Lease, Parts, Validators},
    shelf::{Shelf, Slot},
    stats::Counters,
    witness::Witness,
};
pub(super) use self::{
    extended::ExtendedCall,
    held::Fresh,
    key::Judge,
    memo::{AsOf, Matched},
};
use crate::{
    card::AgentCard,
    client::Client,
    clock::{Clock, span},
    error::{BoxError, CardFailure},
    flights::Flights,
    turns::Turns,
};

/// Fetches and keeps the cards of targets.
///
/// One store is shared by all layers that should know the same cards; clones are the same store. A call that finds its
/// card held costs a look-up. Otherwise one fetch goes out for all who ask, whatever becomes of them; its failure is
/// shared too, and remembered for a while. Nothing is kept before it passed every check.
///
/// ```
/// # use std::convert::Infallible;
/// # use bytes::Bytes;
/// # use http_body_util::Full;
/// # let client = tower::service_fn(|_: http::Request<Full<Bytes>>| async {
/// #     Ok::<_, Infallible>(http::Response::new(Full::<Bytes>::default()))
/// # });
/// use a2a_guard::card_consistency::CardStore;
///
/// let store = CardStore::builder(client)
///     .tenant_headers([http::HeaderName::from_static("x-tenant")])
///     .location_template("https://cards.example.com/{host}{path}/agent-card.json")
///     .build()?;
/// # Ok::<(), a2a_guard::card_consistency::CardStoreError>(())
/// ```
#[derive(Clone)]
pub struct CardStore {
    inner: Arc<Inner>,
}

struct Inner {
    client: Box<dyn Client>,
    settings: Settings,
    shelf: Shelf,
    flights: Arc<Flights<FlightKey, Arc<Landed>>>,
    turns: Turns,
    clock: Clock,
    stats: Arc<Counters>,
}

impl Inner {
    fn hold(&self, parts: Parts) -> Arc<HeldCard> {
        let interval = self.settings.forced_refresh_interval;
        Arc::new(HeldCard::new(parts, self.clock, interval, Arc::clone(&self.stats)))
    }
}

impl CardStore {
    /// A store that fetches through `client`: any HTTP client, without this crate's layers around it. It must not
    /// follow redirects.
    pub fn builder<S, B, R>(client: S) -> CardStoreBuilder
    where
        S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: From<Bytes> + Send + 'static,
        R: Body + Send + 'static,
        R::Data: Send,
        R::Error: Into<BoxError>,
    {
        CardStoreBuilder::new(client)
    }

    /// The card that a call may use as it is, if one is held. Costs no allocation and no exclusive lock.
    #[must_use]
    pub fn held(&self, at: &CardKeyRef<'_>, now: Instant) -> Option<Arc<HeldCard>> {
        self.inner.shelf.held(at, self.inner.clock.millis(now)).map(|(card, _)| card)
    }

    /// The same, and whether every call to the target gets this card: no header, version or credential decides.
    pub(super) fn held_by(&self, at: &CardKeyRef<'_>, now: Instant) -> Option<(Arc<HeldCard>, bool)> {
        let (card, scope) = self.inner.shelf.held(at, self.inner.clock.millis(now))?;
        Some((card, !scope.is_narrow() && self.inner.shelf.keying().tenant_headers.is_empty()))
    }

    /// Who goes by these rules when it says that a card counts.
    pub(super) fn judge(&self, rules: impl Hash) -> Judge {
        self.inner.shelf.keying().judge(rules)
    }

    /// As long as this is the same, calls find the same cards.
    #[inline]
    pub(super) fn epoch(&self) -> u64 {
        self.inner.shelf.epoch()
    }

    /// The card, held or fetched. Needs a tokio runtime, in which the fetch goes on if this future is dropped.
    ///
    /// # Errors
    ///
    /// Why there is none, or why it could not be had in time.
    pub fn get(&self, ask: CardAsk) -> impl Future<Output = Result<Arc<HeldCard>, CardFailure>> + Send + 'static {
        Arc::clone(&self.inner).get(ask, Wish::Call)
    }

    /// The card, fetched anew past every cache, whatever is held. Those who ask at once share one fetch.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn refresh(&self, ask: CardAsk) -> impl Future<Output = Result<Arc<HeldCard>, CardFailure>> + Send + 'static {
        Arc::clone(&self.inner).get(ask, Wish::Refresh)
    }

    /// Marks a card that a refusal contradicted. The next call fetches it anew, past every cache, but no two such
    /// fetches begin within the [interval](CardStoreBuilder::forced_refresh_interval), however many calls are refused.
    /// A refusal of a call that went by an older card does not count against the one that is held by now.
    pub fn distrust(&self, card: &HeldCard) {
        card.distrust();
    }

    /// Notes on the card that is held for a call whether a probe of its endpoint passed, and says whether there is one:
    /// see [`HeldCard::note_probe`].
    pub fn note_probe(&self, at: &CardKeyRef<'_>, passed: bool) -> bool {
        let card = self.inner.shelf.find(at).card;
        card.map(|card| card.note_probe(passed)).is_some()
    }

    /// Puts a card in, for all calls to a target, as if it had been fetched now. It holds for the store's
    /// [`max_age`](CardStoreBuilder::max_age).
    ///
    /// # Errors
    ///
    /// What is wrong with it: it must be a card, and the verifier's word is asked.
    pub async fn put(&self, target: &Uri, bytes: Bytes) -> Result<(), CardFailure> {
        let inner = &self.inner;
        let asked = inner.clock.millis(Instant::now());
        let head = Response::new(()).into_parts().0;
        let card = AgentCard::read(&bytes).map_err(|flaw| search::of_flaw(flaw, &head, target))?;
        inner.verify(&card, &bytes, target, None).await?;
        let fetched = inner.clock.millis(Instant::now());
        let lease =
            Lease { fetched, fresh_until: fetched.saturating_add(span(inner.settings.max_age)), may_be_stale: true };
        let parts = Parts {
            card,
            bytes,
            location: target.clone(),
            legacy: false,
            private: false,
            // Whoever puts it in says so.
            transport: target.host().map(|host| VerifiedTransport::new(host, TransportProof::Vouched)),
            base: None,
            witness: Witness::default(),
            validators: Validators::default(),
            stored: HeaderMap::new(),
            asked,
            forced: None,
            lease,
        };
        let card = inner.hold(parts);
        let none = HeaderMap::new();
        let at = CardKeyRef::new(target, &none);
        inner.shelf.write(inner.shelf.generation(), |_| inner.shelf.put_public(&at, Slot::Card(card)));
        Ok(())
    }

    /// Whether somebody is asked to believe each card that is kept.
    #[cfg(feature = "directory")]
    pub(crate) fn has_verifier(&self) -> bool {
        self.inner.settings.verifier.is_some()
    }

    /// How much longer the last failure to get a call's card is remembered.
    pub(in crate::card_consistency) fn remembered(&self, at: &CardKeyRef<'_>, now: Instant) -> Option<Duration> {
        let found = self.inner.shelf.find(&at.judged_by(None));
        let now = self.inner.clock.millis(now);
        let until = match (self.inner.word(at, found.card.as_deref(), now), &found.refused, &found.card) {
            (Some(word), ..) => word.until,
            (None, Some(refused), _) => refused.until,
            (None, None, Some(card)) => card.trouble()?.until,
            (None, None, None) => return None,
        };
        until.checked_sub(now).filter(|left| *left > 0).map(Duration::from_millis)
    }

    /// The card that is held for a call, fresh or not.
    #[must_use]
    pub fn peek(&self, at: &CardKeyRef<'_>) -> Option<Arc<HeldCard>> {
        self.inner.shelf.find(at).card
    }

    /// Drops all that is held for a target, for whomever, and says whether there was a card.
    pub fn forget(&self, target: &Uri) -> bool {
        self.inner.shelf.forget(target)
    }

    /// Drops everything.
    pub fn clear(&self) {
        self.inner.shelf.clear();
    }

    /// What is held.
    #[must_use]
    pub fn snapshot(&self) -> Vec<CardEntry> {
        let now = self.inner.clock.millis(Instant::now());
        let until = |at: u64| Duration::from_millis(at.saturating_sub(now));
        let entry = |(key, slot): (key::CardKey, Slot)| {
            let mut entry = CardEntry {
                target: key.target(),
                by_credential: key.is_by_credential(),
                extended: key.is_extended(),
                location: None,
                failure: None,
                expires_in: Duration::ZERO,
                distrusted: false,
            };
            match slot {
                Slot::Split(_) => return None,
                Slot::Refused(refused) => {
                    entry.failure = Some(refused.failure.clone());
                    entry.expires_in = until(refused.until);
                }
                Slot::Card(card) => {
                    entry.location = Some(card.location().clone());
                    entry.failure = card.trouble().map(|trouble| trouble.failure);
                    entry.expires_in = until(self.inner.clock.millis(card.fresh_until()));
                    entry.distrusted = card.is_distrusted();
                }
            }
            Some(entry)
        };
        self.inner.shelf.all().into_iter().filter_map(entry).collect()
    }

    /// What was done so far.
    #[must_use]
    pub fn stats(&self) -> CardStoreStats {
        let mut stats = self.inner.stats.read();
        stats.in_flight = self.inner.flights.len();
        stats.entries = self.inner.shelf.len();
        stats
    }
}

impl fmt::Debug for CardStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardStore").field("settings", &self.inner.settings).field("stats", &self.stats()).finish()
    }
}
