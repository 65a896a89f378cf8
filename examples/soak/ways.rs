//! What a peer can do with a stream: the ways to hang, and the good ones.

use std::time::Duration;

use a2a_guard::Limits;
use bytes::Bytes;

use crate::messages;

/// How a call is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    JsonRpc,
    HttpJson,
    Grpc,
}

/// What follows the first bytes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Nothing, ever.
    Silence,
    /// Nothing until the peer is told to go on, then this once a second.
    Repeat(Piece),
    /// Nothing until then, then four artifacts and the end.
    Finish,
}

/// One piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The task, in this state.
    Task(u8),
    /// An update of its status.
    Update(u8),
    /// An artifact of this number.
    Artifact(u8),
    /// The beginning of a further event or message.
    Half,
    /// A byte within it.
    Byte,
    /// A comment, for keep-alive.
    Comment,
    /// The beginning of a document.
    Document,
}

/// From when a bound counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum From {
    Start,
    Head,
    FirstFrame,
}

/// One way to treat a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) wires: &'static [Wire],
    /// Status and, if it is another than that of streams, media type; `None` for no head at all.
    pub(crate) head: Option<(u16, Option<&'static str>)>,
    pub(crate) first: &'static [Piece],
    pub(crate) then: Then,
    /// What must come of it, and when.
    pub(crate) word: &'static str,
    pub(crate) from: From,
    pub(crate) bound: fn(&Bounds) -> Duration,
}

/// The bounds of this program: long enough that all streams are open, and were measured, before the first is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) head: Duration,
    pub(crate) first_event: Duration,
    pub(crate) idle: Duration,
    pub(crate) event_gap: Duration,
    pub(crate) total: Duration,
    pub(crate) linger: Duration,
    pub(crate) auth_wait: Duration,
}

impl Bounds {
    pub(crate) fn new(quick: bool) -> Self {
        let s = |seconds: u64| Duration::from_secs(if quick { seconds / 2 } else { seconds });
        Self {
            head: s(22),
            first_event: s(24),
            idle: s(26),
            event_gap: s(28),
            total: s(36),
            linger: s(20),
            auth_wait: s(24),
        }
    }

    pub(crate) fn limits(self) -> Limits {
        Limits::within(self.total)
            .head(self.head)
            .blocking_head(self.head)
            .first_event(self.first_event)
            .idle(self.idle)
            .event_gap(self.event_gap)
            .linger(self.linger)
            .auth_wait(self.auth_wait)
    }
}

use Piece::{Artifact, Byte, Comment, Document, Half, Task, Update};
use Wire::{Grpc, HttpJson, JsonRpc};
use messages::{AUTH_REQUIRED, COMPLETED, INPUT_REQUIRED, WORKING};

const ALL: &[Wire] = &[JsonRpc, HttpJson, Grpc];
const EVENTS: &[Wire] = &[JsonRpc, HttpJson];
const STREAM: Option<(u16, Option<&str>)> = Some((200, None));
const JSON: Option<&str> = Some("application/json");

const fn way(name: &'static str, first: &'static [Piece], then: Then, word: &'static str) -> Way {
    Way { name, wires: ALL, head: STREAM, first, then, word, from: From::FirstFrame, bound: |bounds| bounds.idle }
}

/// The good stream: it rests until the peer is told to go on, and then ends well.
pub(crate) const GOOD: Way = Way {
    from: From::Start,
    bound: |bounds| bounds.total,
    ..way("good", &[Task(WORKING)], Then::Finish, "success/success")
};

