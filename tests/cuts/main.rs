//! Property tests: however an answer is cut into frames, the call ends in the same way, with the same facts, at the
//! same time, and the same bytes are handed on.

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;

mod envelopes;
mod events;
mod requests;
mod streams;

use std::time::Duration;

use a2a_guard::{Limits, TerminalStateLayer};
use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::Full;
use proptest::{prelude::*, sample::Index, test_runner::Config};
use tokio::runtime::Runtime;

use mock::{Answer, MockBody, Noted, Step, call, s};

/// How many cases of each property are tried, each in several cuts.
fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, max_shrink_iters: 4096, ..Config::default() }
}

/// A runtime whose time stands still unless everybody waits.
fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

/// How a body ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Clean,
    Trailers,
    Reset,
    Hang,
}

fn ends() -> impl Strategy<Value = End> {
    prop_oneof![6 => Just(End::Clean), 1 => Just(End::Trailers), 2 => Just(End::Reset), 2 => Just(End::Hang)]
}

/// Where a body is cut, and whether its reader has to wait between the pieces.
#[derive(Clone, Debug)]
enum Cut {
    Whole,
    At(Vec<Index>, bool),
    Bytewise(bool),
}

fn cuts() -> impl Strategy<Value = Vec<Cut>> {
    let some = (prop::collection::vec(any::<Index>(), 1..8), any::<bool>()).prop_map(|(at, wait)| Cut::At(at, wait));
    (prop::collection::vec(some, 3), any::<bool>()).prop_map(|(mut cuts, wait)| {
        cuts.push(Cut::Bytewise(wait));
        cuts
    })
}

impl Cut {
    fn body(&self, bytes: &[u8], end: End) -> MockBody {
        let (places, wait) = match self {
            Self::Whole => (Vec::new(), false),
            Self::At(at, wait) => (at.iter().map(|index| index.index(bytes.len() + 1)).collect(), *wait),
            Self::Bytewise(wait) => ((1..bytes.len()).collect(), *wait),
        };
        let mut places: Vec<usize> = places;
        places.sort_unstable();
        places.push(bytes.len());
        let mut from = 0;
        let mut body = MockBody::new();
        for to in places {
            body = body.data(Bytes::copy_from_slice(&bytes[from..to]));
            if wait {
                body = body.then(Step::Yield);
            }
            from = to;
        }
        // Nobody knows its length before it is there.
        body = body.at(Duration::ZERO);
        match end {
            End::Clean => body,
            End::Trailers => body.trailers("x-checksum", "c0ffee"),
            End::Reset => body.reset(),
            End::Hang => body.hang(),
        }
    }
}

/// A peer's answer, not cut yet.
#[derive(Clone, Debug)]
struct Told {
    status: u16,
    media: &'static str,
    bytes: Bytes,
    end: End,
}

/// What the layer is set to.
#[derive(Clone, Debug)]
struct Set {
    strict: bool,
    adapt: bool,
    limits: Limits,
}

/// Bounds of which no two can fall together.
fn limits() -> Limits {
    Limits::default().first_event(s(30)).idle(s(50)).event_gap(s(70)).linger(s(2)).auth_wait(s(9))
}

fn settings() -> impl Strategy<Value = Set> {
    let caps = prop_oneof![
        4 => Just(limits()),
        1 => Just(limits().max_event(300)),
        1 => Just(limits().max_unary_body(150)),
        1 => Just(limits().max_refusal(70)),
    ];
    let options = (prop::bool::weighted(0.2), prop::bool::weighted(0.3));
    (options, caps).prop_map(|((strict, adapt), limits)| Set { strict, adapt, limits })
}

/// Everything that can be seen of how a call ended.
#[derive(Debug, PartialEq)]
struct Seen {
    word: String,
    /// The error's line, which has nearly all of its facts in it.
    line: Option<String>,
    facts: Option<Facts>,
    status: Option<u16>,
    headers: HeaderMap,
    bytes: Bytes,
    trailers: bool,
    elapsed: Duration,
    noted: Noted,
}

