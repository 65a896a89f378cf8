//! Judges an answer as a whole, or a stream, whatever binding it comes over.

use crate::wire::{
    Expected, Facts, Flaw, GrpcExpected, GrpcJudge, GrpcStreamJudge, JsonRpcId, Judge, Progress, Step, StreamJudge,
    TaskState, Tolerated,
};

/// Of an answer that is judged as a whole.
pub(super) enum AnswerJudge {
    Json(Judge),
    Grpc(GrpcJudge),
}

impl AnswerJudge {
    /// Reads on. A flaw is given where reading on makes no sense.
    #[inline]
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Option<Flaw> {
        match self {
            Self::Json(judge) => {
                judge.feed(bytes);
                None
            }
            Self::Grpc(judge) => judge.feed(bytes),
        }
    }

    #[inline]
    pub(super) fn facts(&self) -> &Facts {
        match self {
            Self::Json(judge) => judge.facts(),
            Self::Grpc(judge) => judge.facts(),
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
    },
}

/// Of a stream.
#[allow(clippy::large_enum_variant, reason = "it lives in the box of its stream")]
pub(super) enum AnyStreamJudge {
    Events(StreamJudge),
    Messages(GrpcStreamJudge),
}

impl AnyStreamJudge {
    pub(super) fn new(expected: StreamExpected, max_event: usize, task_comes_first: bool) -> Self {
        match expected {
            StreamExpected::Events(expected) => Self::Events(StreamJudge::new(expected, max_event, task_comes_first)),
            StreamExpected::Messages { expected, coded } => {
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
