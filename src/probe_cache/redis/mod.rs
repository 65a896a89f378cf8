//! A [`Store`](super::Store) over a Redis or Valkey server.
//!
//! Changes travel through a channel, and what holds stands in one sorted set beside it, by the time at which it
//! expires. Keys of their own with an expiry each would have to be looked for among everything that a shared server
//! holds; the set is read in one bounded step.

mod back_off;
mod builder;
mod connection;
mod ear;
mod message;
#[cfg(all(test, not(shuttle)))]
mod model;
mod outgoing;
mod server;
mod session;
mod status;
mod store;

/// What other stores on the same server are made of.
#[cfg(feature = "directory")]
pub(crate) mod wiring {
    pub(crate) use super::{
        back_off::BackOff, connection::connect, message::Message, server::is_usable_after, status::count,
    };
}
pub use self::{builder::RedisStoreBuilder, status::RedisStoreStats, store::RedisStore};
