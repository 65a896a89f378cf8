//! What was measured, as text.

use std::fmt::Write;

use crate::{
    caller::Kind,
    figures::{Batch, Turns},
    load::Load,
};

/// What of the throughput the layers must leave, and to what of itself they may raise the slowest calls' time.
const THROUGHPUT: f64 = 0.97;
const P99: f64 = 1.05;

type Measured = [(Load, Vec<(Kind, Turns)>)];

struct Line {
    load: String,
    kind: Kind,
    by_clock: Option<f64>,
    by_cpu: Option<f64>,
    own_us: Option<f64>,
    p50: Option<f64>,
    p99: Option<f64>,
    /// Of the bare client's: throughput by the clock, by CPU time, and p99.
    of_bare: [Option<f64>; 3],
}

fn lines(measured: &Measured) -> Vec<Line> {
    let clock = |batch: &Batch| Some(batch.by_clock);
    let p99 = |batch: &Batch| Some(batch.p99);
    let mut lines = Vec::new();
    for (load, all) in measured {
        let Some((_, bare)) = all.iter().find(|(kind, _)| *kind == Kind::Bare) else { continue };
        for (kind, turns) in all {
            lines.push(Line {
                load: load.name(),
                kind: *kind,
                by_clock: turns.median(clock),
                by_cpu: turns.median(|batch| batch.by_cpu),
                own_us: turns.median(|batch| batch.own_us),
                p50: turns.median(|batch| Some(batch.p50)),
                p99: turns.median(p99),
                of_bare: [turns.ratio(bare, clock), turns.ratio(bare, |batch| batch.by_cpu), turns.ratio(bare, p99)],
            });
        }
    }
    lines
}

fn number(figure: Option<f64>, digits: usize) -> String {
    figure.map_or("-".into(), |figure| format!("{figure:.digits$}"))
}

pub(crate) fn plain(measured: &Measured) -> String {
    let mut text = format!(
        "{:<36} {:<20} {:>9} {:>6} {:>9} {:>6} {:>8} {:>9} {:>9} {:>6}\n",
        "medians of batches that take turns",
        "client",
        "/s",
        "ratio",
        "/CPU s",
        "ratio",
        "own us",
        "p50 us",
        "p99 us",
        "ratio"
    );
    for line in lines(measured) {
        let [clock, cpu, p99] = line.of_bare;
        let _ = writeln!(
            text,
            "{:<36} {:<20} {:>9} {:>6} {:>9} {:>6} {:>8} {:>9} {:>9} {:>6}",
            line.load,
            line.kind.name(),
            number(line.by_clock, 0),
            number(clock, 3),
            number(line.by_cpu, 0),
            number(cpu, 3),
            number(line.own_us, 2),
            number(line.p50, 0),
            number(line.p99, 0),
            number(p99, 3),
        );
    }
    let met = if is_met(measured) { "yes" } else { "no" };
    let _ =
        writeln!(text, "\nthe layers leave {THROUGHPUT} of the throughput, and p99 within {P99} of what it was: {met}");
    text
}

/// One line for each load: the bare client's figures, and what of them the others come to.
pub(crate) fn markdown(measured: &Measured) -> String {
    let mut text = String::from(
        "| calls (streams: events) | hyper-util /s | p99 | guarded: throughput | by CPU time | p99 | timeouts alone: throughput | p99 | a2a-client-lf: throughput | a2a-protocol-client: throughput |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let lines = lines(measured);
    for bare in lines.iter().filter(|line| line.kind == Kind::Bare) {
        let of = |kind, at: usize| {
            let line = lines.iter().find(|line| line.load == bare.load && line.kind == kind);
            line.map_or("-".into(), |line| number(line.of_bare[at], 2))
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} µs | {} | {} | {} | {} | {} | {} | {} |",
            bare.load,
            number(bare.by_clock, 0),
            number(bare.p99, 0),
            of(Kind::Guarded, 0),
            of(Kind::Guarded, 1),
            of(Kind::Guarded, 2),
            of(Kind::Timed, 0),
            of(Kind::Timed, 2),
            of(Kind::Official, 0),
            of(Kind::Protocol, 0),
        );
    }
    text
}

pub(crate) fn is_met(measured: &Measured) -> bool {
    lines(measured).iter().filter(|line| line.kind == Kind::Guarded).all(|line| {
        let [clock, _, p99] = line.of_bare;
        clock.is_some_and(|ratio| ratio >= THROUGHPUT) && p99.is_some_and(|ratio| ratio <= P99)
    })
}
