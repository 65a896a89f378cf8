//! A call under way, watched for what it says of its endpoint and of its skill.

use std::sync::Arc;

use super::{lease::Generation, place::Place};
use crate::{
    call::{Call, Operation},
    card_consistency::{CardStore, HeldCard},
    clock::{self, Millis},
    error::CallError,
    outcome::{Class, OutcomeKind},
    wire::A2aError,
};

/// What was renewed less than this ago is not renewed again by a call that takes no time to speak of.
const STEP: Millis = 1_000;

#[derive(Debug)]
pub(super) struct Watch {
    place: Arc<Place>,
    endpoint: Generation,
    entry: Generation,
    /// Whether a success has something to renew. That costs a reading of the clock.
    renews: bool,
    // Boxed for the many who name no store.
    card: Option<Box<Card>>,
}

/// The card that the call goes by, of a store that the user named.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) store: CardStore,
    pub(super) card: Arc<HeldCard>,
}

impl Watch {
    #[inline]
    pub(super) fn new(place: Arc<Place>, call: &Call, now: Millis, card: Option<Box<Card>>) -> Self {
        let (trusted_until, endpoint) = place.endpoint.look();
        // Calls that may take long are never spared it: how long they took, nobody knows otherwise.
        let mut renews =
            call.is_streaming() || call.is_blocking() || is_due(trusted_until, place.endpoint.trust(), now);
        let mut generation = Generation::default();
        if let Some(entry) = &place.entry {
            let (available_until, now_at) = entry.look();
            generation = now_at;
            renews = renews || is_due(available_until, entry.ttl(), now);
        }
        Self { place, endpoint, entry: generation, renews, card }
    }

    /// The first of the answer is good: A2A is spoken there.
    pub(super) fn begins_well(&self) {
        self.place.endpoint.succeed(self.endpoint, self.now());
    }

    /// The call went well.
    #[inline]
    pub(super) fn ends_well(&self) {
        if self.renews {
            self.renew();
        }
    }

    #[inline(never)]
    fn renew(&self) {
        let now = self.now();
        self.place.endpoint.succeed(self.endpoint, now);
        if let Some(entry) = &self.place.entry {
            entry.succeed(self.entry, now);
        }
    }

    /// The call failed.
    pub(super) fn see(&self, error: &CallError) {
        match (error.outcome(), error.class()) {
            (OutcomeKind::Stale, Class::SkillUnavailable) if !error.failure().remembered => {
                if let Some(entry) = &self.place.entry {
                    entry.refuse(error.failure().peer.as_deref(), error.retry_after(), self.now());
                }
                self.distrust_card();
            }
            (OutcomeKind::Refused, Class::PeerError) if may_be_about_skill(error) => {
                if let Some(entry) = &self.place.entry {
                    entry.doubt();
                }
                self.distrust_card();
            }
            (OutcomeKind::Refused, Class::EndpointNotFound) | (OutcomeKind::Broken, Class::WrongMediaType)
                if is_of_endpoint(error) =>
            {
                self.place.endpoint.doubt(self.now());
            }
            _ => {}
        }
    }

    fn distrust_card(&self) {
        if let Some(Card { store, card }) = self.card.as_deref() {
            store.distrust(card);
        }
    }

    fn now(&self) -> Millis {
        self.place.clock.millis(clock::now())
    }
}

/// Whether what holds until then was renewed a while ago.
#[inline]
fn is_due(until: Millis, span: Millis, now: Millis) -> bool {
    until.saturating_add(STEP.min(span / 8)) < now.saturating_add(span)
}

/// -32004 to a stream that begins a task, without a word about skills: it means streaming, or the skill.
fn may_be_about_skill(error: &CallError) -> bool {
    error.a2a_error() == Some(A2aError::UnsupportedOperation)
        && error.call().is_streaming()
        && error.call().begins_task()
        && error.events() == 0
}

/// Whether the operation is one that every endpoint has.
fn is_of_endpoint(error: &CallError) -> bool {
    let operation = error.call().operation();
    operation.is_some_and(|operation| operation.is_send() || operation == Operation::GetTask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renewal_is_due_a_second_after_the_last() {
        // Held for 60 s, since 10 s.
        assert!(!is_due(70_000, 60_000, 10_000));
        assert!(!is_due(70_000, 60_000, 11_000));
        assert!(is_due(70_000, 60_000, 11_001));
        assert!(is_due(0, 60_000, 10_000), "nothing is held");
        // Of a short time, a part.
        assert!(!is_due(800, 800, 100));
        assert!(is_due(800, 800, 101));
    }
}
