//! All that is known of one peer.

use std::time::Duration;

use tokio::time::Instant;

use super::{Condition, Report, ReportKind, Standing, Tally, TrustPolicy, decay, tally::Sum};

/// So many other replicas' counts of one peer are kept: those of the newest evidence.
const MOST_REPLICAS: usize = 16;

/// So many doublings are more than any back-off has.
const HIGHEST_LEVEL: u32 = 40;

/// A quarantine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::directory) struct Sentence {
    pub(in crate::directory) until: Instant,
    /// How many came before it in a row.
    pub(in crate::directory) level: u32,
}

/// What another replica says, as of the moment at which it is heard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::directory) struct Learnt {
    pub(in crate::directory) tally: Tally,
    pub(in crate::directory) sentence: Option<Sentence>,
}

#[derive(Clone, Debug)]
pub(in crate::directory) struct Record {
    /// This replica.
    me: u128,
    own: Tally,
    /// By replica, in order.
    others: Vec<(u128, Tally)>,
    /// The last quarantine, over or not.
    sentence: Option<Sentence>,
    /// There is room for it.
    is_served: bool,
    /// It is for this replica to tell of it. Told by those who heard of it, it would last longer with each telling.
    is_found_here: bool,
    /// Failures since the last success, as seen here.
    failures_in_a_row: u32,
    /// The skill that was last overclaimed.
    pub(in crate::directory) overclaimed: Option<Box<str>>,
    pub(in crate::directory) neutral: u64,
}

impl Record {
    pub(in crate::directory) fn new(me: u128, now: Instant) -> Self {
        Self {
            me,
            own: Tally::new(now),
            others: Vec::new(),
            sentence: None,
            is_served: false,
            is_found_here: false,
            failures_in_a_row: 0,
            overclaimed: None,
            neutral: 0,
        }
    }

    /// Counts a call. Says whether the peer is to go into quarantine for it.
    pub(in crate::directory) fn report(&mut self, policy: &TrustPolicy, report: Report, now: Instant) -> bool {
        let is_success = match report.kind() {
            ReportKind::Success => true,
            ReportKind::Failure | ReportKind::Overclaim => false,
            ReportKind::Neutral => {
                self.neutral = self.neutral.saturating_add(1);
                return false;
            }
        };
        self.own.count(policy, is_success, report.elapsed(), now);
        let is_starting = self.share(policy, now).is_some();
        let is_too_much = match report.kind() {
            ReportKind::Overclaim => {
                self.own.strike(policy, now);
                self.strikes(policy, now) >= policy.quarantine_overclaims
            }
            ReportKind::Failure => {
                self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
                self.failures_in_a_row >= policy.quarantine_failures
            }
            _ => {
                self.failures_in_a_row = 0;
                false
            }
        };
        // What fails in quarantine began before it.
        let is_sentenced = self.sentence.is_some_and(|sentence| now < sentence.until);
        let is_over = !is_success && (is_too_much || is_starting) && !is_sentenced;
        if is_over {
            let level = self.next_level(policy, now);
            let back_off = policy.quarantine.saturating_mul(1_u32.checked_shl(level).unwrap_or(u32::MAX));
            let until = now.checked_add(back_off.min(policy.longest_quarantine)).unwrap_or(now);
            self.begin(Sentence { until, level });
            self.is_found_here = true;
        }
        is_over
    }

    fn begin(&mut self, sentence: Sentence) {
        self.sentence = Some(sentence);
        self.is_served = false;
        self.is_found_here = false;
        self.failures_in_a_row = 0;
        self.own.forgive();
    }

    fn next_level(&self, policy: &TrustPolicy, now: Instant) -> u32 {
        match self.sentence {
            Some(last) if now.saturating_duration_since(last.until) < policy.slow_start + policy.half_life => {
                last.level.saturating_add(1).min(HIGHEST_LEVEL)
            }
            _ => 0,
        }
    }

    /// Takes in what another replica counted, in place of what it told before, and lets go of what is older than
    /// `keep`. Says whether the peer goes into quarantine for it.
    pub(in crate::directory) fn learn(
        &mut self,
        policy: &TrustPolicy,
        replica: u128,
        learnt: &Learnt,
        keep: Duration,
        now: Instant,
    ) -> bool {
        self.others.retain(|(_, tally)| now.saturating_duration_since(tally.at) <= keep);
        match self.others.binary_search_by_key(&replica, |(replica, _)| *replica) {
            Ok(at) => {
                if let Some((_, tally)) = self.others.get_mut(at) {
                    *tally = learnt.tally;
                }
            }
            Err(at) => {
                self.others.insert(at, (replica, learnt.tally));
                if self.others.len() > MOST_REPLICAS {
                    let oldest =
                        self.others.iter().enumerate().min_by_key(|(_, (_, tally))| tally.at).map(|(at, _)| at);
                    oldest.map(|oldest| self.others.remove(oldest));
                }
            }
        }
        let Some(theirs) = learnt.sentence.filter(|sentence| now < sentence.until) else { return false };
        let cut = now.checked_add(policy.longest_quarantine).unwrap_or(now);
        let theirs = Sentence { until: theirs.until.min(cut), level: theirs.level.min(HIGHEST_LEVEL) };
        match &mut self.sentence {
            // The same, or one that two replicas found out about each.
            Some(ours) if now < ours.until => {
                ours.until = ours.until.max(theirs.until);
                ours.level = ours.level.max(theirs.level);
                false
            }
            _ => {
                self.begin(theirs);
                true
            }
        }
    }

