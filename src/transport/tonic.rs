//! By what tonic's channel says of its own errors.

use std::{error::Error as StdError, io};

use tonic::{ConnectError, TimeoutExpired};

use super::Fault;
use crate::error::chain;

pub(super) fn fault(error: &(dyn StdError + 'static)) -> Option<Fault> {
    let ConnectError(error) = error.downcast_ref::<ConnectError>()?;
    // A TLS handshake is part of connecting, and its failures come as `InvalidData`.
    let handshake = chain(&**error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::InvalidData);
    Some(if handshake { Fault::TLS } else { Fault::CONNECT })
}

/// Whether the channel's own timer ended the call: `Endpoint::timeout`, or the same `grpc-timeout` that bounds it here.
pub(super) fn is_expired(error: &(dyn StdError + 'static)) -> bool {
    chain(error).any(|error| error.is::<TimeoutExpired>())
}
