//! What peers say: right, wrong, and changed on the way.

use a2a_guard_fuzz::calls::{Ask, Dialect};
use proptest::{prelude::*, sample::Index};

const STATES: [&str; 7] =
    ["SUBMITTED", "WORKING", "COMPLETED", "FAILED", "INPUT_REQUIRED", "AUTH_REQUIRED", "DREAMING"];

/// What one event, or one answer, says.
#[derive(Clone, Copy, Debug)]
enum Say {
    Task(usize),
    Update(usize),
    Artifact,
    OtherTask,
    Message,
    Error,
    Nothing,
}

fn says() -> impl Strategy<Value = Say> {
    prop_oneof![
        3 => (0..STATES.len()).prop_map(Say::Task),
        5 => (0..STATES.len()).prop_map(Say::Update),
        2 => Just(Say::Artifact),
        1 => Just(Say::OtherTask),
        1 => Just(Say::Message),
        1 => Just(Say::Error),
        1 => Just(Say::Nothing),
    ]
}

/// The bytes of a body that fits what is asked, more or less.
pub(crate) fn body(ask: Ask, dialect: Dialect) -> BoxedStrategy<Vec<u8>> {
    let said = if ask.is_stream() {
        let many = prop::collection::vec(says(), 0..6);
        let framing = (prop::sample::select(&["\n", "\r\n", "\r"][..]), prop::bool::weighted(0.8), any::<u8>());
        (many, framing).prop_map(move |(says, framing)| stream(dialect, &says, framing)).boxed()
    } else {
        says().prop_map(move |say| answer(ask, dialect, say)).boxed()
    };
    let changes = prop_oneof![
        4 => Just(Vec::new()),
        1 => prop::collection::vec((any::<Index>(), any::<u8>(), any::<u8>()), 1..3),
    ];
    (said, changes).prop_map(|(body, changes)| changed(body, &changes)).boxed()
}

fn stream(dialect: Dialect, says: &[Say], (line_end, terminated, odd): (&str, bool, u8)) -> Vec<u8> {
    if dialect.is_grpc() {
        return says.iter().flat_map(|say| framed(&proto(Ask::Stream, *say))).collect();
    }
    let mut text = String::new();
    if odd.is_multiple_of(5) {
        text.push_str(&format!(": hello{line_end}{line_end}"));
    }
    for say in says {
        if odd.is_multiple_of(3) {
            text.push_str(&format!("id: 7{line_end}event: message{line_end}"));
        }
        let space = if odd.is_multiple_of(7) { "" } else { " " };
        let data = enveloped(dialect, *say, &json(Ask::Stream, dialect, *say));
        text.push_str(&format!("data:{space}{data}{line_end}{line_end}"));
        if odd.is_multiple_of(2) {
            text.push_str(&format!(": ping{line_end}"));
        }
    }
    if !terminated {
        text.truncate(text.trim_end_matches(['\r', '\n']).len());
    }
    text.into_bytes()
}

fn answer(ask: Ask, dialect: Dialect, say: Say) -> Vec<u8> {
    if dialect.is_grpc() {
        return framed(&proto(ask, say));
    }
    enveloped(dialect, say, &json(ask, dialect, say)).into_bytes()
}

fn enveloped(dialect: Dialect, say: Say, result: &str) -> String {
    match (dialect, say) {
        (Dialect::Rest | Dialect::RestV03, _) => result.to_owned(),
        (_, Say::Error) => format!(r#"{{"jsonrpc":"2.0","id":1,"error":{result}}}"#),
        _ => format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#),
    }
}

fn state(dialect: Dialect, state: usize) -> String {
    match dialect {
        Dialect::V03 | Dialect::V02 => STATES[state].to_ascii_lowercase().replace('_', "-"),
        _ => format!("TASK_STATE_{}", STATES[state]),
    }
}

fn json(ask: Ask, dialect: Dialect, say: Say) -> String {
    let is_wrapped = (dialect == Dialect::V1 || dialect.is_rest()) && ask != Ask::Get;
    let kind = |kind: &str| if dialect == Dialect::V03 { format!(r#""kind":"{kind}","#) } else { String::new() };
    let task_id = if dialect == Dialect::V02 { "id" } else { "taskId" };
    let (name, object) = match say {
        Say::Task(at) => {
            let state = state(dialect, at);
            ("task", format!(r#"{{{}"id":"t","contextId":"c","status":{{"state":"{state}"}}}}"#, kind("task")))
        }
        Say::Update(at) => {
            let state = state(dialect, at);
            let kind = kind("status-update");
            ("statusUpdate", format!(r#"{{{kind}"{task_id}":"t","status":{{"state":"{state}"}},"final":false}}"#))
        }
        Say::OtherTask => {
            let state = state(dialect, 2);
            let kind = kind("status-update");
            ("statusUpdate", format!(r#"{{{kind}"{task_id}":"u","status":{{"state":"{state}"}},"final":true}}"#))
        }
        Say::Artifact => {
            let kind = kind("artifact-update");
            (
                "artifactUpdate",
                format!(r#"{{{kind}"{task_id}":"t","artifact":{{"parts":[{{"text":"é\n"}}]}}}}"#).replace('\n', "\\n"),
            )
        }
        Say::Message => ("message", format!(r#"{{{}"messageId":"m","role":"agent","parts":[]}}"#, kind("message"))),
        Say::Error if dialect.is_rest() => {
            return r#"{"error":{"code":404,"status":"NOT_FOUND","message":"no","details":[]}}"#.to_owned();
        }
        Say::Error => return r#"{"code":-32001,"message":"no"}"#.to_owned(),
        Say::Nothing => return "{}".to_owned(),
    };
    if is_wrapped { format!(r#"{{"{name}":{object}}}"#) } else { object }
}

/// Numbers of the proto for [`STATES`].
const NUMBERS: [u8; 7] = [1, 2, 3, 4, 6, 8, 99];

fn proto(ask: Ask, say: Say) -> Vec<u8> {
    let status = |at: usize| [0x1a, 2, 8, NUMBERS[at]];
    let (number, object): (u8, Vec<u8>) = match say {
        Say::Task(at) => (1, [&[0x0a, 1, b't', 0x12, 1, b'c'][..], &status(at)].concat()),
        Say::Update(at) => (3, [&[0x0a, 1, b't', 0x12, 1, b'c'][..], &status(at)].concat()),
        Say::OtherTask => (3, [&[0x0a, 1, b'u'][..], &status(2)].concat()),
        Say::Artifact => (4, vec![0x0a, 1, b't', 0x1a, 3, 0x0a, 1, b'a']),
        Say::Message => (2, vec![0x0a, 1, b'm', 0x20, 2]),
        Say::Error | Say::Nothing => return Vec::new(),
    };
    if ask == Ask::Get {
        return object;
    }
    [&[number << 3 | 2, object.len() as u8], &object[..]].concat()
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&[0, 0, 0, 0, message.len() as u8], message].concat()
}

fn changed(mut body: Vec<u8>, changes: &[(Index, u8, u8)]) -> Vec<u8> {
    for (place, kind, byte) in changes {
        let place = place.index(body.len() + 1);
        match kind % 4 {
            0 => body.insert(place, *byte),
            1 if place < body.len() => body[place] = *byte,
            2 if place < body.len() => {
                body.remove(place);
            }
            3 => body.truncate(place),
            _ => {}
        }
    }
    body
}
