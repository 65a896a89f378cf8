//! Who of those that are to be in quarantine is in it.

use std::cmp::Ordering;

use crate::directory::PeerId;

/// One that is to be in it.
#[derive(Clone, Copy, Debug)]
pub(in crate::directory) struct Case<'a> {
    /// Its share of successes.
    pub(in crate::directory) rate: f64,
    /// How many quarantines it had in a row.
    pub(in crate::directory) level: u32,
    /// What decides between equals.
    pub(in crate::directory) peer: &'a PeerId,
}

impl Case<'_> {
    /// Whether it is worse than another one: less success, then more quarantines in a row. No two peers are equal, so
    /// that the order in which they came does not matter.
    pub(in crate::directory) fn worst_first(&self, other: &Self) -> Ordering {
        let by_rate = self.rate.total_cmp(&other.rate);
        by_rate.then(other.level.cmp(&self.level)).then_with(|| self.peer.cmp(other.peer))
    }
}

/// How many of so many peers there is room for: a share of them, rounded down, and never all.
pub(in crate::directory) fn places(max_share: f64, peers: usize) -> usize {
    let room = (max_share * peers as f64).floor() as usize;
    room.min(peers.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_always_stays_out() {
        let of = |share| [0, 1, 2, 3, 10, 1000].map(|peers| places(share, peers));
        assert_eq!(of(0.5), [0, 0, 1, 1, 5, 500]);
        assert_eq!(of(1.0), [0, 0, 1, 2, 9, 999]);
        assert_eq!(of(0.0), [0; 6]);
        assert_eq!(of(0.1), [0, 0, 0, 0, 1, 100]);
    }

    #[test]
    fn the_worst_are_told_apart() {
        let peers = ["https://a.example", "https://b.example"].map(|url| PeerId::parse(url).unwrap());
        let case = |rate, level, peer: usize| Case { rate, level, peer: &peers[peer] };
        assert_eq!(case(0.1, 0, 1).worst_first(&case(0.2, 9, 0)), Ordering::Less);
        assert_eq!(case(0.1, 2, 1).worst_first(&case(0.1, 1, 0)), Ordering::Less);
        assert_eq!(case(0.1, 1, 0).worst_first(&case(0.1, 1, 1)), Ordering::Less);
    }
}
