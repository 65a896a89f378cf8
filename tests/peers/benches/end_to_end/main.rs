//! What the layers cost end to end: `cargo bench -p a2a-guard-peers --bench end_to_end`.
//!
//! The same calls over loopback sockets, over HTTP/1.1 and HTTP/2 and by 1 and 16 connections: by hyper-util's client
//! alone, by the same client with timeouts around it (tower's for the head, tower-http's for the body), and with a
//! `Guard` (card, probes, terminal state), by the official Rust client, and by `a2a-protocol-client`. The agent is a process of its own; the callers share one thread of this one, and each has
//! its own connection. Batches take turns; figures are medians over batches, ratios are of batches of the same turn.
//!
//! * `/s`: calls (or events) by the clock;
//! * `/CPU s`: the same for each second of CPU time that callers and agent take together, which is what limits the
//!   throughput of a machine that does nothing else;
//! * `p50`, `p99`: how long a call takes, to the end of its body.
//!
//! The first three read bytes and drop them, the clients parse every result and event into their types, which a caller
//! of the first three does afterwards.
//!
//! * `--quick`: a few seconds in all;
//! * `--markdown`: the table as README has it;
//! * `--check`: exit 1 if the layers leave less than 0.97 of the throughput, or raise p99 above 1.05 of what it is;
//! * any other word: only the loads with that word in their name.

mod agent;
mod caller;
mod cpu;
mod figures;
mod load;
mod table;

use std::{process::ExitCode, time::Duration};

use agent::Agent;
use caller::Kind;
use figures::Turns;
use load::{LOADS, Load};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    if flag(agent::HERE) {
        agent::run();
        return ExitCode::SUCCESS;
    }
    // Cargo says so to a bench. Without it this is `cargo test --benches`, which only wants to see it run.
    let (turns, batch) = match (flag("--bench") || flag("--check"), flag("--quick")) {
        (false, _) => (1, Duration::from_millis(20)),
        (true, true) => (3, Duration::from_millis(60)),
        (true, false) => (21, Duration::from_millis(250)),
    };
    let words: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let loads = LOADS.iter().filter(|load| words.iter().all(|word| load.name().contains(word.as_str())));

    let agent = Agent::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let measured: Vec<(Load, Vec<(Kind, Turns)>)> =
        loads.map(|load| (*load, runtime.block_on(run(*load, &agent, turns, batch)))).collect();

    if flag("--markdown") {
        print!("{}", table::markdown(&measured));
    } else {
        print!("{}", table::plain(&measured));
    }
    if flag("--check") && !table::is_met(&measured) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

async fn run(load: Load, agent: &Agent, turns: usize, batch: Duration) -> Vec<(Kind, Turns)> {
    let mut all = Vec::new();
    for kind in Kind::ALL {
        if let Some(callers) = load.callers(kind, agent.addr()).await {
            all.push((kind, callers, Turns::default()));
        }
    }
    for turn in 0..turns {
        let from = turn % all.len();
        // Whoever comes first has the warmer or the colder machine, in turn.
        for at in (from..all.len()).chain(0..from) {
            let (_, callers, seen) = &mut all[at];
            seen.push(load.batch(callers, agent, batch).await);
        }
    }
    all.into_iter().map(|(kind, _, seen)| (kind, seen)).collect()
}
