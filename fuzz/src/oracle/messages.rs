//! The messages of a gRPC body, by their prefixes and by prost.

use a2a_guard::wire::{GrpcDialect, GrpcExpected, GrpcPayload, PayloadKind, TaskState, grpc::frame::PREFIX};

use super::proto::{self, Payload};

/// The messages in a body.
#[derive(Debug)]
pub struct Messages<'a> {
    /// Each with its flag.
    pub whole: Vec<(bool, &'a [u8])>,
    pub rest: Rest<'a>,
}

/// What is behind the last whole one.
#[derive(Debug, PartialEq)]
pub enum Rest<'a> {
    Nothing,
    Bad,
    /// A prefix that is not whole.
    Prefix,
    /// A message that is not.
    Cut(bool, u32, &'a [u8]),
}

impl<'a> Messages<'a> {
    #[must_use]
    pub fn of(body: &'a [u8]) -> Self {
        let mut whole = Vec::new();
        let mut rest = body;
        loop {
            let is_compressed = match rest.first() {
                None => return Self { whole, rest: Rest::Nothing },
                Some(0) => false,
                Some(1) => true,
                Some(_) => return Self { whole, rest: Rest::Bad },
            };
            let Some((prefix, behind)) = rest.split_at_checked(PREFIX) else {
                return Self { whole, rest: Rest::Prefix };
            };
            let length = u32::from_be_bytes(prefix[1..].try_into().expect("four bytes"));
            let Some((message, next)) = behind.split_at_checked(length as usize) else {
                return Self { whole, rest: Rest::Cut(is_compressed, length, behind) };
            };
            whole.push((is_compressed, message));
            rest = next;
        }
    }
}

/// What a message is, by prost.
#[derive(Debug)]
pub enum Reading {
    Valid(Said),
    Malformed,
    Violation,
}

#[derive(Debug, Default)]
pub struct Said {
    pub kind: PayloadKind,
    pub task_id: String,
    pub context_id: String,
    pub state: Option<TaskState>,
    pub is_final: bool,
}

/// Reads a message that is all there.
#[must_use]
pub fn read(expected: GrpcExpected, bytes: &[u8]) -> Reading {
    let is_v03 = expected.dialect == GrpcDialect::V03;
    let decoded = match expected.payload {
        GrpcPayload::SendResult => proto::send_result(bytes),
        GrpcPayload::StreamEvent => proto::stream_event(bytes, is_v03),
        GrpcPayload::Task => proto::task(bytes),
        GrpcPayload::Other => match proto::anything(bytes) {
            Ok(()) => return Reading::Valid(Said { kind: PayloadKind::Other, ..Said::default() }),
            Err(_) => return Reading::Malformed,
        },
    };
    let Ok(payload) = decoded else { return Reading::Malformed };
    // 0.3 spells it with two l.
    let state = |number| match (is_v03, number) {
        (true, 5) => TaskState::from_wire(b"TASK_STATE_CANCELLED"),
        _ => u32::try_from(number).ok().and_then(TaskState::from_number),
    };
    let status = |status: Option<proto::Status>| status.map(|status| state(status.state));
    let said = match payload {
        Payload::Nothing => return Reading::Violation,
        Payload::Message(message) => {
            if !proto::has_content(bytes, expected.payload == GrpcPayload::StreamEvent) {
                return Reading::Violation;
            }
            Said {
                kind: PayloadKind::Message,
                task_id: message.task_id,
                context_id: message.context_id,
                ..Said::default()
            }
        }
        Payload::Task(task) => {
            let Some(state) = status(task.status) else { return Reading::Violation };
            let kind = PayloadKind::Task;
            Said { kind, task_id: task.id, context_id: task.context_id, state, is_final: false }
        }
        Payload::StatusUpdate(update) => {
            let Some(state) = status(update.status) else { return Reading::Violation };
            let (kind, is_final) = (PayloadKind::StatusUpdate, update.is_final);
            Said { kind, task_id: update.task_id, context_id: update.context_id, state, is_final }
        }
        Payload::ArtifactUpdate(update) => {
            let kind = PayloadKind::ArtifactUpdate;
            Said { kind, task_id: update.task_id, context_id: update.context_id, ..Said::default() }
        }
    };
    // All but a message are a task's.
    if said.task_id.is_empty() && said.kind != PayloadKind::Message { Reading::Violation } else { Reading::Valid(said) }
}
