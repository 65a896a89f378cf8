//! The simulation, which `cargo test` runs as well.

mod run;
mod table;
mod world;

use std::time::Duration;

use self::run::{Routing, run};
pub(crate) use self::table::Table;

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) peers: usize,
    pub(crate) skills: usize,
    pub(crate) calls: usize,
    /// How many peers fail at any time.
    pub(crate) failing: usize,
    /// For how long they do, before it is others'.
    pub(crate) window: Duration,
    /// From the end of one call to the next.
    pub(crate) pause: Duration,
    pub(crate) seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            peers: 1000,
            skills: 50,
            calls: 100_000,
            failing: 150,
            window: Duration::from_secs(600),
            pause: Duration::from_millis(20),
            seed: 7,
        }
    }
}

/// The same calls to the same peers, once for each way to route them.
pub(crate) fn simulate(plan: Plan) -> Result<Table, Box<dyn std::error::Error + Send + Sync>> {
    let mut rows = Vec::new();
    for routing in [Routing::Directory, Routing::FirstRegistered, Routing::Random] {
        // A runtime each, and a clock that begins anew.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
        rows.push(runtime.block_on(run(plan, routing))?);
    }
    Ok(Table { plan, rows })
}
