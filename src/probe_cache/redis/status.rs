//! What became of a store's connections so far. Nothing is logged; this is asked.

use std::{
    fmt::Display,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use crate::wire::text::escape;

/// So many characters of an error's text are kept.
const LONGEST_ERROR: usize = 256;

/// What a [`RedisStore`](super::RedisStore) has done since it was made, over all handles that it serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedisStoreStats {
    /// Connections that were made. Each counts once it is subscribed, and what holds was read.
    pub connections: u64,
    /// Changes that the server took.
    pub told: u64,
    /// Changes that it did not: it refused them, or they are longer than 4 KiB as a message.
    pub untold: u64,
    /// Changes that were heard from other replicas.
    pub heard: u64,
    /// Messages in the channel, and entries of the set, that are none of ours: not understood, of another version, or
    /// longer than 4 KiB.
    pub ignored: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Status {
    serving: AtomicUsize,
    connected: AtomicUsize,
    pub(super) connections: AtomicU64,
    pub(crate) told: AtomicU64,
    pub(crate) untold: AtomicU64,
    pub(super) heard: AtomicU64,
    pub(crate) ignored: AtomicU64,
    error: Mutex<Option<String>>,
}

/// Counts for as long as it lives.
#[derive(Debug)]
pub(crate) struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Status {
    /// A handle is served from now on.
    pub(crate) fn serving(&self) -> Counted<'_> {
        Counted::new(&self.serving)
    }

    /// And its connection stands.
    pub(crate) fn connected(&self) -> Counted<'_> {
        count(&self.connections, 1);
        Counted::new(&self.connected)
    }

    pub(super) fn is_connected(&self) -> bool {
        let connected = self.connected.load(Relaxed);
        connected > 0 && connected >= self.serving.load(Relaxed)
    }

    pub(crate) fn failed(&self, error: &dyn Display) {
        let text = escape(&error.to_string(), LONGEST_ERROR).to_string();
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    pub(super) fn last_error(&self) -> Option<String> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn stats(&self) -> RedisStoreStats {
        let read = |count: &AtomicU64| count.load(Relaxed);
        RedisStoreStats {
            connections: read(&self.connections),
            told: read(&self.told),
            untold: read(&self.untold),
            heard: read(&self.heard),
            ignored: read(&self.ignored),
        }
    }
}

pub(crate) fn count(counter: &AtomicU64, more: usize) {
    counter.fetch_add(more as u64, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connected_is_when_all_are() {
        let status = Status::default();
        assert!(!status.is_connected());
        let (one, other) = (status.serving(), status.serving());
        let connected = status.connected();
        assert!(!status.is_connected());
        let also = status.connected();
        assert!(status.is_connected());
        drop(also);
        assert!(!status.is_connected());
        drop(other);
        assert!(status.is_connected());
        drop((one, connected));
        assert!(!status.is_connected());
    }

    #[test]
    fn errors_are_escaped_and_cut() {
        let status = Status::default();
        status.failed(&format!("-ERR \r\n{}", "x".repeat(1000)));
        let error = status.last_error().unwrap();
        assert!(error.starts_with(r"-ERR \r\nxx") && error.len() < 300, "{error}");
    }
}
