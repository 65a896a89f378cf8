//! The operations around a task, and what each comes to.

use std::time::{Duration, Instant};

use a2a_guard::Binding;
use futures::future::join_all;
use http::HeaderValue;
use tokio::time::sleep;

use crate::ask::Ask;
use crate::call::Patience;
use crate::cell::{Caller, Cell};
use crate::expect::{State, broken, refused, refused_as, rests, success};
use crate::line::Endpoint;
use crate::line::Line::{self, Js1Old, Js03, Py1Old, Py03};
use crate::rule::{ANY, BOTH, GRPC, REST, RPC, Rule, STREAM, UNARY, but, by_protocol};
use crate::table::{Check, Section};
use crate::verbs::{BARE_STATUS, CUT};

static RULES: &[Rule] = &[
    by_protocol("answer to input", BOTH, rests(State::Completed), "a message to a task that waits for it resumes it"),
    by_protocol("answer to auth", BOTH, rests(State::Completed), "a message to a task that waits for it resumes it"),
    by_protocol("get", UNARY, rests(State::Completed), "the task as it rests"),
    by_protocol("get unknown", UNARY, refused("TaskNotFoundError"), "§3.1.3"),
    by_protocol("cancel unknown", UNARY, refused("TaskNotFoundError"), "§3.1.5"),
    by_protocol("cancel finished", UNARY, refused("TaskNotCancelableError"), "§3.1.5"),
    by_protocol("subscribe unknown", STREAM, refused("TaskNotFoundError"), "§3.1.6"),
    by_protocol("message to finished", UNARY, refused("UnsupportedOperationError"), "§3.1.1"),
    by_protocol("push create", UNARY, success(), "the card declares push notifications"),
    by_protocol("push delete", UNARY, success(), "an answer with nothing in it is this operation's success"),
    by_protocol("extended card", UNARY, success(), "the card declares it, and there is one"),
    // HTTP+JSON of Python 0.3: errors are a message and a status, without a name or a code.
    but("get unknown", UNARY, &[Py03], REST, refused_as("peer_error"), NAMELESS),
    but("cancel unknown", UNARY, &[Py03], REST, refused_as("peer_error"), NAMELESS),
    but("cancel finished", UNARY, &[Py03], REST, refused_as("peer_error"), NAMELESS),
    but("message to finished", UNARY, &[Py03], REST, refused_as("peer_error"), NAMELESS),
    // In 0.3 a message to a finished task had no error of its own.
    but("message to finished", UNARY, &[Py03], RPC, refused("InvalidParamsError"), OLD),
    but("message to finished", UNARY, &[Js03], ANY, refused("InvalidRequestError"), OLD),
    // gRPC in 0.3: six errors share one status, and nothing says which of them it is.
    but("cancel finished", UNARY, &[Py1Old, Py03, Js03], GRPC, refused_as("peer_error"), BARE_STATUS),
    but("message to finished", UNARY, &[Py1Old, Py03, Js03], GRPC, refused_as("peer_error"), BARE_STATUS),
    but("push delete", UNARY, &[Py03], GRPC, refused_as("peer_error"), "not implemented by this SDK: UNIMPLEMENTED"),
    but("subscribe unknown", STREAM, &[Py1Old], REST, broken("truncated"), CUT),
    but(
        "subscribe unknown",
        STREAM,
        &[Py03],
        REST,
        refused_as("endpoint_not_found"),
        "0.3 says POST (0.3.0 §7.9), its proto GET, and this server knows GET alone: 405",
    ),
    but(
        "subscribe unknown",
        STREAM,
        &[Js03],
        REST,
        refused("InternalError"),
        "the SDK trips over the error that it was about to send: 500, \"Bug: toJson serializer and body must be provided\"",
    ),
    but(
        "push create",
        UNARY,
        &[Js1Old],
        REST,
        refused("InvalidParamsError"),
        "asked with the proto's whole request, as 0.3 servers want it; this one reads its field `config` as the body",
    ),
    but("push delete", UNARY, &[Py03, Py1Old], REST, refused_as("endpoint_not_found"), "no such route: 405, and 404"),
];

