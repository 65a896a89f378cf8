//! What trust is reckoned by.

use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

/// A setting that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} {why}")]
pub struct TrustError {
    setting: &'static str,
    why: String,
}

impl TrustError {
    pub(in crate::directory) fn new(setting: &'static str, why: impl Into<String>) -> Self {
        Self { setting, why: why.into() }
    }

    /// The setting that is wrong.
    #[must_use]
    pub fn setting(&self) -> &'static str {
        self.setting
    }
}

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr;)*) => {
        /// How evidence becomes trust. Replicas that are to agree have the same one.
        ///
        /// ```
        /// use std::time::Duration;
        /// use a2a_guard::directory::TrustPolicy;
        ///
        /// let policy = TrustPolicy::builder().half_life(Duration::from_secs(600)).max_quarantined(0.3).build()?;
        /// assert_eq!(policy.max_quarantined(), 0.3);
        /// assert_eq!(policy.unknown(), 0.5);
        /// # Ok::<(), a2a_guard::directory::TrustError>(())
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        pub struct TrustPolicy {
            $(pub(super) $name: $type,)*
        }

        impl Default for TrustPolicy {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl TrustPolicy {
            /// Sets what is to differ from the defaults.
            pub fn builder() -> TrustPolicyBuilder {
                TrustPolicyBuilder { policy: Self::default() }
            }

            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(&self) -> $type {
                    self.$name
                }
            )*
        }

        /// Builds a [`TrustPolicy`].
        #[derive(Clone, Debug)]
        #[must_use = "a builder does nothing before `build`"]
        pub struct TrustPolicyBuilder {
            policy: TrustPolicy,
        }

        impl TrustPolicyBuilder {
            $(
                $(#[$doc])*
                pub fn $name(mut self, value: $type) -> Self {
                    self.policy.$name = value;
                    self
                }
            )*
        }
    };
}

settings! {
    /// After how long without a success the rate counts for half; also how fast older outcomes lose weight against newer
    /// ones, how fast strikes are forgotten, and how long after a slow start a quarantine is one of a row. 1 s to a year.
    /// Default: 1 h.
    half_life: Duration = Duration::from_secs(3600);
    /// What is added for a peer that is verified. 0 to 1. Default: 0.1.
    verified_bonus: f64 = 0.1;
    /// The trust in a peer of which nothing is known. 0 to 1. Default: 0.5.
    unknown: f64 = 0.5;
    /// How many outcomes all that is known of a peer weighs as much as, at most: after so many new ones, about a third of
    /// the rate is still from before them. 1 to 1,000,000. Default: 100.
    window: u32 = 100;
    /// By what trust is multiplied for each strike. 0 to 1. Default: 0.5.
    demotion: f64 = 0.5;
    /// Overclaims within this time of one that made a strike make none: calls under way together meet the same refusal.
    /// Up to a day; zero has each count. Default: 1 s.
    overclaim_interval: Duration = Duration::from_secs(1);
    /// How many strikes put a peer into quarantine. At least 1. Default: 3.
    quarantine_overclaims: u32 = 3;
    /// How many failures without a success in between put a peer into quarantine. At least 1. Default: 5.
    quarantine_failures: u32 = 5;
    /// How long the first quarantine lasts. Each that follows lasts twice as long, unless the peer has stayed out of it
    /// for a [`half_life`](Self::half_life) after its slow start. 1 ms to a day. Default: 30 s.
    quarantine: Duration = Duration::from_secs(30);
    /// How long a quarantine lasts at most. From [`quarantine`](Self::quarantine) up to 30 days. Default: 300 s.
    longest_quarantine: Duration = Duration::from_secs(300);
    /// The share of all peers that may be in quarantine at once, rounded down; one peer stays out of it always. Those
    /// with the least success are in it, the others are demoted for as long. 0 (nobody is put into quarantine) to 1.
    /// Default: 0.5.
    max_quarantined: f64 = 0.5;
    /// How long after a quarantine it takes until the peer is open for all calls again. Zero: at once. Up to a day.
    /// Default: 60 s.
    slow_start: Duration = Duration::from_secs(60);
    /// The share of calls that it is open for when that begins; it grows evenly to all of them. Above 0, up to 1. Default: 0.1.
    slow_start_share: f64 = 0.1;
    /// How many successes since its last quarantine prove a peer. At least 1. Default: 20.
    proven_after: u32 = 20;
    /// What a failure counts as in latency, however fast it was; also what the slowest success counts as. So nobody who
    /// fails seems faster than anybody who does not. 1 ms to a day. Default: 60 s.
    failure_latency: Duration = Duration::from_secs(60);
    /// The weight of the newest call in latency, an exponentially weighted moving average; the first ones weigh alike.
    /// Above 0, up to 1. Default: 0.1.
    latency_weight: f64 = 0.1;
}

