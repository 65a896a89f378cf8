//! By what reqwest says of its own errors.

use std::{error::Error as StdError, io};

use super::Fault;
use crate::error::{BoxError, chain};

/// reqwest's errors name the URL, query and all, in their text.
pub(super) fn without_url(error: BoxError) -> BoxError {
    match error.downcast::<reqwest::Error>() {
        Ok(error) => Box::new(error.without_url()),
        Err(error) => error,
    }
}

pub(super) fn fault(error: &(dyn StdError + 'static)) -> Option<Fault> {
    let error = error.downcast_ref::<reqwest::Error>()?;
    if !error.is_connect() && !error.is_builder() {
        return None;
    }
    // A TLS handshake is part of connecting, and its failures come as `InvalidData`.
    let handshake = chain(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::InvalidData);
    Some(if handshake { Fault::TLS } else { Fault::CONNECT })
}
