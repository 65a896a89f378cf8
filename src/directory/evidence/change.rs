//! What one replica tells others of a peer, and how it is written.

#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::{
    clock::span,
    directory::{
        PeerId,
        trust::{Learnt, Sentence, Tally, TrustPolicy},
    },
};

/// Readers take this version alone. What adds a field keeps it; what changes a meaning raises it.
const VERSION: u8 = 1;

/// What one replica tells the others of one peer.
///
/// Not what happened, but all that the replica counted so far: it takes the place of what the replica told before. So
/// one may be lost, or told twice, and the next mends it. Times are told as ages, and age [while they
/// wait](Self::aged).
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceChange {
    pub(super) from: u128,
    pub(super) peer: PeerId,
    /// `None`: the peer is to be forgotten.
    pub(super) seen: Option<Seen>,
}

/// A [`Learnt`] in ages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    successes: f64,
    failures: f64,
    age: Duration,
    success_age: Option<Duration>,
    /// Seconds.
    latency: f64,
    calls: u64,
    well: u64,
    strikes: u32,
    strike_age: Option<Duration>,
    quarantine: Option<Quarantine>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Quarantine {
    left: Duration,
    level: u32,
}

#[derive(Serialize, Deserialize)]
struct Written<'a> {
    v: u8,
    from: &'a str,
    peer: &'a str,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seen: Option<WrittenSeen>,
}

/// Weights in calls, times in milliseconds.
#[derive(Serialize, Deserialize)]
struct WrittenSeen {
    ok: f64,
    bad: f64,
    age: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ok_age: Option<u64>,
    latency: f64,
    calls: u64,
    well: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    strikes: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    strike_age: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quarantine: Option<u64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    level: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl EvidenceChange {
    /// The longest text that is read. A peer has up to [`PeerId::MAX`] bytes, the rest a few hundred.
    pub const LONGEST: usize = 4096;

    pub(super) fn seen(from: u128, peer: PeerId, learnt: &Learnt, now: Instant) -> Self {
        let age = |at: Instant| now.saturating_duration_since(at);
        let Learnt { tally, sentence } = learnt;
        let seen = Seen {
            successes: tally.successes,
            failures: tally.failures,
            age: age(tally.at),
            success_age: tally.last_success.map(age),
            latency: tally.latency,
            calls: tally.calls,
            well: tally.well,
            strikes: tally.strikes,
            strike_age: tally.struck.map(age),
            quarantine: sentence
                .map(|Sentence { until, level }| Quarantine { left: until.saturating_duration_since(now), level }),
        };
        Self { from, peer, seen: Some(seen) }
    }

    /// Of whom.
    #[must_use]
    pub fn peer(&self) -> &PeerId {
        &self.peer
    }

    /// Which replica tells it: a random name that it gave itself when its handle was built.
    #[must_use]
    pub fn replica(&self) -> u128 {
        self.from
    }

    /// Whether it says that the peer is to be forgotten, whoever counted what.
    #[must_use]
    pub fn forgets(&self) -> bool {
        self.seen.is_none()
    }

    /// The same after it waited for so long.
    #[must_use]
    pub fn aged(mut self, by: Duration) -> Self {
        if let Some(seen) = &mut self.seen {
            seen.age = seen.age.saturating_add(by);
            seen.success_age = seen.success_age.map(|age| age.saturating_add(by));
            seen.strike_age = seen.strike_age.map(|age| age.saturating_add(by));
            let left = |quarantine: Quarantine| {
                let left = quarantine.left.checked_sub(by).filter(|left| !left.is_zero())?;
                Some(Quarantine { left, ..quarantine })
            };
            seen.quarantine = seen.quarantine.and_then(left);
        }
        self
    }

    /// How it is written: as JSON, on one line.
    #[must_use]
    pub fn encode(&self) -> String {
        let written = Written {
            v: VERSION,
            from: &format!("{:032x}", self.from),
            peer: self.peer.as_str(),
            seen: self.seen.map(|seen| WrittenSeen {
                ok: seen.successes,
                bad: seen.failures,
                age: span(seen.age),
                ok_age: seen.success_age.map(span),
                latency: seen.latency * 1000.0,
                calls: seen.calls,
                well: seen.well,
                strikes: seen.strikes,
                strike_age: seen.strike_age.map(span),
                quarantine: seen.quarantine.map(|quarantine| span(quarantine.left)),
                level: seen.quarantine.map_or(0, |quarantine| quarantine.level),
            }),
        };
        // Texts and finite numbers can be written.
        serde_json::to_string(&written).unwrap_or_default()
    }

    /// Reads what [`encode`](Self::encode) wrote. `None` for anything else: of another version, longer than
    /// [`LONGEST`](Self::LONGEST), of no peer, or with numbers that nobody can have counted.
    #[must_use]
    pub fn decode(text: &[u8]) -> Option<Self> {
        if text.len() > Self::LONGEST {
            return None;
        }
        let Written { v, from, peer, seen } = serde_json::from_slice(text).ok()?;
        let is_name = v == VERSION && from.len() == 32 && from.bytes().all(|b| b.is_ascii_hexdigit());
        if !is_name {
            return None;
        }
        let from = u128::from_str_radix(from, 16).ok()?;
        let peer = PeerId::parse(peer).ok()?;
        let seen = match seen {
            Some(seen) => Some(seen.read()?),
            None => None,
        };
        Some(Self { from, peer, seen })
    }
}

impl WrittenSeen {
    fn read(self) -> Option<Seen> {
        let Self { ok, bad, latency, calls, well, strikes, level, .. } = self;
        let weight = ok + bad;
        let is_counted = [ok, bad, weight, latency].iter().all(|number| number.is_finite() && *number >= 0.0);
        if !is_counted || (calls > 0) != (weight > 0.0) || well > calls || (ok > 0.0 && self.ok_age.is_none()) {
            return None;
        }
        Some(Seen {
            successes: ok,
            failures: bad,
            age: Duration::from_millis(self.age),
            success_age: self.ok_age.map(Duration::from_millis),
            latency: latency / 1000.0,
            calls,
            well,
            strikes,
            strike_age: self.strike_age.map(Duration::from_millis),
            quarantine: self
                .quarantine
                .filter(|left| *left > 0)
                .map(|left| Quarantine { left: Duration::from_millis(left), level }),
        })
    }
}

impl Seen {
    /// As of now, and by what this replica's own policy allows. `None` if it is too old to be told from nothing.
    pub(super) fn learnt(&self, policy: &TrustPolicy, keep: Duration, now: Instant) -> Option<Learnt> {
        if self.age > keep {
            return None;
        }
        let at = |age: Duration| now.checked_sub(age.min(keep));
        let by = (f64::from(policy.window()) / (self.successes + self.failures).max(1e-9)).min(1.0);
        let tally = Tally {
            successes: self.successes * by,
            failures: self.failures * by,
            at: at(self.age)?,
            last_success: self.success_age.and_then(at),
            latency: self.latency.min(policy.failure_latency().as_secs_f64()),
            calls: self.calls,
            well: self.well,
            strikes: self.strikes,
            struck: self.strike_age.and_then(at),
        };
        let sentence = |quarantine: Quarantine| {
            let left = quarantine.left.min(policy.longest_quarantine());
            Some(Sentence { until: now.checked_add(left)?, level: quarantine.level })
        };
        Some(Learnt { tally, sentence: self.quarantine.and_then(sentence) })
    }
}
