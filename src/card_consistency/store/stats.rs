//! What a store has done, and what it holds.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::error::CardFailure;

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) searches: AtomicU64,
    pub(super) requests: AtomicU64,
    pub(super) not_modified: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) joined: AtomicU64,
    pub(super) remembered: AtomicU64,
    pub(super) distrusted: AtomicU64,
    pub(super) forced: AtomicU64,
}

impl Counters {
    pub(super) fn count(&self, counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> CardStoreStats {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CardStoreStats {
            searches: of(&self.searches),
            requests: of(&self.requests),
            not_modified: of(&self.not_modified),
            failures: of(&self.failures),
            joined: of(&self.joined),
            remembered: of(&self.remembered),
            distrusted: of(&self.distrusted),
            forced: of(&self.forced),
            in_flight: 0,
            entries: 0,
        }
    }
}

/// What a store has done since it was made. Hits are not counted: that would cost each call more than the look-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CardStoreStats {
    /// Fetches, each over one location or more.
    pub searches: u64,
    /// Requests that they sent.
    pub requests: u64,
    /// Answers that a held card is still the one.
    pub not_modified: u64,
    /// Fetches that found no card.
    pub failures: u64,
    /// Calls that waited for a fetch which another call began.
    pub joined: u64,
    /// Calls that were given a failure of before.
    pub remembered: u64,
    /// Cards that a refusal contradicted.
    pub distrusted: u64,
    /// Fetches past every cache.
    pub forced: u64,
    /// Fetches under way.
    pub in_flight: usize,
    /// Entries held, cards and failures and what tells them apart.
    pub entries: usize,
}

/// One entry of a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CardEntry {
    /// The target: scheme, host, port and base path.
    pub target: String,
    /// Whether it is for the holder of one credential.
    pub by_credential: bool,
    /// Whether it is the agent's extended card, or the failure to get that.
    pub extended: bool,
    /// Where the card was found; `None` for a failure.
    pub location: Option<http::Uri>,
    /// Why there is no card, or why it could not be renewed.
    pub failure: Option<CardFailure>,
    /// How long the card is fresh, or the failure remembered.
    pub expires_in: Duration,
    /// Whether a refusal contradicted the card.
    pub distrusted: bool,
}
