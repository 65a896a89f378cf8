//! Whether a byte costs the same in long answers as in short ones: nothing is read twice as an answer grows.
//!
//! Each kind of answer is measured at 1, 4 and 16 times a length; a row says what each byte (or event) between that
//! length and twice of it takes. Where something were read again from the start, the longest would take 16 times as
//! much.

use a2a_guard::{Binding, TerminalStateLayer};
use a2a_guard_compare::{
    corpus::{self, Filling},
    peer::{Pause, Peer},
};
use tower::Layer;

use crate::{agent, kit::Kit, row::Row, text};

/// How far the dearest may be from the cheapest.
///
/// Wide enough for what is done now and then (a list that doubles), far from what reading twice would take.
const BAND: f64 = 0.10;

/// Instructions that the dearest may take besides: where a KiB takes but 400 of them, a list that doubles is more than
/// a tenth.
const BESIDES: f64 = 32.0;

const TIMES: [usize; 3] = [1, 4, 16];

/// A kind of answer, and how much of it is the least that is measured.
struct Kind {
    name: &'static str,
    unit: &'static str,
    least: usize,
    binding: Binding,
    streams: bool,
    peer: fn(usize) -> Peer,
}

fn kinds() -> [Kind; 11] {
    let body = |name, least, peer| Kind { name, unit: "KiB", least, binding: Binding::JsonRpc, streams: false, peer };
    let stream = |name, unit, least, peer| Kind { name, unit, least, binding: Binding::JsonRpc, streams: true, peer };
    let grpc = |kind| Kind { binding: Binding::Grpc, ..kind };
    [
        body("body of records in 16 KiB frames", 32, |kib| {
            agent::in_frames(&corpus::result(Filling::Records, kib << 10), 16 << 10)
        }),
        body("body of prose in 1,460 B frames", 32, |kib| {
            agent::in_frames(&corpus::result(Filling::Prose, kib << 10), 1_460)
        }),
        body("body of records, byte by byte", 2, |kib| {
            agent::in_frames(&corpus::result(Filling::Records, kib << 10), 1)
        }),
        stream("SSE of 384 B, a frame each", "event", 64, |events| agent::events(events, 384, 1, Pause::Once)),
        stream("SSE of 384 B in 1,460 B frames", "event", 64, |events| agent::events_cut(events, 384, 1_460)),
        stream("SSE of 384 B, byte by byte", "event", 8, |events| agent::events_cut(events, 384, 1)),
        stream("SSE, tiny events in one frame", "event", 128, text::tiny_in_one_frame),
        stream("SSE, one event in 1,460 B frames", "KiB", 16, |kib| text::one_event(kib << 10, 1_460)),
        grpc(stream("gRPC of 384 B, a frame each", "message", 64, |messages| agent::messages(messages, 384, 1))),
        grpc(stream("gRPC of 384 B, byte by byte", "message", 8, |messages| {
            agent::in_grpc_frames(&corpus::grpc_messages(messages, 384).concat().into(), 1)
        })),
        grpc(body("gRPC, one message in 1,460 B frames", 32, |kib| text::one_message(kib << 10, 1_460))),
    ]
}

fn name(kind: &Kind, times: usize) -> String {
    let plural = if kind.unit == "KiB" { "" } else { "s" };
    format!("flat: {}, behind {} {}{plural}", kind.name, kind.least * times, kind.unit)
}

/// Three rows for each kind.
pub(crate) fn rows(kit: &Kit) -> Vec<Row> {
    let row = |kind: &Kind, times| {
        let (binding, streams) = (kind.binding, kind.streams);
        let asked = move || agent::named(binding, streams);
        kit.answer(name(kind, times), (kind.unit, kind.least * times), kind.peer, asked, |peer| {
            TerminalStateLayer::new().layer(peer)
        })
    };
    kinds().iter().flat_map(|kind| TIMES.map(|times| row(kind, times))).collect()
}

/// Prints a line for each kind of which all rows were measured; how many are not flat.
pub(crate) fn report(rows: &[Row], own: &[f64]) -> usize {
    let of = |name: &str| rows.iter().position(|row| row.name == name).map(|at| own[at]);
    let mut lines = Vec::new();
    let mut bent = 0;
    for kind in &kinds() {
        let [Some(short), Some(longer), Some(long)] = TIMES.map(|times| of(&name(kind, times))) else { continue };
        let flat = short.max(longer).max(long) <= short.min(longer).min(long) * (1.0 + BAND) + BESIDES;
        let verdict = if flat { "flat" } else { "NOT flat" };
        lines.push(format!("{:<36} {:>8} {short:>9.0} {longer:>9.0} {long:>9.0}  {verdict}", kind.name, kind.unit));
        bent += usize::from(!flat);
    }
    if !lines.is_empty() {
        println!("\ninstructions of each, behind 1, 4 and 16 times the length\n{}", lines.join("\n"));
    }
    bent
}
