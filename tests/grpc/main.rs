//! gRPC through `CallLayer` and `TerminalStateLayer`, over scripted peers and on paused time.

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;

mod bounds;
mod cuts;
mod deadlines;
mod dialect;
mod endings;
mod fields;
mod heads;
mod latching;
mod recovery;
mod streams;
mod unary;

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
