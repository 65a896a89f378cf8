//! Peers and callers at random.

use std::time::Duration;

use a2a_guard_fuzz::calls::{
    Ask, Caller, Caps, Coding, Dialect, End, Guarded, Head, Host, Pause, Plan, Readiness, Says, Trailers, Upload,
};
use bytes::Bytes;
use proptest::{prelude::*, sample::select};

use crate::bodies::body;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn asks() -> impl Strategy<Value = Ask> {
    prop_oneof![
        4 => Just(Ask::Stream),
        3 => Just(Ask::Send),
        3 => Just(Ask::Get),
        1 => Just(Ask::Subscribe),
        1 => Just(Ask::Delete),
        1 => Just(Ask::List),
        1 => Just(Ask::Unnamed),
    ]
}

fn heads(ask: Ask, dialect: Dialect) -> impl Strategy<Value = Head> {
    let fitting = match (dialect.is_grpc(), ask.is_stream()) {
        (true, _) => "application/grpc",
        (_, true) => "text/event-stream",
        _ => "application/json",
    };
    let media = prop_oneof![
        12 => Just(Some(fitting)),
        1 => select(&[Some("application/json"), Some("text/event-stream"), Some("text/html"), Some("image/png"), None][..]),
    ];
    let status = prop_oneof![12 => Just(200), 1 => select(&[201, 204, 301, 400, 404, 429, 500, 503][..])];
    let after = prop_oneof![6 => Just(ms(0)), 1 => select(vec![ms(1), ms(900), ms(29_000), ms(31_000), ms(400_000)])];
    let coding = prop_oneof![12 => Just(Coding::None), 1 => Just(Coding::Identity), 1 => Just(Coding::Gzip)];
    let length = prop_oneof![6 => Just(None), 2 => Just(Some(0)), 1 => select(&[Some(1), Some(-1)][..])];
    let comes = (after, status, media, coding, length).prop_map(|(after, status, media, coding, length)| Head::Comes {
        after,
        status,
        media,
        coding,
        length,
    });
    prop_oneof![30 => comes, 1 => Just(Head::Never), 1 => Just(Head::Lost)]
}

fn pauses() -> impl Strategy<Value = Pause> {
    prop_oneof![
        30 => Just(Pause::None),
        6 => Just(Pause::Yield),
        3 => Just(Pause::For(ms(5))),
        1 => select(vec![ms(3_000), ms(31_000), ms(121_000), ms(700_000)]).prop_map(Pause::For),
    ]
}

fn ends() -> impl Strategy<Value = End> {
    let text = select(&["x", " ", ": ping\n\n", "data: {}\n\n", "\0\0\0\0\0", "\n"][..]);
    let each = select(vec![ms(20), ms(900), ms(29_000), ms(119_000), ms(140_000)]);
    prop_oneof![
        14 => Just(End::Clean),
        3 => Just(End::Reset),
        3 => Just(End::Hang),
        1 => (text.clone(), each).prop_map(|(text, each)| End::Endless(text, each)),
        1 => text.prop_map(|text| End::Flood(text, ms(10))),
        1 => Just(End::Trailers(ms(10))),
    ]
}

fn trailers(dialect: Dialect) -> impl Strategy<Value = Trailers> {
    let usual = if dialect.is_grpc() { Trailers::Status("0") } else { Trailers::None };
    let other = [
        Trailers::None,
        Trailers::Other,
        Trailers::Status("0"),
        Trailers::Status("14"),
        Trailers::Status("+1"),
        Trailers::Statuses("0", "0"),
        Trailers::Statuses("0", "13"),
        Trailers::InHead("0"),
        Trailers::InHead("5"),
    ];
    prop_oneof![6 => Just(usual), 1 => select(other.to_vec())]
}

fn callers() -> impl Strategy<Value = Caller> {
    let pause = prop_oneof![8 => Just(ms(0)), 1 => select(vec![ms(1), ms(3_000), ms(130_000)])];
    (pause, prop::bool::weighted(0.2)).prop_map(|(pause, restless)| Caller { pause, restless, drops: None })
}

/// A body in pieces.
fn chunks(ask: Ask, dialect: Dialect) -> impl Strategy<Value = Vec<(Pause, Bytes)>> {
    let places = prop::collection::vec((any::<prop::sample::Index>(), pauses()), 0..8);
    (body(ask, dialect), places, pauses()).prop_map(|(body, places, last)| {
        let mut places: Vec<_> = places.into_iter().map(|(at, pause)| (at.index(body.len() + 1), pause)).collect();
        places.sort_unstable_by_key(|(at, _)| *at);
        places.push((body.len(), last));
        let mut from = 0;
        let mut chunks = Vec::new();
        for (to, pause) in places {
            chunks.push((pause, Bytes::copy_from_slice(&body[from..to])));
            from = to;
        }
        chunks
    })
}

/// Any call to any peer.
pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    let options = (prop::bool::weighted(0.1), prop::bool::weighted(0.1));
    let caps = prop_oneof![8 => Just(Caps::Large), 1 => Just(Caps::Small)];
    let readiness = prop_oneof![
        20 => Just(Readiness::Now),
        2 => Just(Readiness::Later),
        1 => Just(Readiness::Never),
        1 => Just(Readiness::Fails),
    ];
    (asks(), select(&Dialect::EVERY[..])).prop_flat_map(move |(ask, dialect)| {
        let peer = (heads(ask, dialect), chunks(ask, dialect), trailers(dialect), ends());
        (options, caps.clone(), readiness.clone(), peer, callers()).prop_map(
            move |((strict, adapt), caps, readiness, (head, chunks, trailers, end), caller)| Plan {
                ask,
                dialect,
                strict,
                adapt,
                caps,
                readiness,
                head,
                chunks,
                trailers,
                end,
                caller,
            },
        )
    })
}

fn hosts() -> impl Strategy<Value = Host> {
    let says = prop_oneof![
        6 => Just(Says::Good),
        1 => select(&[Says::Bad, Says::NotFound, Says::Junk, Says::Silent, Says::Hangs, Says::Floods, Says::Lost][..]),
    ];
    let after = prop_oneof![3 => Just(ms(0)), 1 => select(vec![ms(5), ms(4_900), ms(9_900), ms(20_000)])];
    (says, after).prop_map(|(says, after)| Host { says, after })
}

fn uploads() -> impl Strategy<Value = Upload> {
    prop_oneof![
        8 => Just(Upload::AtOnce),
        2 => select(vec![ms(1), ms(3_000)]).prop_map(Upload::InHalves),
        1 => Just(Upload::Stuck),
        1 => Just(Upload::Lost),
    ]
}

/// Any call through all layers.
pub(crate) fn guarded() -> impl Strategy<Value = Guarded> {
    let recovery = prop_oneof![1 => Just(None), 1 => hosts().prop_map(Some)];
    (plan(), hosts(), hosts(), recovery, uploads()).prop_map(|(plan, cards, probes, recovery, upload)| Guarded {
        plan,
        cards,
        probes,
        recovery,
        upload,
    })
}
