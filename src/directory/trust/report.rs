//! What a finished call says of its peer.

#[cfg(test)]
mod tests;

use std::{fmt, time::Duration};

use crate::{
    call::{Call, Capability, Operation},
    error::{CallError, CardFailure},
    outcome::{Class, Outcome, OutcomeKind},
    wire::A2aError,
};

/// What a finished call says of its peer: whether it did well, failed, claimed what it does not do, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    kind: ReportKind,
    elapsed: Duration,
}

/// In which way a call counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReportKind {
    /// The peer did what was asked.
    Success,
    /// The peer failed: it was not in time, not there, not understood, or said itself that it failed.
    Failure,
    /// The peer refused, as unavailable or unsupported, what it advertises.
    Overclaim,
    /// It says nothing of the peer: a refusal that is about the request or the caller, or a call that came to no end.
    Neutral,
}

impl ReportKind {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Overclaim => "overclaim",
            Self::Neutral => "neutral",
        }
    }
}

impl fmt::Display for ReportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Report {
    /// That the peer did what was asked. A task that failed is a call that went well.
    #[must_use]
    pub const fn success(elapsed: Duration) -> Self {
        Self { kind: ReportKind::Success, elapsed }
    }

    /// That the peer failed.
    #[must_use]
    pub const fn failure(elapsed: Duration) -> Self {
        Self { kind: ReportKind::Failure, elapsed }
    }

    /// That the peer refused what it advertises.
    #[must_use]
    pub const fn overclaim(elapsed: Duration) -> Self {
        Self { kind: ReportKind::Overclaim, elapsed }
    }

    /// Nothing.
    #[must_use]
    pub const fn neutral() -> Self {
        Self { kind: ReportKind::Neutral, elapsed: Duration::ZERO }
    }

    /// What an error says of the peer, of a call that its card covers: behind a
    /// [`CardConsistencyLayer`](crate::card_consistency::CardConsistencyLayer), say.
    ///
    /// | outcome | counts as |
    /// | --- | --- |
    /// | `timeout`, `broken`, `transport` | failure |
    /// | `stale/skill_unavailable` | overclaim |
    /// | `stale/endpoint_not_conforming` | failure |
    /// | `card`, where there is no card to be had that can be used | failure |
    /// | `card`, where there is one and it does not cover the call, and 401, 403, 429 | neutral |
    /// | `refused/endpoint_not_found`, `redirected`, `unavailable` | failure |
    /// | `refused/auth`, `rate_limited`, `unsupported_media`, `too_large` | neutral |
    /// | `refused/peer_error`, of a skill, a capability, an operation or a version that is not there after all | overclaim |
    /// | `refused/peer_error`, where the agent says that it failed: -32603, -32006, a 5xx, gRPC 1, 2, 4, 13, 15 | failure |
    /// | any other `refused/peer_error` | neutral |
    ///
    /// Also neutral is what never came to the peer for a reason of this process's own: what a load shedder turned away,
    /// and a failure that is remembered from another call, which has counted already.
    #[must_use]
    pub fn of_error(error: &CallError, elapsed: Duration) -> Self {
        Self { kind: kind_of(error), elapsed }
    }

    /// What a call's outcome says of the peer.
    #[must_use]
    pub fn of_outcome(outcome: &Outcome<'_>) -> Self {
        match (outcome.kind(), outcome.error()) {
            (OutcomeKind::Success, _) => Self::success(outcome.elapsed()),
            (_, Some(error)) => Self::of_error(error, outcome.elapsed()),
            _ => Self::neutral(),
        }
    }

    /// In which way the call counts.
    #[must_use]
    pub const fn kind(&self) -> ReportKind {
        self.kind
    }

    /// How long it took.
    #[must_use]
    pub const fn elapsed(&self) -> Duration {
        self.elapsed
    }
}

