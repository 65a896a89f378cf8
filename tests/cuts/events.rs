//! Event streams as servers write them, and as they do not.

use proptest::prelude::*;

use crate::{End, Told, changes, ends, mock::Dialect, mutated};

use Dialect::{Rest, V1, V02, V03};

/// What an event says.
#[derive(Clone, Debug)]
pub(crate) enum Say {
    Task(&'static str),
    Update(&'static str),
    OtherTask,
    Artifact(usize),
    Message,
    Error,
    ErrorWithDetails,
    Raw(&'static str),
}

/// What is around it.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    say: Say,
    /// So many `data` lines.
    lines: usize,
    space: bool,
    /// `id`, `event` and `retry` lines in front.
    fields: Vec<&'static str>,
    /// Comments behind.
    comments: Vec<&'static str>,
}

/// A whole stream, before it is bytes.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) dialect: Dialect,
    line_end: &'static str,
    mark: bool,
    opening: Vec<&'static str>,
    events: Vec<Event>,
    terminated: bool,
}

const WORKING: [&str; 3] = ["SUBMITTED", "WORKING", "DREAMING"];
const RESTING: [&str; 6] = ["COMPLETED", "FAILED", "CANCELED", "REJECTED", "INPUT_REQUIRED", "AUTH_REQUIRED"];
/// The first three mean nothing here.
const FIELDS: [&str; 7] =
    ["id: 7", "id", "retry: 3000", "event: message", "event: error", "event:error", "unknown: field"];
const COMMENTS: [&str; 4] = [": ping", ":", ":keep-alive \u{e9}", ""];
const RAW: [&str; 9] =
    ["{}", "[]", "null", "nonsense", "{\"jsonrpc\":\"2.0\"", " ", "{\"error\":\"no\"}", "{\"message\":\"no\"}", "7"];

fn says() -> impl Strategy<Value = Say> {
    let working = prop::sample::select(&WORKING[..]);
    let resting = prop::sample::select(&RESTING[..]);
    prop_oneof![
        4 => working.clone().prop_map(Say::Task),
        6 => working.prop_map(Say::Update),
        3 => resting.clone().prop_map(Say::Update),
        1 => resting.prop_map(Say::Task),
        3 => (0_usize..200).prop_map(Say::Artifact),
        1 => Just(Say::OtherTask),
        1 => Just(Say::Message),
        1 => Just(Say::Error),
        1 => Just(Say::ErrorWithDetails),
        1 => prop::sample::select(&RAW[..]).prop_map(Say::Raw),
    ]
}

/// What a stream says in which all is well.
fn good_says() -> impl Strategy<Value = Say> {
    prop_oneof![
        3 => prop::sample::select(&WORKING[..]).prop_map(Say::Update),
        1 => prop::sample::select(&WORKING[..]).prop_map(Say::Task),
        1 => prop::sample::select(&RESTING[..]).prop_map(Say::Update),
        1 => prop::sample::select(&RESTING[..]).prop_map(Say::Task),
        2 => (0_usize..200).prop_map(Say::Artifact),
    ]
}

fn events(says: impl Strategy<Value = Say>, fields: &'static [&'static str]) -> impl Strategy<Value = Event> {
    let fields = prop::collection::vec(prop::sample::select(fields), 0..3);
    let comments = prop::collection::vec(prop::sample::select(&COMMENTS[..]), 0..3);
    let parts = (says, 1_usize..4, any::<bool>(), fields, comments);
    parts.prop_map(|(say, lines, space, fields, comments)| Event { say, lines, space, fields, comments })
}

fn streams(events: impl Strategy<Value = Event>) -> impl Strategy<Value = Stream> {
    let dialect = prop::sample::select(&Dialect::ALL[..]);
    let line_end = prop::sample::select(&["\n", "\r\n", "\r"][..]);
    let opening = prop::collection::vec(prop::sample::select(&COMMENTS[..]), 0..3);
    let framing = (line_end, prop::bool::weighted(0.2), opening, prop::bool::weighted(0.7));
    // Most streams begin as they should and come to an end.
    let first = prop_oneof![3 => Just(Some(Say::Task("WORKING"))), 1 => Just(None)];
    let last = prop_oneof![2 => Just(Some(Say::Update("COMPLETED"))), 1 => Just(None)];
    (dialect, framing, first, prop::collection::vec(events, 0..5), last).prop_map(
        |(dialect, (line_end, mark, opening, terminated), first, mut events, last)| {
            let plain = |say| Event { say, lines: 1, space: true, fields: Vec::new(), comments: Vec::new() };
            if let Some(say) = first {
                events.insert(0, plain(say));
            }
            if let Some(say) = last {
                events.push(plain(say));
            }
            Stream { dialect, line_end, mark, opening, events, terminated }
        },
    )
}

