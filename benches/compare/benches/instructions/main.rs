//! How many instructions the layers execute: `benches/compare/scripts/instructions.sh`.
//!
//! Nanoseconds of a busy machine say little, instructions are the same on every run. Each row does a batch of calls and
//! one of twice as many below callgrind; the difference, divided by the calls, is what one takes, without what is made
//! once. A row that stands over another counts without what that one takes.
//!
//! The counts are compared with `baseline/instructions.tsv`, which is bound to what they depend on: the compiler, the
//! C library (its allocator, its memcpy) and the processor's features. Elsewhere they are printed, and not judged.
//!
//! * `--check`: exit 1 if a row is further from its baseline than [`baseline::BAND`], or not in it, or a stream does
//!   not stay [flat](flat);
//! * `--update`: write the baseline (of all rows) anew;
//! * any other word: only the rows with that word in their name.
//!
//! Exits 69 where valgrind is missing.

mod agent;
mod baseline;
mod batch;
mod callgrind;
mod flat;
mod guard;
mod hits;
mod kit;
mod known;
mod row;
mod rows;
mod scanner;
mod streams;
mod table;
mod text;
mod unary;

use std::process::ExitCode;

use callgrind::Counted;

/// The word by which this program, started below callgrind, knows what it is there for.
const BELOW: &str = "--below-callgrind";

/// As `sysexits.h` has it: something that is needed is not there.
const UNAVAILABLE: u8 = 69;

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut flag = |name: &str| {
        let before = arguments.len();
        arguments.retain(|argument| argument != name);
        arguments.len() < before
    };
    // Cargo says so to a bench. Without it this is `cargo test --benches`, which only wants to see it run.
    let bench = flag("--bench");
    let (check, update, below) = (flag("--check"), flag("--update"), flag(BELOW));
    let words = arguments;
    let mut rows = rows::all();
    rows.retain(|row| words.iter().all(|word| row.name.contains(word.as_str())));

    if below {
        callgrind::features();
        rows.iter_mut().for_each(row::Row::measure);
        return ExitCode::SUCCESS;
    }
    if !(bench || check || update) {
        rows.iter_mut().for_each(row::Row::try_out);
        return ExitCode::SUCCESS;
    }
    if update && !words.is_empty() {
        eprintln!("--update writes the baseline of all rows: leave out {words:?}");
        return ExitCode::FAILURE;
    }

    let counted = match callgrind::count(&rows, &words) {
        Ok(counted) => counted,
        Err(callgrind::Failure::Missing) => {
            eprintln!("valgrind is not here: instructions cannot be counted");
            return ExitCode::from(UNAVAILABLE);
        }
        Err(failure) => {
            eprintln!("instructions cannot be counted: {failure}");
            return ExitCode::FAILURE;
        }
    };
    report(&rows, &counted, check, update)
}

fn report(rows: &[row::Row], counted: &Counted, check: bool, update: bool) -> ExitCode {
    let own = row::own(rows, &counted.each);
    if update {
        let written = baseline::write(&counted.machine, rows, &own);
        let path = baseline::path();
        return match written {
            Ok(()) => {
                print!("{}", table::render(rows, &own, None));
                println!("written: {}", path.display());
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                ExitCode::FAILURE
            }
        };
    }

    let baseline = match baseline::read() {
        Ok(baseline) => baseline,
        Err(error) => {
            eprintln!("{}: {error}", baseline::path().display());
            return ExitCode::FAILURE;
        }
    };
    let comparable = baseline.machine == counted.machine;
    print!("{}", table::render(rows, &own, Some(&baseline)));
    let beyond = match comparable {
        true => rows.iter().zip(&own).filter(|(row, count)| !baseline.holds(row, **count)).count(),
        false => {
            println!("\nnot judged, for the baseline is of another machine or compiler:");
            println!("  baseline: {}\n  here:     {}", baseline.machine, counted.machine);
            0
        }
    };
    let bent = flat::report(rows, &own);
    match (beyond, bent) {
        (0, 0) => println!("\nall within {} of the baseline, where there is one to judge by", table::band()),
        _ => println!("\n{beyond} rows beyond {} of the baseline, {bent} streams not flat", table::band()),
    }
    if check && beyond + bent > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