fn kind_of(error: &CallError) -> ReportKind {
    if error.failure().remembered {
        return ReportKind::Neutral;
    }
    match error.outcome() {
        OutcomeKind::Success => ReportKind::Success,
        OutcomeKind::Abandoned => ReportKind::Neutral,
        OutcomeKind::Broken | OutcomeKind::Timeout | OutcomeKind::Transport => ReportKind::Failure,
        OutcomeKind::Stale => match error.class() {
            Class::SkillUnavailable => ReportKind::Overclaim,
            _ => ReportKind::Failure,
        },
        OutcomeKind::Card => of_card(error),
        OutcomeKind::Refused => of_refusal(error),
    }
}

fn of_card(error: &CallError) -> ReportKind {
    match error.failure().card.as_deref() {
        Some(CardFailure::HttpStatus { status, .. }) if !status.is_server_error() => ReportKind::Neutral,
        Some(
            CardFailure::NotFound { .. }
            | CardFailure::HttpStatus { .. }
            | CardFailure::NotJson { .. }
            | CardFailure::TooLarge { .. }
            | CardFailure::FetchTimeout { .. }
            | CardFailure::MissingField { .. }
            | CardFailure::UnusableUrl { .. }
            | CardFailure::UrlMismatch { .. }
            | CardFailure::Signature { .. }
            | CardFailure::Connection { .. },
        ) => ReportKind::Failure,
        _ => ReportKind::Neutral,
    }
}

fn of_refusal(error: &CallError) -> ReportKind {
    match error.class() {
        Class::EndpointNotFound | Class::Redirected => ReportKind::Failure,
        // Turned away before it came down to anybody.
        Class::Unavailable if error.failure().never_sent => ReportKind::Neutral,
        Class::Unavailable => ReportKind::Failure,
        Class::PeerError if is_overclaim(error) => ReportKind::Overclaim,
        Class::PeerError if has_failed(error) => ReportKind::Failure,
        _ => ReportKind::Neutral,
    }
}

/// Whether a refusal is of something that the card lists, as far as the call shows.
fn is_overclaim(error: &CallError) -> bool {
    if error.region().is_some() || error.available_skills().is_some() {
        return true;
    }
    match error.a2a_error() {
        Some(
            A2aError::PushNotificationNotSupported
            | A2aError::ExtendedAgentCardNotConfigured
            | A2aError::VersionNotSupported,
        ) => true,
        // The method is named by the version that the card offers (§9.4, §11.3).
        Some(A2aError::MethodNotFound) => true,
        // To a task that is there already it says something of the task (§3.1.1, §3.1.6).
        Some(A2aError::UnsupportedOperation) => is_about_the_agent(error.call()),
        // Over gRPC nobody knows which error of A2A it is, but that what was asked for is not there.
        None => is_unimplemented(error) && error.call().task_id().is_none(),
        _ => false,
    }
}

fn is_about_the_agent(call: &Call) -> bool {
    match call.operation() {
        Some(Operation::SubscribeToTask) => false,
        Some(operation) if operation.needs() == Some(Capability::PushNotifications) => true,
        Some(operation) => call.begins_task() || (operation.needs().is_some() && call.task_id().is_none()),
        None => false,
    }
}

fn is_unimplemented(error: &CallError) -> bool {
    error.grpc_code() == Some(12)
}

/// Whether the agent says that it is itself what failed.
fn has_failed(error: &CallError) -> bool {
    match error.a2a_error() {
        Some(A2aError::Internal | A2aError::InvalidAgentResponse) => true,
        Some(_) => false,
        // CANCELLED (by a timer of the server's, where the caller did not), UNKNOWN, DEADLINE_EXCEEDED, INTERNAL,
        // DATA_LOSS.
        None => match error.grpc_code() {
            Some(code) => matches!(code, 1 | 2 | 4 | 13 | 15),
            // 501 says that it does not do this, and not that it failed to.
            None => error.http_status().is_some_and(|status| status.is_server_error() && status.as_u16() != 501),
        },
    }
}
