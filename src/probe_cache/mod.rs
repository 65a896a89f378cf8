//! Facts about endpoints and skills, learnt from the calls themselves and from as few probes as will do.
//!
//! A card says what its publisher believes. Whether A2A is spoken at the endpoint, and whether a skill is there in a
//! region right now, only the endpoint can tell.

mod availability;
mod error;
mod lease;

pub use self::{
    availability::{
        Availability, AvailabilityEntry, AvailabilityStats, Change, Link, SkillAvailability, SkillAvailabilityBuilder,
        SkillKey, Store,
    },
    error::ProbeCacheError,
};
