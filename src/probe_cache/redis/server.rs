//! One connection to the server, and what is asked of it.

use std::{future::Future, sync::Arc, time::Duration};

use ::redis::{Cmd, ErrorKind, RedisError, RedisResult, ServerErrorKind, aio::MultiplexedConnection, cmd};
use tokio::sync::mpsc;

use super::{
    connection::connect,
    message::{self, LONGEST, beginning, members, read_member},
    status::count,
    store::RedisStore,
};
use crate::{clock::span, probe_cache::Change};

/// All in one step on the server, and in its time: replicas need not agree on theirs.
const TELL: &str = include_str!("tell.lua");
const LEARN: &str = include_str!("learn.lua");

/// Reading what stands ends here, whatever somebody put there.
const MOST_BYTES: usize = 4 << 20;

/// Where a store's changes stand on the server.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// Channels are the same in all databases of a server. Sets are not.
    pub(super) channel: String,
    pub(super) known: String,
    /// Where evidence stands, and what its channel is.
    #[cfg(feature = "directory")]
    pub(crate) evidence: EvidenceNames,
}

#[cfg(feature = "directory")]
#[derive(Clone, Debug)]
pub(crate) struct EvidenceNames {
    pub(crate) channel: String,
    /// By peer and replica, what was told last.
    pub(crate) told: String,
    /// The same by the time at which it expires.
    pub(crate) expires: String,
}

/// One connection for commands and for the channel.
pub(super) struct Server {
    connection: MultiplexedConnection,
    store: Arc<RedisStore>,
    me: Arc<str>,
}

impl Server {
    /// Connects, and hears everything from then on.
    pub(super) async fn connect(store: Arc<RedisStore>, me: Arc<str>) -> RedisResult<(Self, mpsc::Receiver<Change>)> {
        let name = Arc::clone(&me);
        let read = move |payload: &[u8]| message::read(payload, &name);
        let (connection, heard) = connect(&store, &store.config.names.channel, read).await?;
        Ok((Self { connection, store, me }, heard))
    }

    /// How long an answer may take.
    pub(super) fn patience(&self) -> Duration {
        self.store.config.timeout
    }

    /// Tells changes, in their order.
    pub(super) fn tell(&self, changes: &[Change]) -> impl Future<Output = RedisResult<()>> + Send + use<> {
        let config = &self.store.config;
        let mut tell = cmd("EVAL");
        tell.arg(TELL).arg(1).arg(&config.names.known).arg(&config.names.channel).arg(config.capacity);
        for change in changes {
            // What is too long was not taken on.
            if let Some(message) = message::write(change, &self.me) {
                tell.arg(message);
                set(&mut tell, change);
            }
        }
        let mut connection = self.connection.clone();
        async move { tell.query_async::<()>(&mut connection).await }
    }

    /// Reads what stands.
    pub(super) fn learn(&self) -> impl Future<Output = RedisResult<Vec<Change>>> + Send + use<> {
        let config = &self.store.config;
        let mut learn = cmd("EVAL");
        learn.arg(LEARN).arg(1).arg(&config.names.known).arg(config.capacity).arg(LONGEST).arg(MOST_BYTES);
        let (mut connection, store) = (self.connection.clone(), Arc::clone(&self.store));
        async move {
            let known: Vec<(Vec<u8>, i64)> = learn.query_async(&mut connection).await?;
            let read: Vec<_> = known.iter().filter_map(|(member, left)| read_member(member, *left)).collect();
            count(&store.status.ignored, known.len() - read.len());
            Ok(read)
        }
    }

    /// Asks whether it is still there.
    pub(super) fn ping(&self) -> impl Future<Output = RedisResult<()>> + Send + use<> {
        let mut connection = self.connection.clone();
        async move { cmd("PING").query_async::<()>(&mut connection).await }
    }
}

/// What a change does to the set.
fn set(tell: &mut Cmd, change: &Change) {
    let (what, member, contrary, ms) = match change {
        Change::Available { key, lasts } => {
            let (available, unavailable) = members(key);
            ("put", available, unavailable, span(*lasts))
        }
        Change::Unavailable { key, lasts } => {
            let (available, unavailable) = members(key);
            ("put", unavailable, available, span(*lasts))
        }
        Change::Dropped { key } => {
            let (available, unavailable) = members(key);
            ("drop", available, unavailable, 0)
        }
        Change::DroppedHost { origin } => ("host", beginning(origin), String::new(), 0),
        Change::DroppedAll => ("all", String::new(), String::new(), 0),
    };
    tell.arg(what).arg(member).arg(contrary).arg(ms);
}

/// Whether the connection is of use after such an error. A refusal of one command (by access rules, for want of memory)
/// leaves it as it is; a server that is being replaced, or has not read its data yet, is left.
pub(crate) fn is_usable_after(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Server(kind) => !matches!(
            kind,
            ServerErrorKind::BusyLoading
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown
                | ServerErrorKind::ReadOnly
                | ServerErrorKind::TryAgain
        ),
        ErrorKind::Extension => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_concerns_one_command_leaves_the_connection_as_it_is() {
        let server = |kind| RedisError::from((ErrorKind::Server(kind), "of the test's making"));
        for of_one in [ServerErrorKind::ResponseError, ServerErrorKind::NoPerm, ServerErrorKind::NoScript] {
            assert!(is_usable_after(&server(of_one)), "{of_one:?}");
        }
        for of_all in [
            ServerErrorKind::BusyLoading,
            ServerErrorKind::ClusterDown,
            ServerErrorKind::MasterDown,
            ServerErrorKind::ReadOnly,
            ServerErrorKind::TryAgain,
        ] {
            assert!(!is_usable_after(&server(of_all)), "{of_all:?}");
        }
        assert!(is_usable_after(&RedisError::from((ErrorKind::Extension, "of a module"))));
        assert!(!is_usable_after(&RedisError::from((ErrorKind::Parse, "nobody knows what"))));
        assert!(!is_usable_after(&std::io::Error::from(std::io::ErrorKind::ConnectionReset).into()));
    }
}
