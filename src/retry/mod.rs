//! A ready-made policy for tower's `RetryLayer`.
//!
//! [`RetryPolicy`] sends a call again where that is safe and may help, and at no other time:
//!
//! - **Safe**: [`CallError::retry`](crate::CallError::retry) says `safe`, or `after`. A send whose work may have begun is
//!   never sent twice, a stream not behind its first event, and a request whose body is not whole in memory not at all.
//! - **May help**: the failure may be gone by the next attempt. A task that does not exist, a route that is missing or a
//!   card that does not cover the call will not.
//! - **In time**: the pause is what the peer asked for, or a growing one; where it does not fit into what is left of the
//!   call's total, the failure is the caller's at once.
//! - **Within a budget**: so many attempts a call, and so many retries for so many successes over all calls, so that
//!   retries do not keep an agent down.

mod pause;
mod policy;
mod transient;

pub use self::policy::RetryPolicy;
