//! Whole calls, through the layers, to a peer that does as a plan says, on paused time.
//!
//! A [`Plan`] comes from a fuzzer's bytes or from proptest; [`run`] makes the call, [`Expect`] says by the whole of the
//! bytes how it has to end, and [`check`] holds the one against the other.

mod ask;
mod body;
mod check;
mod expect;
mod guarded;
mod peer;
mod plan;
mod poll;
mod run;
mod upload;

pub use self::{
    ask::{Ask, Dialect},
    body::Scripted,
    check::{check, check_drops, check_guarded, check_guarded_drops},
    expect::Expect,
    guarded::{Guarded, Host, Says},
    peer::Peer,
    plan::{Caller, Caps, Coding, End, Head, Pause, Plan, Readiness, Trailers},
    poll::{Polled, Polls},
    run::{LARGE, Noted, SMALL, Seen, run, runtime},
    upload::{Upload, Uploaded},
};
