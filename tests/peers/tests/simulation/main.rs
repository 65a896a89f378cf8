//! A caller, a host of cards, a gateway and three agents over a simulated network that is cut, held up, slowed and loses what
//! it carries, while hosts crash and come back. Whatever happens, in every one of many runs:
//!
//! - each call ends within its bound, in simulated time, and its observer is told of it once;
//! - it ends as the network let it: in success where nothing stood in the way, else in success or in a class that stands for
//!   a network's faults, and never in one that blames an agent that did nothing wrong;
//! - a success has all its bytes;
//! - no message is worked on twice, though each call that may be repeated safely is repeated.
//!
//! What goes wrong and when, and how long each message takes, comes of a run's seed. `SIMULATION_SEEDS=7..8` runs one alone.

mod agent;
mod caller;
mod gateway;
mod network;
mod scenario;
mod world;

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use scenario::Scenario;
use world::World;

const SEEDS: Range<u64> = 0..132;
/// The whole of one run, at most: far more than all its bounds together.
const LONGEST: Duration = Duration::from_secs(120);
const TICK: Duration = Duration::from_millis(10);

fn seeds() -> Range<u64> {
    let parsed = std::env::var("SIMULATION_SEEDS").ok().and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    parsed.unwrap_or(SEEDS)
}

/// One run. Gives how its calls ended.
fn run(seed: u64) -> (Scenario, World, Vec<String>) {
    let scenario = Scenario::of(seed);
    let world = World::new(seed, scenario.first_fault());
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .tick_duration(TICK)
        .simulation_duration(LONGEST)
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(scenario.latency)
        .repair_rate(0.5)
        .tcp_capacity(4096)
        .build();
    sim.host("cards", agent::serve_cards);
    for name in ["agent-a", "agent-b", "agent-c"] {
        let world = world.clone();
        sim.host(name, move || agent::serve(world.clone()));
    }
    sim.host("gateway", gateway::serve);
    sim.client("caller", caller::run(world.clone()));

    let mut events = scenario.events.iter().peekable();
    let mut broken = Vec::new();
    loop {
        while let Some((_, action)) = events.next_if(|(at, _)| sim.elapsed() >= *at) {
            action.apply(&mut sim);
        }
        match sim.step() {
            Ok(false) => {}
            Ok(true) => break,
            Err(error) => {
                broken.push(format!("the run did not end: {error}"));
                break;
            }
        }
    }
    drop(sim);
    broken.extend(world.judge(&scenario));
    (scenario, world, broken)
}

#[test]
fn whatever_the_network_does_every_call_ends_as_it_may() {
    let began = Instant::now();
    let seeds = seeds();
    let next = AtomicU64::new(seeds.start);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut runs: Vec<_> = std::thread::scope(|scope| {
        let one = || {
            let mut runs = Vec::new();
            loop {
                let seed = next.fetch_add(1, Relaxed);
                if seed >= seeds.end {
                    return runs;
                }
                let (scenario, world, broken) = run(seed);
                runs.push((seed, scenario, world.ends(), broken));
            }
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("a run that does not panic")).collect()
    });
    runs.sort_by_key(|(seed, ..)| *seed);

    let mut table: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    let mut faults = Vec::new();
    for (seed, scenario, ends, broken) in &runs {
        for word in ends {
            *table.entry(scenario.name).or_default().entry(word.clone()).or_default() += 1;
        }
        faults.extend(broken.iter().map(|fault| format!("seed {seed}, {}: {fault}", scenario.name)));
    }
    for (scenario, words) in &table {
        println!("{scenario}: {words:?}");
    }
    println!("{} runs in {:.1} s", runs.len(), began.elapsed().as_secs_f64());
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults[..faults.len().min(20)].join("\n"));
    // The faults were felt, or nothing was tried.
    if seeds == SEEDS {
        for (scenario, words) in &table {
            let all_well = words.keys().all(|word| word == "success/success");
            assert_eq!(all_well, scenario::PEACEFUL.contains(scenario), "{scenario}: {words:?}");
        }
    }
}
