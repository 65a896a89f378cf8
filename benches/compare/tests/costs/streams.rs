//! Streams: an event or a message takes no allocation, however it arrives and in whatever stack.

use a2a_guard::{Binding, RefusalResponseLayer, TerminalStateLayer};
use a2a_guard_compare::peer::{Pause, Peer};
use tower::Layer;

use crate::{
    agent,
    counting::{Each, of_events},
    guard,
};

const EVENTS: usize = 84;

/// In each stack.
fn takes_none(what: &str, binding: Binding, peer: impl Fn(usize) -> Peer + Copy) {
    let named = || agent::named(binding, true);
    let plain = || agent::plain(binding, true);
    let (whole, rendered) = (guard::whole(), guard::whole().rendered());
    let taken = [
        ("TerminalStateLayer", of_events(EVENTS, peer, named, |peer| TerminalStateLayer::new().layer(peer))),
        (
            "RefusalResponseLayer",
            of_events(EVENTS, peer, named, |peer| {
                RefusalResponseLayer::new().layer(TerminalStateLayer::new().layer(peer))
            }),
        ),
        ("Guard", of_events(EVENTS, peer, plain, |peer| whole.layer(peer))),
        ("RenderedGuard", of_events(EVENTS, peer, plain, |peer| rendered.layer(peer))),
    ];
    for (stack, each) in taken {
        assert_eq!(each, Each { allocations: 0.0, bytes: 0.0 }, "{what}, {stack}");
    }
}

#[test]
fn an_event_takes_none() {
    for size in [256, 384, 512] {
        takes_none("a frame each", Binding::JsonRpc, move |events| agent::events(events, size, 1, Pause::Once));
    }
    takes_none("42 in a frame", Binding::JsonRpc, |events| agent::events(events, 384, 42, Pause::Once));
    takes_none("Pending before each", Binding::JsonRpc, |events| agent::events(events, 384, 1, Pause::EachFrame));
}

#[test]
fn a_message_takes_none() {
    for size in [256, 384, 512] {
        takes_none("a frame each", Binding::Grpc, move |messages| agent::messages(messages, size, 1));
    }
    takes_none("42 in a frame", Binding::Grpc, |messages| agent::messages(messages, 384, 42));
}

#[test]
fn an_event_that_is_cut_takes_none() {
    takes_none("in frames of 1,460 B", Binding::JsonRpc, |events| agent::events_cut(events, 384, 1_460));
    takes_none("byte by byte", Binding::JsonRpc, |events| agent::events_cut(events, 384, 1));
}
