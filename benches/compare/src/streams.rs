//! Event streams of a thousand events.

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

const EVENTS: usize = 1_000;

/// How the events of a stream arrive.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    title: &'static str,
    /// Bytes an event.
    size: usize,
    /// Events a frame.
    together: usize,
    pause: Pause,
    /// Written as the Python SDK does, and not as shortly as can be.
    is_sdk: bool,
}

/// One group for each size, then one for each other way of arriving.
pub fn groups() -> Vec<Group> {
    let alone = |size| Arrival { title: "a frame each", size, together: 1, pause: Pause::Once, is_sdk: false };
    [
        alone(256),
        alone(384),
        alone(512),
        Arrival { title: "42 in a frame", together: 42, ..alone(384) },
        Arrival { title: "as an SDK writes them", is_sdk: true, ..alone(384) },
        Arrival { title: "a frame each, Pending before each", pause: Pause::EachFrame, ..alone(384) },
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
        move |events| Peer(arrival.script(events)),
        move |_| vec![arrival.named(&body)],
    );
    let id = arrival.id();
    // The two lengths that are measured.
    let judged = [EVENTS, EVENTS / 2].map(|events| (events, arrival.script(events)));
    let guarded = stacks.row(TERMINAL_STATE, |peer| TerminalStateLayer::new().layer(peer)).over(PASS_THROUGH);
    Group {
        title: format!("stream, {EVENTS} events of {} B, {}", arrival.size, arrival.title),
        unit: "event",
        units: EVENTS,
        rows: vec![
            stacks.bare(PASS_THROUGH).anchor(),
            stacks.consumed("sse-stream", |peer| peer, SseStreams).over(PASS_THROUGH).anchor(),
            stacks.consumed(EVENTSOURCE, |peer| peer, Eventsources).over(PASS_THROUGH).anchor(),
            Row::new(STREAM_JUDGE, move |events| {
                let (_, script) = judged.iter().find(|(count, _)| *count == events).expect("one of the two lengths");
                cost_of(|| ours::judge_stream(script.frames(), &id))
            }),
            match arrival.pause {
                Pause::Once => guarded.budget(Budget::Nanoseconds(60.0)),
                // The clock is read at each Pending, which is not part of that budget.
                Pause::EachFrame => guarded,
            }
            .budget(Budget::Allocations(0.0)),
        ],
    }
}

impl Arrival {
    fn id(self) -> JsonRpcId {
        if self.is_sdk { JsonRpcId::Text(corpus::SDK_ID.into()) } else { JsonRpcId::Number(1) }
    }

    fn named(self, body: &Bytes) -> Call {
        let mut request = stacks::named(body, Operation::SendStreamingMessage);
        request.extensions_mut().insert(ours::call(Operation::SendStreamingMessage).with_id(self.id()));
        request
    }

    fn script(self, events: usize) -> Arc<Script> {
        let events = match self.is_sdk {
            true => corpus::events_of_sdk(events, self.size),
            false => corpus::events(events, self.size),
        };
        let frames = match self.together {
            1 => events,
            some => events.chunks(some).map(|events| events.concat().into()).collect(),
        };
        Script::stream(frames, self.pause)
    }
}
