use metrics::{Key, Label};

use super::names::{self, METADATA};
use crate::card_consistency::CardStore;

/// Publishes what a card store has done so far, under the label `store`.
///
/// Call it before each scrape, or every few seconds: the numbers are read, and the store is not slowed down for them.
/// `store` tells one store from another; choose it, do not make it of something that others send.
///
/// | series | kind |
/// | --- | --- |
/// | `a2a_guard_card_fetches_total`, `…_requests_total`, `…_not_modified_total`, `…_failures_total` | counter |
/// | `a2a_guard_card_joined_total`, `…_remembered_total` | counter: calls that a fetch of another call, or a remembered failure, answered |
/// | `a2a_guard_card_distrusted_total`, `…_forced_total` | counter |
/// | `a2a_guard_card_fetches_in_flight`, `a2a_guard_card_entries` | gauge |
///
/// Hits are not counted, as [`CardStoreStats`](crate::card_consistency::CardStoreStats) says; they are the calls that
/// neither a fetch nor a failure accounts for.
///
/// ```
/// use std::time::Duration;
/// use a2a_guard::{card_consistency::CardStore, observability::record_card_store};
///
/// async fn publish(cards: CardStore) {
///     loop {
///         record_card_store(&cards, "agents");
///         tokio::time::sleep(Duration::from_secs(10)).await;
///     }
/// }
/// # let _ = publish;
/// ```
pub fn record_card_store(cards: &CardStore, store: &str) {
    let stats = cards.stats();
    let key = |name: &'static str| Key::from_parts(name, vec![Label::new("store", store.to_owned())]);
    metrics::with_recorder(|recorder| {
        for (name, so_far) in [
            (names::CARD_FETCHES, stats.searches),
            (names::CARD_REQUESTS, stats.requests),
            (names::CARD_NOT_MODIFIED, stats.not_modified),
            (names::CARD_FAILURES, stats.failures),
            (names::CARD_JOINED, stats.joined),
            (names::CARD_REMEMBERED, stats.remembered),
            (names::CARD_DISTRUSTED, stats.distrusted),
            (names::CARD_FORCED, stats.forced),
        ] {
            recorder.register_counter(&key(name), &METADATA).absolute(so_far);
        }
        for (name, now) in [(names::CARD_IN_FLIGHT, stats.in_flight), (names::CARD_ENTRIES, stats.entries)] {
            recorder.register_gauge(&key(name), &METADATA).set(now as f64);
        }
    });
}
