//! A card that is held, with everything that changes about it in atomics: renewing or distrusting it writes no map.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Uri,
    header::{ETAG, LAST_MODIFIED},
};
use tokio::time::Instant;

use super::{VerifiedTransport, freshness, memo::Memo, refused::Refused, stats::Counters, witness::Witness};
use crate::{
    card::AgentCard,
    clock::{Clock, Millis, span},
};

/// A card that passed every check, and where it came from.
pub struct HeldCard {
    card: AgentCard,
    bytes: Bytes,
    location: Uri,
    legacy: bool,
    private: bool,
    transport: Option<VerifiedTransport>,
    /// The public card, if this is the extended one that stands in for it.
    base: Option<Mutex<Arc<HeldCard>>>,
    pub(super) validators: Validators,
    /// When the search began that found it. Of two, the later one is kept.
    pub(super) asked: Millis,
    clock: Clock,
    stats: Arc<Counters>,
    forced_interval: Millis,
    fetched: AtomicU64,
    fresh_until: AtomicU64,
    may_be_stale: AtomicBool,
    distrusted: AtomicBool,
    /// One more than when a distrusted card was last asked for anew, 0 for never.
    forced: AtomicU64,
    changing: Mutex<Changing>,
    pub(super) witness: Witness,
    /// What calls found out about it.
    pub(in crate::card_consistency) memo: Memo,
}

#[derive(Debug, Default)]
struct Changing {
    /// The fields of the head that a 304 builds on.
    stored: HeaderMap,
    /// Why it could not be renewed.
    trouble: Option<Refused>,
}

/// What a card is asked for again with (RFC 9110 §8.8).
#[derive(Clone, Debug, Default)]
pub(super) struct Validators {
    pub(super) etag: Option<HeaderValue>,
    pub(super) last_modified: Option<HeaderValue>,
}

impl Validators {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        Self { etag: headers.get(ETAG).cloned(), last_modified: headers.get(LAST_MODIFIED).cloned() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }

    /// Whether a 304 is about the card that these are of (RFC 9111 §4.3.4). One that names no validator can only be
    /// about it.
    pub(super) fn admit(&self, not_modified: &HeaderMap) -> bool {
        match (&self.etag, not_modified.get(ETAG), &self.last_modified, not_modified.get(LAST_MODIFIED)) {
            (Some(ours), Some(theirs), ..) => opaque(ours) == opaque(theirs),
            (_, _, Some(ours), Some(theirs)) => ours == theirs,
            // It has one that the card does not have.
            (None, Some(_), ..) => false,
            _ => true,
        }
    }
}

/// Weak comparison (RFC 9110 §8.8.3.2).
fn opaque(etag: &HeaderValue) -> &[u8] {
    let bytes = etag.as_bytes().trim_ascii();
    bytes.strip_prefix(b"W/").unwrap_or(bytes)
}

/// What a new [`HeldCard`] is made of.
pub(super) struct Parts {
    pub(super) card: AgentCard,
    pub(super) bytes: Bytes,
    pub(super) location: Uri,
    pub(super) legacy: bool,
    pub(super) private: bool,
    pub(super) transport: Option<VerifiedTransport>,
    pub(super) base: Option<Arc<HeldCard>>,
    pub(super) witness: Witness,
    pub(super) validators: Validators,
    pub(super) stored: HeaderMap,
    pub(super) asked: Millis,
    pub(super) forced: Option<Millis>,
    pub(super) lease: Lease,
}

/// How long a card holds, by one answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lease {
    pub(super) fetched: Millis,
    pub(super) fresh_until: Millis,
    pub(super) may_be_stale: bool,
}

/// Until when a card is fresh, as it stood when somebody looked: as the card has it, to see whether it still stands,
/// and as the clock says it, so that the time of a call is compared as it is.
#[derive(Clone, Copy, Debug)]
pub(in crate::card_consistency) struct Fresh {
    until: Millis,
    instant: Instant,
}

impl HeldCard {
    pub(super) fn new(parts: Parts, clock: Clock, forced_interval: Duration, stats: Arc<Counters>) -> Self {
        let Parts { card, bytes, location, legacy, private, transport, base, witness, validators, stored, .. } = parts;
        let Lease { fetched, fresh_until, may_be_stale } = parts.lease;
        Self {
            card,
            bytes,
            location,
            legacy,
            private,
            transport,
            base: base.map(Mutex::new),
            validators,
            asked: parts.asked,
            clock,
            stats,
            forced_interval: span(forced_interval),
            fetched: AtomicU64::new(fetched),
            fresh_until: AtomicU64::new(fresh_until),
            may_be_stale: AtomicBool::new(may_be_stale),
            distrusted: AtomicBool::new(false),
            forced: AtomicU64::new(parts.forced.map_or(0, |at| at.saturating_add(1))),
            changing: Mutex::new(Changing { stored, trouble: None }),
            witness,
            memo: Memo::default(),
        }
    }

    /// The card.
    #[must_use]
    pub fn card(&self) -> &AgentCard {
        &self.card
    }

    /// Its bytes, as they came.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Where it was found.
    #[must_use]
    pub fn location(&self) -> &Uri {
        &self.location
    }

    /// Whether that was the name of versions before 0.3, `agent.json`.
    #[must_use]
    pub fn is_legacy(&self) -> bool {
        self.legacy
    }