impl TrustPolicyBuilder {
    /// The policy.
    ///
    /// # Errors
    ///
    /// If a setting cannot be. The error names it.
    pub fn build(self) -> Result<TrustPolicy, TrustError> {
        let policy = self.policy;
        let ms = Duration::from_millis(1);
        let spans = [
            ("half_life", policy.half_life, Duration::from_secs(1), 365 * DAY),
            ("overclaim_interval", policy.overclaim_interval, Duration::ZERO, DAY),
            ("quarantine", policy.quarantine, ms, DAY),
            ("longest_quarantine", policy.longest_quarantine, policy.quarantine, 30 * DAY),
            ("slow_start", policy.slow_start, Duration::ZERO, DAY),
            ("failure_latency", policy.failure_latency, ms, DAY),
        ];
        for (setting, span, least, most) in spans {
            if !(least..=most).contains(&span) {
                return Err(TrustError::new(
                    setting,
                    format!("is {span:?}: it must be between {least:?} and {most:?}"),
                ));
            }
        }
        let shares = [
            ("verified_bonus", policy.verified_bonus, true),
            ("unknown", policy.unknown, true),
            ("demotion", policy.demotion, true),
            ("max_quarantined", policy.max_quarantined, true),
            ("slow_start_share", policy.slow_start_share, false),
            ("latency_weight", policy.latency_weight, false),
        ];
        for (setting, share, may_be_zero) in shares {
            // No number is within any range.
            if !(0.0..=1.0).contains(&share) || (share == 0.0 && !may_be_zero) {
                let least = if may_be_zero { "from 0" } else { "above 0 and" };
                return Err(TrustError::new(setting, format!("is {share}: it must be {least} up to 1")));
            }
        }
        let counts = [
            ("window", policy.window, 1_000_000),
            ("quarantine_overclaims", policy.quarantine_overclaims, u32::MAX),
            ("quarantine_failures", policy.quarantine_failures, u32::MAX),
            ("proven_after", policy.proven_after, u32::MAX),
        ];
        for (setting, count, most) in counts {
            if count == 0 || count > most {
                return Err(TrustError::new(setting, format!("is {count}: it must be between 1 and {most}")));
            }
        }
        Ok(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(builder: TrustPolicyBuilder) -> &'static str {
        builder.build().unwrap_err().setting()
    }

    #[test]
    fn the_defaults_can_be() {
        assert_eq!(TrustPolicy::builder().build().unwrap(), TrustPolicy::default());
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let of = TrustPolicy::builder;
        assert_eq!(refused(of().half_life(Duration::ZERO)), "half_life");
        assert_eq!(refused(of().half_life(Duration::MAX)), "half_life");
        assert_eq!(refused(of().quarantine(Duration::ZERO)), "quarantine");
        assert_eq!(refused(of().quarantine(Duration::from_secs(301))), "longest_quarantine");
        assert_eq!(refused(of().overclaim_interval(Duration::MAX)), "overclaim_interval");
        assert_eq!(refused(of().slow_start(Duration::MAX)), "slow_start");
        assert_eq!(refused(of().failure_latency(Duration::ZERO)), "failure_latency");
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.1, 1.1] {
            assert_eq!(refused(of().verified_bonus(wrong)), "verified_bonus");
            assert_eq!(refused(of().unknown(wrong)), "unknown");
            assert_eq!(refused(of().demotion(wrong)), "demotion");
            assert_eq!(refused(of().max_quarantined(wrong)), "max_quarantined");
            assert_eq!(refused(of().slow_start_share(wrong)), "slow_start_share");
            assert_eq!(refused(of().latency_weight(wrong)), "latency_weight");
        }
        assert_eq!(refused(of().slow_start_share(0.0)), "slow_start_share");
        assert_eq!(refused(of().latency_weight(0.0)), "latency_weight");
        assert_eq!(refused(of().window(0)), "window");
        assert_eq!(refused(of().window(1_000_001)), "window");
        assert_eq!(refused(of().quarantine_overclaims(0)), "quarantine_overclaims");
        assert_eq!(refused(of().quarantine_failures(0)), "quarantine_failures");
        assert_eq!(refused(of().proven_after(0)), "proven_after");
        let error = of().unknown(2.0).build().unwrap_err();
        assert_eq!(error.to_string(), "unknown is 2: it must be from 0 up to 1");
    }
}
