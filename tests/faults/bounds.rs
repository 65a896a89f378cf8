//! What calls are held to, over every binding.

use std::time::Duration;

/// How much later than due a call may end. A row that failed while the machine stood still is run again, by itself.
pub(crate) const SLACK: Duration = Duration::from_millis(250);

/// A call that is so much later than due will not end.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// How many run side by side; they wait more than they work.
pub(crate) const AT_ONCE: usize = 48;

/// The bounds of a fault, where its row names no others. They are long: what a peer says in time has to arrive in time,
/// on a machine that stands still for a while.
pub(crate) const HEAD: u64 = 2_000;
pub(crate) const FIRST_EVENT: u64 = 2_000;
pub(crate) const IDLE: u64 = 2_000;
pub(crate) const EVENT_GAP: u64 = 3_000;
pub(crate) const LINGER: u64 = 1_000;
pub(crate) const AUTH_WAIT: u64 = 2_000;
pub(crate) const TOTAL: u64 = 10_000;
/// The total of a call that nothing else would end.
pub(crate) const SHORT: u64 = 1_000;
/// What comes just in time or too late does so by this much.
pub(crate) const MARGIN: u64 = 1_000;
pub(crate) const MAX_UNARY_BODY: usize = 256 * 1024;
pub(crate) const MAX_EVENT: usize = 64 * 1024;
