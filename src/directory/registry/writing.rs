//! One change of the directory at a time: the index that comes of it, and the event that tells of it.

use std::{
    collections::HashMap,
    sync::{Arc, MutexGuard, PoisonError},
};

use tokio::time::Instant;

use super::Inner;
use crate::directory::{
    AuditEvent, Change, PeerId,
    index::{Index, IndexChange},
    peer::Peer,
};

/// What only those need who change something, one at a time.
#[derive(Default)]
pub(in crate::directory) struct Writing {
    pub(super) sequence: u64,
    pub(super) owners: HashMap<Arc<str>, usize>,
    /// Who must not come back, and whose it was. One entry for each act of an operator.
    pub(in crate::directory) revoked: HashMap<PeerId, Arc<str>>,
    /// What stood before the last change, and that change. Few read it any longer, and soon nobody: then it becomes
    /// the next one, with what it lacks, and nothing is copied.
    pub(super) before: Option<(Arc<Index>, IndexChange)>,
}

/// Events on their way to the observer, who is told when no lock is held.
#[must_use]
pub(in crate::directory) struct Events(pub(in crate::directory) Vec<AuditEvent>);

impl Inner {
    /// Makes the next index; says whether all of it had to be copied, since somebody still reads the one before.
    pub(super) fn change(&self, writing: &mut Writing, change: IndexChange) -> bool {
        let caught_up = writing.before.take().and_then(|(before, missed)| {
            let mut index = Arc::into_inner(before)?;
            index.apply(missed);
            Some(index)
        });
        let is_copied = caught_up.is_none();
        let mut next = caught_up.unwrap_or_else(|| Index::clone(&self.current()));
        next.apply(change.clone());
        match &change {
            IndexChange::Put(peer) => self.settings.evidence.set_present(&peer.id, true),
            IndexChange::TakeOut(id) => self.settings.evidence.set_present(id, false),
        }
        self.settings.evidence.set_registered(next.len());
        let next = Arc::new(next);
        let before = std::mem::replace(&mut *self.current.write().unwrap_or_else(PoisonError::into_inner), next);
        writing.before = Some((before, change));
        is_copied
    }

    /// Nothing is left half done under this lock, so that a poisoned one is as good as new.
    pub(in crate::directory) fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::directory) fn event(
        &self,
        writing: &mut Writing,
        peer: &PeerId,
        owner: &Arc<str>,
        change: Change,
    ) -> AuditEvent {
        writing.sequence += 1;
        AuditEvent {
            sequence: writing.sequence,
            at: Instant::now(),
            peer: peer.clone(),
            owner: Arc::clone(owner),
            change,
        }
    }

    pub(in crate::directory) fn take_out(&self, writing: &mut Writing, peer: &Peer, change: Change) -> Events {
        peer.state.set_gone();
        if let Some(peers) = writing.owners.get_mut(&peer.owner) {
            *peers -= 1;
            if *peers == 0 {
                writing.owners.remove(&peer.owner);
            }
        }
        self.change(writing, IndexChange::TakeOut(peer.id.clone()));
        Events(vec![self.event(writing, &peer.id, &peer.owner, change)])
    }
}
