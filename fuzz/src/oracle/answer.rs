//! What an answer is, by a tree of it: the rules that [`Judge`](a2a_guard::wire::Judge) has for its bytes.

use a2a_guard::wire::{Envelope, Expected, Payload, PayloadKind, TaskState, Wrapping};

use super::tree::{self, Kind, Members, Raw};

/// A request's id, or an answer's.
pub type Id<'a> = Option<Raw<'a>>;

/// What is made of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    Valid(Said),
    Error,
    Empty,
    Malformed,
    Violation,
    OtherCall,
}

/// What a valid answer says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    pub kind: PayloadKind,
    pub task_id: String,
    pub context_id: String,
    /// Of a task or a status update; none if it has no name that is known.
    pub state: Option<TaskState>,
}

type Ruled<T> = Result<T, Ruling>;

/// Rules on a whole document.
#[must_use]
pub fn rule(expected: Expected, id: Id<'_>, document: &[u8]) -> Ruling {
    if !tree::is_json(document) || tree::depth(document) > a2a_guard::wire::json::JsonScanner::MAX_DEPTH {
        let is_blank = document.iter().all(|byte| b" \t\r\n".contains(byte));
        return match (is_blank, expected.envelope, expected.payload) {
            (true, Envelope::Bare, Payload::Anything) => valid(PayloadKind::None),
            (true, ..) => Ruling::Empty,
            _ => Ruling::Malformed,
        };
    }
    let root = tree::root(document).expect("JSON");
    let ruled = match expected.envelope {
        Envelope::JsonRpc => json_rpc(expected, id, root),
        Envelope::Bare => bare(expected, root),
    };
    ruled.unwrap_or_else(|ruling| ruling)
}

fn valid(kind: PayloadKind) -> Ruling {
    Ruling::Valid(Said { kind, ..Said::default() })
}

/// JSON-RPC 2.0 §5.
fn json_rpc(expected: Expected, id: Id<'_>, root: Raw<'_>) -> Ruled<Ruling> {
    let envelope = Members::of(root);
    no_twins(&envelope, &["jsonrpc", "id", "result", "error", "code", "message", "type"])?;
    let result = envelope.get("result");
    if let Some(result) = result {
        no_twins_in_payload(expected, result)?;
    }
    if tree::kind(root) != Kind::Object {
        return Err(Ruling::Violation);
    }
    if envelope.has("jsonrpc") && envelope.text("jsonrpc").as_deref() != Some("2.0") {
        return Err(Ruling::Violation);
    }
    let answer = envelope.get("id");
    match envelope.kind("error") {
        None | Some(Kind::Null) => {}
        Some(Kind::Object) if result.is_none_or(|result| tree::kind(result) == Kind::Null) => {
            return error_of(id, answer);
        }
        Some(_) => return Err(Ruling::Violation),
    }
    let is_anything = expected.payload == Payload::Anything;
    match result {
        None if is_code_and_message(&envelope, true) || is_problem(&envelope) => error_of(id, answer),
        None if !is_anything => Err(Ruling::Violation),
        Some(result) if !is_anything && tree::kind(result) == Kind::Null => Err(Ruling::Violation),
        result => {
            match compare(id, answer) {
                Sameness::Same => {}
                Sameness::Null if id.is_none_or(|id| tree::kind(id) == Kind::Null) => {}
                Sameness::Null => return Err(Ruling::Violation),
                Sameness::Different => return Err(Ruling::OtherCall),
            }
            payload(expected, result)
        }
    }
}

fn error_of(id: Id<'_>, answer: Id<'_>) -> Ruled<Ruling> {
    match compare(id, answer) {
        Sameness::Same | Sameness::Null => Ok(Ruling::Error),
        Sameness::Different => Err(Ruling::OtherCall),
    }
}

/// HTTP+JSON (A2A 1.0 §11).
fn bare(expected: Expected, root: Raw<'_>) -> Ruled<Ruling> {
    no_twins_in_payload(expected, root)?;
    let body = Members::of(root);
    let has_result = has_result(expected, &body);
    match body.kind("error") {
        None | Some(Kind::Null) => {}
        Some(Kind::Object | Kind::String | Kind::Number) if !has_result => return Ok(Ruling::Error),
        Some(_) => return Err(Ruling::Violation),
    }
    if !has_result && (is_code_and_message(&body, false) || is_problem(&body)) {
        return Ok(Ruling::Error);
    }
    payload(expected, Some(root))
}

