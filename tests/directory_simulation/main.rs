//! The simulation of `examples/directory_simulation`, with fewer calls than there: of 1,000 peers some always fail.

#[path = "../../examples/directory_simulation/simulation/mod.rs"]
mod simulation;

use simulation::{Plan, simulate};

#[test]
fn a_directory_finds_those_that_work() {
    let table = simulate(Plan { calls: 20_000, ..Plan::default() }).unwrap();
    println!("{table}");
    table.check().unwrap();
}

#[test]
fn the_same_seed_gives_the_same_course() {
    let plan = Plan { calls: 1_000, ..Plan::default() };
    let (one, other) = (simulate(plan).unwrap(), simulate(plan).unwrap());
    assert_eq!(one.rows, other.rows);
    let different = simulate(Plan { seed: 8, ..plan }).unwrap();
    assert_ne!(one.rows[0].course, different.rows[0].course);
}
