//! What an agent answers: agents send it, and the caller knows what is due.

use a2a_pb::proto::{
    self, Artifact, SendMessageResponse, StreamResponse, TaskArtifactUpdateEvent, TaskStatus, TaskStatusUpdateEvent,
    send_message_response, stream_response,
};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    dialect::{Dialect, Kind},
    proto::framed,
    world::World,
};

/// What is said of a task.
enum Say {
    /// The task, done or not, with a text of so many bytes.
    Task { done: bool, size: usize },
    /// A part of its work, with a text of so many bytes.
    Artifact { part: u64, size: usize },
    /// It is done.
    Done,
}

/// The answer to a call that is no stream: up to 100 kB of it.
pub(crate) fn unary(world: &World, dialect: Dialect, kind: Kind, id: &str) -> Bytes {
    let say = Say::Task { done: true, size: size(world, id, 100_000) };
    if !dialect.is_grpc() {
        return json_answer(dialect, kind, id, &say).to_string().into();
    }
    let task = task(id, true, size(world, id, 100_000));
    match kind {
        Kind::Get => framed(&task),
        _ => framed(&SendMessageResponse { payload: Some(send_message_response::Payload::Task(task)) }),
    }
}

/// The events of a stream, framed: a task, some artifacts, the end.
pub(crate) fn events(world: &World, dialect: Dialect, id: &str) -> Vec<Bytes> {
    let mut says = vec![Say::Task { done: false, size: 0 }];
    says.extend((0..3 + world.chance(id, 8)).map(|part| {
        let size = size(world, &format!("{id}/{part}"), 20_000);
        Say::Artifact { part, size }
    }));
    says.push(Say::Done);
    says.iter().map(|say| event(dialect, id, say)).collect()
}

fn size(world: &World, name: &str, below: u64) -> usize {
    usize::try_from(world.chance(name, below)).expect("it fits")
}

fn event(dialect: Dialect, id: &str, say: &Say) -> Bytes {
    if !dialect.is_grpc() {
        // As servers of either version end their lines.
        let end = if dialect.is_v03() { "\r\n\r\n" } else { "\n\n" };
        return format!("data: {}{end}", json_answer(dialect, Kind::Stream, id, say)).into();
    }
    let task_id = format!("task-{id}");
    let payload = match say {
        Say::Task { done, size } => stream_response::Payload::Task(task(id, *done, *size)),
        Say::Artifact { part, size } => stream_response::Payload::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id,
            context_id: "c".into(),
            artifact: Some(artifact(*part, *size)),
            ..TaskArtifactUpdateEvent::default()
        }),
        Say::Done => stream_response::Payload::StatusUpdate(TaskStatusUpdateEvent {
            task_id,
            context_id: "c".into(),
            status: Some(status(true)),
            ..TaskStatusUpdateEvent::default()
        }),
    };
    framed(&StreamResponse { payload: Some(payload) })
}

fn task(id: &str, done: bool, size: usize) -> proto::Task {
    proto::Task {
        id: format!("task-{id}"),
        context_id: "c".into(),
        status: Some(status(done)),
        artifacts: if size == 0 { vec![] } else { vec![artifact(0, size)] },
        ..proto::Task::default()
    }
}

fn status(done: bool) -> TaskStatus {
    let state = if done { proto::TaskState::Completed } else { proto::TaskState::Working };
    TaskStatus { state: state.into(), ..TaskStatus::default() }
}

/// Its text is in field 3: in 1.0 the description, in 0.3 the name.
fn artifact(part: u64, size: usize) -> Artifact {
    Artifact { artifact_id: format!("a-{part}"), description: "p".repeat(size), ..Artifact::default() }
}

fn json_answer(dialect: Dialect, kind: Kind, id: &str, say: &Say) -> Value {
    let is_rpc_v03 = dialect == Dialect::RpcV03;
    let status = |done: bool| match (done, is_rpc_v03) {
        (true, false) => json!({"state": "TASK_STATE_COMPLETED"}),
        (true, true) => json!({"state": "completed"}),
        (false, false) => json!({"state": "TASK_STATE_WORKING"}),
        (false, true) => json!({"state": "working"}),
    };
    let task_id = format!("task-{id}");
    let (name, word, mut object) = match say {
        Say::Task { done, size } => {
            let metadata = json!({"text": "t".repeat(*size)});
            let task = json!({"id": task_id, "contextId": "c", "status": status(*done), "metadata": metadata});
            ("task", "task", task)
        }
        Say::Artifact { part, size } => {
            let mut text = json!({"text": "p".repeat(*size)});
            if is_rpc_v03 {
                text["kind"] = "text".into();
            }
            let artifact = json!({"artifactId": format!("a-{part}"), "parts": [text]});
            let update = json!({"taskId": task_id, "contextId": "c", "artifact": artifact});
            ("artifactUpdate", "artifact-update", update)
        }
        Say::Done => {
            let mut update = json!({"taskId": task_id, "contextId": "c", "status": status(true)});
            if dialect.is_v03() {
                update["final"] = true.into();
            }
            ("statusUpdate", "status-update", update)
        }
    };
    let result = if is_rpc_v03 {
        object["kind"] = word.into();
        object
    } else if kind == Kind::Get {
        object
    } else {
        json!({name: object})
    };
    if dialect.is_rpc() { json!({"jsonrpc": "2.0", "id": 1, "result": result}) } else { result }
}
