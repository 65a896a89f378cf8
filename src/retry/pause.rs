use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

/// The pause before a retry: it doubles with each, up to a maximum, and is drawn from its upper half, so that calls
/// which failed together do not come back together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    pub(super) first: Duration,
    pub(super) most: Duration,
}

impl Pause {
    /// Before the retry of this number, from 0.
    pub(super) fn before(self, retry: u32) -> Duration {
        let factor = 1_u32.checked_shl(retry).unwrap_or(u32::MAX);
        let whole = self.first.saturating_mul(factor).min(self.most);
        // Keys of hashers are drawn at random; that is chance enough here.
        let chance = RandomState::new().hash_one(retry) as u32;
        whole / 2 + (whole / 2).mul_f64(f64::from(chance) / f64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_are_spread_below_a_maximum() {
        let pause = Pause { first: Duration::from_millis(100), most: Duration::from_secs(1) };
        for (retry, whole) in [(0, 100), (1, 200), (2, 400), (3, 800), (4, 1000), (31, 1000), (32, 1000), (99, 1000)] {
            let drawn: Vec<_> = (0..50).map(|_| pause.before(retry)).collect();
            let (half, whole) = (Duration::from_millis(whole / 2), Duration::from_millis(whole));
            assert!(drawn.iter().all(|pause| (half..=whole).contains(pause)), "{retry}: {drawn:?}");
            assert!(drawn.iter().any(|pause| *pause != drawn[0]), "{retry}: no chance in it");
        }
    }
}
