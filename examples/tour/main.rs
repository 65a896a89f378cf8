//! Starts misbehaving agents on loopback and calls each twice: through a hyper client as it comes,
//! and through the same client behind the guard. One row a scenario says what either caller saw,
//! and after how long.
//!
//! ```sh
//! cargo run --release --example tour --features directory
//! ```
//!
//! Without the feature, the last table is left out.
//!
//! Exits non-zero if a guarded call did not end as it should.

mod burst;
mod client;
#[path = "../support/loopback.rs"]
mod loopback;
#[path = "../support/nobody.rs"]
mod nobody;
#[cfg(feature = "directory")]
mod overclaim;
#[path = "../support/peer.rs"]
#[allow(dead_code, reason = "shared with other examples; each uses a part of it")]
mod peer;
mod plain;
mod scenarios;
mod table;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use client::{Bare, End, Guarded, WATCH};
use nobody::Nobody;
use peer::Peer;
use scenarios::Scenario;
use table::{Cell, Tone};

/// How far from its due time a guarded call may end; timers round, and machines are busy. What else would have ended it
/// says another word.
const EARLY: Duration = Duration::from_millis(50);
const LATE: Duration = Duration::from_secs(1);

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<ExitCode, BoxError> {
    let started = Instant::now();
    let running: Vec<_> = scenarios::all().into_iter().map(|scenario| tokio::spawn(run(scenario))).collect();
    let mut runs = Vec::new();
    for run in running {
        runs.push(run.await??);
    }

    let rows: Vec<_> = runs.iter().map(Run::row).collect();
    let header = ["the peer", "a bare hyper client saw", "after", "the guarded client saw", "after"];
    table::print(header, &rows)?;

    let (rows, burst_faults) = burst::run().await?;
    println!("\n{}:\n", burst::TITLE);
    table::print(burst::HEADER, &rows)?;

    let (more, overclaim_faults) = overclaiming().await?;
    let other_faults: Vec<_> = burst_faults.into_iter().chain(overclaim_faults).collect();
    let mut failed = other_faults.len();
    for fault in &other_faults {
        println!("NOT AS IT SHOULD BE: {fault}");
    }
    for run in runs.iter().filter(|run| !run.faults.is_empty()) {
        failed += 1;
        println!("NOT AS IT SHOULD BE: {}: {}", run.scenario.peer, run.faults.join("; "));
    }
    println!(
        "\n{} scenarios in {:.1} s, {failed} not as they should be",
        runs.len() + 1 + more,
        started.elapsed().as_secs_f64()
    );
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How many scenarios that was, and what is not as it should be.
#[cfg(feature = "directory")]
async fn overclaiming() -> Result<(usize, Vec<String>), BoxError> {
    let (rows, faults) = overclaim::run().await?;
    println!("\n{}:\n", overclaim::TITLE);
    table::print(overclaim::HEADER, &rows)?;
    Ok((1, faults))
}

#[cfg(not(feature = "directory"))]
async fn overclaiming() -> Result<(usize, Vec<String>), BoxError> {
    Ok((0, Vec::new()))
}

/// A scenario that was played, and what came of it.
struct Run {
    scenario: Scenario,
    bare: Bare,
    guarded: Guarded,
    /// What is not as it should be.
    faults: Vec<String>,
}

async fn run(scenario: Scenario) -> Result<Run, BoxError> {
    let nobody = Nobody::new()?;
    let peer = match &scenario.answer {
        Some(script) => Some(Peer::serve([script.clone()]).await?),
        None => None,
    };
    let address = match &peer {
        Some(peer) => peer.addr(),
        None => nobody.addr(),
    };
    // Only what should pass is compared with what was sent; other scripts may have no end.
    let good = scenario.answer.as_ref().filter(|_| scenario.succeeds());
    let cards = match scenario.own_card {
        Some(streams) => Some(Peer::serve(scenarios::cards(address, streams)).await?),
        None => None,
    };
    let bare = client::bare(address, scenario.ask);
    let guarded = client::guarded(address, cards.as_ref().map(Peer::addr), scenario.ask, good);
    let (bare, mut guarded) = tokio::try_join!(bare, guarded)?;
    if peer.as_ref().is_some_and(|peer| peer.requests().len() == 1) {
        guarded.fact("sent", Some("nothing")); // the one request was the bare caller's
    }

    let mut faults = scenario.faults(&guarded);
    if let Some([first, second]) = peer.as_ref().map(Peer::requests).as_deref() {
        let told = |request: &peer::Request| {
            let mut headers = request.headers.clone();
            headers.sort(); // a server on the way may put them in another order
            (request.target.clone(), headers, request.body.clone())
        };
        if told(first) != told(second) {
            faults.push("the guarded request is not the bare one".to_owned());
        }
    }
    Ok(Run { scenario, bare, guarded, faults })
}

impl Scenario {
    fn succeeds(&self) -> bool {
        self.end == "success/success"
    }

    /// Everything in which the guarded call differs from what it should have been.
    fn faults(&self, seen: &Guarded) -> Vec<String> {
        let mut faults = Vec::new();
        if seen.end != self.end {
            faults.push(format!("ended as {}, not as {}", seen.end, self.end));
        }
        for (name, value) in self.facts {
            let seen = seen.facts.get(name).map_or("nothing", String::as_str);
            if seen != *value {
                faults.push(format!("{name} is {seen}, not {value}"));
            }
        }
        // What is refused for its card does not come down to where outcomes are observed.
        let due = if self.end.starts_with("card/") { &[][..] } else { &[self.end][..] };
        if seen.observed != due {
            faults.push(format!("the observer was told {:?}, not {due:?}", seen.observed));
        }
        let early = seen.elapsed + EARLY < self.due;
        let late = seen.elapsed > self.due + LATE;
        if early || late {
            faults.push(format!("ended after {:?}, due after {:?}", seen.elapsed, self.due));
        }
        faults
    }
}

impl Run {
    fn row(&self) -> [Cell; 5] {
        [
            Cell::plain(self.scenario.peer),
            Cell::new(self.bare.describe(), self.bare_tone()),
            match self.bare.end {
                End::Hanging => Cell::right(format!("> {:.2} s", WATCH.as_secs_f64())),
                _ => Cell::time(self.bare.elapsed),
            },
            Cell::new(self.describe(), if self.faults.is_empty() { Tone::Good } else { Tone::Bad }),
            Cell::time(self.guarded.elapsed),
        ]
    }

    /// The guarded cell: the ending, then the facts that the scenario is about.
    fn describe(&self) -> String {
        let mut text = self.guarded.end.clone();
        for (name, _) in self.scenario.facts {
            let value = self.guarded.facts.get(name).map_or("?", String::as_str);
            text += &format!(" {name}={}", value.trim_start_matches("TASK_STATE_"));
        }
        text
    }

    /// Bad is what the bare caller cannot know: that it waits in vain, that a complete answer is
    /// no success, or that a success was one although the connection broke.
    fn bare_tone(&self) -> Tone {
        let good = self.scenario.succeeds();
        match &self.bare.end {
            End::Hanging => Tone::Bad,
            End::Clean if good => Tone::Good,
            End::Clean if self.bare.status.is_some_and(|status| status.is_success()) => Tone::Bad,
            End::Failed(_) if good => Tone::Bad,
            _ => Tone::Plain,
        }
    }
}
