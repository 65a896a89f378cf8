//! By what hyper and hyper-util say of their own errors.

use std::{error::Error as StdError, io};

use super::Fault;
use crate::error::chain;

pub(super) fn fault(error: &(dyn StdError + 'static)) -> Option<Fault> {
    match error.downcast_ref::<hyper_util::client::legacy::Error>() {
        Some(error) => of_pool(error),
        // It was still queued: what hyper had begun to write is never canceled in this way.
        None => error.downcast_ref::<hyper::Error>().filter(|error| error.is_canceled()).map(|_| Fault::UNSENT),
    }
}

/// Of the client with a pool. Once a request is handed to a connection, the error names that connection.
fn of_pool(error: &hyper_util::client::legacy::Error) -> Option<Fault> {
    let refused = !error.is_connect() && error.source().is_none();
    match error.connect_info() {
        // The request's URI, method or version is not one that the client sends.
        _ if refused => Some(Fault::NOT_TAKEN),
        None => Some(connecting(error)),
        // What was handed over may still have been queued, which hyper's own error tells.
        Some(_) => None,
    }
}

/// A TLS handshake is part of connecting, and its failures come as `InvalidData`.
fn connecting(error: &(dyn StdError + 'static)) -> Fault {
    let handshake = chain(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::InvalidData);
    if handshake { Fault::TLS } else { Fault::CONNECT }
}
