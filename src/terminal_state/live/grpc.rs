//! How a stream of gRPC messages ends: by the status in its trailers, or without one.

use bytes::Bytes;

use super::Rest;
use crate::{
    outcome::Observe,
    terminal_state::{
        answer::AnyStreamJudge,
        grpc::{Kept, ok_trailers, status_of},
    },
    wire::{Flaw, Progress},
};

impl<O> Rest<O>
where
    O: Observe,
{
    pub(super) fn is_grpc(&self) -> bool {
        matches!(self.judge, AnyStreamJudge::Messages(_))
    }

    /// A message that is not whole is not handed on: behind it nothing could be. The status is that of the outcome,
    /// whatever the peer's own was.
    pub(super) fn end_messages_well(&mut self) {
        self.held.clear();
        self.trailers = Some(ok_trailers(self.trailers.take()));
    }

    /// The trailers came, or the end without them.
    pub(super) fn messages_ended(&mut self) {
        if self.judge.progress() == Progress::Done {
            return self.end_well();
        }
        let AnyStreamJudge::Messages(judge) = &self.judge else { return };
        let (is_between, is_opaque) = (judge.is_between(), judge.is_opaque());
        let ended = match status_of(&self.headers, self.trailers.as_ref()) {
            Some(status) if !status.is_ok() => return self.refused_by_status(),
            Some(_) if is_between => None,
            Some(_) => Some("the stream ended within a message"),
            // A reset may read as a clean end (RST_STREAM with NO_ERROR): only what came is a witness.
            None => Some("the stream ended without grpc-status"),
        };
        match ended {
            _ if self.rests() => self.end_well(),
            Some(what) => self.truncated(what),
            None if self.timed.get().seen.events == 0 => self.flawed(Flaw::Empty),
            // What was compressed may have been its last state.
            None if is_opaque => self.end_well(),
            None => self.truncated("the stream ended before its task rested"),
        }
    }

    /// The status says no.
    fn refused_by_status(&mut self) {
        self.note_task_of_held();
        let kept = Kept {
            headers: &self.headers,
            trailers: self.trailers.as_ref(),
            // What came of events went on.
            body: Bytes::new(),
            truncated: false,
        };
        if let Some(error) = kept.refusal(self.timed.get()) {
            self.fail(error);
        }
    }
}
