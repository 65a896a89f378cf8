//! gRPC (A2A 1.0 §10): message framing, the facts in messages, and how a call ended. No generated code.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`frame`] | finds messages in bytes |
//! | [`unary`], [`stream`] | judge an answer: one message, or one after another |
//! | [`status`], [`code`] | read `grpc-status` and what stands beside it |
//! | [`request`] | reads an outgoing request |
//! | [`card`] | an Agent Card out of an answer |
//! | [`encode`] | writes the layers' own requests, and sets a tenant |
//! | [`timeout`] | `grpc-timeout` |
//!
//! Field numbers, from `specification/a2a.proto` of A2A 1.0.0 (package `lf.a2a.v1`) and `specification/grpc/a2a.proto`
//! of 0.3.0 (package `a2a.v1`). Answers are alike in both:
//!
//! | message | fields that are read |
//! | --- | --- |
//! | `SendMessageResponse` | task 1, message 2: a `oneof` |
//! | `StreamResponse` | the same, and status_update 3, artifact_update 4 |
//! | `Task` | id 1, context_id 2, status 3 |
//! | `TaskStatus` | state 1 |
//! | `Message` | message_id 1, context_id 2, task_id 3, role 4, parts 5 (0.3: content) |
//! | `TaskStatusUpdateEvent` | task_id 1, context_id 2, status 3, 0.3: final 4 |
//! | `TaskArtifactUpdateEvent` | task_id 1, context_id 2 |
//! | enum `TaskState` | UNSPECIFIED 0, SUBMITTED 1, WORKING 2, COMPLETED 3, FAILED 4, CANCELED 5 (0.3: CANCELLED), INPUT_REQUIRED 6, REJECTED 7, AUTH_REQUIRED 8 |
//!
//! Requests are not:
//!
//! | request | 1.0 | 0.3 |
//! | --- | --- | --- |
//! | `SendMessage`, `SendStreamingMessage` | tenant 1, message 2, configuration 3 (return_immediately 4), metadata 4 | message 1, configuration 2 (blocking 4), metadata 3 |
//! | `GetTask`, `CancelTask` | tenant 1, id 2, of `CancelTask` metadata 3 | name 1 (`tasks/{id}`) |
//! | `SubscribeToTask` (0.3: `TaskSubscription`) | tenant 1, id 2 | name 1 |
//! | `ListTasks` | tenant 1, context_id 2 | |
//! | `CreateTaskPushNotificationConfig` | tenant 1, task_id 3 | parent 1 (`tasks/{id}…`) |
//! | `Get…`, `DeleteTaskPushNotificationConfig` | tenant 1, task_id 2 | name 1 (`tasks/{id}/pushNotificationConfigs/{id}`) |
//! | `ListTaskPushNotificationConfigs` (0.3: `…Config`) | tenant 4, task_id 1 | parent 1 |
//! | `GetExtendedAgentCard` (0.3: `GetAgentCard`) | tenant 1 | |
//!
//! Readers of proto3 take fields in any order, the last of a kind, and unknown ones, groups among them, as if they were
//! not there; so do these. What they refuse: a field of another type than its own; a group without its end, or one that
//! did not begin; a length that goes on behind the end of its message; strings that are read and are no UTF-8.

mod answer;
mod base64;
pub mod card;
pub mod code;
mod details;
pub mod encode;
mod fields;
pub mod frame;
mod group;
pub mod request;
pub mod status;
pub mod stream;
#[cfg(test)]
mod tests;
pub mod timeout;
pub mod unary;
mod utf8;
mod varint;
mod walk;

pub use answer::{GrpcDialect, GrpcExpected, GrpcPayload};
pub use request::{GrpcRequestScan, RequestLayout};
pub use status::GrpcStatus;
pub use stream::GrpcStreamJudge;
pub use unary::{GrpcEnd, GrpcJudge};
