//! Peers that are scripted, without sockets, for tests on paused time; and the calls that are made to them.

mod body;
mod calls;
mod dialect;
mod peer;

use std::time::Duration;

pub(crate) use self::{
    body::{MockBody, Step, frames_of, spend_budget, tick},
    calls::{Ended, Noted, Notes, Stack, call, read, stack},
    dialect::Dialect,
    peer::{Answer, Peer},
};

/// Any error that fits into a service stack.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

pub(crate) const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

pub(crate) const HOUR: Duration = Duration::from_secs(3600);