const PROBLEMS: [&str; 14] = [
    "task-not-found",
    "task-not-cancelable",
    "push-notification-not-supported",
    "unsupported-operation",
    "content-type-not-supported",
    "invalid-agent-response",
    "extended-agent-card-not-configured",
    "extension-support-required",
    "version-not-supported",
    "parse-error",
    "invalid-request",
    "method-not-found",
    "invalid-params",
    "internal-error",
];

fn is_typed(expected: Expected) -> bool {
    matches!(expected.payload, Payload::SendResult | Payload::Task | Payload::StreamEvent)
}

/// A problem of A2A's own (RFC 9457).
fn is_problem(object: &Members<'_>) -> bool {
    object.text("type").is_some_and(|uri| {
        uri.strip_prefix("https://a2a-protocol.org/errors/").is_some_and(|name| PROBLEMS.contains(&name))
    })
}

/// Of a number that is whole, however it is written. Longer ones are not kept.
fn integer(number: &str) -> Option<i64> {
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() < 2_f64.powi(52);
    let by_value = || number.parse().ok().filter(whole).map(|number| number as i64);
    if number.len() > 1024 { None } else { number.parse().ok().or_else(by_value) }
}

fn is_code_and_message(object: &Members<'_>, json_rpc: bool) -> bool {
    let code = object.get("code").and_then(|code| integer(code.get()));
    object.kind("message") == Some(Kind::String)
        && code.is_some_and(|code| !json_rpc || (-32768..=-32000).contains(&code))
}

fn payload(expected: Expected, value: Option<Raw<'_>>) -> Ruled<Ruling> {
    if is_typed(expected) {
        let value = value.filter(|value| tree::kind(value) == Kind::Object).ok_or(Ruling::Violation)?;
        return typed(expected, &Members::of(value)).map(Ruling::Valid);
    }
    let kind = value.map(tree::kind);
    let fits = match expected.payload {
        Payload::Anything => true,
        Payload::ObjectOrArray => matches!(kind, Some(Kind::Object | Kind::Array)),
        _ => kind == Some(Kind::Object),
    };
    // An error's words are no result.
    let is_words = expected.envelope == Envelope::Bare
        && expected.payload != Payload::Anything
        && value.is_some_and(|value| is_mere_words(&Members::of(value)));
    if fits && !is_words { Ok(valid(PayloadKind::Other)) } else { Err(Ruling::Violation) }
}

fn is_mere_words(body: &Members<'_>) -> bool {
    const OF_ERRORS: [&str; 9] =
        ["error", "code", "message", "detail", "type", "title", "status", "instance", "details"];
    let has = |name| body.kind(name) == Some(Kind::String);
    (has("message") || has("detail"))
        && body.0.iter().all(|(name, _)| name.len() > 128 || OF_ERRORS.contains(&name.as_str()))
}

const WRAPPERS: [(&str, PayloadKind); 4] = [
    ("task", PayloadKind::Task),
    ("message", PayloadKind::Message),
    ("statusUpdate", PayloadKind::StatusUpdate),
    ("artifactUpdate", PayloadKind::ArtifactUpdate),
];

const MEMBERS: [&str; 9] = ["id", "taskId", "contextId", "status", "artifact", "final", "messageId", "parts", "role"];

/// The first member, in the order in which they stand, that is an object and says by its name what it is.
fn wrapped<'a>(payload: &Members<'a>) -> Option<(PayloadKind, Members<'a>)> {
    let mut wrappers = payload.0.iter().filter(|(_, value)| tree::kind(value) == Kind::Object);
    wrappers.find_map(|(name, value)| {
        let (_, kind) = WRAPPERS.iter().find(|(wrapper, _)| wrapper == name)?;
        Some((*kind, Members::of(value)))
    })
}