    /// Whether it is for the holder of one credential, and not public.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.private
    }

    /// Whether it is the extended card that the agent showed to one credential (A2A 1.0 §3.1.11).
    #[must_use]
    pub fn is_extended(&self) -> bool {
        self.base.is_some()
    }

    /// Whether it may stand in for this public card: the one that it was asked for by, or one of the same version at
    /// the same places. From then on it stands in for that one.
    pub(super) fn stands_in_for(&self, public: &Arc<Self>) -> bool {
        let Some(base) = &self.base else { return false };
        let base = &mut *base.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(base, public) {
            return true;
        }
        let is_alike =
            base.card.version() == public.card.version() && base.card.interfaces() == public.card.interfaces();
        if is_alike && base.asked <= public.asked {
            *base = Arc::clone(public);
        }
        is_alike
    }

    fn base(&self) -> Option<Arc<Self>> {
        self.base.as_ref().map(|base| Arc::clone(&base.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// What was seen of the agent: one and the same for its two cards.
    pub(super) fn witness<T>(&self, of: impl FnOnce(&Witness) -> T) -> T {
        match self.base() {
            Some(base) => of(&base.witness),
            None => of(&self.witness),
        }
    }

    /// What the client's connector verified about the connection that it came over, if it says so.
    #[must_use]
    pub fn transport(&self) -> Option<&VerifiedTransport> {
        self.transport.as_ref()
    }

    /// When it was last asked for and confirmed, by a full answer or a 304.
    #[must_use]
    pub fn fetched(&self) -> Instant {
        self.clock.instant(self.fetched.load(Ordering::Relaxed))
    }

    /// Until when it is fresh.
    #[must_use]
    pub fn fresh_until(&self) -> Instant {
        self.clock.instant(self.fresh_until.load(Ordering::Relaxed))
    }

    /// Whether a refusal contradicted it since it was fetched.
    #[must_use]
    #[inline]
    pub fn is_distrusted(&self) -> bool {
        self.distrusted.load(Ordering::Relaxed)
    }

    /// Whether it can be used without asking for it again: it is fresh, and no refusal contradicts it. One that was
    /// just asked for anew, because a refusal contradicted it, and came back, holds for a short interval all the same.
    #[must_use]
    pub fn is_fresh(&self, now: Instant) -> bool {
        self.is_fresh_at(self.clock.millis(now))
    }

    pub(in crate::card_consistency) fn fresh(&self) -> Fresh {
        let until = self.fresh_until.load(Ordering::Relaxed);
        Fresh { until, instant: self.clock.instant(until) }
    }

    /// Whether it is fresh, stands as it did, and no refusal contradicts it.
    #[inline]
    pub(in crate::card_consistency) fn is_still(&self, fresh: &Fresh, now: Instant) -> bool {
        now < fresh.instant && self.fresh_until.load(Ordering::Relaxed) == fresh.until && !self.is_distrusted()
    }

    pub(super) fn is_fresh_at(&self, now: Millis) -> bool {
        now < self.fresh_until.load(Ordering::Relaxed) && !self.must_be_forced(now)
    }

    /// Whether it is to be fetched anew, past every cache.
    pub(super) fn must_be_forced(&self, now: Millis) -> bool {
        self.is_distrusted()
            && match self.forced.load(Ordering::Relaxed) {
                0 => true,
                after => now >= (after - 1).saturating_add(self.forced_interval),
            }
    }

    /// Whether an option that reaches so far beyond its freshness may still use it.
    pub(super) fn is_usable_for(&self, reach: Duration, now: Millis) -> bool {
        self.may_be_stale.load(Ordering::Relaxed)
            && !self.is_distrusted()
            && now < self.fresh_until.load(Ordering::Relaxed).saturating_add(span(reach))
    }

    /// A refusal contradicted it, and so the card that it stands in for.
    pub(in crate::card_consistency) fn distrust(&self) {
        if !self.distrusted.swap(true, Ordering::Relaxed) {
            self.stats.count(&self.stats.distrusted);
        }
        if let Some(base) = self.base() {
            base.distrust();
        }
    }

    pub(super) fn forced_at(&self) -> Option<Millis> {
        self.forced.load(Ordering::Relaxed).checked_sub(1)
    }

    /// A 304 came: what the head says with it.
    pub(super) fn updated_by(&self, not_modified: &HeaderMap) -> HeaderMap {
        freshness::updated(&self.lock().stored, not_modified)
    }

    pub(super) fn renew(&self, stored: HeaderMap, lease: Lease) {
        let mut changing = self.lock();
        changing.stored = freshness::kept(&stored);
        changing.trouble = None;
        self.fetched.store(lease.fetched, Ordering::Relaxed);
        self.may_be_stale.store(lease.may_be_stale, Ordering::Relaxed);
        self.fresh_until.store(lease.fresh_until, Ordering::Relaxed);
    }

    pub(super) fn trouble(&self) -> Option<Refused> {
        self.lock().trouble.clone()
    }

    pub(super) fn set_trouble(&self, trouble: Refused) {
        self.lock().trouble = Some(trouble);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Changing> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for HeldCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldCard")
            .field("location", &self.location)
            .field("bytes", &self.bytes.len())
            .field("fetched", &self.fetched())
            .field("fresh_until", &self.fresh_until())
            .field("distrusted", &self.is_distrusted())
            .field("private", &self.private)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_304_is_about_the_card_whose_validator_it_names() {
        let head = |etag: &'static str| -> HeaderMap { [(ETAG, HeaderValue::from_static(etag))].into_iter().collect() };
        let ours = Validators::of(&head("W/\"1\""));
        assert!(ours.admit(&head("\"1\"")));
        assert!(ours.admit(&HeaderMap::new()));
        assert!(!ours.admit(&head("\"2\"")));
        assert!(Validators::default().is_empty());
    }
}