/// Every way to hang.
pub(crate) const HANGING: &[Way] = &[
    Way {
        head: None,
        from: From::Start,
        bound: |bounds| bounds.head,
        ..way("no head", &[], Then::Silence, "timeout/head")
    },
    Way {
        from: From::Head,
        bound: |bounds| bounds.first_event,
        ..way("no event", &[], Then::Silence, "timeout/first_event")
    },
    Way {
        wires: EVENTS,
        from: From::Head,
        bound: |bounds| bounds.first_event,
        ..way("comments, and no event", &[], Then::Repeat(Comment), "timeout/first_event")
    },
    way("silence after an event", &[Task(WORKING)], Then::Silence, "timeout/idle"),
    way("half an event", &[Task(WORKING), Half], Then::Silence, "timeout/idle"),
    Way {
        wires: EVENTS,
        bound: |bounds| bounds.event_gap,
        ..way("comments behind a dead task", &[Task(WORKING)], Then::Repeat(Comment), "timeout/event_gap")
    },
    Way {
        bound: |bounds| bounds.event_gap,
        ..way("an event byte by byte", &[Task(WORKING), Half], Then::Repeat(Byte), "timeout/event_gap")
    },
    Way {
        from: From::Start,
        bound: |bounds| bounds.total,
        ..way("events for ever", &[Task(WORKING)], Then::Repeat(Update(WORKING)), "timeout/total")
    },
    Way {
        wires: EVENTS,
        head: Some((200, JSON)),
        from: From::Head,
        bound: |bounds| bounds.first_event,
        ..way("half a document", &[Document], Then::Silence, "timeout/first_event")
    },
    Way {
        wires: EVENTS,
        head: Some((500, JSON)),
        from: From::Head,
        bound: |bounds| bounds.first_event,
        ..way("half a refusal", &[Document], Then::Silence, "timeout/first_event")
    },
    Way {
        bound: |bounds| bounds.linger,
        ..way("open after its end", &[Task(COMPLETED)], Then::Silence, "success/success")
    },
    Way {
        wires: EVENTS,
        bound: |bounds| bounds.linger,
        ..way("comments after its end", &[Task(COMPLETED)], Then::Repeat(Comment), "success/success")
    },
    Way {
        bound: |bounds| bounds.linger,
        ..way("input required, and open", &[Task(INPUT_REQUIRED)], Then::Silence, "success/success")
    },
    Way {
        bound: |bounds| bounds.auth_wait,
        ..way("authorization required, and open", &[Task(AUTH_REQUIRED)], Then::Silence, "success/success")
    },
];

/// The way of this name.
pub(crate) fn named(name: &str) -> Option<&'static Way> {
    HANGING.iter().chain([&GOOD]).find(|way| way.name == name)
}

fn state(state: u8) -> &'static str {
    match state {
        WORKING => "TASK_STATE_WORKING",
        COMPLETED => "TASK_STATE_COMPLETED",
        INPUT_REQUIRED => "TASK_STATE_INPUT_REQUIRED",
        AUTH_REQUIRED => "TASK_STATE_AUTH_REQUIRED",
        _ => "TASK_STATE_UNSPECIFIED",
    }
}

/// A message of gRPC, with its prefix.
pub(crate) fn framed(message: &[u8]) -> Bytes {
    let mut frame = vec![0];
    frame.extend_from_slice(&(message.len() as u32).to_be_bytes()); // of a few bytes
    frame.extend_from_slice(message);
    frame.into()
}

impl Piece {
    /// Its bytes.
    pub(crate) fn bytes(self, wire: Wire) -> Bytes {
        let status = |number: u8| format!(r#""status":{{"state":"{}"}}"#, state(number));
        let update = r#""taskId":"task-1","contextId":"ctx-1""#;
        let result = match self {
            Half if wire == Grpc => return Bytes::from_static(&[0, 0, 0, 1, 0, 10]),
            Half => return Bytes::from_static(b"data: {\"half\":\""),
            Byte => return Bytes::from_static(b"x"),
            Comment => return Bytes::from_static(b": ping\n\n"),
            Document => return Bytes::from_static(b"{\"half\":\""),
            Task(number) if wire == Grpc => return framed(&messages::task(number)),
            Update(number) if wire == Grpc => return framed(&messages::update(number)),
            Artifact(number) if wire == Grpc => return framed(&messages::artifact(&format!("part {number}"))),
            Task(number) => format!(r#"{{"task":{{"id":"task-1","contextId":"ctx-1",{}}}}}"#, status(number)),
            Update(number) => format!(r#"{{"statusUpdate":{{{update},{}}}}}"#, status(number)),
            Artifact(number) => format!(
                r#"{{"artifactUpdate":{{{update},"artifact":{{"artifactId":"a-1","parts":[{{"text":"part {number}"}}]}}}}}}"#
            ),
        };
        let data = if wire == JsonRpc { format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#) } else { result };
        format!("data: {data}\n\n").into()
    }
}

/// How a good stream goes on once the peer is told to.
pub(crate) fn finish() -> [Piece; 5] {
    [Artifact(1), Artifact(2), Artifact(3), Artifact(4), Update(COMPLETED)]
}

/// All bytes of a good stream.
pub(crate) fn good_bytes(wire: Wire) -> Vec<u8> {
    GOOD.first.iter().copied().chain(finish()).flat_map(|piece| piece.bytes(wire)).collect()
}