fn typed(expected: Expected, payload: &Members<'_>) -> Ruled<Said> {
    let wrapper = wrapped(payload);
    let (kind, object) = match (expected.payload, expected.wrapping) {
        (Payload::Task, wrapping) => {
            let by_kind = payload.text("kind");
            if wrapping == Wrapping::Kind && payload.has("kind") && by_kind.as_deref() != Some("task") {
                return Err(Ruling::Violation);
            }
            (PayloadKind::Task, payload)
        }
        (_, Wrapping::Member) => {
            let (kind, object) = wrapper.as_ref().ok_or(Ruling::Violation)?;
            // No other one beside it, and nothing else of such a name but null.
            let others = payload.0.iter().filter(|(name, value)| {
                WRAPPERS.iter().any(|(wrapper, _)| wrapper == name) && tree::kind(value) != Kind::Null
            });
            if others.count() > 1 {
                return Err(Ruling::Violation);
            }
            (*kind, object)
        }
        (_, Wrapping::Kind) if payload.has("kind") => {
            let kind = match payload.text("kind").as_deref() {
                Some("task") => PayloadKind::Task,
                Some("message") => PayloadKind::Message,
                Some("status-update") => PayloadKind::StatusUpdate,
                Some("artifact-update") => PayloadKind::ArtifactUpdate,
                _ => return Err(Ruling::Violation),
            };
            (kind, payload)
        }
        _ => (by_members(expected.wrapping, payload).ok_or(Ruling::Violation)?, payload),
    };
    let is_update = matches!(kind, PayloadKind::StatusUpdate | PayloadKind::ArtifactUpdate);
    if is_update && expected.payload != Payload::StreamEvent {
        return Err(Ruling::Violation);
    }
    said(kind, object, expected)
}

/// May an update have its task's id as `id`? 0.2 and 0.3 have a method of one name.
fn may_be_legacy(wrapping: Wrapping, object: &Members<'_>) -> bool {
    wrapping == Wrapping::Legacy || (wrapping == Wrapping::Kind && !object.has("kind"))
}

/// What an object looks like that does not say what it is.
fn by_members(wrapping: Wrapping, object: &Members<'_>) -> Option<PayloadKind> {
    let is_legacy = wrapping == Wrapping::Legacy;
    let points = object.has("taskId") || (may_be_legacy(wrapping, object) && object.has("id"));
    if object.has("id") && object.has("status") && !(is_legacy && object.has("final")) {
        Some(PayloadKind::Task)
    } else if points && object.has("status") {
        Some(PayloadKind::StatusUpdate)
    } else if points && object.has("artifact") {
        Some(PayloadKind::ArtifactUpdate)
    } else if object.has("messageId") || (object.has("parts") && object.has("role")) {
        Some(PayloadKind::Message)
    } else {
        None
    }
}

/// Does it say, in any way, that it is about a task or a message? `None` where that depends on how far its reader came.
#[must_use]
pub fn names_something(expected: Expected, document: &[u8]) -> Option<bool> {
    let root = tree::root(document)?;
    let payload = match expected.envelope {
        Envelope::Bare => Some(root),
        Envelope::JsonRpc => Members::of(root).get("result"),
    };
    let payload = payload.map(Members::of).unwrap_or_default();
    if wrapped(&payload).is_some() || by_members(expected.wrapping, &payload).is_some() {
        return Some(true);
    }
    let has_kind = expected.wrapping == Wrapping::Kind && payload.has("kind");
    (!has_kind).then_some(false)
}

fn has_result(expected: Expected, body: &Members<'_>) -> bool {
    match expected.payload {
        Payload::Task => by_members(expected.wrapping, body) == Some(PayloadKind::Task),
        Payload::SendResult | Payload::StreamEvent => wrapped(body).is_some(),
        _ => false,
    }
}

/// What an object of that kind says, if it has what it needs.
fn said(kind: PayloadKind, object: &Members<'_>, expected: Expected) -> Ruled<Said> {
    let is_legacy = expected.wrapping == Wrapping::Legacy;
    let is_wrapped = expected.payload != Payload::Task && expected.wrapping == Wrapping::Member;
    let is_told_late = expected.payload != Payload::Task && !is_wrapped;
    let id = object.text("id").filter(|id| !id.is_empty());
    let task_id = object.text("taskId").filter(|id| !id.is_empty());
    let points_to = task_id.clone().or_else(|| id.clone().filter(|_| may_be_legacy(expected.wrapping, object)));
    let status = object.get("status").filter(|status| tree::kind(status) == Kind::Object).map(Members::of);
    let state = status.as_ref().and_then(|status| status.get("state")).and_then(state);
    let context = object.text("contextId").or_else(|| object.text("sessionId").filter(|_| is_legacy && !is_wrapped));
    let ids = match kind {
        // Of a bare object that has both it is not known from the start which it is.
        PayloadKind::Task if id.is_some() && is_told_late => points_to.or(id),
        PayloadKind::Task => Some(id.ok_or(Ruling::Violation)?),
        PayloadKind::StatusUpdate | PayloadKind::ArtifactUpdate => Some(points_to.ok_or(Ruling::Violation)?),
        PayloadKind::Message => {
            let has = |name, kind| object.kind(name) == Some(kind);
            let is_something = has("messageId", Kind::String) || has("role", Kind::String) || has("parts", Kind::Array);
            if !is_something {
                return Err(Ruling::Violation);
            }
            task_id
        }
        _ => None,
    };
    let has_status = matches!(kind, PayloadKind::Task | PayloadKind::StatusUpdate);
    let state = if has_status { state.ok_or(Ruling::Violation)? } else { None };
    Ok(Said { kind, task_id: ids.unwrap_or_default(), context_id: context.unwrap_or_default(), state })
}

