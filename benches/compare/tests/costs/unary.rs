//! Unary calls: 1 KiB there and back in each binding, and 1 MiB back.

use a2a_guard::{Binding, CallLayer, RefusalResponseLayer, TerminalStateLayer};
use a2a_guard_compare::corpus::{self, Filling};
use tower::Layer;

use crate::{
    agent,
    counting::{Each, of_calls},
    guard,
};

const CALLS: usize = 20;
const KIB: usize = 1 << 10;

const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];

fn within(what: &str, binding: Binding, taken: Each, most: f64) {
    println!("{binding}, {what}: {} allocations, {} bytes a call", taken.allocations, taken.bytes);
    assert!(taken.allocations <= most, "{binding}, {what}: {} allocations a call, not {most}", taken.allocations);
}

#[test]
fn a_call_takes_few_allocations_in_each_layer() {
    for binding in BINDINGS {
        let peer = agent::unary(binding, Filling::Prose, KIB);
        let named = || agent::named(binding, false);
        let plain = || agent::plain(binding, false);
        let ending = of_calls(CALLS, &peer, named, |peer| TerminalStateLayer::new().layer(peer));
        // A message and its trailers are two frames to keep.
        within("TerminalStateLayer", binding, ending, if binding == Binding::Grpc { 2.0 } else { 1.0 });
        let rendered = of_calls(CALLS, &peer, named, |peer| {
            RefusalResponseLayer::new().layer(TerminalStateLayer::new().layer(peer))
        });
        within("RefusalResponseLayer over it", binding, rendered, ending.allocations);
        let naming = of_calls(CALLS, &peer, plain, |peer| CallLayer::new().layer(peer));
        within("CallLayer", binding, naming, 4.0);
    }
}

#[test]
fn a_guarded_call_takes_six_allocations_at_most() {
    for binding in BINDINGS {
        let peer = agent::unary(binding, Filling::Prose, KIB);
        let plain = || agent::plain(binding, false);
        let (whole, rendered) = (guard::whole(), guard::whole().rendered());
        within("Guard", binding, of_calls(CALLS, &peer, plain, |peer| whole.layer(peer)), 6.0);
        within("RenderedGuard", binding, of_calls(CALLS, &peer, plain, |peer| rendered.layer(peer)), 6.0);
    }
}

/// What is kept of an answer is its frames, and a list of them; they are never copied.
#[test]
fn a_large_answer_is_not_copied() {
    let whole = corpus::result(Filling::Records, 1 << 20);
    for (frame, list) in [(1 << 20, 0.0), (16 << 10, 16.0 * KIB as f64), (1_460, 128.0 * KIB as f64)] {
        let peer = agent::in_frames(&whole, frame);
        let asked = || agent::named(Binding::JsonRpc, false);
        let taken = of_calls(2, &peer, asked, |peer| TerminalStateLayer::new().layer(peer));
        // The list doubles, from one or two frames on; what a call takes anyway is one or two.
        let doublings = ((1 << 20) as f64 / frame as f64).log2().ceil();
        within(&format!("1 MiB in frames of {frame} B"), Binding::JsonRpc, taken, 4.0 + doublings);
        let small = of_calls(2, &agent::unary(Binding::JsonRpc, Filling::Prose, KIB), asked, |peer| {
            TerminalStateLayer::new().layer(peer)
        });
        let more = taken.bytes - small.bytes;
        assert!(more <= list, "1 MiB in frames of {frame} B: {more} bytes more than for 1 KiB, not {list}");
    }
}
