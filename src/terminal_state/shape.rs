//! What a valid answer to a call looks like.

use crate::{
    call::{Binding, Call, Operation, ProtocolVersion},
    wire::{Envelope, Expected, Payload, Wrapping},
};

/// What to expect of the answer to `call`; `None` if nobody could name the call, or nothing here judges its binding.
pub(super) fn expected(call: &Call) -> Option<Expected> {
    let operation = call.operation()?;
    let payload = match operation {
        Operation::SendMessage => Payload::SendResult,
        Operation::SendStreamingMessage | Operation::SubscribeToTask => Payload::StreamEvent,
        Operation::GetTask | Operation::CancelTask => Payload::Task,
        Operation::ListTaskPushNotificationConfigs => Payload::ObjectOrArray,
        Operation::DeleteTaskPushNotificationConfig => Payload::Anything,
        _ => Payload::Object,
    };
    let (envelope, wrapping) = match call.binding()? {
        Binding::JsonRpc => (Envelope::JsonRpc, json_rpc_wrapping(call.version())),
        Binding::HttpJson => (Envelope::Bare, Wrapping::Member),
        Binding::Grpc => return None,
    };
    Some(Expected { envelope, wrapping, payload })
}

/// The answer of a server that gives one result where a stream was asked.
pub(super) fn downgraded(expected: Expected) -> Expected {
    Expected { payload: Payload::SendResult, ..expected }
}

/// The answer to a JSON-RPC method that is none of A2A's: any result will do.
pub(super) fn foreign_method() -> Expected {
    Expected { envelope: Envelope::JsonRpc, wrapping: Wrapping::Member, payload: Payload::Anything }
}

/// Whether a first event that is neither task nor message is worth noting. 0.2 has no other, 0.3 takes up a stream
/// where it was, and servers answer a message to a task that is there already with what changes about it.
pub(super) fn task_comes_first(call: &Call, expected: Expected) -> bool {
    let begins_task = call.operation() == Some(Operation::SendStreamingMessage) && call.task_id().is_none();
    match expected.wrapping {
        Wrapping::Member => begins_task || call.operation() == Some(Operation::SubscribeToTask),
        Wrapping::Kind => begins_task,
        Wrapping::Legacy => false,
    }
}

fn json_rpc_wrapping(version: Option<ProtocolVersion>) -> Wrapping {
    match version {
        Some(version) if version < ProtocolVersion::V0_3 => Wrapping::Legacy,
        Some(version) if version < ProtocolVersion::V1_0 => Wrapping::Kind,
        _ => Wrapping::Member,
    }
}
