//! The operations around a task, and what each comes to.

use a2a_guard::Binding;
use futures::future::join_all;

use crate::ask::Ask;
use crate::call::Patience;
use crate::cell::{Caller, Cell};
use crate::expect::{State, refused, rests, success};
use crate::line::{Endpoint, Line};
use crate::rule::{BOTH, Rule, STREAM, UNARY, by_protocol};
use crate::table::Section;

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
];

/// In the profile in which everything is declared and there.
pub(crate) async fn section(line: Line, at: Endpoint) -> Section {
    let bindings = at.bindings();
    let caller = &Caller::new(line, at, RULES);
    let cells = join_all(bindings.iter().map(|binding| cells(caller, *binding))).await;
    let title = format!("{}: operations around a task", line.title());
    Section { title, cells: cells.into_iter().flatten().collect(), ..Section::default() }
}

async fn cells(caller: &Caller, binding: Binding) -> Vec<Cell> {
    let cell = async |row, ask: Ask| caller.cell(row, &ask, binding, Patience::Long).await;
    let text = || "more".to_owned();
    let mut cells = Vec::new();
    for (row, verb) in [("answer to input", "input"), ("answer to auth", "auth")] {
        let task = task(caller, binding, verb).await;
        cells.push(cell(row, Ask::Send { text: text(), task }).await);
        let task = self::task(caller, binding, verb).await;
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
