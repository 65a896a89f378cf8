use super::{PeerIdFault, ToolsFault, bounds::DirectoryBounds};
use crate::{
    card::{CardFlaw, UrlFault},
    error::CardFailure,
};

/// Why a registration, or a change of one, was refused. Each is an event of the audit as well, but of a base URL that
/// is nobody's identity: there is no peer for it to be about.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The base URL is nobody's identity.
    #[error(transparent)]
    Identity(#[from] PeerIdFault),
    /// The base URL is one that a stranger must not make the directory call.
    #[error("the peer's URL {0}; allow it by name in the directory's UrlPolicy")]
    Unusable(UrlFault),
    /// An owner's name is empty, or longer than 256 bytes.
    #[error("the owner's name is empty, or longer than {} bytes", DirectoryBounds::NAME)]
    Owner,
    /// Somebody else registered the peer.
    #[error("another owner registered this peer; let that one withdraw it, or an operator revoke it")]
    OwnedByAnother,
    /// The directory's admission refused it, with these words.
    #[error("not admitted: {0}")]
    NotAdmitted(Box<str>),
    /// The peer was revoked.
    #[error("the peer was revoked; an operator has to reinstate it first")]
    Revoked,
    /// There are as many peers as may be.
    #[error("the directory holds {0} peers, as many as it may: raise DirectoryBounds::peers, or withdraw some")]
    Full(usize),
    /// The owner has as many peers as one may have.
    #[error("the owner has {0} peers, as many as one may: raise DirectoryBounds::peers_of_owner, or withdraw some")]
    OwnerFull(usize),
    /// There is no card that is the peer's.
    #[error("no card of this peer: {0}")]
    Card(#[from] CardFailure),
    /// The card has no interface that may be called.
    #[error("no interface of the card may be called: {0}")]
    NoInterface(CardFlaw),
    /// What was given as the peer's tools is none.
    #[error(transparent)]
    Tools(#[from] ToolsFault),
    /// No such peer is registered.
    #[error("no such peer is registered")]
    Unknown,
}
