//! What a connection failure says about the request: whether it can have reached the peer.

#[cfg(any(feature = "hyper", feature = "tonic"))]
mod h2;
#[cfg(feature = "hyper")]
mod hyper;
mod io;
#[cfg(feature = "reqwest")]
mod reqwest;
#[cfg(feature = "tonic")]
mod tonic;
#[cfg(feature = "tower")]
mod tower;

use std::error::Error as StdError;

use crate::{
    error::{BoxError, chain},
    outcome::{Class, OutcomeKind},
};

/// What went wrong with the connection, or on the way to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) class: Class,
    pub(crate) what: &'static str,
    /// The peer said, or it follows, that the request was not worked on.
    pub(crate) never_sent: bool,
}

impl Fault {
    const CONNECT: Self = Self { class: Class::Connect, what: "no connection", never_sent: true };
    #[cfg(any(feature = "hyper", feature = "reqwest", feature = "tonic"))]
    const TLS: Self = Self { class: Class::Tls, what: "no secure connection", never_sent: true };
    pub(crate) const LOST: Self = Self {
        class: Class::ConnectionLost,
        what: "the connection was lost before a response came",
        never_sent: false,
    };
    #[cfg(feature = "hyper")]
    const NOT_TAKEN: Self =
        Self { class: Class::Connect, what: "the client below did not take the request", never_sent: true };
    #[cfg(feature = "hyper")]
    const UNSENT: Self = Self {
        class: Class::ConnectionLost,
        what: "the connection was lost with the request unsent",
        never_sent: true,
    };
    #[cfg(any(feature = "hyper", feature = "tonic"))]
    const REFUSED_STREAM: Self =
        Self { class: Class::ConnectionLost, what: "the peer refused the stream unread", never_sent: true };
    /// As the peer's own 503 is, but for that it never saw the request.
    #[cfg(feature = "tower")]
    const SHED: Self =
        Self { class: Class::Unavailable, what: "too many calls at once: this one was shed", never_sent: true };
}

impl Fault {
    /// What was shed is turned away as an agent does it that has too much to do. All else is the connection's fault.
    pub(crate) fn kind(self) -> OutcomeKind {
        match self.class {
            Class::Unavailable => OutcomeKind::Refused,
            _ => OutcomeKind::Transport,
        }
    }
}

/// The error without what may be secret in its text.
pub(crate) fn without_secrets(error: BoxError) -> BoxError {
    #[cfg(feature = "reqwest")]
    let error = reqwest::without_url(error);
    error
}

/// Whether a timer below the layers ended the call. One around the connector did not: there was no connection, and
/// that says more.
pub(crate) fn is_expired(error: &(dyn StdError + 'static)) -> bool {
    has_fired(error) && !known(error).is_some_and(|fault| fault.never_sent)
}

fn has_fired(error: &(dyn StdError + 'static)) -> bool {
    #[cfg(feature = "tonic")]
    if tonic::is_expired(error) {
        return true;
    }
    chain(error).any(|error| {
        #[cfg(feature = "tower")]
        if tower::is_elapsed(error) {
            return true;
        }
        error.is::<tokio::time::error::Elapsed>()
    })
}

/// Classifies an error by everything in its chain that is understood: the first that knows wins, and what nobody
/// knows may have reached the peer.
pub(crate) fn classify(error: &(dyn StdError + 'static)) -> Fault {
    known(error).unwrap_or(Fault::LOST)
}

/// The same, where something in the chain is understood.
pub(crate) fn known(error: &(dyn StdError + 'static)) -> Option<Fault> {
    #[cfg(feature = "reqwest")]
    if let Some(fault) = first_in_chain(error, reqwest::fault) {
        return Some(fault);
    }
    #[cfg(feature = "hyper")]
    if let Some(fault) = first_in_chain(error, hyper::fault) {
        return Some(fault);
    }
    #[cfg(feature = "tower")]
    if let Some(fault) = first_in_chain(error, tower::fault) {
        return Some(fault);
    }
    #[cfg(feature = "tonic")]
    if let Some(fault) = first_in_chain(error, tonic::fault) {
        return Some(fault);
    }
    #[cfg(any(feature = "hyper", feature = "tonic"))]
    if let Some(fault) = first_in_chain(error, h2::fault) {
        return Some(fault);
    }
    first_in_chain(error, io::fault)
}

fn first_in_chain(
    error: &(dyn StdError + 'static),
    fault: fn(&(dyn StdError + 'static)) -> Option<Fault>,
) -> Option<Fault> {
    chain(error).find_map(fault)
}
