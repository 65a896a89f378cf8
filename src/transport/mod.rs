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

use std::error::Error as StdError;

use crate::{
    error::{BoxError, chain},
    outcome::Class,
};

/// What went wrong with the connection.
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
    const LOST: Self = Self {
        class: Class::ConnectionLost,
        what: "the connection was lost before a response came",
        never_sent: false,
    };
    #[cfg(any(feature = "hyper", feature = "tonic"))]
    const REFUSED_STREAM: Self =
        Self { class: Class::ConnectionLost, what: "the peer refused the stream unread", never_sent: true };
}

/// The error without what may be secret in its text.
pub(crate) fn without_secrets(error: BoxError) -> BoxError {
    #[cfg(feature = "reqwest")]
    let error = reqwest::without_url(error);
    error
}

/// Whether a timer below the layers ended the call.
pub(crate) fn is_expired(error: &(dyn StdError + 'static)) -> bool {
    #[cfg(feature = "tonic")]
    return tonic::is_expired(error);
    #[cfg(not(feature = "tonic"))]
    {
        let _ = error;
        false
    }
}

/// Classifies an error by everything in its chain that is understood: the first that knows wins, and what nobody
/// knows may have reached the peer.
pub(crate) fn classify(error: &(dyn StdError + 'static)) -> Fault {
    #[cfg(feature = "reqwest")]
    if let Some(fault) = first_in_chain(error, reqwest::fault) {
        return fault;
    }
    #[cfg(feature = "hyper")]
    if let Some(fault) = first_in_chain(error, hyper::fault) {
        return fault;
    }
    #[cfg(feature = "tonic")]
    if let Some(fault) = first_in_chain(error, tonic::fault) {
        return fault;
    }
    #[cfg(any(feature = "hyper", feature = "tonic"))]
    if let Some(fault) = first_in_chain(error, h2::fault) {
        return fault;
    }
    first_in_chain(error, io::fault).unwrap_or(Fault::LOST)
}

fn first_in_chain(
    error: &(dyn StdError + 'static),
    fault: fn(&(dyn StdError + 'static)) -> Option<Fault>,
) -> Option<Fault> {
    chain(error).find_map(fault)
}
