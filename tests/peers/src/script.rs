//! What the agent does for each verb.
//!
//! | text | behaviour |
//! | --- | --- |
//! | `message`, or anything unknown | one Message |
//! | `task` | submitted, working, an artifact, completed |
//! | `slow:N` | working, N times more after a [`TICK`] each, completed |
//! | `quiet:N` | working, silence for N s, completed |
//! | `big:N` | an artifact of N bytes |
//! | `fail`, `reject`, `input`, `auth` | ends failed, rejected, input-required, auth-required |
//! | a follow-up to a task that waits | completes it |
//! | `crash0`, `crash` | a panic while the stream is polled, before any event or after working |
//! | `panicsync` | a panic inside `execute()` itself |
//! | `typed0`, `typed` | a typed A2A error before any event or after working |
//! | `error0`, `error` | an internal error before any event or after working |
//! | `hang0`, `hang` | nothing ever, or nothing after working |
//! | `empty`, `unfinished` | returns without an event, or after working |
//! | `badfirst` | status updates and no task before them |
//! | `after` | a working status behind completed |

use std::time::Duration;

use a2a::event::{StreamResponse, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
use a2a::{A2AError, Artifact, Message, Part, Role, Task, TaskState, TaskStatus};
use a2a_server::ExecutorContext;
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

use crate::agent::Item;

/// The pace of a slow task.
const TICK: Duration = Duration::from_millis(100);

/// Where a script sends its events, and the task that they are about.
pub(crate) struct Script {
    events: Sender<Item>,
    task_id: String,
    context_id: String,
}

impl Script {
    pub(crate) fn new(events: Sender<Item>, context: &ExecutorContext) -> Self {
        Self { events, task_id: context.task_id.clone(), context_id: context.context_id.clone() }
    }

    pub(crate) async fn status(&self, state: TaskState, text: &str) {
        self.send(StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            status: TaskStatus { state, message: Some(self.message(text)), timestamp: Some(chrono::Utc::now()) },
            metadata: None,
        }))
        .await;
    }

    /// Sends what a receiver still wants; that it went away is no fault of the script.
    async fn send(&self, event: StreamResponse) {
        let _ = self.events.send(Ok(event)).await;
    }

    async fn raise(&self, error: A2AError) {
        let _ = self.events.send(Err(error)).await;
    }

    fn message(&self, text: &str) -> Message {
        let mut message = Message::new(Role::Agent, vec![Part::text(text)]);
        message.task_id = Some(self.task_id.clone());
        message.context_id = Some(self.context_id.clone());
        message
    }

    /// The task, submitted and then working.
    async fn begin(&self) {
        self.send(StreamResponse::Task(Task {
            id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            status: TaskStatus { state: TaskState::Submitted, message: None, timestamp: Some(chrono::Utc::now()) },
            artifacts: None,
            history: None,
            metadata: None,
        }))
        .await;
        self.status(TaskState::Working, "working").await;
    }

    async fn artifact(&self, text: String) {
        self.send(StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            artifact: Artifact {
                artifact_id: "a1".into(),
                name: Some("out".into()),
                description: None,
                parts: vec![Part::text(text)],
                metadata: None,
                extensions: None,
            },
            append: None,
            last_chunk: Some(true),
            metadata: None,
        }))
        .await;
    }
}

/// Plays what `text` asks for.
pub(crate) async fn run(script: Script, text: String, resumed: bool) {
    let (verb, number) = text.split_once(':').unwrap_or((&text, ""));
    let waits_again = verb == "input" || verb == "auth";
    if resumed && !waits_again {
        script.status(TaskState::Working, "resumed").await;
        script.status(TaskState::Completed, "done").await;
        return;
    }
    match verb {
        "task" => {
            script.begin().await;
            script.artifact("result".into()).await;
            script.status(TaskState::Completed, "done").await;
        }
        "big" => {
            script.begin().await;
            script.artifact("x".repeat(number.parse().unwrap_or(1_000))).await;
            script.status(TaskState::Completed, "done").await;
        }
        "quiet" => {
            script.begin().await;
            sleep(Duration::from_secs(number.parse().unwrap_or(20))).await;
            script.status(TaskState::Completed, "done").await;
        }
        "slow" => {
            script.begin().await;
            for tick in 1..=number.parse::<u32>().unwrap_or(3) {
                sleep(TICK).await;
                script.status(TaskState::Working, &format!("tick {tick}")).await;
            }
            script.status(TaskState::Completed, "done").await;
        }
        "fail" => ends(&script, TaskState::Failed, "it failed").await,
        "reject" => ends(&script, TaskState::Rejected, "refused").await,
        "input" => ends(&script, TaskState::InputRequired, "which one?").await,
        "auth" => ends(&script, TaskState::AuthRequired, "log in please").await,
        "typed0" => script.raise(A2AError::content_type_not_supported()).await,
        "typed" => {
            script.begin().await;
            script.raise(A2AError::content_type_not_supported()).await;
        }
        "error0" => script.raise(A2AError::internal("boom")).await,
        "error" => {
            script.begin().await;
            script.raise(A2AError::internal("boom")).await;
        }
        "hang0" => script.events.closed().await,
        "hang" => {
            script.begin().await;
            script.events.closed().await;
        }
        // The panic of `crash` is the executor's.
        "empty" | "crash0" => {}
        "unfinished" | "crash" => script.begin().await,
        "badfirst" => {
            script.status(TaskState::Working, "status before task").await;
            script.status(TaskState::Completed, "done").await;
        }
        "after" => {
            script.begin().await;
            script.status(TaskState::Completed, "done").await;
            script.status(TaskState::Working, "late").await;
        }
        _ => {
            let mut message = script.message("hello");
            message.task_id = None;
            script.send(StreamResponse::Message(message)).await;
        }
    }
}

async fn ends(script: &Script, state: TaskState, text: &str) {
    script.begin().await;
    script.status(state, text).await;
}
