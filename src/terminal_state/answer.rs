//! Judges an answer as a whole, or a stream, whatever binding it comes over.

use bytes::Bytes;
use http::{HeaderMap, response::Parts};

use super::{body::Replay, grpc, pieces::Pieces};
use crate::wire::{
    Expected, Facts, Flaw, GrpcExpected, GrpcJudge, GrpcStatus, GrpcStreamJudge, JsonRpcId, Judge, Progress, Step,
    StreamJudge, TaskState, Tolerated,
    grpc::{
        frame::{Framing, PREFIX},
        status::drop_unreadable,
    },
};

/// What the whole is to become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A unary result.
    #[default]
    Result,
    /// One result where a stream was asked.
    Downgrade,
    /// What an error status says.
    Refusal,
}

/// What an answer that is judged as a whole should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WholeExpected {
    Json(Expected),
    Message {
        expected: GrpcExpected,
        /// It may be compressed.
        coded: bool,
        /// The head says already that all is well.
        has_status: bool,
        max: usize,
    },
}

/// An answer that is judged as a whole, as far as it came.
///
/// A judge is kept only for more than one frame. A single one, as most answers are, is judged where it ends.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) head: Option<Parts>,
    pub(super) purpose: Purpose,
    /// `None` before the head, and where nothing is to be judged.
    pub(super) expected: Option<WholeExpected>,
    pub(super) judge: Option<Box<AnswerJudge>>,
    pub(super) pieces: Pieces,
    pub(super) trailers: Option<Box<HeaderMap>>,
    /// The body went on behind what is kept of it.
    pub(super) truncated: bool,
}

impl Answer {
    /// What came behind the head, to be handed on.
    #[inline]
    pub(super) fn take_body(&mut self) -> Replay {
        Replay::new(std::mem::take(&mut self.pieces), self.trailers.take())
    }

    /// Of an answer that is not handed on.
    pub(super) fn take_headers(&mut self) -> HeaderMap {
        self.head.take().map(|head| head.headers).unwrap_or_default()
    }

    /// What a gRPC answer that is at its end says of itself.
    #[inline]
    pub(super) fn grpc_status(&self) -> Option<GrpcStatus<'_>> {
        let of_trailers = self.trailers.as_deref().and_then(GrpcStatus::of);
        of_trailers.or_else(|| self.head.as_ref().and_then(|head| GrpcStatus::of(&head.headers)))
    }

    /// Of a gRPC answer that is good: what else it says of its status goes, if no client can read it.
    #[inline]
    pub(super) fn make_readable(&mut self) {
        if let Some(trailers) = self.trailers.as_deref_mut() {
            grpc::readable(trailers);
        }
        if let (Some(WholeExpected::Message { has_status: true, .. }), Some(head)) = (self.expected, &mut self.head) {
            drop_unreadable(&mut head.headers);
        }
    }

    /// Takes in what came. A flaw is given where reading on makes no sense.
    #[inline]
    pub(super) fn take_in(&mut self, data: Bytes) -> Option<Flaw> {
        let flaw = if self.may_wait(&data) { None } else { self.judge_on(&data) };
        self.pieces.push(data);
        flaw
    }

    /// Whether these bytes need not be judged before the next come, or the end: of gRPC, one message that is there
    /// whole.
    #[inline]
    fn may_wait(&self, data: &[u8]) -> bool {
        if !self.pieces.is_empty() || self.judge.is_some() {
            return false;
        }
        match self.expected {
            Some(WholeExpected::Message { max, .. }) => {
                let whole = Framing::new().whole(data).filter(|(prefix, _)| !prefix.compressed);
                whole.is_some_and(|(_, message)| message.len() <= max && PREFIX + message.len() == data.len())
            }
            _ => true,
        }
    }

    #[inline(never)]
    fn judge_on(&mut self, data: &[u8]) -> Option<Flaw> {
        self.judge_so_far()?.feed(data)
    }

    /// A judge of what came.
    #[cold]
    fn judge_so_far(&mut self) -> Option<&mut AnswerJudge> {
        if self.judge.is_none() {
            self.judge = Some(Box::new(AnswerJudge::of(self.expected?, &self.pieces)));
        }
        self.judge.as_deref_mut()
    }

    /// What came says this of its task.
    #[cold]
    pub(super) fn facts(&mut self, id: &JsonRpcId) -> Facts {
        match self.judge_so_far() {
            Some(AnswerJudge::Json(judge)) => {
                judge.finish(id);
                judge.facts().clone()
            }
            Some(AnswerJudge::Grpc(judge)) => judge.facts().clone(),
            None => Facts::default(),
        }
    }
}

