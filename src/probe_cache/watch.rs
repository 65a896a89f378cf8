//! A call under way, watched for what it says of its endpoint and of its skill.

use std::sync::Arc;

use super::{
    lease::Generation,
    place::{Look, Place},
};
use crate::{
    call::{Call, Operation},
    card_consistency::{CardStore, HeldCard},
    clock::{self, Millis},
    error::CallError,
    outcome::{Class, OutcomeKind},
    wire::A2aError,
};

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
    pub(super) fn new(place: Arc<Place>, call: &Call, now: Millis, card: Option<Box<Card>>) -> Self {
        let look = place.look();
        let is_due = place.due(look) <= now;
        Self::at(place, look, is_due, call, card)
    }

    /// At a place that stands so. `is_due`: whether a success has something to renew there.
    #[inline]
    pub(super) fn at(place: Arc<Place>, look: Look, is_due: bool, call: &Call, card: Option<Box<Card>>) -> Self {
        // Calls that may take long are never spared it: how long they took, nobody knows otherwise.
        let renews = is_due || call.is_streaming() || call.is_blocking();
        let (endpoint, entry) = (look.endpoint.generation(), look.entry.generation());
        Self { place, endpoint, entry, renews, card }
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
                if let Some(entry) = self.place.entry_of(error.call()) {
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
