//! `TerminalStateLayer` over scripted peers, on paused time: every call ends, when it should and as it should.

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;

mod beginnings;
mod bodies;
mod bounds;
mod caps;
mod consumers;
mod endless;
mod judging;
mod latching;
mod outcomes;
mod overrides;
mod readiness;
mod sequences;
mod silences;
mod stacking;
mod strictness;
mod types;
mod undeclared;
mod unnamed;

use a2a_guard::{Limits, TerminalStateBuilder, TerminalStateLayer};

/// A layer with these bounds, and else as it comes.
fn with(limits: Limits) -> TerminalStateBuilder {
    TerminalStateLayer::builder().limits(limits)
}

/// A layer as it comes.
fn plain() -> TerminalStateBuilder {
    TerminalStateLayer::builder()
}

fn fate(word: &str, elapsed: std::time::Duration) -> (String, std::time::Duration) {
    (word.into(), elapsed)
}
