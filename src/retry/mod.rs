//! A ready-made policy for tower's `RetryLayer`.
//!
//! [`RetryPolicy`] sends a call again only if that is safe and may help:
//!
//! - **Safe**: [`CallError::retry`](crate::CallError::retry) says `safe` or `after`. A send whose work may have begun is
//!   never sent twice, nor is a stream after its first event, nor a request whose body is not whole in memory.
//! - **May help**: the failure may be gone by the next attempt. A task that does not exist, a missing route or a card that
//!   does not cover the call will still be so.
//! - **In time**: the pause grows from one attempt to the next, on top of what the peer asked for. If it does not fit into
//!   what is left of the call's total, the caller gets the failure at once.
//! - **Within a budget**: a limit on the attempts of one call, and on retries per success over all calls, so that retries
//!   do not keep an agent down.

mod pause;
mod policy;
mod transient;

pub use self::policy::RetryPolicy;
