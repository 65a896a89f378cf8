use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use ::redis::ConnectionInfo;

use super::{RedisStoreBuilder, RedisStoreStats, server::Names, session::serve, status::Status};
use crate::probe_cache::{Link, ProbeCacheError, Store};

/// Shares what is known of skills with other replicas, through a Redis (6 or later) or Valkey server.
///
/// A call is never answered by the server, and never waits for it: each process goes by what it knows itself, and the
/// server carries changes from one to the others.
///
/// - What one replica learns is published, and heard by the others: a skill that is available, one that is gone,
///   everything of a host, everything. What was told by this one is not told back to it.
/// - What holds also stands in a set, until it expires. A replica that starts later reads it. Nothing holds for longer
///   than it would where it was learnt, nor than the reader's own [`ttl`](super::super::SkillAvailabilityBuilder::ttl).
/// - A server that is away is tried again, at growing intervals. Until then each replica goes by what it learns itself.
///   What it finds to be gone meanwhile is told afterwards. What it took for available is forgotten when it is
///   connected again, for it may have missed that somebody else found it gone; then it reads what stands. If the server
///   lost what it held, nothing does, and calls find out anew. One that goes back to an older state (after a failover,
///   say) may bring back what was dropped, for the rest of its time.
///
/// With feature `directory`, it shares the evidence of a directory of peers in the same way: give it to the evidence's
/// builder.
///
/// The runtime that it is used in must have I/O enabled. Nothing is logged.
///
/// ```no_run
/// use std::sync::Arc;
/// use a2a_guard::probe_cache::{RedisStore, SkillAvailability};
///
/// let store = Arc::new(RedisStore::new("redis://user:password@redis.internal:6379/0")?);
/// let skills = SkillAvailability::builder().store(store.clone()).build()?;
/// // … give clones of `skills` to layers; ask the store how it is:
/// println!("{} {:?} {:?}", store.connected(), store.stats(), store.last_error());
/// # Ok::<(), a2a_guard::probe_cache::ProbeCacheError>(())
/// ```
///
/// # The server
///
/// One server, or the master of several behind one name; no cluster or sentinel is asked for it. Keys and channels
/// begin with the [prefix](RedisStoreBuilder::prefix). Scripts (`EVAL`) and the third version of the protocol are
/// needed. An account needs no more than
///
/// ```text
/// ~a2a-guard:* &a2a-guard:* +@connection +subscribe +publish +eval +time +del +pexpire
/// +zadd +zrem +zrange +zrevrange +zrevrangebyscore +zremrangebyscore +zremrangebyrank
/// ```
///
/// and, where it shares the evidence of a directory of peers as well, `+hset +hget +hdel +hkeys +zcard`.
///
/// Whoever may write there can have replicas forget what they know, or believe, for their own
/// [`ttl`](super::super::SkillAvailabilityBuilder::ttl), what is not so: the agents' own refusals correct it. Messages
/// that are not understood or longer than 4 KiB are ignored. A message is read before its length can be known; Redis
/// itself bounds that, to 32 MiB by default (`client-output-buffer-limit pubsub`).
///
/// # TLS
///
/// `rediss://…`, if the client crate has it switched on, which is left to you:
/// `redis = { version = "1", default-features = false, features = ["tokio-rustls-comp", "tls-rustls-native-roots"] }`
/// beside this crate, say. Without it such a URL is an error when the store is built.
pub struct RedisStore {
    pub(crate) config: Config,
    pub(crate) status: Status,
}

#[derive(Clone)]
pub(crate) struct Config {
    pub(super) server: ConnectionInfo,
    pub(crate) names: Names,
    pub(crate) timeout: Duration,
    pub(crate) ping_every: Duration,
    pub(crate) max_back_off: Duration,
    pub(crate) capacity: usize,
}

impl RedisStore {
    /// A store on the server at a URL, with the defaults that [`builder`](Self::builder) names. Nothing is connected
    /// before a handle is built with it.
    ///
    /// # Errors
    ///
    /// If the URL is none of Redis.
    pub fn new(url: &str) -> Result<Self, ProbeCacheError> {
        Self::builder(url).build()
    }

    /// Sets more than the URL: `redis://` or `valkey://`, `rediss://` or `valkeys://` for TLS, `unix:///path`; user,
    /// password and database stand in it, as the `redis` crate reads it.
    pub fn builder(url: impl Into<String>) -> RedisStoreBuilder {
        RedisStoreBuilder::new(url.into())
    }

    pub(super) fn of(config: Config) -> Self {
        Self { config, status: Status::default() }
    }

    /// Whether all handles that it serves are connected, and know what stands. `false` before any is built.
    #[must_use]
    pub fn connected(&self) -> bool {
        self.status.is_connected()
    }

    /// What went wrong last, if anything did: on one line, at most 256 characters of it. It stays after that was
    /// overcome.
    #[must_use]
    pub fn last_error(&self) -> Option<String> {
        self.status.last_error()
    }

    /// What was done so far.
    #[must_use]
    pub fn stats(&self) -> RedisStoreStats {
        self.status.stats()
    }
}

impl Store for RedisStore {
    fn serve(self: Arc<Self>, link: Link) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(serve(self, link))
    }
}

/// Without the server's address, which may have a password in it.
impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("channel", &self.config.names.channel)
            .field("connected", &self.connected())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
