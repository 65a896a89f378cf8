//! Facts about endpoints and skills, learnt from the calls themselves and from as few probes as possible.
//!
//! A card says what its publisher believes. Only the endpoint can tell whether A2A is spoken there, and whether a skill is
//! there in a region right now.

mod availability;
mod body;
mod builder;
mod core;
mod endpoint;
mod error;
mod future;
mod key;
mod layer;
mod lease;
mod place;
mod probe;
mod prober;
#[cfg(feature = "redis")]
mod redis;
mod schedule;
mod service;
mod verdict;
mod watch;

#[cfg(all(feature = "redis", feature = "directory"))]
pub(crate) use self::redis::wiring;
#[cfg(feature = "redis")]
#[cfg_attr(docsrs, doc(cfg(feature = "redis")))]
pub use self::redis::{RedisStore, RedisStoreBuilder, RedisStoreStats};
pub use self::{
    availability::{
        Availability, AvailabilityEntry, AvailabilityStats, Change, Link, SkillAvailability, SkillAvailabilityBuilder,
        SkillKey, Store,
    },
    body::ProbeCacheBody,
    builder::ProbeCacheBuilder,
    endpoint::EndpointState,
    error::ProbeCacheError,
    future::ProbeCacheFuture,
    layer::{EndpointEntry, ProbeCacheLayer},
    service::ProbeCacheService,
};
#[cfg(feature = "directory")]
pub(crate) use self::{
    probe::Probe,
    verdict::{Verdict, of_message_probe},
};
