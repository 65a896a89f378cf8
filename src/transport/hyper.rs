//! By what hyper and hyper-util say of their own errors.

use std::{error::Error as StdError, io};

use super::Fault;
use crate::error::chain;

pub(super) fn fault(error: &(dyn StdError + 'static)) -> Option<Fault> {
    if let Some(error) = error.downcast_ref::<hyper_util::client::legacy::Error>() {
        return error.is_connect().then(|| connecting(error));
    }
    // The peer took the stream back before it did anything with it (RFC 9113 §8.7).
    let h2 = error.downcast_ref::<h2::Error>()?;
    let refused = h2.is_remote() && h2.reason() == Some(h2::Reason::REFUSED_STREAM);
    refused.then_some(Fault::REFUSED_STREAM)
}

/// A TLS handshake is part of connecting, and its failures come as `InvalidData`.
fn connecting(error: &(dyn StdError + 'static)) -> Fault {
    let handshake = chain(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::InvalidData);
    if handshake { Fault::TLS } else { Fault::CONNECT }
}
