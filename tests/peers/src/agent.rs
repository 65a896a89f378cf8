//! The executor: finds the verb in the message and runs its script.

use std::time::Duration;

use a2a::event::StreamResponse;
use a2a::{A2AError, PartContent, TaskState};
use a2a_server::{AgentExecutor, ExecutorContext};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::sync::mpsc::channel;
use tokio_stream::wrappers::ReceiverStream;

use crate::script::{Script, run};

/// What an executor's stream is made of.
pub(crate) type Item = Result<StreamResponse, A2AError>;

/// How long a script that panics waits, so that what it said before has passed.
const BEFORE_PANIC: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct ScriptedAgent;

impl AgentExecutor for ScriptedAgent {
    fn execute(&self, context: ExecutorContext) -> BoxStream<'static, Item> {
        let text = text_of(&context);
        if text == "panicsync" {
            quiet_panic();
        }
        let resumed = context
            .stored_task
            .as_ref()
            .is_some_and(|task| matches!(task.status.state, TaskState::InputRequired | TaskState::AuthRequired));
        let (events, received) = channel(16);
        let script = Script::new(events, &context);
        let panics = text == "crash0" || text == "crash";
        tokio::spawn(run(script, text, resumed));
        let received = ReceiverStream::new(received);
        if panics {
            // In the server's own task, which polls this.
            Box::pin(received.chain(stream::once(async {
                tokio::time::sleep(BEFORE_PANIC).await;
                quiet_panic()
            })))
        } else {
            Box::pin(received)
        }
    }

    fn cancel(&self, context: ExecutorContext) -> BoxStream<'static, Item> {
        let (events, received) = channel(2);
        let script = Script::new(events, &context);
        tokio::spawn(async move { script.status(TaskState::Canceled, "canceled").await });
        Box::pin(ReceiverStream::new(received))
    }
}

/// The text of the message's first part.
fn text_of(context: &ExecutorContext) -> String {
    context
        .message
        .as_ref()
        .and_then(|message| message.parts.first())
        .and_then(|part| match &part.content {
            PartContent::Text(text) => Some(text.trim().to_owned()),
            _ => None,
        })
        .unwrap_or_default()
}

/// Unwinds like any panic, but past the hook: to print a backtrace takes longer than the bounds that tests set, and
/// nothing else runs on their thread meanwhile.
fn quiet_panic() -> ! {
    std::panic::resume_unwind(Box::new("as the message asks"))
}
