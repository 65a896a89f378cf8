//! By what tower's own layers fail with.

use std::error::Error as StdError;

use tower::{load_shed::error::Overloaded, timeout::error::Elapsed};

use super::Fault;

/// A call that was shed was turned away at the door.
pub(super) fn fault(error: &(dyn StdError + 'static)) -> Option<Fault> {
    error.is::<Overloaded>().then_some(Fault::SHED)
}

pub(super) fn is_elapsed(error: &(dyn StdError + 'static)) -> bool {
    error.is::<Elapsed>()
}
