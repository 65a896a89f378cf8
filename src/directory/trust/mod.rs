//! How far a peer is to be trusted, by what became of calls to it. Arithmetic and state alone: time is an argument, and
//! the same evidence gives the same numbers everywhere, to the last bit.
//!
//! # The numbers
//!
//! ```text
//! trust = min(1, rate × 0.5^(age / half_life) + bonus if verified) × demotion^strikes
//! ```
//!
//! - `rate` is the share of successes among the outcomes that count. An outcome weighs half as much as one that came a
//!   `half_life` later, and all of a peer's together weigh no more than [`window`](TrustPolicyBuilder::window) new
//!   ones: beyond that, each new one takes its share from all that came before. Silence alone leaves the rate as it is.
//! - `age` is the time since the last success. A failure does not make a peer better known, so it never raises trust.
//! - `strikes` are what is left of its overclaims: each adds one, and a whole `half_life` without a new one halves
//!   them.
//! - Of whom nothing counts yet, trust is [`unknown`](TrustPolicyBuilder::unknown) (× demotion likewise), verified or
//!   not.
//!
//! So 98 successes of 100 calls, two hours of silence, and verified: 0.98 × 0.25 + 0.1 = 0.345, below the 0.5 of a
//! stranger.
//!
//! # What counts
//!
//! Successes, failures (timeouts, broken answers, lost connections, an agent that says it failed) and overclaims, which
//! are failures too. A refusal that is about the request, or the caller's credentials, counts as nothing: it moves no
//! number, and does not make evidence younger. [`Report`] draws the line.
//!
//! # Quarantine
//!
//! [`failures`](TrustPolicyBuilder::quarantine_failures) in a row, or as many strikes as
//! [`overclaims`](TrustPolicyBuilder::quarantine_overclaims), put a peer into quarantine for a back-off that doubles
//! each time. At most a [share](TrustPolicyBuilder::max_quarantined) of all peers is in it at once, the worst: whom
//! there is no room for is demoted for as long. When it is over, what counted before weighs as much as one outcome, and
//! the share of calls that the peer is open for grows over [`slow_start`](TrustPolicyBuilder::slow_start). One failure
//! in that time puts it back.

mod bench;
mod decay;
mod policy;
mod record;
mod report;
mod standing;
mod tally;

pub(super) use self::{
    bench::{Case, places},
    record::{Learnt, Record, Sentence},
    tally::Tally,
};
pub use self::{
    policy::{TrustError, TrustPolicy, TrustPolicyBuilder},
    report::{Report, ReportKind},
    standing::{Condition, Standing, draw},
};
