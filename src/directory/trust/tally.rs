//! What one replica counted of one peer.

use std::time::Duration;

use tokio::time::Instant;

use super::{TrustPolicy, decay};

/// Outcomes by their weight, latency, and strikes. All that is needed to reckon on, whoever counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::directory) struct Tally {
    /// The weight of successes, as of `at`.
    pub(in crate::directory) successes: f64,
    /// The weight of failures, as of `at`.
    pub(in crate::directory) failures: f64,
    /// When an outcome last counted.
    pub(in crate::directory) at: Instant,
    /// When one was last a success.
    pub(in crate::directory) last_success: Option<Instant>,
    /// Seconds.
    pub(in crate::directory) latency: f64,
    /// How many calls counted.
    pub(in crate::directory) calls: u64,
    /// How many were successes since the last quarantine.
    pub(in crate::directory) well: u64,
    /// As of `struck`.
    pub(in crate::directory) strikes: u32,
    /// When the last strike was made.
    pub(in crate::directory) struck: Option<Instant>,
}

impl Tally {
    pub(in crate::directory) fn new(at: Instant) -> Self {
        Self {
            successes: 0.0,
            failures: 0.0,
            at,
            last_success: None,
            latency: 0.0,
            calls: 0,
            well: 0,
            strikes: 0,
            struck: None,
        }
    }

    /// Counts one more outcome.
    pub(super) fn count(&mut self, policy: &TrustPolicy, is_success: bool, elapsed: Duration, now: Instant) {
        // What is told out of order counts as if told in it.
        let now = now.max(self.at);
        self.scale(decay::remaining(now.saturating_duration_since(self.at), policy.half_life));
        self.at = now;
        // Room for the new one.
        self.lighten(f64::from(policy.window) - 1.0);
        let slowest = policy.failure_latency;
        let elapsed = if is_success {
            self.successes += 1.0;
            self.last_success = Some(now);
            self.well = self.well.saturating_add(1);
            elapsed.min(slowest)
        } else {
            self.failures += 1.0;
            slowest
        };
        self.calls = self.calls.saturating_add(1);
        let weight = policy.latency_weight.max(1.0 / self.calls as f64);
        self.latency += (elapsed.as_secs_f64() - self.latency) * weight;
    }

    /// Makes an overclaim a strike, unless it belongs to the last one.
    pub(super) fn strike(&mut self, policy: &TrustPolicy, now: Instant) {
        let together = |struck: Instant| now.saturating_duration_since(struck) < policy.overclaim_interval;
        if !self.struck.is_some_and(together) {
            self.strikes = self.strikes(policy, now).saturating_add(1);
            self.struck = Some(now);
        }
    }

    /// The strikes that are left.
    pub(super) fn strikes(&self, policy: &TrustPolicy, now: Instant) -> u32 {
        let age = self.struck.map(|struck| now.saturating_duration_since(struck)).unwrap_or_default();
        self.strikes.checked_shr(decay::whole(age, policy.half_life)).unwrap_or(0)
    }

    /// All that counted so far weighs no more than one new outcome, so that what comes decides.
    pub(super) fn forgive(&mut self) {
        self.lighten(1.0);
        self.well = 0;
    }

    pub(super) fn weight(&self) -> f64 {
        self.successes + self.failures
    }

    fn lighten(&mut self, most: f64) {
        let weight = self.weight();
        if weight > most {
            self.scale(most / weight);
        }
    }

    fn scale(&mut self, by: f64) {
        self.successes *= by;
        self.failures *= by;
    }
}

/// Several tallies taken together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    /// The share of successes; `None` if nothing counted.
    pub(super) rate: Option<f64>,
    pub(super) last_success: Option<Instant>,
    /// Seconds.
    pub(super) latency: f64,
    pub(super) calls: u64,
    pub(super) well: u64,
    pub(super) strikes: u32,
}

impl Sum {
    /// The order of the tallies is that of additions: whoever is to get the same to the bit keeps it.
    pub(super) fn of<'a>(policy: &TrustPolicy, now: Instant, tallies: impl Iterator<Item = &'a Tally> + Clone) -> Self {
        let counted = tallies.clone().filter(|tally| tally.calls > 0);
        // They are compared as of the newest, whose own weights are taken as they are.
        let Some(newest) = counted.clone().map(|tally| tally.at).max() else {
            return Self { strikes: strikes(policy, now, tallies), ..Self::default() };
        };
        let (mut successes, mut weight, mut latency) = (0.0, 0.0, 0.0);
        let (mut fastest, mut slowest) = (f64::INFINITY, 0.0_f64);
        let mut sum = Self { strikes: strikes(policy, now, tallies), ..Self::default() };
        for tally in counted.clone() {
            let remaining = decay::remaining(newest.saturating_duration_since(tally.at), policy.half_life);
            successes += tally.successes * remaining;
            weight += tally.weight() * remaining;
            latency += tally.latency * (tally.weight() * remaining);
            (fastest, slowest) = (fastest.min(tally.latency), slowest.max(tally.latency));
            sum.last_success = sum.last_success.max(tally.last_success);
            sum.calls = sum.calls.saturating_add(tally.calls);
            sum.well = sum.well.saturating_add(tally.well);
        }
        // A peer's weight may have decayed to nothing, or be another replica's word for it.
        sum.rate = Some(if weight > 0.0 { (successes / weight).clamp(0.0, 1.0) } else { 0.0 });
        // Rounded, it is still between those that it is made of.
        sum.latency = if weight > 0.0 { (latency / weight).min(slowest).max(fastest) } else { slowest };
        sum
    }
}

fn strikes<'a>(policy: &TrustPolicy, now: Instant, tallies: impl Iterator<Item = &'a Tally>) -> u32 {
    tallies.fold(0, |sum, tally| sum.saturating_add(tally.strikes(policy, now)))
}
