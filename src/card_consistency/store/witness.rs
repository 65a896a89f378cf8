//! What was seen of an agent that its card cannot prove by itself.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const PASSED: u8 = 1;
const FAILED: u8 = 2;

/// Atomics: noting something writes no map.
#[derive(Debug, Default)]
pub(super) struct Witness {
    streamed: AtomicBool,
    probe: AtomicU8,
}

impl Clone for Witness {
    fn clone(&self) -> Self {
        Self {
            streamed: AtomicBool::new(self.streamed.load(Ordering::Relaxed)),
            probe: AtomicU8::new(self.probe.load(Ordering::Relaxed)),
        }
    }
}

impl Witness {
    pub(super) fn note_streamed(&self) {
        // Most streams are not the first: reading a line that others read too is cheaper than writing it.
        if !self.streamed() {
            self.streamed.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn streamed(&self) -> bool {
        self.streamed.load(Ordering::Relaxed)
    }

    pub(super) fn note_probe(&self, passed: bool) {
        self.probe.store(if passed { PASSED } else { FAILED }, Ordering::Relaxed);
    }

    /// Whether the last probe passed, if there was one.
    pub(super) fn probe(&self) -> Option<bool> {
        match self.probe.load(Ordering::Relaxed) {
            UNKNOWN => None,
            probe => Some(probe == PASSED),
        }
    }
}
