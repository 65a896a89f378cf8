//! How long to wait before the server is tried again.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

use crate::clock::span;

const FIRST: Duration = Duration::from_millis(100);

/// Doubles from 100 ms up to the longest. Half of it is left to chance, for all replicas lose a server at once.
#[derive(Debug)]
pub(crate) struct BackOff {
    longest: Duration,
    failures: u32,
}

impl BackOff {
    pub(crate) fn new(longest: Duration) -> Self {
        Self { longest, failures: 0 }
    }

    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }

    pub(crate) fn next(&mut self) -> Duration {
        self.pause(random())
    }

    fn pause(&mut self, random: u64) -> Duration {
        let doubled = FIRST.saturating_mul(1_u32.checked_shl(self.failures).unwrap_or(u32::MAX));
        self.failures = self.failures.saturating_add(1).min(31);
        let half = span(doubled.min(self.longest)) / 2;
        Duration::from_millis(half + random % (half + 1)).max(Duration::from_millis(1))
    }
}

/// Each hasher of the standard library's has random keys of its own.
pub(super) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_up_to_the_longest_with_half_of_it_left_to_chance() {
        for (random, parts) in [(0, 1), (u64::MAX / 2, 1), (u64::MAX, 1)] {
            let mut back_off = BackOff::new(Duration::from_secs(1));
            for whole in [100, 200, 400, 800, 1000, 1000] {
                let pause = span(back_off.pause(random));
                assert!((whole / 2..=whole).contains(&pause), "{pause} of {whole}, {parts}");
            }
        }
        let mut back_off = BackOff::new(Duration::from_secs(3600));
        for _ in 0..100 {
            assert!(back_off.next() <= Duration::from_secs(3600));
        }
        assert!(back_off.next() >= Duration::from_secs(1800));
        back_off.reset();
        assert!(back_off.next() <= FIRST);
    }

    #[test]
    fn it_never_spins() {
        let mut back_off = BackOff::new(Duration::from_millis(1));
        assert_eq!(back_off.pause(0), Duration::from_millis(1));
        assert_ne!((random(), random()), (random(), random()));
    }
}
