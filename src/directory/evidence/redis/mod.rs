//! An [`EvidenceStore`] over a Redis or Valkey server: the one that shares the availability of skills serves this too.
//!
//! Changes travel through a channel, and what each replica told last of each peer stands in one hash beside it. Its
//! server does no arithmetic: what a replica tells takes the place of what it told before, so that nothing counts twice
//! however often a connection is lost.

mod server;
mod session;

use std::{future::Future, pin::Pin, sync::Arc};

use super::{EvidenceLink, EvidenceStore};
use crate::probe_cache::RedisStore;

/// Evidence has a channel and keys of its own below the store's
/// [prefix](crate::probe_cache::RedisStoreBuilder::prefix),
/// and [`capacity`](crate::probe_cache::RedisStoreBuilder::capacity) counts, apart from skills, peers times replicas.
/// Each handle that the store serves has a connection of its own.
///
/// - What a replica counted of a peer is published, and heard by the others; so is what puts a peer into quarantine, at
///   once, and what is forgotten.
/// - It also stands for ten half-lives. A replica that starts later, or again, reads it.
/// - A server that is away is tried again, at growing intervals. Until then each replica goes by what it counts itself
///   and heard before. Afterwards it tells all that it counted, and reads what stands: also a server that lost
///   everything has it again. What was forgotten during an outage is forgotten by those that were connected.
impl EvidenceStore for RedisStore {
    fn serve(self: Arc<Self>, link: EvidenceLink) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(session::serve(self, link))
    }
}
