//! 1,000 peers of which some always fail, another part at each time, and 100,000 calls on paused time: routed by the
//! directory, to the first that registered, and to anyone. Prints one table, and fails if the directory is not far
//! better.
//!
//! ```text
//! cargo run --release --example directory_simulation --features directory [-- CALLS]
//! ```
//!
//! The registry, the ranking, the delegating service and the guard are the real ones; the peers are scripted, and
//! nothing is sent over a network. The same seed gives the same table, to the last digit.

mod simulation;

use simulation::{Plan, simulate};

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let calls = match std::env::args().nth(1) {
        Some(calls) => calls.parse()?,
        None => 100_000,
    };
    let begun = std::time::Instant::now();
    let table = simulate(Plan { calls, ..Plan::default() })?;
    println!("{table}");
    eprintln!("{:.1} s", begun.elapsed().as_secs_f64());
    table.check()?;
    Ok(())
}