/// What the line of an error leaves out.
#[derive(Debug, PartialEq)]
struct Facts {
    code: Option<i64>,
    reason: Option<String>,
    message: Option<String>,
    events: u64,
    tolerated: Vec<&'static str>,
    response: Option<(u16, Bytes, bool, bool)>,
}

async fn seen(set: &Set, request: Request<Full<Bytes>>, told: &Told, cut: &Cut) -> Seen {
    let layer = TerminalStateLayer::builder().limits(set.limits.clone()).strict(set.strict).adapt_downgrade(set.adapt);
    let answer = Answer::new(told.status, told.media, cut.body(&told.bytes, told.end));
    let ended = call(layer, request, answer).await;
    let facts = ended.error.as_ref().map(|error| Facts {
        code: error.code(),
        reason: error.reason().map(Into::into),
        message: error.peer_message().map(Into::into),
        events: error.events(),
        tolerated: error.tolerated().iter().collect(),
        // An event is over with the carriage return of its blank line; a cut may separate the line feed from it.
        response: error.response().map(|kept| {
            let body = kept.body.strip_suffix(b"\r\n").or(kept.body.strip_suffix(b"\r"));
            let body = body.map_or_else(|| kept.body.clone(), Bytes::copy_from_slice);
            (kept.status.as_u16(), body, kept.truncated, kept.trailers.is_some())
        }),
    });
    Seen {
        word: ended.word(),
        line: ended.error.as_ref().map(ToString::to_string),
        facts,
        status: ended.status.map(|status| status.as_u16()),
        bytes: ended.bytes().into(),
        trailers: ended.trailers.is_some(),
        elapsed: ended.elapsed,
        noted: ended.notes.one(),
        headers: ended.headers,
    }
}

/// Makes the call once for each cut; the cut must make no difference. Gives what all of them saw.
fn seen_alike(
    runtime: &Runtime,
    set: &Set,
    request: &Request<Full<Bytes>>,
    told: &Told,
    cuts: &[Cut],
) -> Result<Seen, TestCaseError> {
    let whole = runtime.block_on(seen(set, request.clone(), told, &Cut::Whole));
    for cut in cuts {
        let apart = runtime.block_on(seen(set, request.clone(), told, cut));
        prop_assert_eq!(&whole, &apart, "cut by {:?}: {:?}", cut, told.bytes);
    }
    // What passes unjudged is no failure of the call, whatever its outcome.
    prop_assert!(whole.line.is_none() || whole.noted.word() == whole.word);
    Ok(whole)
}

/// What is handed on is what came: all of it by a success, the first of it by a failure. A last event may gain its
/// line end.
fn assert_unchanged(told: &Told, seen: &Seen) -> Result<(), TestCaseError> {
    match seen.bytes.strip_prefix(&told.bytes[..]) {
        Some(gained) => prop_assert!(gained.len() <= 4 && gained.iter().all(|byte| b"\r\n".contains(byte))),
        None => {
            prop_assert!(told.bytes.starts_with(&seen.bytes));
            prop_assert!(seen.word != "success/success", "a success that lost bytes");
        }
    }
    Ok(())
}

/// Some bytes of it are changed, left out or put in.
fn mutated(bytes: String, changes: &[(Index, u8, u8)]) -> Bytes {
    let mut bytes = bytes.into_bytes();
    for (place, kind, byte) in changes {
        let place = place.index(bytes.len() + 1);
        match kind % 4 {
            0 => bytes.insert(place, *byte),
            1 if place < bytes.len() => bytes[place] = *byte,
            2 if place < bytes.len() => {
                bytes.remove(place);
            }
            3 => bytes.truncate(place),
            _ => {}
        }
    }
    bytes.into()
}

/// Nothing in half of the cases, else one to three changes; of bytes that matter, most of the time.
fn changes() -> impl Strategy<Value = Vec<(Index, u8, u8)>> {
    let bytes = prop_oneof![
        3 => prop::sample::select(b"\n\r:{}[]\",\\ 0-nullte\xef\xbb\xbf\xff\x00".to_vec()),
        1 => any::<u8>()
    ];
    let change = (any::<Index>(), any::<u8>(), bytes);
    prop_oneof![3 => Just(Vec::new()), 2 => prop::collection::vec(change, 1..4)]
}
