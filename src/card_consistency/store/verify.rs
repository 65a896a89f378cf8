//! Who vouches for a card, and for the connection that it came over.

use std::{fmt, future::Future, pin::Pin};

use bytes::Bytes;
use http::Uri;

use crate::card::AgentCard;

/// A card that has been read and not been believed yet.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CardEvidence<'a> {
    /// The bytes, as they came: what a signature is about (A2A 1.0 §8.4).
    pub bytes: &'a Bytes,
    /// What was read out of them.
    pub card: &'a AgentCard,
    /// Where they came from.
    pub location: &'a Uri,
    /// What the connector verified about the connection, if it says so; of a card that is renewed, about that
    /// connection and the one that it came over.
    pub transport: Option<&'a VerifiedTransport>,
}

/// What a verifier comes to. An `Err` says what is wrong, for the operator.
pub type Verdict<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// Decides whether a card is to be believed, before anything of it is kept, and again each time that its agent says it
/// is the same still (304). A refused card is as good as none: calls to its target end as `card/signature`.
///
/// It runs within the bound on the fetch. A closure from [`CardEvidence`] to `Result<(), String>` is one:
///
/// ```
/// use a2a_guard::card_consistency::{CardEvidence, VerifyCard};
///
/// fn is_verifier(_: impl VerifyCard) {}
/// is_verifier(|card: &CardEvidence<'_>| match card.location.host() {
///     Some(host) if host.ends_with(".example.com") => Ok(()),
///     _ => Err("not one of ours".to_owned()),
/// });
/// ```
pub trait VerifyCard: Send + Sync {
    /// Judges one card.
    fn verify<'a>(&'a self, card: CardEvidence<'a>) -> Verdict<'a>;
}

impl<F> VerifyCard for F
where
    F: Fn(&CardEvidence<'_>) -> Result<(), String> + Send + Sync,
{
    fn verify<'a>(&'a self, card: CardEvidence<'a>) -> Verdict<'a> {
        let verdict = self(&card);
        Box::pin(async move { verdict })
    }
}

/// A marker that a connector puts into the extensions of a response: what it verified about the peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedTransport {
    host: Box<str>,
    proof: TransportProof,
}

/// How a connection's peer was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportProof {
    /// A certificate of a trusted issuer, with the host among its subject alternative names.
    SubjectAltName,
    /// A pinned key or certificate.
    Pinned,
    /// Something that the user vouches for: a mesh's sidecar, say.
    Vouched,
}

impl VerifiedTransport {
    /// The peer of the connection was verified to be `host`.
    #[must_use]
    pub fn new(host: impl Into<Box<str>>, proof: TransportProof) -> Self {
        Self { host: host.into(), proof }
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// How it was verified.
    #[must_use]
    pub fn proof(&self) -> TransportProof {
        self.proof
    }
}

impl fmt::Display for VerifiedTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = match self.proof {
            TransportProof::SubjectAltName => "certificate",
            TransportProof::Pinned => "pinned key",
            TransportProof::Vouched => "the user's word",
        };
        write!(f, "{} by {by}", self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_names_the_host_and_how() {
        for (proof, text) in [
            (TransportProof::SubjectAltName, "agent.example.com by certificate"),
            (TransportProof::Pinned, "agent.example.com by pinned key"),
            (TransportProof::Vouched, "agent.example.com by the user's word"),
        ] {
            assert_eq!(VerifiedTransport::new("agent.example.com", proof).to_string(), text);
        }
    }
}
