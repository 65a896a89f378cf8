//! One peer's record, where readers and writers meet.

use std::sync::{
    PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{
        AtomicBool,
        Ordering::{AcqRel, Relaxed},
    },
};

use crate::directory::{PeerId, trust::Record};

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) peer: PeerId,
    /// Held for the arithmetic of one call, by readers together.
    record: RwLock<Record>,
    is_gone: AtomicBool,
    /// It is none of those that are registered.
    is_absent: AtomicBool,
    /// It is to be told to other replicas.
    waits: AtomicBool,
}

impl Entry {
    pub(super) fn new(peer: PeerId, record: Record) -> Self {
        let no = || AtomicBool::new(false);
        Self { peer, record: RwLock::new(record), is_gone: no(), is_absent: no(), waits: no() }
    }

    // Nothing panics while it is held, and a record is as good after as before.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Record> {
        self.record.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Record> {
        self.record.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// It was forgotten: whoever still holds it holds nothing.
    pub(super) fn go(&self) {
        self.is_gone.store(true, Relaxed);
    }

    pub(super) fn is_gone(&self) -> bool {
        self.is_gone.load(Relaxed)
    }

    /// Whether that is new.
    pub(super) fn set_absent(&self, is_absent: bool) -> bool {
        self.is_absent.swap(is_absent, Relaxed) != is_absent
    }

    pub(super) fn is_absent(&self) -> bool {
        self.is_absent.load(Relaxed)
    }

    /// Notes that it is to be told. Says whether it was noted already.
    pub(super) fn wait(&self) -> bool {
        self.waits.swap(true, AcqRel)
    }

    /// It is about to be told.
    pub(super) fn wait_no_more(&self) {
        self.waits.swap(false, AcqRel);
    }
}
