//! By what h2 says of streams.

use std::error::Error as StdError;

use super::Fault;

/// The peer took the stream back before it did anything with it (RFC 9113 §8.7). By GOAWAY it says so of all streams
/// above the last that it names; h2 ends no others with one.
pub(super) fn fault(error: &(dyn StdError + 'static)) -> Option<Fault> {
    let h2 = error.downcast_ref::<h2::Error>().filter(|h2| h2.is_remote())?;
    let refused = h2.is_go_away() || h2.reason() == Some(h2::Reason::REFUSED_STREAM);
    refused.then_some(Fault::REFUSED_STREAM)
}
