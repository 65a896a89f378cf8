//! The sans-I/O core: everything that judges bytes.
//!
//! No async, no clock, no sockets. Each type here is a pure function or an incremental state machine that is fed
//! slices of bytes, however they were cut on the way, and says what they mean in A2A. The layers are thin shells around
//! it, and tests, fuzzers and benches drive it directly.
//!
//! | module | what it reads |
//! | --- | --- |
//! | [`json`] | JSON itself: a resumable, validating scanner (RFC 8259) |
//! | [`judge`] | one answer: a JSON-RPC envelope or an HTTP+JSON body |
//! | [`sse`], [`stream`] | an event stream, and the answer that it spells event by event |
//! | [`grpc`] | gRPC's messages, statuses and requests |
//! | [`request`] | one outgoing request: method, id, task |
//! | [`peer_error`] | an error object, in any of the shapes that servers write |
//! | `known` | an answer or a request that is like one before |
//! | `readable` | JSON that no tree could be built of |
//! | [`id`], [`media_type`], [`task_state`], [`tolerated`], [`text`] | the small words those are made of |
//!
//! What is like something that was judged before, byte for byte but for texts that make no difference, is not judged
//! again (`template`): events of a stream, and answers and requests that come whole.
//!
//! Three promises hold for every type: no byte of a peer makes it panic or recurse, its memory is bounded, and its
//! verdict does not depend on where the bytes were cut.
//!
//! ```
//! use a2a_guard::wire::{Envelope, Expected, JsonRpcId, Judge, Payload, Verdict, Wrapping};
//!
//! let expected = Expected { envelope: Envelope::JsonRpc, wrapping: Wrapping::Member, payload: Payload::SendResult };
//! let mut judge = Judge::new(expected);
//! let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t-1","contextId":"c-1",
//!     "status":{"state":"TASK_STATE_COMPLETED"}}}}"#;
//! for piece in answer.chunks(7) {
//!     judge.feed(piece);
//! }
//! assert_eq!(judge.finish(&JsonRpcId::Number(1)), Verdict::Valid);
//! assert_eq!(judge.facts().task_id.as_str(), "t-1");
//! ```

pub mod grpc;
pub mod id;
pub mod json;
pub mod judge;
mod known;
pub mod media_type;
pub mod peer_error;
pub(crate) mod readable;
pub mod request;
pub mod sse;
pub mod stream;
pub mod task_state;
mod template;
pub mod text;
pub mod tolerated;

pub use grpc::{GrpcDialect, GrpcEnd, GrpcExpected, GrpcJudge, GrpcPayload, GrpcStatus, GrpcStreamJudge};
pub use id::{IdMatch, JsonRpcId};
pub use judge::{Envelope, Expected, Facts, Flaw, Judge, Payload, PayloadKind, Verdict, Wrapping};
pub(crate) use known::{KnownAnswers, KnownRequests, LONGEST as LONGEST_KNOWN, OwnWords};
pub use media_type::MediaType;
pub use peer_error::{A2aError, ErrorForm, PeerError};
pub use request::{RequestFacts, RequestScan};
pub use stream::{Finish, Progress, Step, StepKind, StreamJudge};
pub use task_state::{StateKind, TaskState};
pub use text::SmallText;
pub use tolerated::Tolerated;
