//! Streams: what each event or message takes.

use a2a_guard::{Binding, RefusalResponseLayer, TerminalStateLayer};
use a2a_guard_compare::{
    corpus,
    peer::{Pause, Peer, Script},
};
use tower::Layer;

use crate::{agent, guard, kit::Kit, row::Row, text};

/// A multiple of how many stand in one frame.
const EVENTS: usize = 420;
const TOGETHER: usize = 42;

pub(crate) fn rows(kit: &Kit) -> Vec<Row> {
    let mut rows = Vec::new();
    for size in [256, 384, 512] {
        rows.extend(layer(kit, &format!("SSE, {size} B a frame"), Binding::JsonRpc, move |events| {
            agent::events(events, size, 1, Pause::Once)
        }));
    }
    let whole = |events| agent::events(events, 384, 1, Pause::Once);
    rows.extend(stacked(kit, "SSE, 384 B a frame", Binding::JsonRpc, whole));
    rows.extend(layer(kit, "SSE, 42 of 384 B in a frame", Binding::JsonRpc, |events| {
        agent::events(events, 384, TOGETHER, Pause::Once)
    }));
    rows.extend(layer(kit, "SSE, 384 B, Pending before each", Binding::JsonRpc, |events| {
        agent::events(events, 384, 1, Pause::EachFrame)
    }));
    rows.extend(layer(kit, "SSE, 384 B in 1,460 B frames", Binding::JsonRpc, |events| {
        agent::events_cut(events, 384, 1_460)
    }));
    rows.extend(layer(kit, "SSE, the smallest a frame", Binding::JsonRpc, text::tiny));
    rows.extend(layer(kit, "SSE, about 100 B a frame", Binding::JsonRpc, |events| {
        Peer::new(Script::stream(corpus::smallest(events), Pause::Once))
    }));
    rows.extend(long(kit, "4 KiB", 32, |events| agent::events(events, 4 << 10, 1, Pause::Once)));
    rows.extend(long(kit, "64 KiB, in 16 KiB frames", 4, |events| agent::events_cut(events, 64 << 10, 16 << 10)));
    rows.extend(long(kit, "1 MiB, in 16 KiB frames", 2, |events| agent::events_cut(events, 1 << 20, 16 << 10)));
    rows.extend(long(kit, "1 MiB, in 1,460 B frames", 2, |events| agent::events_cut(events, 1 << 20, 1_460)));
    rows
}

pub(crate) fn grpc(kit: &Kit) -> Vec<Row> {
    let mut rows = Vec::new();
    for size in [256, 384, 512] {
        rows.extend(layer(kit, &format!("gRPC, {size} B a frame"), Binding::Grpc, move |messages| {
            agent::messages(messages, size, 1)
        }));
    }
    rows.extend(stacked(kit, "gRPC, 384 B a frame", Binding::Grpc, |messages| agent::messages(messages, 384, 1)));
    rows.extend(layer(kit, "gRPC, 42 of 384 B in a frame", Binding::Grpc, |messages| {
        agent::messages(messages, 384, TOGETHER)
    }));
    rows
}

fn unit(binding: Binding) -> (&'static str, usize) {
    (if binding == Binding::Grpc { "message" } else { "event" }, EVENTS)
}

/// The layer that judges, over the stream passed through.
fn layer(kit: &Kit, name: &str, binding: Binding, peer: impl Fn(usize) -> Peer + Copy + 'static) -> [Row; 2] {
    let asked = move || agent::named(binding, true);
    let bare = format!("{name}: bare");
    [
        kit.answer(&bare, unit(binding), peer, asked, |peer| peer).anchor(),
        kit.answer(format!("{name}: TerminalStateLayer"), unit(binding), peer, asked, |peer| {
            TerminalStateLayer::new().layer(peer)
        })
        .over(bare),
    ]
}

/// Long events, fewer of them.
fn long(kit: &Kit, what: &str, events: usize, peer: fn(usize) -> Peer) -> [Row; 2] {
    let asked = || agent::named(Binding::JsonRpc, true);
    let bare = format!("SSE of {what}: bare");
    [
        kit.answer(&bare, ("event", events), peer, asked, |peer| peer).anchor(),
        kit.answer(format!("SSE of {what}: TerminalStateLayer"), ("event", events), peer, asked, |peer| {
            TerminalStateLayer::new().layer(peer)
        })
        .over(bare),
    ]
}

/// What stands above it, over the same.
fn stacked(kit: &Kit, name: &str, binding: Binding, peer: impl Fn(usize) -> Peer + Copy + 'static) -> [Row; 3] {
    let bare = format!("{name}: bare");
    let ending = format!("{name}: TerminalStateLayer");
    let (whole, rendered) = (guard::whole(), guard::whole().rendered());
    let plain = move || agent::plain(binding, true);
    [
        kit.answer(
            format!("{name}: RefusalResponseLayer over it"),
            unit(binding),
            peer,
            move || agent::named(binding, true),
            |peer| RefusalResponseLayer::new().layer(TerminalStateLayer::new().layer(peer)),
        )
        .over(ending),
        kit.answer(format!("{name}: Guard"), unit(binding), peer, plain, move |peer| whole.layer(peer)).over(&bare),
        kit.answer(format!("{name}: RenderedGuard"), unit(binding), peer, plain, move |peer| rendered.layer(peer))
            .over(bare),
    ]
}
