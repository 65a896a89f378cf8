//! A caller, a host of cards, a gateway and three agents over a simulated network that is cut, held up, slowed, muted
//! and loses what it carries, while connections are reset and hosts crash and come back. The calls are of every
//! binding, in both versions, unary and streamed. Whatever happens, in every one of many runs:
//!
//! - each call ends within its bound, in simulated time, and its observer is told of it exactly once, as its caller saw
//!   it end; the gateway's own calls too;
//! - it ends as the network let it: in success where nothing stood in the way, else in success or in a class that
//!   stands for a network's faults, and never in one that blames an agent that did nothing wrong. Where the gateway
//!   failed, its refusal names a class of that kind;
//! - it succeeds only if its agent did complete it, and with all its bytes;
//! - no message is worked on twice, though each call that may be repeated safely is repeated.
//!
//! What goes wrong and when, and how long each message takes, comes of a run's seed. `SIMULATION_SEEDS=7..8` runs one
//! alone.

mod agent;
mod answers;
mod caller;
mod dialect;
mod gateway;
mod network;
mod proto;
mod scenario;
mod told;
mod world;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use dialect::Dialect;
use scenario::{KINDS, PEACEFUL, Scenario};
use world::{SUCCESS, Tried, World};

/// So often each scenario has its turn that each call in it has four.
const SEEDS: Range<u64> = 0..9 * KINDS;
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

/// One run. Gives how its calls ended, and what was wrong with that.
fn run(seed: u64) -> (Scenario, Vec<Tried>, Vec<String>) {
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
    let cards = world.clone();
    sim.host("cards", move || agent::serve_cards(cards.clone()));
    for name in ["agent-a", "agent-b", "agent-c"] {
        let world = world.clone();
        sim.host(name, move || agent::serve(name, world.clone()));
    }
    let gateway = world.clone();
    sim.host("gateway", move || gateway::serve(gateway.clone()));
    sim.client("caller", caller::run(world.clone()));

    let mut events = scenario.events.iter().peekable();
    let mut broken = Vec::new();
    loop {
        while let Some((_, action)) = events.next_if(|(at, _)| sim.elapsed() >= *at) {
            action.apply(&mut sim, &world);
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
    if let Some((at, action)) = events.find(|(_, action)| action.harms()) {
        broken.push(format!("the run was over before {action:?} at {at:?}"));
    }
    // Who is still at it is dropped, and that is noted too.
    drop(sim);
    broken.extend(world.judge(&scenario));
    (scenario, world.tries(), broken)
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
                let (scenario, tries, broken) = run(seed);
                runs.push((seed, scenario, tries, broken));
            }
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("a run that does not panic")).collect()
    });
    runs.sort_by_key(|(seed, ..)| *seed);

    let mut table: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    let mut faults = Vec::new();
    for (seed, scenario, tries, broken) in &runs {
        for tried in tries {
            let word = tried.told.as_ref().map_or_else(|| tried.word.clone(), |told| format!("behind: {told}"));
            *table.entry(scenario.name).or_default().entry(word).or_default() += 1;
        }
        faults.extend(broken.iter().map(|fault| format!("seed {seed}, {}: {fault}", scenario.name)));
    }
    for (scenario, words) in &table {
        println!("{scenario}: {words:?}");
    }
    println!("{} runs in {:.1} s", runs.len(), began.elapsed().as_secs_f64());
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults[..faults.len().min(20)].join("\n"));
    if seeds == SEEDS {
        assert_all_was_tried(&runs);
    }
}

/// Every call was made in every scenario, the faults were felt, and every call got through at times.
fn assert_all_was_tried(runs: &[(u64, Scenario, Vec<Tried>, Vec<String>)]) {
    let mut scenarios: BTreeMap<&str, Vec<&Tried>> = BTreeMap::new();
    for (_, scenario, tries, _) in runs {
        scenarios.entry(scenario.name).or_default().extend(tries);
    }
    assert_eq!(scenarios.len() as u64, KINDS);
    let all: BTreeSet<_> = caller::plans().collect();
    for (scenario, tries) in &scenarios {
        let made: BTreeSet<_> = tries.iter().map(|tried| tried.plan).collect();
        assert_eq!(made, all, "{scenario}");
        let failed = tries.iter().any(|tried| !matches!(&*tried.word, SUCCESS | "given up"));
        assert_eq!(failed, !PEACEFUL.contains(scenario), "{scenario}");
    }
    let tries = || runs.iter().flat_map(|(_, _, tries, _)| tries);
    let mut least = (usize::MAX, usize::MAX);
    for plan in all {
        let words = || tries().filter(|tried| tried.plan == plan).map(|tried| &*tried.word);
        let succeeded = words().filter(|word| *word == SUCCESS).count();
        let failed = words().filter(|word| !matches!(*word, SUCCESS | "given up")).count();
        assert!(succeeded >= 10 && failed >= 3, "{plan:?}: {succeeded} times, and {failed} times not");
        least = (least.0.min(succeeded), least.1.min(failed));
    }
    println!("each call succeeded {} times at least, and failed {} times", least.0, least.1);
    let given_up: BTreeSet<_> =
        tries().filter(|tried| tried.word == "given up").map(|tried| tried.plan.dialect).collect();
    assert_eq!(given_up.len(), Dialect::ALL.len(), "{given_up:?}");
    for word in scenario::OF_A_NETWORK {
        let is_seen = |tried: &Tried| tried.word == word || tried.told.as_deref() == Some(word);
        assert!(tries().any(is_seen), "{word} is not among the ends");
    }
}