/// The judge of an answer that is judged as a whole.
#[allow(clippy::large_enum_variant, reason = "it is boxed where it is kept")]
pub(super) enum AnswerJudge {
    Json(Judge),
    Grpc(GrpcJudge),
}

impl AnswerJudge {
    /// Of what came so far.
    pub(super) fn of(expected: WholeExpected, pieces: &Pieces) -> Self {
        let mut judge = match expected {
            WholeExpected::Json(expected) => Self::Json(Judge::new(expected)),
            WholeExpected::Message { expected, coded, max, .. } => {
                let mut judge = GrpcJudge::new(expected, max);
                if coded {
                    judge.allow_compressed();
                }
                Self::Grpc(judge)
            }
        };
        for piece in pieces.iter() {
            judge.feed(piece);
        }
        judge
    }

    fn feed(&mut self, bytes: &[u8]) -> Option<Flaw> {
        match self {
            Self::Json(judge) => {
                judge.feed(bytes);
                None
            }
            Self::Grpc(judge) => judge.feed(bytes),
        }
    }
}

/// What the events of a stream should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamExpected {
    Events(Expected),
    Messages {
        expected: GrpcExpected,
        /// Messages may be compressed.
        coded: bool,
        /// The head says already that all is well.
        has_status: bool,
    },
}

/// The judge of a stream.
#[allow(clippy::large_enum_variant, reason = "it lives in the box of its stream")]
pub(super) enum AnyStreamJudge {
    Events(StreamJudge),
    Messages(GrpcStreamJudge),
}

impl AnyStreamJudge {
    pub(super) fn new(expected: StreamExpected, max_event: usize, task_comes_first: bool) -> Self {
        match expected {
            StreamExpected::Events(expected) => Self::Events(StreamJudge::new(expected, max_event, task_comes_first)),
            StreamExpected::Messages { expected, coded, .. } => {
                let mut judge = GrpcStreamJudge::new(expected, max_event, task_comes_first);
                if coded {
                    judge.allow_compressed();
                }
                Self::Messages(judge)
            }
        }
    }

    #[inline(always)]
    pub(super) fn step(&mut self, bytes: &[u8], id: &JsonRpcId) -> Step {
        match self {
            Self::Events(judge) => judge.step(bytes, id),
            Self::Messages(judge) => judge.step(bytes),
        }
    }

    /// Behind the end of the task all bytes pass as they are; of messages only whole ones.
    #[inline(always)]
    pub(super) fn passes_all(&self) -> bool {
        matches!(self, Self::Events(judge) if judge.progress() == Progress::Done)
    }

    #[inline(always)]
    pub(super) fn progress(&self) -> Progress {
        match self {
            Self::Events(judge) => judge.progress(),
            Self::Messages(judge) => judge.progress(),
        }
    }

    #[inline(always)]
    pub(super) fn events(&self) -> u64 {
        match self {
            Self::Events(judge) => judge.events(),
            Self::Messages(judge) => judge.events(),
        }
    }

    #[inline(always)]
    pub(super) fn state(&self) -> Option<TaskState> {
        match self {
            Self::Events(judge) => judge.state(),
            Self::Messages(judge) => judge.state(),
        }
    }

    #[inline(always)]
    pub(super) fn task_id(&self) -> Option<&str> {
        match self {
            Self::Events(judge) => judge.task_id(),
            Self::Messages(judge) => judge.task_id(),
        }
    }

    #[inline(always)]
    pub(super) fn tolerated(&self) -> Tolerated {
        match self {
            Self::Events(judge) => judge.tolerated(),
            Self::Messages(judge) => judge.tolerated(),
        }
    }
}
