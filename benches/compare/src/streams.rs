//! Event streams: events of a hundred bytes to a MiB, in frames of a byte to thousands of events.

use std::convert::Infallible;
use std::fmt::Debug;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;

use a2a_guard::{Operation, TerminalStateLayer, wire::JsonRpcId};
use bytes::Bytes;
use eventsource_stream::Eventsource;
use futures_util::StreamExt;
use http_body::Body;
use http_body_util::BodyExt;
use sse_stream::SseStream;
use tower::Layer;

use crate::corpus;
use crate::group::{Budget, Group, Row};
use crate::measure::{Consume, cost_of};
use crate::ours::{self, STREAM_JUDGE, TERMINAL_STATE};
use crate::peer::{Pause, Peer, Script};
use crate::stacks::{self, Call, Stacks};

/// How the events of a stream arrive.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// How many.
    events: usize,
    size: Size,
    frames: Frames,
    pause: Pause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    /// About a hundred bytes.
    Smallest,
    Bytes(usize),
    /// So many bytes, written as the Python SDK does, and not as shortly as can be.
    OfSdk(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frames {
    /// So many whole events each.
    Events(usize),
    /// So many bytes each, wherever events end.
    Bytes(usize),
}

/// One group for each size and each way of arriving.
pub fn groups() -> Vec<Group> {
    let alone =
        |size| Arrival { events: 1_000, size: Size::Bytes(size), frames: Frames::Events(1), pause: Pause::Once };
    let few = |events, size| Arrival { events, ..alone(size) };
    let smallest = Arrival { size: Size::Smallest, ..alone(0) };
    [
        alone(256),
        alone(384),
        alone(512),
        Arrival { frames: Frames::Events(42), ..alone(384) },
        Arrival { size: Size::OfSdk(384), ..alone(384) },
        Arrival { pause: Pause::EachFrame, ..alone(384) },
        Arrival { frames: Frames::Bytes(1_460), ..alone(384) },
        Arrival { frames: Frames::Bytes(1), ..few(50, 384) },
        smallest,
        Arrival { events: 4_000, frames: Frames::Events(4_000), ..smallest },
        few(250, 4 << 10),
        Arrival { frames: Frames::Bytes(16 << 10), ..few(32, 64 << 10) },
        Arrival { frames: Frames::Bytes(16 << 10), ..few(4, 1 << 20) },
        Arrival { frames: Frames::Bytes(1_460), ..few(4, 1 << 20) },
    ]
    .into_iter()
    .map(group)
    .collect()
}

/// The event stream parser of `eventsource-stream`, as the end of the stack.
#[derive(Clone, Copy, Debug)]
struct Eventsources;

impl<B> Consume<B> for Eventsources
where
    B: Body<Data = Bytes, Error: Debug + Send> + Send,
{
    async fn consume(self, body: B) -> usize {
        let mut events = pin!(body.into_data_stream().eventsource());
        let mut seen = 0;
        while let Some(event) = events.next().await {
            black_box(event.expect("a stream without fault"));
            seen += 1;
        }
        seen
    }
}

/// The same of `sse-stream`.
#[derive(Clone, Copy, Debug)]
struct SseStreams;

impl<B> Consume<B> for SseStreams
where
    B: Body<Data = Bytes, Error = Infallible> + Send + Unpin,
{
    async fn consume(self, body: B) -> usize {
        let mut events = pin!(SseStream::new(body));
        let mut seen = 0;
        while let Some(event) = events.next().await {
            black_box(event.expect("a stream without fault"));
            seen += 1;
        }
        seen
    }
}

const PASS_THROUGH: &str = "pass-through";
const EVENTSOURCE: &str = "eventsource-stream";

fn group(arrival: Arrival) -> Group {
    let body = corpus::request(1024);
    let stacks = Stacks::new(
        // As many events as wanted, in one call.
        move |events| Peer::new(arrival.script(events)),
        move |_| vec![arrival.named(&body)],
    );
    let id = arrival.id();
    // The two lengths that are measured.
    let judged = [arrival.events, arrival.events / 2].map(|events| (events, arrival.script(events)));
    let guarded = stacks.row(TERMINAL_STATE, |peer| TerminalStateLayer::new().layer(peer)).over(PASS_THROUGH);
    Group {
        title: arrival.title(),
        unit: "event",
        units: arrival.events,
        rows: vec![
            stacks.bare(PASS_THROUGH).anchor(),
            stacks.consumed("sse-stream", |peer| peer, SseStreams).over(PASS_THROUGH).anchor(),
            stacks.consumed(EVENTSOURCE, |peer| peer, Eventsources).over(PASS_THROUGH).anchor(),
            Row::new(STREAM_JUDGE, move |events| {
                let (_, script) = judged.iter().find(|(count, _)| *count == events).expect("one of the two lengths");
                cost_of(|| ours::judge_stream(script.frames(), &id))
            }),
            arrival.budgets(guarded),
        ],
    }
}

impl Arrival {
    fn id(self) -> JsonRpcId {
        match self.size {
            Size::OfSdk(_) => JsonRpcId::Text(corpus::SDK_ID.into()),
            _ => JsonRpcId::Number(1),
        }
    }

    fn named(self, body: &Bytes) -> Call {
        let mut request = stacks::named(body, Operation::SendStreamingMessage);
        request.extensions_mut().insert(ours::call(Operation::SendStreamingMessage).with_id(self.id()));
        request
    }

    fn title(self) -> String {
        let size = match self.size {
            Size::Smallest => "about 100 B".to_owned(),
            Size::Bytes(bytes) if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
            Size::Bytes(bytes) if bytes >= 4 << 10 => format!("{} KiB", bytes >> 10),
            Size::Bytes(bytes) | Size::OfSdk(bytes) => format!("{bytes} B"),
        };
        let frames = match self.frames {
            Frames::Events(1) if matches!(self.size, Size::OfSdk(_)) => "as an SDK writes them".to_owned(),
            Frames::Events(1) => "a frame each".to_owned(),
            Frames::Events(all) if all == self.events => "all in one frame".to_owned(),
            Frames::Events(some) => format!("{some} in a frame"),
            Frames::Bytes(1) => "byte by byte".to_owned(),
            Frames::Bytes(bytes) if bytes >= 4 << 10 => format!("in {} KiB frames", bytes >> 10),
            Frames::Bytes(bytes) => format!("in {bytes} B frames"),
        };
        let pause = if self.pause == Pause::EachFrame { ", Pending before each" } else { "" };
        format!("stream, {} events of {size}, {frames}{pause}", self.events)
    }

    /// The budget of an event of 256 to 512 B; and whoever comes whole is never copied.
    fn budgets(self, row: Row) -> Row {
        let Frames::Events(_) = self.frames else { return row };
        let is_usual = matches!(self.size, Size::Bytes(256..=512) | Size::OfSdk(_));
        let row = row.budget(Budget::Allocations(0.0));
        // The clock is read at each Pending, which is not part of that budget.
        if is_usual && self.pause == Pause::Once { row.budget(Budget::Nanoseconds(60.0)) } else { row }
    }

    fn script(self, events: usize) -> Arc<Script> {
        let events = match self.size {
            Size::Smallest => corpus::smallest(events),
            Size::Bytes(bytes) => corpus::events(events, bytes),
            Size::OfSdk(bytes) => corpus::events_of_sdk(events, bytes),
        };
        let frames = match self.frames {
            Frames::Events(1) => events,
            Frames::Events(some) => events.chunks(some).map(|events| events.concat().into()).collect(),
            Frames::Bytes(bytes) => {
                let whole = Bytes::from(events.concat());
                let starts = (0..whole.len()).step_by(bytes);
                starts.map(|start| whole.slice(start..whole.len().min(start + bytes))).collect()
            }
        };
        Script::stream(frames, self.pause)
    }
}