    /// What this replica counted, to be told to others.
    pub(in crate::directory) fn told(&self, now: Instant) -> Learnt {
        let is_told = |sentence: &Sentence| self.is_found_here && now < sentence.until;
        Learnt { tally: self.own, sentence: self.sentence.filter(is_told) }
    }

    /// Whether there is a quarantine now, served or not.
    pub(in crate::directory) fn is_sentenced(&self, now: Instant) -> bool {
        self.sentence.is_some_and(|sentence| now < sentence.until)
    }

    /// Gives a quarantine its place, or takes it away.
    pub(in crate::directory) fn serve(&mut self, is_served: bool) {
        self.is_served = is_served;
    }

    pub(in crate::directory) fn is_served(&self) -> bool {
        self.is_served
    }

    pub(in crate::directory) fn level(&self) -> u32 {
        self.sentence.map_or(0, |sentence| sentence.level)
    }

    /// The share of successes, for comparing how bad peers are.
    pub(in crate::directory) fn rate(&self, policy: &TrustPolicy, now: Instant) -> f64 {
        self.sum(policy, now).rate.unwrap_or(policy.unknown)
    }

    /// When something last counted, here or elsewhere.
    pub(in crate::directory) fn last_seen(&self) -> Instant {
        self.others.iter().map(|(_, tally)| tally.at).fold(self.own.at, Instant::max)
    }

    /// Whether anything counted here.
    pub(in crate::directory) fn has_own(&self) -> bool {
        self.own.calls > 0
    }

    pub(in crate::directory) fn strikes(&self, policy: &TrustPolicy, now: Instant) -> u32 {
        self.sum(policy, now).strikes
    }

    fn sum(&self, policy: &TrustPolicy, now: Instant) -> Sum {
        if self.others.is_empty() {
            return Sum::of(policy, now, std::iter::once(&self.own));
        }
        // In the order of replicas, wherever this is: additions in the same order give the same sum.
        let mine = self.others.partition_point(|(replica, _)| *replica < self.me);
        let (before, after) = self.others.split_at(mine);
        let own = std::iter::once(&self.own);
        let tallies = before.iter().map(|(_, tally)| tally).chain(own).chain(after.iter().map(|(_, tally)| tally));
        Sum::of(policy, now, tallies)
    }

    /// The share of calls that it is open for, in its slow start.
    fn share(&self, policy: &TrustPolicy, now: Instant) -> Option<f64> {
        let since = now.checked_duration_since(self.sentence?.until)?;
        if !self.is_served || since >= policy.slow_start {
            return None;
        }
        let grown = since.as_secs_f64() / policy.slow_start.as_secs_f64();
        Some(policy.slow_start_share + (1.0 - policy.slow_start_share) * grown)
    }

    fn condition(&self, policy: &TrustPolicy, sum: &Sum, now: Instant) -> Condition {
        if let Some(Sentence { until, .. }) = self.sentence
            && now < until
        {
            return if self.is_served { Condition::Quarantined { until } } else { Condition::Demoted };
        }
        if let Some(share) = self.share(policy, now) {
            return Condition::SlowStart { share };
        }
        if sum.strikes > 0 {
            Condition::Demoted
        } else if sum.calls == 0 {
            Condition::Unknown
        } else {
            Condition::Good
        }
    }

    pub(in crate::directory) fn standing(&self, policy: &TrustPolicy, verified: bool, now: Instant) -> Standing {
        let sum = self.sum(policy, now);
        let condition = self.condition(policy, &sum, now);
        let base = match sum.rate {
            None => policy.unknown,
            Some(rate) => {
                let age = |last| now.saturating_duration_since(last);
                let remaining = sum.last_success.map_or(0.0, |last| decay::remaining(age(last), policy.half_life));
                let bonus = if verified { policy.verified_bonus } else { 0.0 };
                (rate * remaining + bonus).min(1.0)
            }
        };
        let trust = base * power(policy.demotion, sum.strikes);
        let is_well = sum.rate.is_some_and(|rate| rate >= policy.unknown)
            && matches!(condition, Condition::Good | Condition::SlowStart { .. })
            && sum.strikes == 0;
        Standing {
            trust,
            latency: sum.rate.map(|_| seconds(sum.latency)),
            calls: sum.calls,
            condition,
            proven: is_well && sum.well >= u64::from(policy.proven_after),
        }
    }
}

/// One factor after another: a library's `powi` need not be the same everywhere.
fn power(factor: f64, times: u32) -> f64 {
    (0..times.min(64)).fold(1.0, |power, _| power * factor)
}

fn seconds(seconds: f64) -> Duration {
    // Casts cut what does not fit, and make nothing of no number.
    Duration::from_nanos((seconds * 1e9) as u64)
}
