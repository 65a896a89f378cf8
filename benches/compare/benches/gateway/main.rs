//! What the layers cost a gateway: `cargo bench --bench gateway`.
//!
//! The example `egress_gateway`, with its layers and without them, in front of one agent: calls (or events) of both,
//! batches taking turns; then how long one event takes from the agent to the caller. Everything runs here, over
//! loopback sockets: agent and callers on one thread, each gateway on one of its own.
//!
//! * `/CPU s`: for each second of CPU time that callers, gateway and agent take together, which is what limits the
//!   throughput of a machine that does nothing else; it decides;
//! * `/s`: by the clock, which on a machine that does other things too says little;
//! * `us`: CPU time of the gateway alone, for each call or event.
//!
//! * `--quick`: a few seconds in all;
//! * any other word: only the loads with that word in their name;
//! * `--check`: exit 1 if the layers leave less than 0.9 of the throughput.

#[allow(dead_code, reason = "nobody looks at it here")]
#[path = "../../../../examples/egress_gateway/admin.rs"]
mod admin;
#[allow(dead_code, reason = "its user is a program")]
#[path = "../../../../examples/egress_gateway/args.rs"]
mod args;
#[path = "../../../../examples/egress_gateway/cards.rs"]
mod cards;
#[allow(dead_code, reason = "its tests are built, and do not run here")]
#[path = "../../../../examples/egress_gateway/door.rs"]
mod door;
#[allow(dead_code, reason = "its tests are built, and do not run here")]
#[path = "../../../../examples/egress_gateway/grpc_card.rs"]
mod grpc_card;
#[path = "../../../../examples/egress_gateway/guard.rs"]
mod guard;
#[allow(dead_code, unused_imports, reason = "its tests are built, and do not run here")]
#[path = "../../../../examples/egress_gateway/handles.rs"]
mod handles;
#[allow(dead_code, reason = "its tests are built, and do not run here")]
#[path = "../../../../examples/egress_gateway/headers.rs"]
mod headers;
#[path = "../../../../examples/egress_gateway/held.rs"]
mod held;
#[path = "../../../../examples/egress_gateway/in_flight.rs"]
mod in_flight;
#[path = "../../../../examples/egress_gateway/proxy.rs"]
mod proxy;
#[path = "../../../../examples/egress_gateway/serve.rs"]
mod serve;
#[allow(dead_code, reason = "its tests are built, and do not run here")]
#[path = "../../../../examples/egress_gateway/tenants.rs"]
mod tenants;
#[path = "../../../../examples/egress_gateway/upstream.rs"]
mod upstream;

mod agent;
mod caller;
mod running;

use std::{process::ExitCode, time::Duration};

use caller::{Caller, Load};
use running::Running;

/// What of the throughput the layers must leave.
const LEAST: f64 = 0.9;

const LOADS: [(&str, Load); 4] = [
    ("JSON-RPC send, 1 KiB", Load { path: "/send", at_once: 32, events: 1 }),
    ("JSON-RPC send, 16 KiB", Load { path: "/send-large", at_once: 32, events: 1 }),
    ("streams of 1,000 events, 0.3 KiB", Load { path: "/stream", at_once: 16, events: 1000 }),
    ("200 streams of 1,000 events at once", Load { path: "/stream", at_once: 200, events: 1000 }),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    // Cargo says so to a bench. Without it this is `cargo test --benches`, which only wants to see it run.
    let (rounds, batch) = match (flag("--bench") || flag("--check"), flag("--quick")) {
        (false, _) => (1, Duration::from_millis(50)),
        (true, true) => (4, Duration::from_millis(250)),
        (true, false) => (16, Duration::from_millis(500)),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let words: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let loads = LOADS.iter().filter(|(name, _)| words.iter().all(|word| name.contains(word.as_str())));
    let met = runtime.block_on(run(loads.copied().collect(), rounds, batch));
    if flag("--check") && !met { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

async fn run(loads: Vec<(&str, Load)>, rounds: usize, batch: Duration) -> bool {
    let agent = agent::start().await;
    let (bare, guarded) = (Running::start(agent, false), Running::start(agent, true));
    println!(
        "{:<36} {:>10} {:>10} {:>6} {:>10} {:>10} {:>6} {:>7} {:>7} {:>6}",
        "the best of batches that take turns",
        "bare/CPU s",
        "guarded",
        "ratio",
        "bare/s",
        "guarded",
        "ratio",
        "bare us",
        "guarded",
        "ratio"
    );
    let mut met = true;
    for (name, load) in loads {
        let (mut one, mut other) = (Best::default(), Best::default());
        for round in 0..rounds {
            // Whoever comes first has the warmer or the colder machine, in turn.
            let order: [(&Running, &mut Best); 2] = match round % 2 {
                0 => [(&bare, &mut one), (&guarded, &mut other)],
                _ => [(&guarded, &mut other), (&bare, &mut one)],
            };
            for (gateway, best) in order {
                let (all, own) = (running::cpu_of_all(), gateway.cpu().await);
                let (count, took) = Caller::new(gateway.addr).load(load, batch).await;
                best.note(count as f64, took, running::cpu_of_all() - all, gateway.cpu().await - own);
            }
        }
        let ratio = other.per_cpu_second / one.per_cpu_second;
        met &= ratio >= LEAST;
        println!(
            "{name:<36} {:>10.0} {:>10.0} {ratio:>6.3} {:>10.0} {:>10.0} {:>6.3} {:>7.2} {:>7.2} {:>6.2}",
            one.per_cpu_second,
            other.per_cpu_second,
            one.per_second,
            other.per_second,
            other.per_second / one.per_second,
            one.own_us,
            other.own_us,
            other.own_us / one.own_us
        );
    }
    println!("\n{:<36} {:>10} {:>10} {:>10}", "an event from agent to caller, us", "median", "99 %", "most");
    let events = (rounds * 125).max(20);
    for (name, at) in [("without a gateway", agent), ("bare", bare.addr), ("guarded", guarded.addr)] {
        let mut took = Caller::new(at).latencies(events).await;
        took.sort_unstable();
        let of = |part: f64| took[((took.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6;
        println!("{name:<36} {:>10.0} {:>10.0} {:>10.0}", of(0.5), of(0.99), of(1.0));
    }
    println!("\nthe layers leave at least {LEAST} of the throughput: {}", if met { "yes" } else { "no" });
    met
}

#[derive(Default)]
struct Best {
    per_cpu_second: f64,
    per_second: f64,
    own_us: f64,
}

impl Best {
    /// So many calls or events, in this time, at this much CPU time of all and of the gateway.
    fn note(&mut self, count: f64, took: Duration, all: Duration, own: Duration) {
        self.per_cpu_second = self.per_cpu_second.max(count / all.as_secs_f64());
        self.per_second = self.per_second.max(count / took.as_secs_f64());
        let own_us = own.as_secs_f64() * 1e6 / count;
        self.own_us = if self.own_us == 0.0 { own_us } else { self.own_us.min(own_us) };
    }
}
