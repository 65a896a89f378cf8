//! One connection to the server, and what is asked of it.

use std::{future::Future, sync::Arc, time::Duration};

use ::redis::{RedisResult, aio::MultiplexedConnection, cmd};
use tokio::sync::mpsc;

use super::super::EvidenceChange;
use crate::{
    clock::span,
    probe_cache::{
        RedisStore,
        wiring::{Message, connect, count},
    },
};

/// All in one step on the server, and in its time: replicas need not agree on theirs.
const TELL: &str = include_str!("tell.lua");
const LEARN: &str = include_str!("learn.lua");

/// Reading what stands ends here, whatever somebody put there.
const MOST_BYTES: usize = 8 << 20;

pub(super) struct Server {
    connection: MultiplexedConnection,
    store: Arc<RedisStore>,
    me: u128,
    keep: Duration,
}

impl Server {
    /// Connects, and hears everything from then on.
    pub(super) async fn connect(
        store: Arc<RedisStore>,
        me: u128,
        keep: Duration,
    ) -> RedisResult<(Self, mpsc::Receiver<EvidenceChange>)> {
        let read = move |payload: &[u8]| match EvidenceChange::decode(payload) {
            Some(change) if change.replica() == me => Message::Own,
            Some(change) => Message::Change(change),
            None => Message::Unknown,
        };
        let (connection, heard) = connect(&store, &store.config.names.evidence.channel, read).await?;
        Ok((Self { connection, store, me, keep }, heard))
    }

    /// Tells changes, in their order.
    pub(super) fn tell(&self, changes: &[EvidenceChange]) -> impl Future<Output = RedisResult<()>> + Send + use<> {
        let config = &self.store.config;
        let names = &config.names.evidence;
        let mut tell = cmd("EVAL");
        tell.arg(TELL).arg(2).arg(&names.told).arg(&names.expires);
        tell.arg(&names.channel).arg(config.capacity).arg(span(self.keep));
        for change in changes {
            // No peer has a space in it.
            let peer = change.peer().as_str();
            let (what, field) = match change.forgets() {
                true => ("forget", format!("{peer} ")),
                false => ("put", format!("{peer} {:032x}", self.me)),
            };
            tell.arg(change.encode()).arg(what).arg(field);
        }
        let mut connection = self.connection.clone();
        async move { tell.query_async::<()>(&mut connection).await }
    }

    /// Reads what stands.
    pub(super) fn learn(&self) -> impl Future<Output = RedisResult<Vec<EvidenceChange>>> + Send + use<> {
        let config = &self.store.config;
        let names = &config.names.evidence;
        let mut learn = cmd("EVAL");
        learn.arg(LEARN).arg(2).arg(&names.told).arg(&names.expires);
        learn.arg(config.capacity).arg(EvidenceChange::LONGEST).arg(MOST_BYTES);
        let (mut connection, store) = (self.connection.clone(), Arc::clone(&self.store));
        async move {
            let known: Vec<(Vec<u8>, u64)> = learn.query_async(&mut connection).await?;
            let change = |(text, waited): &(Vec<u8>, u64)| {
                EvidenceChange::decode(text).map(|change| change.aged(Duration::from_millis(*waited)))
            };
            let read: Vec<_> = known.iter().filter_map(change).collect();
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
