//! What a valid answer to a call looks like.

use super::answer::StreamExpected;
use crate::{
    call::{Binding, Call, Operation, ProtocolVersion, grpc_dialect_of},
    wire::{Envelope, Expected, GrpcDialect, GrpcExpected, GrpcPayload, Payload, Wrapping},
};

/// What to expect of the answer to `call`; `None` if nobody could name the call, or its answer is no JSON.
pub(super) fn expected(call: &Call) -> Option<Expected> {
    let operation = call.operation()?;
    let payload = match operation {
        Operation::SendMessage => Payload::SendResult,
        Operation::SendStreamingMessage | Operation::SubscribeToTask => Payload::StreamEvent,
        Operation::GetTask | Operation::CancelTask => Payload::Task,
        // 1.0 has an object for the list, which its SDKs insist on.
        Operation::ListTaskPushNotificationConfigs if call.version() < Some(ProtocolVersion::V1_0) => {
            Payload::ObjectOrArray
        }
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

/// What to expect of the answer to `call`, if it is a gRPC one that somebody could name.
pub(super) fn grpc(call: &Call) -> Option<GrpcExpected> {
    if call.binding() != Some(Binding::Grpc) {
        return None;
    }
    let payload = match call.operation()? {
        Operation::SendMessage => GrpcPayload::SendResult,
        Operation::SendStreamingMessage | Operation::SubscribeToTask => GrpcPayload::StreamEvent,
        Operation::GetTask | Operation::CancelTask => GrpcPayload::Task,
        _ => GrpcPayload::Other,
    };
    Some(GrpcExpected { payload, dialect: grpc_dialect_of(call.version()) })
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
pub(super) fn task_comes_first(call: &Call, expected: StreamExpected) -> bool {
    let begins_task = call.operation() == Some(Operation::SendStreamingMessage) && call.task_id().is_none();
    let subscribes = call.operation() == Some(Operation::SubscribeToTask);
    match expected {
        StreamExpected::Events(Expected { wrapping: Wrapping::Member, .. }) => begins_task || subscribes,
        StreamExpected::Events(Expected { wrapping: Wrapping::Kind, .. }) => begins_task,
        StreamExpected::Events(Expected { wrapping: Wrapping::Legacy, .. }) => false,
        StreamExpected::Messages { expected, .. } => begins_task || (subscribes && expected.dialect == GrpcDialect::V1),
    }
}

fn json_rpc_wrapping(version: Option<ProtocolVersion>) -> Wrapping {
    match version {
        Some(version) if version < ProtocolVersion::V0_3 => Wrapping::Legacy,
        Some(version) if version < ProtocolVersion::V1_0 => Wrapping::Kind,
        _ => Wrapping::Member,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_older_versions_list_push_configurations_in_an_array() {
        for binding in [Binding::JsonRpc, Binding::HttpJson] {
            let call = Call::new().with_binding(binding).with_operation(Operation::ListTaskPushNotificationConfigs);
            let payload = |call: Call| expected(&call).map(|expected| expected.payload);
            assert_eq!(payload(call.clone().with_version(ProtocolVersion::V1_0)), Some(Payload::Object));
            assert_eq!(payload(call.clone().with_version(ProtocolVersion::V0_3)), Some(Payload::ObjectOrArray));
            assert_eq!(payload(call), Some(Payload::ObjectOrArray), "nobody knows");
        }
    }
}
