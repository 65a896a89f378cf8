//! What holds until some time, and until somebody takes it back: both in one atomic.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::Millis;

/// Forty bits of milliseconds are 34 years.
const UNTIL: u64 = (1 << 40) - 1;

/// How often it was taken back. What began before that must not bring it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Generation(u32);

/// A lease as it stood when somebody looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen(u64);

impl Seen {
    /// Until when it held, 0 for not at all.
    #[inline]
    pub(super) fn until(self) -> Millis {
        self.0 & UNTIL
    }

    #[inline]
    pub(super) fn generation(self) -> Generation {
        Generation((self.0 >> 40) as u32)
    }
}

/// Holds until a time; a renewal writes this and no map.
#[derive(Debug, Default)]
pub(super) struct Lease(AtomicU64);

impl Lease {
    #[inline]
    pub(super) fn seen(&self) -> Seen {
        Seen(self.0.load(Ordering::Acquire))
    }

    #[inline]
    pub(super) fn until(&self) -> Millis {
        self.seen().until()
    }

    /// Lets it hold until then, if nobody took it back since `generation`. It is never shortened.
    pub(super) fn renew(&self, until: Millis, generation: Generation) -> bool {
        let until = until.min(UNTIL);
        let renewed = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
            (word >> 40 == u64::from(generation.0)).then_some(word & !UNTIL | until.max(word & UNTIL))
        });
        renewed.is_ok()
    }

    /// Takes it back, and says until when it would have held.
    pub(super) fn withdraw(&self) -> Millis {
        let next = |word: u64| Some((word >> 40).wrapping_add(1) << 40);
        let before = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        before.unwrap_or_else(|word| word) & UNTIL
    }

    /// Lets it hold until then at least, whatever was withdrawn before.
    pub(super) fn grant(&self, until: Millis) {
        self.renew(until, self.seen().generation());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_began_before_a_withdrawal_does_not_renew() {
        let lease = Lease::default();
        let before = lease.seen().generation();
        assert_eq!(lease.until(), 0);
        assert!(lease.renew(100, before));
        assert!(lease.renew(50, before));
        assert_eq!(lease.until(), 100, "never shortened");
        assert_eq!(lease.withdraw(), 100);
        assert_eq!(lease.until(), 0);
        assert!(!lease.renew(200, before));
        lease.grant(300);
        assert_eq!(lease.until(), 300);
    }

    #[test]
    fn neither_part_runs_into_the_other() {
        let lease = Lease::default();
        lease.grant(u64::MAX);
        assert_eq!((lease.until(), lease.seen().generation()), (UNTIL, Generation(0)));
        for _ in 0..3 {
            lease.withdraw();
        }
        assert_eq!((lease.until(), lease.seen().generation()), (0, Generation(3)));
    }
}
