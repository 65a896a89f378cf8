use std::{fmt, time::Duration};

use ::redis::{ConnectionInfo, IntoConnectionInfo, ProtocolVersion};

use super::{RedisStore, server::Names, store::Config};
use crate::{probe_cache::ProbeCacheError, wire::text::escape};

const LONGEST_PREFIX: usize = 128;
const HOUR: Duration = Duration::from_secs(3600);

/// Builds a [`RedisStore`].
#[derive(Clone)]
#[must_use = "a builder does nothing before `build`"]
pub struct RedisStoreBuilder {
    url: String,
    prefix: String,
    timeout: Duration,
    ping_every: Duration,
    max_back_off: Duration,
    capacity: usize,
}

impl RedisStoreBuilder {
    pub(super) fn new(url: String) -> Self {
        Self {
            url,
            prefix: "a2a-guard".to_owned(),
            timeout: Duration::from_secs(5),
            ping_every: Duration::from_secs(10),
            max_back_off: Duration::from_secs(10),
            capacity: 4096,
        }
    }

    /// What keys and channels on the server begin with, before a colon. Replicas share what they learn if they have the
    /// same one, and the same database; deployments that are to be apart have one each. At most 128 bytes. Default:
    /// `a2a-guard`.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// How long connecting may take, and each answer of the server's; what takes longer loses the connection. Calls
    /// never wait for either. Default: 5 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// After how long a silence the server is asked whether it is still there. So long, and `timeout` on top,
    /// invalidations of other replicas may be missed when a network fails silently. Default: 10 s.
    pub fn ping_every(mut self, silence: Duration) -> Self {
        self.ping_every = silence;
        self
    }

    /// The longest pause before a server that is away is tried again. Pauses begin with 100 ms and double; half of each
    /// is left to chance. Default: 10 s.
    pub fn max_back_off(mut self, longest: Duration) -> Self {
        self.max_back_off = longest;
        self
    }

    /// For how many skills the server remembers what is known, for replicas that start later. Beyond that, what would
    /// expire first is left out; the same number for all replicas is the best. Reading it ends at 4 MiB. Where the
    /// store serves a directory's evidence as well: of how many peers, each counted once for each replica, apart
    /// from skills, and reading ends at 8 MiB. Default: 4,096.
    pub fn capacity(mut self, skills: usize) -> Self {
        self.capacity = skills;
        self
    }

    /// The store. Nothing is connected yet.
    ///
    /// # Errors
    ///
    /// If a setting cannot be. The error names it, and does not repeat the URL, which may have a password in it.
    pub fn build(self) -> Result<RedisStore, ProbeCacheError> {
        let server = self.server()?;
        if self.prefix.is_empty() || self.prefix.len() > LONGEST_PREFIX || self.prefix.contains(char::is_control) {
            let why = format!("must have 1 to {LONGEST_PREFIX} bytes, and no control characters");
            return Err(ProbeCacheError::new("prefix", why));
        }
        let spans = [("timeout", self.timeout), ("ping_every", self.ping_every), ("max_back_off", self.max_back_off)];
        let within = Duration::from_millis(1)..=HOUR;
        if let Some((setting, span)) = spans.into_iter().find(|(_, span)| !within.contains(span)) {
            return Err(ProbeCacheError::new(setting, format!("is {span:?}: it must be between 1 ms and 1 h")));
        }
        if self.capacity == 0 || self.capacity > i32::MAX as usize {
            let why = format!("is {}: it must be between 1 and {}", self.capacity, i32::MAX);
            return Err(ProbeCacheError::new("capacity", why));
        }
        let names = Names {
            channel: format!("{}:changes:{}", self.prefix, server.redis_settings().db()),
            known: format!("{}:known", self.prefix),
            #[cfg(feature = "directory")]
            evidence: super::server::EvidenceNames {
                channel: format!("{}:evidence:changes:{}", self.prefix, server.redis_settings().db()),
                told: format!("{}:evidence:told", self.prefix),
                expires: format!("{}:evidence:expires", self.prefix),
            },
        };
        let Self { timeout, ping_every, max_back_off, capacity, .. } = self;
        Ok(RedisStore::of(Config { server, names, timeout, ping_every, max_back_off, capacity }))
    }

    fn server(&self) -> Result<ConnectionInfo, ProbeCacheError> {
        let info = self.url.as_str().into_connection_info().map_err(|error| {
            ProbeCacheError::new("url", format!("is none of a server: {}", escape(&error.to_string(), 200)))
        })?;
        if !info.addr().is_supported() {
            return Err(ProbeCacheError::new("url", "names a kind of address that is not supported here"));
        }
        // One connection has both answers and messages in it.
        let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        Ok(info.set_redis_settings(settings))
    }
}

/// Without the URL, which may have a password in it.
impl fmt::Debug for RedisStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStoreBuilder")
            .field("prefix", &self.prefix)
            .field("timeout", &self.timeout)
            .field("ping_every", &self.ping_every)
            .field("max_back_off", &self.max_back_off)
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}