/// A state: none where it is none at all, and `Some(None)` where its name is not known.
fn state(value: Raw<'_>) -> Option<Option<TaskState>> {
    match tree::kind(value) {
        Kind::String => {
            let text = tree::text(value)?;
            (!text.is_empty()).then(|| TaskState::from_wire(text.as_bytes()))
        }
        Kind::Number => Some(value.get().parse().ok().and_then(TaskState::from_number)),
        _ => None,
    }
}

fn no_twins(object: &Members<'_>, names: &[&str]) -> Ruled<()> {
    if object.repeats(names) { Err(Ruling::Violation) } else { Ok(()) }
}

/// Of two members of one name readers take different ones, so there must not be two where it matters.
fn no_twins_in_payload(expected: Expected, value: Raw<'_>) -> Ruled<()> {
    let payload = Members::of(value);
    let is_bare = expected.envelope == Envelope::Bare;
    if is_bare {
        no_twins(&payload, &["error", "code", "type"])?;
    }
    if !is_typed(expected) {
        return if is_bare { no_twins(&payload, &["message", "detail"]) } else { Ok(()) };
    }
    no_twins(&payload, &MEMBERS)?;
    no_twins(&payload, &["task", "message", "statusUpdate", "artifactUpdate", "kind"])?;
    if expected.wrapping == Wrapping::Legacy {
        no_twins(&payload, &["sessionId"])?;
        if payload.has("sessionId") && payload.has("contextId") {
            return Err(Ruling::Violation);
        }
    }
    no_twins_in_status(&payload)?;
    if let Some((_, object)) = wrapped(&payload) {
        no_twins(&object, &MEMBERS)?;
        no_twins_in_status(&object)?;
    }
    Ok(())
}

fn no_twins_in_status(object: &Members<'_>) -> Ruled<()> {
    object.get("status").map_or(Ok(()), |status| no_twins(&Members::of(status), &["state"]))
}

/// How an answer's id relates to the request's.
enum Sameness {
    /// The same value, be it as another type of JSON.
    Same,
    /// It has none.
    Null,
    Different,
}

fn compare(request: Id<'_>, answer: Id<'_>) -> Sameness {
    let request = request.filter(|id| tree::kind(id) != Kind::Null);
    // What cannot be compared is not held against anybody.
    if request.is_some_and(|id| !matches!(tree::kind(id), Kind::Number | Kind::String)) {
        return Sameness::Same;
    }
    let Some(answer) = answer.filter(|id| tree::kind(id) != Kind::Null) else { return Sameness::Null };
    let Some(request) = request else { return Sameness::Different };
    let same = match (tree::kind(request), tree::kind(answer)) {
        (Kind::Number, Kind::Number) => same_number(request.get(), answer.get()),
        (Kind::String, Kind::String) => tree::text(request) == tree::text(answer),
        (Kind::Number, Kind::String) => tree::text(answer).as_deref() == Some(request.get()),
        (Kind::String, Kind::Number) => tree::text(request).as_deref() == Some(answer.get()),
        _ => false,
    };
    if same { Sameness::Same } else { Sameness::Different }
}

fn same_number(one: &str, other: &str) -> bool {
    let is_float = |text: &str| text.contains(['.', 'e', 'E']);
    if one == other || (one == "0" && other == "-0") {
        return true;
    }
    let value = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    (is_float(one) || is_float(other)) && value(one).is_some() && value(one) == value(other)
}
