//! Whether a card is more than a hint.

use std::fmt;

use http::Uri;
use tokio::time::Instant;

use super::{HeldCard, Witness};
use crate::call::{Capability, ProtocolVersion};

/// A condition under which a card has authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuthorityCondition {
    /// It was fetched over a verified transport, whose host is the target's.
    Transport,
    /// Card and call speak of one protocol version.
    Version,
    /// A probe of the endpoint passed.
    Probe,
    /// The agent was seen to stream, if the card says that it does.
    Streaming,
    /// It was fetched not long ago, and nothing contradicted it since.
    Current,
}

/// A condition that does not hold, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuthorityGap {
    /// Nobody says what was verified of the connection that the card came over.
    TransportUnverified,
    /// The connection was verified to be one to another host than the target.
    TransportOfAnotherHost,
    /// No interface of the card speaks the call's protocol version.
    VersionDiffers,
    /// The endpoint was not probed.
    ProbeMissing,
    /// The last probe of the endpoint failed.
    ProbeFailed,
    /// The card declares streaming, and no stream of the agent was seen yet.
    StreamingUnseen,
    /// Its time is over: at most 300 s from the fetch.
    Expired,
    /// A refusal contradicted it.
    Contradicted,
}

impl AuthorityGap {
    /// The condition.
    #[must_use]
    pub const fn condition(self) -> AuthorityCondition {
        match self {
            Self::TransportUnverified | Self::TransportOfAnotherHost => AuthorityCondition::Transport,
            Self::VersionDiffers => AuthorityCondition::Version,
            Self::ProbeMissing | Self::ProbeFailed => AuthorityCondition::Probe,
            Self::StreamingUnseen => AuthorityCondition::Streaming,
            Self::Expired | Self::Contradicted => AuthorityCondition::Current,
        }
    }

    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TransportUnverified => "transport_unverified",
            Self::TransportOfAnotherHost => "transport_of_another_host",
            Self::VersionDiffers => "version_differs",
            Self::ProbeMissing => "probe_missing",
            Self::ProbeFailed => "probe_failed",
            Self::StreamingUnseen => "streaming_unseen",
            Self::Expired => "expired",
            Self::Contradicted => "contradicted",
        }
    }
}

impl fmt::Display for AuthorityGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Whether a card has authority for calls to a target, or is a hint: which of the conditions do not hold.
///
/// It is a report. Calls are refused for what a card says whether it has authority or not: a hint that says no is
/// reason enough not to send. What a card *promises* is worth what this says.
///
/// ```
/// use a2a_guard::{ProtocolVersion, card_consistency::{CardKeyRef, CardStore}};
/// use http::{HeaderMap, Uri};
///
/// fn report(store: &CardStore, target: &Uri) -> Option<String> {
///     let none = HeaderMap::new();
///     let card = store.peek(&CardKeyRef::new(target, &none))?;
///     let authority = card.authority(target, ProtocolVersion::V1_0, tokio::time::Instant::now());
///     Some(authority.to_string()) // "authoritative", or "a hint: probe_missing, streaming_unseen"
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority {
    gaps: Vec<AuthorityGap>,
}

impl Authority {
    /// Whether every condition holds.
    #[must_use]
    pub fn is_authoritative(&self) -> bool {
        self.gaps.is_empty()
    }

    /// The conditions that do not hold, each with its reason.
    #[must_use]
    pub fn gaps(&self) -> &[AuthorityGap] {
        &self.gaps
    }

    /// Whether one condition holds.
    #[must_use]
    pub fn holds(&self, condition: AuthorityCondition) -> bool {
        self.gaps.iter().all(|gap| gap.condition() != condition)
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_authoritative() {
            return f.write_str("authoritative");
        }
        for (index, gap) in self.gaps.iter().enumerate() {
            write!(f, "{}{gap}", if index == 0 { "a hint: " } else { ", " })?;
        }
        Ok(())
    }
}

impl HeldCard {
    /// What authority the card has at `now` for calls to `target` that are written in `version`; without one, the
    /// card's own is believed.
    #[must_use]
    pub fn authority(&self, target: &Uri, version: impl Into<Option<ProtocolVersion>>, now: Instant) -> Authority {
        let understood = |version| self.card().interfaces().iter().any(|interface| interface.understands(version));
        let transport = match self.transport() {
            None => Some(AuthorityGap::TransportUnverified),
            Some(verified) if !is_host(verified.host(), target) => Some(AuthorityGap::TransportOfAnotherHost),
            Some(_) => None,
        };
        let version = version.into().filter(|version| !understood(*version)).map(|_| AuthorityGap::VersionDiffers);
        let (probed, streamed) = self.witness(|witness| (witness.probe(), witness.streamed()));
        let probe = match probed {
            None => Some(AuthorityGap::ProbeMissing),
            Some(passed) => Some(AuthorityGap::ProbeFailed).filter(|_| !passed),
        };
        let streams = self.card().declares(Capability::Streaming);
        let streaming = (streams && !streamed).then_some(AuthorityGap::StreamingUnseen);
        let expired = (now >= self.fresh_until()).then_some(AuthorityGap::Expired);
        let contradicted = self.is_distrusted().then_some(AuthorityGap::Contradicted);
        let gaps = [transport, version, probe, streaming, expired, contradicted];
        Authority { gaps: gaps.into_iter().flatten().collect() }
    }

    /// A probe of the endpoint passed, or failed: the last one counts, until the card is fetched anew because a refusal
    /// contradicted it.
    pub fn note_probe(&self, passed: bool) {
        self.witness(|witness| witness.note_probe(passed));
    }

    /// A stream of the agent was seen: its first event came.
    pub fn note_streamed(&self) {
        self.witness(Witness::note_streamed);
    }

    /// Whether a stream of the agent was seen.
    #[must_use]
    pub fn was_seen_to_stream(&self) -> bool {
        self.witness(Witness::streamed)
    }
}

/// Brackets make no difference to an IPv6 address, nor case to a name.
fn is_host(verified: &str, target: &Uri) -> bool {
    fn bare(host: &str) -> &str {
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }
    target.host().is_some_and(|host| bare(host).eq_ignore_ascii_case(bare(verified)))
}
