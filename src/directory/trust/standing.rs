//! Where a peer stands.

use std::time::Duration;

use tokio::time::Instant;

use super::TrustPolicy;
use crate::directory::PeerId;

/// What is known of a peer at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Standing {
    /// 0 to 1, and always a number.
    pub trust: f64,
    /// How long calls to it take, failures counted as [`failure_latency`](TrustPolicy::failure_latency). `None` if no
    /// outcome counted yet.
    pub latency: Option<Duration>,
    /// How many calls counted: successes, failures and overclaims, here and in other replicas.
    pub calls: u64,
    /// Whether it is to be called at all, and how much.
    pub condition: Condition,
    /// It has done well so often that it need not be on probation any longer.
    pub proven: bool,
}

impl Standing {
    /// That of a peer of which nothing is known.
    #[must_use]
    pub fn unknown(policy: &TrustPolicy) -> Self {
        Self { trust: policy.unknown(), latency: None, calls: 0, condition: Condition::Unknown, proven: false }
    }
}

/// Whether a peer is to be called at all, and how much.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Condition {
    /// Nothing counted yet.
    Unknown,
    /// Nothing against it.
    Good,
    /// To be called when nobody better is there: it claimed what it does not do, and its trust is less for it; or there
    /// was no room for it in quarantine.
    Demoted,
    /// Not to be called.
    Quarantined {
        /// Until then, as far as is known now.
        until: Instant,
    },
    /// Coming back from quarantine.
    SlowStart {
        /// The share of calls that it is open for, above 0 and below 1.
        share: f64,
    },
}

impl Condition {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Good => "good",
            Self::Demoted => "demoted",
            Self::Quarantined { .. } => "quarantined",
            Self::SlowStart { .. } => "slow_start",
        }
    }

    /// Whether a call may go to the peer, by a draw that is spread evenly over all numbers: [`draw`] makes one. The
    /// same draw is admitted by any larger share.
    #[must_use]
    pub fn admits(self, draw: u64) -> bool {
        match self {
            Self::Quarantined { .. } => false,
            // In steps of 2^-53, which a double holds.
            Self::SlowStart { share } => ((draw >> 11) as f64) < share * (1_u64 << 53) as f64,
            Self::Unknown | Self::Good | Self::Demoted => true,
        }
    }
}

/// 2^64 over the golden ratio: multiples of it, cut to 64 bits, are spread more evenly than chance would spread them.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// What decides, for one call and one peer, whether a peer in its slow start is open for it
/// ([`Condition::admits`]): a function of the two, the same everywhere. Calls that are counted up one by one get a
/// peer's share to within a few calls of it, and different peers get different ones.
#[must_use]
pub fn draw(peer: &PeerId, call: u64) -> u64 {
    // FNV-1a, then its bits mixed: the high ones decide.
    let hash = peer
        .as_str()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let hash = (hash ^ (hash >> 32)).wrapping_mul(GOLDEN);
    call.wrapping_mul(GOLDEN).wrapping_add(hash ^ (hash >> 29))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_calls_is_admitted_and_a_different_one_for_each_peer() {
        let peers = ["https://a.example", "https://b.example"].map(|url| PeerId::parse(url).unwrap());
        for share in [0.1, 0.25, 0.5, 0.9] {
            let slow = Condition::SlowStart { share };
            let admitted =
                peers.each_ref().map(|peer| (0..1000_u64).map(|n| slow.admits(draw(peer, n))).collect::<Vec<_>>());
            for admitted in &admitted {
                let count = admitted.iter().filter(|admitted| **admitted).count() as f64;
                assert!((count - share * 1000.0).abs() < 4.0, "{count} of 1000 at {share}");
            }
            assert_ne!(admitted[0], admitted[1]);
        }
    }

    #[test]
    fn a_larger_share_admits_what_a_smaller_one_does() {
        let peer = PeerId::parse("https://a.example").unwrap();
        for n in 0..1000_u64 {
            let draw = draw(&peer, n.wrapping_mul(u64::MAX / 7));
            let admits = |share| Condition::SlowStart { share }.admits(draw);
            assert!(admits(1.0));
            assert!(!admits(0.0));
            assert!(admits(0.5) || !admits(0.2));
        }
        assert!(
            Condition::Unknown.admits(u64::MAX) && Condition::Good.admits(u64::MAX) && Condition::Demoted.admits(0)
        );
        assert!(!Condition::Quarantined { until: Instant::now() }.admits(0));
    }
}