/// Python 0.3 answers AUTH_REQUIRED before it has cleared the run away that led to it: a message that is as quick meets
/// its `NoTaskQueue`, an internal error without a word.
const CLEARED: Duration = Duration::from_secs(1);

const NAMELESS: &str = "a message and a status (404, 409, 422), no name and no code";
const OLD: &str = "0.3 has no error for it, and each SDK took another";

/// In the profile in which everything is declared and there.
pub(crate) async fn section(line: Line, at: Endpoint) -> Section {
    let bindings = at.bindings();
    let caller = &Caller::new(line, at, RULES);
    let cells = join_all(bindings.iter().map(|binding| cells(caller, *binding))).await;
    let checks = join_all([Ask::send("hang"), Ask::stream("hang")].map(|ask| deadline(caller, ask))).await;
    let title = format!("{}: operations around a task", line.title());
    Section { title, cells: cells.into_iter().flatten().collect(), checks: checks.concat() }
}

/// A gRPC call brings its own deadline, and both sides keep it. The caller's clock starts first; where its machine is
/// late, the server's word comes before it: DEADLINE_EXCEEDED, or of tonic CANCELLED.
async fn deadline(caller: &Caller, ask: Ask) -> Vec<Check> {
    let mut request = ask.request(&caller.at, Binding::Grpc, None);
    request.headers_mut().insert("grpc-timeout", HeaderValue::from_static("2000m"));
    let began = Instant::now();
    let ended = caller.stack.call(request, Patience::Long).await;
    let taken = began.elapsed();
    let what = format!("GRPC: {:?} with a deadline of 2 s", ask.mode());
    let known = ["timeout/total", "refused/peer_error"].contains(&&*ended.what);
    let wrong = (!known || !ended.violations.is_empty()).then(|| format!("{} {:?}", ended.what, ended.violations));
    let late = (taken >= Duration::from_secs(10)).then(|| format!("after {taken:?}"));
    vec![
        Check { what: format!("{what} ends as {}", ended.what), wrong },
        Check { what: format!("{what} ends by it"), wrong: late },
    ]
}

async fn cells(caller: &Caller, binding: Binding) -> Vec<Cell> {
    let cell = async |row, ask: Ask| caller.cell(row, &ask, binding, Patience::Long).await;
    let text = || "more".to_owned();
    let mut cells = Vec::new();
    for (row, verb) in [("answer to input", "input"), ("answer to auth", "auth")] {
        let task = task(caller, binding, verb).await;
        sleep(CLEARED).await;
        cells.push(cell(row, Ask::Send { text: text(), task }).await);
        let task = self::task(caller, binding, verb).await;
        sleep(CLEARED).await;
        cells.push(cell(row, Ask::Stream { text: text(), task }).await);
    }
    let finished = task(caller, binding, "task").await;
    let task = || finished.clone().unwrap_or_default();
    let nobody = || "11111111-2222-4333-8444-555555555555".to_owned();
    cells.push(cell("get", Ask::Get { task: task() }).await);
    cells.push(cell("get unknown", Ask::Get { task: nobody() }).await);
    cells.push(cell("cancel unknown", Ask::Cancel { task: nobody() }).await);
    cells.push(cell("cancel finished", Ask::Cancel { task: task() }).await);
    cells.push(cell("subscribe unknown", Ask::Subscribe { task: nobody() }).await);
    cells.push(cell("message to finished", Ask::Send { text: text(), task: Some(task()) }).await);
    cells.push(cell("push create", Ask::CreatePush { task: task() }).await);
    cells.push(cell("push delete", Ask::DeletePush { task: task() }).await);
    cells.push(cell("extended card", Ask::ExtendedCard).await);
    cells
}

/// A task that this verb brought to rest; `None` shows in the cells that need it.
async fn task(caller: &Caller, binding: Binding, verb: &str) -> Option<String> {
    let request = Ask::send(verb).request(&caller.at, binding, None);
    caller.stack.call(request, Patience::Long).await.task_id
}
