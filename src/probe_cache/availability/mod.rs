//! What is known of skills: the cache, its handle, and the seam where replicas share it.

mod counters;
mod entry;
mod handle;
mod key;
mod store;

pub(super) use self::entry::Entry;
pub use self::{
    handle::{Availability, AvailabilityEntry, AvailabilityStats, SkillAvailability, SkillAvailabilityBuilder},
    key::SkillKey,
    store::{Change, Link, Store},
};
