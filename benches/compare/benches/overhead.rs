//! What the layers cost: `cargo bench --bench overhead`.
//!
//! Prints a table for each kind of call, with the figures of other layers from the same run beside ours and the
//! budgets behind them. Nanoseconds are thread CPU time, the minimum over batches that take turns.
//!
//! * `--quick`: a few seconds in all, for a first look;
//! * `--check`: exit 1 if a budget is not met, after having measured that group again a few times;
//! * any other word: only the groups with that word in their title.

use std::process::ExitCode;
use std::time::Duration;

use a2a_guard_compare::group::Group;
use a2a_guard_compare::{card, directory, grpc, large, probe, streams, table, unary};

/// How often a group that misses a budget is measured on before `--check` believes it.
const AGAIN: usize = 4;

const LEGEND: &str = "\
ns: thread CPU time, the least of batches that take turns; response head and body are Pending once each.
own: without the row that is passed through to (bare, pass-through). Ratios are of own ns; to bare and pass-through, of ns.
Results are a JSON-RPC 1.0 task with status, one artifact and two messages of history; streams are a task, chunks of an
artifact with a status among every sixteen, and the completion; all padded to the size that is named. gRPC has the same in messages. Of 1 KiB there are sixteen in turn, each with ids, times
and texts of its own, and a little shorter than the one before.
";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut flag = |name: &str| {
        let before = arguments.len();
        arguments.retain(|argument| argument != name);
        arguments.len() < before
    };
    // Cargo says so to a bench. Without it this is `cargo test --benches`, which only wants to see it run.
    let bench = flag("--bench");
    let quick = flag("--quick");
    let check = flag("--check");
    let span = match (bench || check, quick) {
        (false, false) => Duration::ZERO,
        (_, true) => Duration::from_millis(300),
        (true, false) => Duration::from_millis(2_500),
    };

    let mut groups = vec![unary::named(), unary::rendered(), unary::plain()];
    groups.extend(large::groups());
    groups.extend(streams::groups());
    groups.extend(grpc::groups());
    groups.extend(card::groups());
    groups.extend(probe::groups());
    groups.extend(directory::groups());
    groups.retain(|group| arguments.iter().all(|word| group.title.contains(word.as_str())));

    println!("{LEGEND}");
    let missed: usize = groups.iter_mut().map(|group| measured(group, span, check)).sum();
    match missed {
        0 => println!("every budget met"),
        1 => println!("1 budget NOT met"),
        more => println!("{more} budgets NOT met"),
    }
    if check && missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Measures and prints one group; how many of its budgets are not met.
fn measured(group: &mut Group, span: Duration, check: bool) -> usize {
    group.measure(span);
    if check {
        for _ in 0..AGAIN {
            if group.missed() == 0 {
                break;
            }
            group.measure(span);
        }
    }
    println!("{}", table::render(group));
    group.missed()
}
