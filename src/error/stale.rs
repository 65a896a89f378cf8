//! When a refusal means that a skill is not here.

use super::{Failure, PeerResponse, StaleAgentCardError};
use crate::{
    outcome::{Class, OutcomeKind},
    wire::A2aError,
};

impl StaleAgentCardError {
    /// The region that lacks the skill: as the peer names it, or else as the call did.
    #[must_use]
    pub fn region(&self) -> Option<&str> {
        self.0.peer.as_ref().and_then(|peer| peer.region.as_deref()).or_else(|| self.0.call.region())
    }

    /// The skills that are there instead, as the peer says. These are a peer's texts: escape them before they reach a
    /// log.
    #[must_use]
    pub fn available_skills(&self) -> Option<&[String]> {
        self.0.peer.as_ref().and_then(|peer| peer.available_skills.as_deref())
    }

    /// The host that the call was for.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.0.call.target().and_then(|target| target.host())
    }

    /// The skill that the call was for.
    #[must_use]
    pub fn skill(&self) -> Option<&str> {
        self.0.call.skill()
    }

    /// The peer's own answer. `None` if nothing was sent: about an endpoint, or about a skill that is remembered as
    /// unavailable.
    #[must_use]
    pub fn response(&self) -> Option<&PeerResponse> {
        self.0.response.as_ref()
    }

    /// What a probe of the endpoint saw instead of A2A: `HTTP 200 text/html`, say. It is bounded, but may hold a peer's
    /// text: escape it before it reaches a log.
    #[must_use]
    pub fn seen(&self) -> Option<&str> {
        self.0.got.as_deref().filter(|_| self.0.class == Class::EndpointNotConforming)
    }
}

/// Whether a refusal is about the skill that the call named.
///
/// -32004 has many meanings (A2A 1.0 §3.1.1, §3.1.6, §5.4). With a region or a list of skills it is about the skill.
/// Without, it may be about the task that the call addressed, or about streaming: after an event of the stream, it is
/// not.
pub(super) fn is_of_skill(failure: &Failure) -> bool {
    let Failure { call, peer, seen, .. } = failure;
    if failure.kind != OutcomeKind::Refused || failure.class != Class::PeerError || call.skill().is_none() {
        return false;
    }
    let Some(peer) = peer else { return false };
    let names_skills = peer.region.is_some() || peer.available_skills.is_some();
    match peer.kind(seen.status.map(|status| status.as_u16())) {
        Some(A2aError::UnsupportedOperation) => {}
        // Six errors share a status (§5.4), and where nothing else tells them apart, this does.
        None if names_skills && peer.code.is_none() => return true,
        _ => return false,
    }
    names_skills || (call.begins_task() && (!call.is_streaming() || seen.events > 0))
}
