//! The layers under test, and the core below them.

use std::hint::black_box;

use a2a_guard::wire::{
    Envelope, Expected, GrpcDialect, GrpcEnd, GrpcExpected, GrpcJudge, GrpcPayload, GrpcStreamJudge, JsonRpcId, Judge,
    Payload, Progress, StepKind, StreamJudge, Verdict, Wrapping,
};
use a2a_guard::{Binding, Call, Operation, ProtocolVersion};
use bytes::Bytes;

/// The rows' names.
pub const TERMINAL_STATE: &str = "TerminalStateLayer";
/// The core's row of a unary call.
pub const JUDGE: &str = "wire::Judge alone";
/// The core's row of a stream.
pub const STREAM_JUDGE: &str = "wire::StreamJudge alone";
/// The core's row of a unary gRPC call.
pub const GRPC_JUDGE: &str = "wire::GrpcJudge alone";
/// The core's row of a gRPC stream.
pub const GRPC_STREAM_JUDGE: &str = "wire::GrpcStreamJudge alone";

/// What `CallLayer` would find out about the requests of [`corpus`](crate::corpus).
pub fn call(operation: Operation) -> Call {
    Call::new()
        .with_operation(operation)
        .with_binding(Binding::JsonRpc)
        .with_version(ProtocolVersion::V1_0)
        .with_id(JsonRpcId::Number(1))
}

fn expected(payload: Payload) -> Expected {
    Expected { envelope: Envelope::JsonRpc, wrapping: Wrapping::Member, payload }
}

/// Judges one result.
///
/// # Panics
/// If the result is found wanting: the corpus is valid.
pub fn judge(frames: &[Bytes]) {
    let mut judge = Judge::new(expected(Payload::SendResult));
    frames.iter().for_each(|frame| judge.feed(frame));
    let verdict = judge.finish(&JsonRpcId::Number(1));
    assert!(matches!(verdict, Verdict::Valid), "{verdict:?}");
    black_box(judge.facts());
}

/// Judges one gRPC answer.
///
/// # Panics
/// If it is found wanting: the corpus is valid.
pub fn judge_message(message: &[u8]) {
    let expected = GrpcExpected { payload: GrpcPayload::SendResult, dialect: GrpcDialect::V1 };
    let mut judge = GrpcJudge::new(expected, 32 << 20);
    assert_eq!(judge.feed(message), None);
    assert_eq!(judge.finish(), GrpcEnd::Message);
    black_box(judge.facts());
}

/// Judges one gRPC stream.
///
/// # Panics
/// If it does not come to its end: the corpus does.
pub fn judge_messages(frames: &[Bytes]) {
    let expected = GrpcExpected { payload: GrpcPayload::StreamEvent, dialect: GrpcDialect::V1 };
    let mut judge = GrpcStreamJudge::new(expected, 16 << 20, true);
    for frame in frames {
        let mut rest = &frame[..];
        while !rest.is_empty() {
            let step = judge.step(rest);
            assert!(!matches!(step.kind, StepKind::Error | StepKind::Flawed(_)), "{step:?}");
            rest = rest.get(step.consumed..).unwrap_or_default();
        }
    }
    assert!(matches!(judge.progress(), Progress::Done), "{:?}", judge.progress());
}

/// Judges the stream that answers the request with this id.
///
/// # Panics
/// If the stream does not come to its end: the corpus does.
pub fn judge_stream(frames: &[Bytes], id: &JsonRpcId) {
    let mut judge = StreamJudge::new(expected(Payload::StreamEvent), 16 << 20, true);
    for frame in frames {
        let mut rest = &frame[..];
        while !rest.is_empty() {
            let step = judge.step(rest, id);
            assert!(!matches!(step.kind, StepKind::Error | StepKind::Flawed(_)), "{step:?}");
            rest = rest.get(step.consumed..).unwrap_or_default();
        }
    }
    assert!(matches!(judge.progress(), Progress::Done), "{:?}", judge.progress());
}
