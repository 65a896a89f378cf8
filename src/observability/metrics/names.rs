//! What there is, what it is called, and in which unit it is.

use metrics::{Key, KeyName, Label, Level, Metadata, Unit};

/// Where all of it comes from.
pub(super) const METADATA: Metadata<'static> = Metadata::new("a2a_guard", Level::INFO, Some("a2a_guard"));

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

macro_rules! names {
    ($($id:ident = $name:literal: $kind:ident, $unit:ident, $about:literal;)*) => {
        $(pub(super) const $id: &str = $name;)*

        pub(super) const ALL: &[(&str, Kind, Unit, &str)] = &[$(($name, Kind::$kind, Unit::$unit, $about),)*];
    };
}

names! {
    CALLS = "a2a_guard_calls_total": Counter, Count, "calls, by how they ended";
    DURATION = "a2a_guard_call_duration_seconds": Histogram, Seconds, "from a call's beginning to its end, its stream's included";
    FIRST_EVENT = "a2a_guard_first_event_seconds": Histogram, Seconds, "from a call's beginning to its stream's first event";
    EVENTS = "a2a_guard_events_total": Counter, Count, "events of streams that were judged and found good";
    BYTES = "a2a_guard_received_bytes_total": Counter, Bytes, "bytes of answers' bodies";
    TASK_STATES = "a2a_guard_task_states_total": Counter, Count, "calls that told of a task, by the last state that was seen";
    TOLERATED = "a2a_guard_tolerated_total": Counter, Count, "calls in which a peer was slightly wrong and was understood all the same";
    CARD_FETCHES = "a2a_guard_card_fetches_total": Counter, Count, "fetches of cards, each over one location or more";
    CARD_REQUESTS = "a2a_guard_card_requests_total": Counter, Count, "requests that fetches of cards sent";
    CARD_NOT_MODIFIED = "a2a_guard_card_not_modified_total": Counter, Count, "answers that a held card is still the one";
    CARD_FAILURES = "a2a_guard_card_failures_total": Counter, Count, "fetches that found no card";
    CARD_JOINED = "a2a_guard_card_joined_total": Counter, Count, "calls that waited for another call's fetch of their card";
    CARD_REMEMBERED = "a2a_guard_card_remembered_total": Counter, Count, "calls that were given a remembered failure";
    CARD_DISTRUSTED = "a2a_guard_card_distrusted_total": Counter, Count, "cards that a refusal contradicted";
    CARD_FORCED = "a2a_guard_card_forced_total": Counter, Count, "fetches of cards past every cache";
    CARD_IN_FLIGHT = "a2a_guard_card_fetches_in_flight": Gauge, Count, "fetches of cards under way";
    SKILL_HITS = "a2a_guard_skill_hits_total": Counter, Count, "calls for a skill that was known to be available";
    SKILL_MISSES = "a2a_guard_skill_misses_total": Counter, Count, "calls for a skill that was not known to be available";
    SKILL_INVALIDATIONS = "a2a_guard_skill_invalidations_total": Counter, Count, "entries of skills that were dropped";
    SKILL_CHANGES_TOLD = "a2a_guard_skill_changes_told_total": Counter, Count, "changes that were handed on to other replicas";
    SKILL_CHANGES_UNTOLD = "a2a_guard_skill_changes_untold_total": Counter, Count, "changes for which the queue to other replicas had no room";
    SKILL_ENTRIES = "a2a_guard_skill_entries": Gauge, Count, "skills, by host and region, of which something is known";
    PROBES = "a2a_guard_probes_total": Counter, Count, "probes of endpoints that were sent";
    CARD_ENTRIES = "a2a_guard_card_entries": Gauge, Count, "entries of a card store: cards and failures";
}

/// Tells the recorder that is installed now what everything is.
pub(super) fn describe() {
    metrics::with_recorder(|recorder| {
        for &(name, kind, unit, about) in ALL {
            let (name, unit, about) = (KeyName::from_const_str(name), Some(unit), about.into());
            match kind {
                Kind::Counter => recorder.describe_counter(name, unit, about),
                Kind::Gauge => recorder.describe_gauge(name, unit, about),
                Kind::Histogram => recorder.describe_histogram(name, unit, about),
            }
        }
    });
}

/// A series: its name, and labels of closed sets.
pub(super) fn key(name: &'static str, labels: &[(&'static str, &'static str)]) -> Key {
    let labels: Vec<_> = labels.iter().map(|&(label, value)| Label::from_static_parts(label, value)).collect();
    Key::from_parts(name, labels)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_distinct_and_say_their_unit() {
        let names: BTreeSet<_> = ALL.iter().map(|(name, ..)| name).collect();
        assert_eq!(names.len(), ALL.len());
        for (name, kind, unit, about) in ALL {
            assert!(name.starts_with("a2a_guard_") && !about.is_empty());
            match (kind, unit) {
                (Kind::Counter, Unit::Bytes) => assert!(name.ends_with("_bytes_total"), "{name}"),
                (Kind::Counter, _) => assert!(name.ends_with("_total"), "{name}"),
                (Kind::Histogram, _) => assert!(name.ends_with("_seconds"), "{name}"),
                (Kind::Gauge, _) => assert!(!name.ends_with("_total"), "{name}"),
            }
        }
    }
}
