//! What is known of how a case ended, and how that is held against what the case expects.

use std::time::Duration;

use a2a_guard::{
    CallError, Capability, CardFailure, Class, Outcome, OutcomeKind,
    card::CardFlaw,
    wire::{A2aError, MediaType, PeerError},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::case::Case;

/// The facts that a case may assert; every other key of its `expect` explains.
const ASSERTED: [&str; 21] = [
    "outcome",
    "class",
    "code",
    "reason",
    "a2a_error",
    "http_status",
    "grpc_code",
    "task_id",
    "task_state",
    "events",
    "retry_after_s",
    "retry",
    "tolerated",
    "www_authenticate",
    "selected",
    "field",
    "requests",
    "dispatched",
    "first_request_path",
    "second_request_headers",
    "served_from",
];

#[derive(Debug, Default, Serialize)]
pub(crate) struct Facts {
    pub(crate) outcome: Option<&'static str>,
    pub(crate) class: Option<&'static str>,
    pub(crate) code: Option<i64>,
    pub(crate) reason: Option<String>,
    pub(crate) a2a_error: Option<&'static str>,
    pub(crate) http_status: Option<u16>,
    pub(crate) grpc_code: Option<i32>,
    pub(crate) task_id: Option<String>,
    pub(crate) task_state: Option<&'static str>,
    pub(crate) events: Option<u64>,
    pub(crate) retry: Option<&'static str>,
    pub(crate) retry_after_s: Option<Value>,
    pub(crate) tolerated: Option<Vec<&'static str>>,
    /// What of a card is missing or differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
    /// The interface that was selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) selected: Option<Value>,
}

impl Facts {
    pub(crate) fn of_error(error: &CallError) -> Self {
        Self {
            outcome: Some(error.outcome().as_str()),
            class: Some(error.class().as_str()),
            code: error.code(),
            reason: error.reason().map(str::to_owned),
            a2a_error: error.a2a_error().map(|error| error.name()),
            http_status: error.http_status().map(|status| status.as_u16()),
            grpc_code: error.grpc_code(),
            task_id: error.task_id().map(str::to_owned),
            task_state: error.task_state().map(|state| state.as_str()),
            events: Some(error.events()),
            retry: Some(error.retry().as_str()),
            retry_after_s: error.retry_after().map(seconds),
            tolerated: Some(error.tolerated().iter().collect()),
            field: card_failure(error).and_then(CardFailure::field).map(str::to_owned),
            selected: None,
        }
    }

    pub(crate) fn of_outcome(outcome: &Outcome<'_>) -> Self {
        Self {
            outcome: Some(outcome.kind().as_str()),
            class: Some(outcome.class().as_str()),
            http_status: outcome.http_status().map(|status| status.as_u16()),
            grpc_code: outcome.grpc_code(),
            task_id: outcome.task_id().map(str::to_owned),
            task_state: outcome.task_state().map(|state| state.as_str()),
            events: Some(outcome.events()),
            tolerated: Some(outcome.tolerated().iter().collect()),
            ..Self::default()
        }
    }

    /// With what an error says that passed unjudged.
    pub(crate) fn with_words_of(self, body: &[u8]) -> Self {
        let passed = self.outcome == Some(OutcomeKind::Refused.as_str());
        let Some(peer) = PeerError::parse(body, MediaType::Json).filter(|_| passed) else { return self };
        let a2a_error = peer.kind(None).map(A2aError::name);
        Self { code: peer.code, reason: peer.reason, a2a_error, ..self }
    }

    /// A card that could not be had.
    pub(crate) fn of_card(failure: &CardFailure) -> Self {
        let kind = match failure {
            CardFailure::Connection { .. } => OutcomeKind::Transport,
            _ => OutcomeKind::Card,
        };
        Self {
            outcome: Some(kind.as_str()),
            class: Some(failure.class().as_str()),
            a2a_error: failure.a2a_error().map(|error| error.name()),
            http_status: failure.status().map(|status| status.as_u16()),
            retry_after_s: failure.retry_after().map(seconds),
            field: failure.field().map(str::to_owned),
            ..Self::default()
        }
    }

    /// A card that was had, and cannot be used.
    pub(crate) fn of_flaw(flaw: &CardFlaw) -> Self {
        let a2a_error = match flaw {
            CardFlaw::CapabilityMissing { capability: Capability::PushNotifications, .. } => {
                Some(A2aError::PushNotificationNotSupported)
            }
            CardFlaw::CapabilityMissing { .. } => Some(A2aError::UnsupportedOperation),
            _ if flaw.class() == Class::UnsupportedVersion => Some(A2aError::VersionNotSupported),
            _ => None,
        };
        Self {
            outcome: Some(OutcomeKind::Card.as_str()),
            class: Some(flaw.class().as_str()),
            a2a_error: a2a_error.map(A2aError::name),
            field: flaw.field().map(str::to_owned),
            ..Self::default()
        }
    }
}

/// What was wrong with the card, of a call that was refused for it.
pub(crate) fn card_failure(error: &CallError) -> Option<&CardFailure> {
    match error {
        CallError::Card(error) => error.failure(),
        _ => None,
    }
}

/// Those of the case's expectations that are facts.
pub(crate) fn asserted(case: &Case) -> Map<String, Value> {
    let expect = case.expect.iter();
    expect
        .filter(|(fact, _)| ASSERTED.contains(&fact.as_str()))
        .filter(|(fact, value)| !value.is_null() || !["outcome", "class"].contains(&fact.as_str()))
        .map(|(fact, value)| (fact.clone(), value.clone()))
        .collect()
}

/// What of the expectations is not so.
pub(crate) fn differences(expected: &Map<String, Value>, known: &Value) -> Vec<String> {
    let differs = |(fact, expected): (&String, &Value)| match known.get(fact) {
        Some(found) if agrees(fact, expected, found) => None,
        Some(found) => Some(format!("{fact} is {found}, not {expected}")),
        None => Some(format!("{fact} is not known, and should be {expected}")),
    };
    expected.iter().filter_map(differs).collect()
}

fn agrees(fact: &str, expected: &Value, found: &Value) -> bool {
    match (fact, expected, found) {
        ("tolerated", Value::Array(expected), Value::Array(found)) => {
            expected.iter().all(|what| found.contains(what)) // at least these
        }
        ("selected" | "second_request_headers", Value::Object(expected), Value::Object(found)) => {
            expected.iter().all(|(name, value)| found.get(name) == Some(value)) // these, whatever else there is
        }
        (_, Value::Number(expected), Value::Number(found)) => expected.as_f64() == found.as_f64(),
        _ => expected == found,
    }
}

/// Whole seconds as a whole number.
fn seconds(time: Duration) -> Value {
    match time.subsec_nanos() {
        0 => json!(time.as_secs()),
        _ => json!(time.as_secs_f64()),
    }
}