/// A stream as its bytes, some of them changed, and how its body ends.
pub(crate) fn told() -> impl Strategy<Value = (Stream, Told)> {
    let media = prop_oneof![
        8 => Just("text/event-stream"),
        1 => Just("text/event-stream; charset=utf-8"),
        1 => Just("application/json"),
        1 => Just(""),
    ];
    (streams(events(says(), &FIELDS)), changes(), ends(), media).prop_map(|(stream, changes, end, media)| {
        let bytes = mutated(stream.text(), &changes);
        (stream, Told { status: 200, media, bytes, end })
    })
}

/// A stream in which all is well, as far as it goes.
pub(crate) fn good() -> impl Strategy<Value = (Stream, Told)> {
    streams(events(good_says(), &FIELDS[..3])).prop_map(|stream| {
        let bytes = stream.text().into();
        (stream, Told { status: 200, media: "text/event-stream", bytes, end: End::Clean })
    })
}

impl Stream {
    pub(crate) fn says(&self) -> impl Iterator<Item = &Say> {
        self.events.iter().map(|event| &event.say)
    }

    pub(crate) fn text(&self) -> String {
        let end = self.line_end;
        let mut text = String::from(if self.mark { "\u{feff}" } else { "" });
        for comment in &self.opening {
            text.push_str(comment);
            text.push_str(end);
        }
        for event in &self.events {
            for field in &event.fields {
                text.push_str(field);
                text.push_str(end);
            }
            let data = spelled(self.dialect, &event.say);
            for line in in_lines(&data, event.lines) {
                text.push_str(if event.space { "data: " } else { "data:" });
                text.push_str(line);
                text.push_str(end);
            }
            text.push_str(end);
            for comment in &event.comments {
                text.push_str(comment);
                text.push_str(end);
            }
        }
        if !self.terminated {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    }
}

/// Cut where JSON allows white space, for that is what line ends in data become.
fn in_lines(data: &str, lines: usize) -> Vec<&str> {
    let mut rest = data;
    let mut cut = Vec::new();
    while cut.len() + 1 < lines {
        let Some(comma) = rest.find("\":").filter(|at| rest.is_char_boundary(at + 2)) else { break };
        let (line, more) = rest.split_at(comma + 2);
        cut.push(line);
        rest = more;
    }
    cut.push(rest);
    cut
}

fn spelled(dialect: Dialect, say: &Say) -> String {
    match say {
        Say::Task(state) => dialect.result(&dialect.task(state)),
        Say::Update(state) => dialect.result(&dialect.update(state)),
        Say::OtherTask => dialect.result(&dialect.update("WORKING").replace("task-1", "task-2")),
        Say::Artifact(size) => dialect.result(&artifact(dialect, *size)),
        Say::Message => dialect.result(&dialect.message()),
        Say::Error => dialect.error(-32603),
        Say::ErrorWithDetails => detailed(dialect),
        Say::Raw(text) => (*text).into(),
    }
}

fn artifact(dialect: Dialect, size: usize) -> String {
    let text = "é\\n".repeat(size);
    match dialect {
        V1 | Rest => format!(
            r#"{{"artifactUpdate":{{"taskId":"task-1","artifact":{{"artifactId":"a","parts":[{{"text":"{text}"}}]}}}}}}"#
        ),
        V03 => format!(
            r#"{{"kind":"artifact-update","taskId":"task-1","artifact":{{"artifactId":"a","parts":[{{"kind":"text","text":"{text}"}}]}}}}"#
        ),
        V02 => format!(r#"{{"id":"task-1","artifact":{{"parts":[{{"type":"text","text":"{text}"}}]}}}}"#),
    }
}

pub(crate) fn detailed(dialect: Dialect) -> String {
    let details = r#"[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNSUPPORTED_OPERATION","domain":"a2a-protocol.org"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2s"}]"#;
    match dialect {
        Rest => format!(
            r#"{{"error":{{"code":400,"status":"FAILED_PRECONDITION","message":"n\u00f6","details":{details}}}}}"#
        ),
        _ => format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32004,"message":"n\u00f6","data":{details}}}}}"#),
    }
}
