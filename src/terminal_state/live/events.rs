//! An event came: what it says of the task, and what `strict` says of it.

use super::Rest;
use crate::{error::CallError, outcome::Observe, terminal_state::deadline::Phase, wire::Progress};

impl<O> Rest<O>
where
    O: Observe,
{
    /// What `strict` says of the event that ended: it is not handed on, but what it says of the task is known.
    pub(super) fn strictly(&mut self) -> Option<CallError> {
        self.timed.get().strictly(self.judge.tolerated())?;
        let events = self.timed.get().seen.events;
        self.note_seen();
        self.timed.as_mut().flight().seen.events = events;
        self.timed.get().strictly(self.judge.tolerated())
    }

    /// An event was found good.
    pub(super) fn event_ended(&mut self) {
        self.event_in_out = true;
        self.timed.as_mut().flight().note_event();
        self.note_seen();
        match self.judge.progress() {
            Progress::Open => self.timed.as_mut().flight().enter_once(Phase::Events),
            Progress::InputRequired => self.timed.as_mut().flight().enter_once(Phase::Linger),
            Progress::AuthRequired => self.timed.as_mut().flight().enter_once(Phase::AuthWait),
            Progress::Done => {
                self.timed.as_mut().flight().enter(Phase::Linger);
                self.timed.as_mut().flight().succeed_as_seen();
            }
        }
    }

    pub(super) fn note_seen(&mut self) {
        let seen = &mut self.timed.as_mut().flight().seen;
        seen.events = self.judge.events();
        seen.task_state = self.judge.state();
        seen.tolerated = self.judge.tolerated();
        if seen.task_id.is_none() {
            seen.task_id = self.judge.task_id().map(Into::into);
        }
    }
}
