//! What each verb comes to, and why: the protocol's word first, then where a server does otherwise.
//!
//! Reasons name the clause of the A2A 1.0 specification, or what a server does.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::sleep;

use crate::ask::Ask;
use crate::call::Patience;
use crate::cell::Caller;
use crate::expect::{Expect, State, broken, refused, refused_as, rests, success, timed_out};
use crate::line::Endpoint;
use crate::line::Line::{self, Js1, Js1Old, Js03, Lf, Py1, Py1Old, Py03};
use crate::rule::{ALL, ANY, BOTH, GRPC, HTTP, REST, RPC, Rule, STREAM, UNARY, but, by_protocol};
use crate::table::Section;

/// Those that turn whatever an agent throws into a task that FAILED.
const JS: &[Line] = &[Js1, Js1Old, Js03];
const PYTHON: &[Line] = &[Py1, Py1Old, Py03];

/// The text of each message, and the bounds of the call.
pub(crate) const VERBS: &[(&str, Patience)] = &[
    ("message", Patience::Long),
    ("task", Patience::Long),
    ("slow:2", Patience::Long),
    ("quiet:1", Patience::Long),
    ("quiet:28", Patience::KeepAlive),
    ("big:100000", Patience::Long),
    ("fail", Patience::Long),
    ("reject", Patience::Long),
    ("input", Patience::Long),
    ("auth", Patience::Long),
    ("typed0", Patience::Short),
    ("typed", Patience::Short),
    ("crash0", Patience::Short),
    ("crash", Patience::Short),
    ("hang0", Patience::Short),
    ("hang", Patience::Short),
    ("empty", Patience::Short),
    ("unfinished", Patience::Short),
    ("badfirst", Patience::Short),
    ("after", Patience::Short),
];

const INTERNAL: &str = "InternalError";
const CONTENT_TYPE: &str = "ContentTypeNotSupportedError";
const INVALID_RESPONSE: &str = "InvalidAgentResponseError";

/// Which of the two errors that share HTTP 500 and INTERNAL it is, nobody says, and nobody guesses.
pub(crate) const NO_REASON: &str = "a google.rpc.Status INTERNAL without a reason";
/// Nothing in 0.3 carries details; a status is shared by several errors, and nobody guesses which it is.
pub(crate) const BARE_STATUS: &str = "a gRPC status without details, as 0.3 has them";
const UNIMPLEMENTED: &str = "the SDK has no status for this error, and says UNIMPLEMENTED";
/// Of grpc's own Python server.
const UNKNOWN: &str = "the framework's own UNKNOWN, for an exception that nobody catches";
pub(crate) const CUT: &str =
    "the head is out when the SDK raises what its agent raised, and the framework cuts the chunked body";
/// `EventConsumer.consume_all` raises before it reads the queue on.
const LOSES: &str = "what the agent said between its first event and its error is lost in the SDK's queue";
/// `taskId: requestContext.task?.id || uuidv4()` in `sendMessageStream`: the agent had made the task, the SDK's own
/// context of the request does not know it. `tasks/get` of the stream's task says `working` ever after.
const MADE_UP: &str = "the SDK says FAILED of another task, whose id it just made up; this one it leaves working";
const OF_ANOTHER: Expect = broken("truncated").after(State::Working).tolerating("other_task_id");
const UNTOLD: Expect = rests(State::Failed).tolerating("first_event_not_task");

