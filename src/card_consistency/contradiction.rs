//! Refusals that contradict a card: the card is stale, and the next call reads it anew.

use super::{modes::Asked, store::HeldCard};
use crate::{
    call::{Capability, Operation},
    error::CallError,
    outcome::{Class, OutcomeKind},
    wire::A2aError,
};

/// Marks the card that a failed call went by, if the failure contradicts it. `asked`: the call's request, if no part of
/// its answer has come.
pub(super) fn see(card: &HeldCard, asked: Option<&Asked>, error: &CallError) {
    if contradicts(card, asked, error) {
        card.distrust();
    }
}

/// Whether a refusal says that the agent cannot do what its card declares.
fn contradicts(card: &HeldCard, asked: Option<&Asked>, error: &CallError) -> bool {
    match error.outcome() {
        OutcomeKind::Refused => {}
        // The card says that a skill, or an endpoint, is where it is not.
        OutcomeKind::Stale => return !error.failure().remembered,
        _ => return false,
    }
    if error.class() == Class::EndpointNotFound {
        return true;
    }
    match error.a2a_error() {
        Some(
            A2aError::PushNotificationNotSupported
            | A2aError::ExtendedAgentCardNotConfigured
            | A2aError::VersionNotSupported,
        ) => true,
        // Only of what the card lists: a client that asks for something else is refused for its own fault (§3.3.2).
        Some(A2aError::ContentTypeNotSupported) => {
            asked.is_some_and(|asked| asked.is_listed(card.card(), error.call().skill()))
        }
        // To a task that is there already it says something of the task (§3.1.1, §3.1.6).
        Some(A2aError::UnsupportedOperation) => {
            let of_a_skill = error.region().is_some() || error.available_skills().is_some();
            let of_a_capability = match error.call().operation() {
                Some(Operation::SubscribeToTask) => false,
                Some(operation) => operation.needs().is_some() && error.call().task_id().is_none(),
                None => false,
            };
            of_a_skill || of_a_capability || needs_push(error)
        }
        _ => false,
    }
}

/// Push configurations belong to a task, and yet -32004 about them is about the capability.
fn needs_push(error: &CallError) -> bool {
    error.call().operation().is_some_and(|operation| operation.needs() == Some(Capability::PushNotifications))
}
