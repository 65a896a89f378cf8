use metrics::{Key, Label};

use super::names::{self, METADATA};
use crate::{card_consistency::CardStore, probe_cache::SkillAvailability};

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
    publish(
        store,
        &[
            (names::CARD_FETCHES, stats.searches),
            (names::CARD_REQUESTS, stats.requests),
            (names::CARD_NOT_MODIFIED, stats.not_modified),
            (names::CARD_FAILURES, stats.failures),
            (names::CARD_JOINED, stats.joined),
            (names::CARD_REMEMBERED, stats.remembered),
            (names::CARD_DISTRUSTED, stats.distrusted),
            (names::CARD_FORCED, stats.forced),
        ],
        &[(names::CARD_IN_FLIGHT, stats.in_flight), (names::CARD_ENTRIES, stats.entries)],
    );
}

/// Publishes what is known of skills and how often they were probed for, under the label `store`; as
/// [`record_card_store`] does.
///
/// | series | kind |
/// | --- | --- |
/// | `a2a_guard_skill_hits_total`, `…_misses_total` | counter: calls for a skill that was known to be available, or was not |
/// | `a2a_guard_skill_invalidations_total` | counter |
/// | `a2a_guard_skill_changes_told_total`, `…_untold_total` | counter: changes for other replicas |
/// | `a2a_guard_probes_total` | counter: of layers that share the handle |
/// | `a2a_guard_skill_entries` | gauge |
///
/// ```
/// use a2a_guard::{ProbeCacheLayer, observability::record_availability};
///
/// fn publish(probes: &ProbeCacheLayer) {
///     record_availability(probes.availability(), "agents");
/// }
/// # let _ = publish;
/// ```
pub fn record_availability(skills: &SkillAvailability, store: &str) {
    let stats = skills.stats();
    publish(
        store,
        &[
            (names::SKILL_HITS, stats.hits),
            (names::SKILL_MISSES, stats.misses),
            (names::SKILL_INVALIDATIONS, stats.invalidations),
            (names::SKILL_CHANGES_TOLD, stats.told),
            (names::SKILL_CHANGES_UNTOLD, stats.untold),
            (names::PROBES, stats.probes),
        ],
        &[(names::SKILL_ENTRIES, stats.entries)],
    );
}

fn publish(store: &str, so_far: &[(&'static str, u64)], now: &[(&'static str, usize)]) {
    let key = |name: &'static str| Key::from_parts(name, vec![Label::new("store", store.to_owned())]);
    metrics::with_recorder(|recorder| {
        for &(name, so_far) in so_far {
            recorder.register_counter(&key(name), &METADATA).absolute(so_far);
        }
        for &(name, now) in now {
            recorder.register_gauge(&key(name), &METADATA).set(now as f64);
        }
    });
}