pub(crate) static RULES: &[Rule] = &[
    // What agents do well.
    by_protocol("message", BOTH, success(), "one Message is a whole answer, and a whole stream (§3.1.1, §3.1.2)"),
    by_protocol("task", BOTH, rests(State::Completed), "a blocking send waits for the end; a stream closes at it"),
    by_protocol("slow:2", BOTH, rests(State::Completed), "no gap is as long as any bound"),
    by_protocol("quiet:1", BOTH, rests(State::Completed), "a silence shorter than any bound"),
    by_protocol("big:100000", BOTH, rests(State::Completed), "size alone is no fault"),
    // Tasks that come to rest otherwise: each is a call that succeeded (§4.1.3).
    by_protocol("fail", BOTH, rests(State::Failed), "a task that FAILED is a successful call"),
    by_protocol("reject", BOTH, rests(State::Rejected), "so is one that was REJECTED"),
    by_protocol("input", BOTH, rests(State::InputRequired), "an interrupted task waits for its caller (§11.7)"),
    by_protocol("auth", BOTH, rests(State::AuthRequired), "an interrupted task waits for its caller (§7.6.1)"),
    // A silence of 28 s with `idle` at 20 s: what keeps the call up is the server's keep-alive of 15 s.
    by_protocol("quiet:28", STREAM, rests(State::Completed), "keep-alives every 15 s are bytes, if no events"),
    but(
        "quiet:28",
        STREAM,
        ALL,
        GRPC,
        timed_out("idle").after(State::Working),
        "gRPC knows no keep-alives but HTTP/2's pings, which belong to no stream",
    ),
    but("quiet:28", STREAM, JS, HTTP, timed_out("idle").after(State::Working), "these servers send no keep-alives"),
    by_protocol("quiet:28", UNARY, timed_out("head"), "a unary answer has no keep-alives, and `head` is 10 s here"),
    // A typed error of the agent.
    by_protocol("typed0", BOTH, refused(CONTENT_TYPE), "an A2A error that the agent raises is the call's (§3.3.2)"),
    by_protocol("typed", UNARY, refused(CONTENT_TYPE), "the same after the task began"),
    by_protocol(
        "typed",
        STREAM,
        refused(CONTENT_TYPE).after(State::Working),
        "an error event in a stream is the stream's end, however its server writes it",
    ),
    but("typed0", BOTH, JS, ANY, rests(State::Failed), "the SDK ends the task as FAILED, whatever its agent throws"),
    but("typed", BOTH, JS, ANY, rests(State::Failed), "the SDK ends the task as FAILED, whatever its agent throws"),
    but(
        "typed0",
        UNARY,
        &[Py03],
        REST,
        refused_as("unsupported_media"),
        "415 with no more than a message: status before body",
    ),
    but(
        "typed",
        UNARY,
        &[Py03],
        REST,
        refused_as("unsupported_media"),
        "415 with no more than a message: status before body",
    ),
    but("typed0", STREAM, &[Py03, Py1Old], REST, broken("truncated"), CUT),
    but("typed", STREAM, &[Py1Old], REST, broken("truncated").after(State::Working), CUT),
    but("typed", STREAM, &[Py03], RPC, refused(CONTENT_TYPE).after(State::Submitted), LOSES),
    but("typed", STREAM, &[Py03], REST, broken("truncated").after(State::Submitted), CUT),
    but("typed0", BOTH, &[Py03], GRPC, refused_as("peer_error"), UNIMPLEMENTED),
    but("typed", UNARY, &[Py03], GRPC, refused_as("peer_error"), UNIMPLEMENTED),
    but("typed", STREAM, &[Py03], GRPC, refused_as("peer_error").after(State::Submitted), UNIMPLEMENTED),
    but("typed0", BOTH, &[Py1Old], GRPC, refused_as("peer_error"), BARE_STATUS),
    but("typed", UNARY, &[Py1Old], GRPC, refused_as("peer_error"), BARE_STATUS),
    but("typed", STREAM, &[Py1Old], GRPC, refused_as("peer_error").after(State::Working), BARE_STATUS),
    but("typed0", STREAM, &[Js03], ANY, UNTOLD, "the SDK says FAILED, of a task that it never showed"),
    but("typed", STREAM, &[Js03], ANY, OF_ANOTHER, MADE_UP),
    // An exception that nobody catches.
    by_protocol("crash0", BOTH, refused(INTERNAL), "an unexpected failure is an internal error (§3.3.2)"),
    by_protocol("crash", UNARY, refused(INTERNAL), "the same after the task began"),
    by_protocol("crash", STREAM, refused(INTERNAL).after(State::Working), "the same as an error event in the stream"),
    but("crash0", BOTH, JS, ANY, rests(State::Failed), "the SDK ends the task as FAILED, whatever its agent throws"),
    but("crash", BOTH, JS, ANY, rests(State::Failed), "the SDK ends the task as FAILED, whatever its agent throws"),
    but("crash0", BOTH, &[Py1], REST, refused_as("peer_error"), NO_REASON),
    but("crash", UNARY, &[Py1], REST, refused_as("peer_error"), NO_REASON),
    but("crash", STREAM, &[Py1], REST, refused_as("peer_error").after(State::Working), NO_REASON),
    but("crash0", UNARY, &[Py1Old], REST, refused_as("peer_error"), NO_REASON),
    but("crash", UNARY, &[Py1Old], REST, refused_as("peer_error"), NO_REASON),
    but("crash0", STREAM, &[Py1Old], REST, broken("truncated"), CUT),
    but("crash", STREAM, &[Py1Old], REST, broken("truncated").after(State::Working), CUT),
    but("crash0", UNARY, &[Py03], REST, broken("http_status"), "the framework's own 500, text/plain"),
    but("crash", UNARY, &[Py03], REST, broken("http_status"), "the framework's own 500, text/plain"),
    but("crash0", BOTH, PYTHON, GRPC, refused_as("peer_error"), UNKNOWN),
    but("crash", UNARY, PYTHON, GRPC, refused_as("peer_error"), UNKNOWN),
    but("crash", STREAM, PYTHON, GRPC, refused_as("peer_error").after(State::Working), UNKNOWN),
    but("crash0", STREAM, &[Py03], HTTP, broken("truncated"), CUT),
    but("crash", STREAM, &[Py03], HTTP, broken("truncated").after(State::Working), CUT),
    but("crash0", STREAM, &[Js03], ANY, UNTOLD, "the SDK says FAILED, of a task that it never showed"),
    but("crash", STREAM, &[Js03], ANY, OF_ANOTHER, MADE_UP),
    but(
        "crash0",
        UNARY,
        &[Lf],
        ANY,
        timed_out("head"),
        "a panic in the task that polls the agent ends that task alone",
    ),
    but("crash", UNARY, &[Lf], ANY, timed_out("head"), "a panic in the task that polls the agent ends that task alone"),
    but("crash0", STREAM, &[Lf], ANY, timed_out("first_event"), "the panic leaves the stream open, its head is out"),
    but(
        "crash",
        STREAM,
        &[Lf],
        ANY,
        timed_out("idle").after(State::Working),
        "the panic leaves the stream open behind the working event",
    ),
    // An agent that hangs.
    by_protocol("hang0", UNARY, timed_out("head"), "a blocking send has no head before its task rests"),
    by_protocol("hang0", STREAM, timed_out("head"), "no head is sent before the first event"),
    but("hang0", STREAM, &[Py03, Py1Old], HTTP, timed_out("first_event"), "the head is sent at once"),
    but("hang0", STREAM, &[Lf], ANY, timed_out("first_event"), "the head is sent at once"),
    but("hang0", STREAM, &[Js03], RPC, timed_out("first_event"), "over JSON-RPC the head is sent at once"),
    but("hang0", STREAM, JS, GRPC, timed_out("first_event"), "over gRPC the head is sent at once"),
    by_protocol("hang", UNARY, timed_out("head"), "a blocking send has no head before its task rests"),
    by_protocol("hang", STREAM, timed_out("idle").after(State::Working), "nothing comes behind the working event"),
    // An agent that returns without a word.
    by_protocol("empty", UNARY, refused(INTERNAL), "there is nothing to answer with, which the SDK's own error says"),
    by_protocol("empty", STREAM, broken("empty"), "a stream that closes without an event"),
    but("empty", UNARY, &[Lf], ANY, rests(State::Submitted), "the server made a task, and answers with it"),
    but("empty", UNARY, &[Py1, Py1Old], ANY, timed_out("head"), "the SDK waits for an event for ever"),
    but(
        "empty",
        UNARY,
        &[Py03],
        REST,
        broken("http_status"),
        "500 with no more than a message: nothing in it types the failure",
    ),
    // An agent that returns before its task rests.
    but("empty", UNARY, &[Py03, Js1Old, Js03], GRPC, refused_as("peer_error"), BARE_STATUS),
    but(
        "empty",
        UNARY,
        &[Js1],
        GRPC,
        refused_as("peer_error"),
        "for want of an A2A error the SDK says UNKNOWN, no more",
    ),
    by_protocol("unfinished", UNARY, rests(State::Working), "the call ended, its task did not: the state tells"),
    by_protocol(
        "unfinished",
        STREAM,
        broken("truncated").after(State::Working),
        "a stream closes at a terminal or interrupted state (§3.1.2)",
    ),
    // Events out of order.
    by_protocol("badfirst", UNARY, rests(State::Completed), "the SDK makes the task that the update is about"),
    by_protocol(
        "badfirst",
        STREAM,
        rests(State::Completed).tolerating("first_event_not_task"),
        "§3.1.2 wants the task first; a lenient reader can do without",
    ),
    but(
        "badfirst",
        BOTH,
        &[Py1, Py1Old],
        ANY,
        refused(INVALID_RESPONSE),
        "the SDK holds its agent to §3.1.2, and says so as an error of the agent's response",
    ),
    but("badfirst", STREAM, &[Py1Old], REST, broken("truncated"), CUT),
    but(
        "badfirst",
        UNARY,
        JS,
        ANY,
        refused(INTERNAL),
        "the SDK drops updates about a task that it does not know, and has nothing left to answer with",
    ),
    but(
        "badfirst",
        STREAM,
        &[Js1, Js1Old],
        ANY,
        refused("UnsupportedOperationError"),
        "the SDK holds its agent to §3.1.2, and says so as if the caller had asked for too much",
    ),
    but("badfirst", BOTH, &[Py1Old], GRPC, refused_as("peer_error"), BARE_STATUS),
    but("badfirst", UNARY, &[Js1Old, Js03], GRPC, refused_as("peer_error"), BARE_STATUS),
    but(
        "badfirst",
        UNARY,
        &[Js1],
        GRPC,
        refused_as("peer_error"),
        "for want of an A2A error the SDK says UNKNOWN, no more",
    ),
    but("badfirst", STREAM, &[Js1Old], GRPC, refused_as("peer_error"), BARE_STATUS),
    by_protocol("after", BOTH, rests(State::Completed), "nothing behind the terminal event changes the call"),
];

/// The pace at which calls begin: a server that gets them all at once is late with each.
const PACE: Duration = Duration::from_millis(150);

/// Every verb, unary and streaming, over each binding.
pub(crate) async fn section(line: Line, at: Endpoint) -> Section {
    let caller = &Caller::new(line, at, RULES);
    let mut wanted = Vec::new();
    for (verb, patience) in VERBS {
        for &binding in caller.at.bindings() {
            for ask in [Ask::send(*verb), Ask::stream(*verb)] {
                wanted.push((*verb, ask, binding, *patience));
            }
        }
    }
    // What waits longest begins first.
    wanted.sort_by_key(|(.., patience)| match patience {
        Patience::KeepAlive => 0,
        Patience::Short => 1,
        Patience::Long => 2,
    });
    let calls = wanted.iter().zip(0..).map(|((verb, ask, binding, patience), number)| async move {
        sleep(PACE * number).await;
        caller.cell(verb, ask, *binding, *patience).await
    });
    let mut cells = join_all(calls).await;
    cells.sort_by_key(|cell| VERBS.iter().position(|(verb, _)| *verb == cell.row));
    Section { title: line.title().to_owned(), cells, ..Section::default() }
}
