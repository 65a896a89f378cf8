//! What a peer is told of who calls it: chosen for that peer, and for no other.

use std::{future::Future, pin::Pin, sync::Arc};

use http::{HeaderMap, Uri};

use crate::{
    card::Origin,
    directory::{Caller, PeerId},
    error::BoxError,
};

/// For whom credentials are wanted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CredentialsAsk {
    /// The peer that was chosen.
    pub peer: PeerId,
    /// Scheme, host and port that they would be sent to. Go by this, and by nothing that a card says.
    pub origin: Origin,
    /// Where exactly.
    pub uri: Uri,
    /// On whose behalf.
    pub caller: Option<Caller>,
    /// For which skill, as the peer calls it.
    pub skill: Arc<str>,
}

/// Headers with credentials for one peer, and nothing else; none, if the map is empty. An error is a reason to take
/// another peer.
pub type CredentialHeaders = Pin<Box<dyn Future<Output = Result<HeaderMap, BoxError>> + Send>>;

/// Gives the credentials for a peer that was chosen. What the caller's own request carries is never sent to one.
///
/// An asynchronous closure's like is one:
///
/// ```
/// use a2a_guard::{BoxError, directory::{Credentials, CredentialsAsk}};
/// use http::{HeaderMap, header::AUTHORIZATION};
///
/// fn is_one(_: impl Credentials) {}
/// is_one(|ask: CredentialsAsk| async move {
///     let mut headers = HeaderMap::new();
///     // By name, and by origin: who else would it be for?
///     if ask.origin.to_string() == "https://agents.example.com" {
///         headers.insert(AUTHORIZATION, "Bearer for-that-one-alone".parse()?);
///     }
///     Ok::<_, BoxError>(headers)
/// });
/// ```
pub trait Credentials: Send + Sync {
    /// The headers for this peer. Within what is left of the call's time.
    fn for_peer(&self, ask: CredentialsAsk) -> CredentialHeaders;
}

impl<F, A> Credentials for F
where
    F: Fn(CredentialsAsk) -> A + Send + Sync,
    A: Future<Output = Result<HeaderMap, BoxError>> + Send + 'static,
{
    fn for_peer(&self, ask: CredentialsAsk) -> CredentialHeaders {
        Box::pin(self(ask))
    }
}
