//! By what hyper and hyper-util say of their own errors.

use std::{error::Error as StdError, io};

use super::Fault;
use crate::error::chain;

pub(super) fn fault(error: &(dyn StdError + 'static)) -> Option<Fault> {
    let error = error.downcast_ref::<hyper_util::client::legacy::Error>()?;
    error.is_connect().then(|| connecting(error))
}

/// A TLS handshake is part of connecting, and its failures come as `InvalidData`.
fn connecting(error: &(dyn StdError + 'static)) -> Fault {
    let handshake = chain(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::InvalidData);
    if handshake { Fault::TLS } else { Fault::CONNECT }
}
