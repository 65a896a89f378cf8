//! By tower's load shedding: no connection was asked for.

use std::error::Error as StdError;

use tower::load_shed::error::Overloaded;

use super::Fault;

pub(super) fn fault(error: &(dyn StdError + 'static)) -> Option<Fault> {
    error.is::<Overloaded>().then_some(Fault::SHED)
}
