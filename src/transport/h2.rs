//! By what h2 says of streams.

use std::error::Error as StdError;

use super::Fault;

/// The peer took the stream back before it did anything with it (RFC 9113 §8.7).
pub(super) fn fault(error: &(dyn StdError + 'static)) -> Option<Fault> {
    let h2 = error.downcast_ref::<h2::Error>()?;
    let refused = h2.is_remote() && h2.reason() == Some(h2::Reason::REFUSED_STREAM);
    refused.then_some(Fault::REFUSED_STREAM)
}
