//! The one outcome of a call, whoever hears of it and whatever becomes of its task.

use super::{Flight, Rescue, failing::is_loss};
use crate::{
    call::Operation,
    error::{CallError, Seen},
    outcome::{Class, Observe, Outcome, OutcomeKind},
    terminal_state::{recovery::Recovery, rescue::Rescued},
    wire::{Facts, SmallText, TaskState, Tolerated},
};

impl<O> Flight<O>
where
    O: Observe,
{
    /// The call ended well, as the judge of its whole answer read it. What that says is asked for where somebody
    /// listens.
    #[inline]
    pub(in crate::terminal_state) fn succeed_as_judged(&mut self, facts: Option<&Facts>) {
        if std::mem::replace(&mut self.settled, true) {
            return;
        }
        let Some(facts) = facts.filter(|_| self.config.observer.listens()) else { return };
        // The beginning of an id is another task's.
        let id = Some(&facts.task_id).filter(|id| !id.is_empty() && !id.is_truncated());
        let task_id = id.map(SmallText::as_str);
        self.observe(OutcomeKind::Success, Class::Success, None, task_id, facts.state, facts.tolerated);
    }

    /// The call ended well, and all that is known of it was noted in `seen`.
    pub(in crate::terminal_state) fn succeed_as_seen(&mut self) {
        if std::mem::replace(&mut self.settled, true) {
            return;
        }
        self.call.note_ended_well();
        let Seen { task_id, task_state, tolerated, .. } = &self.seen;
        self.observe(OutcomeKind::Success, Class::Success, None, task_id.as_deref(), *task_state, *tolerated);
    }

    /// The call ended well after all: its task had finished.
    pub(in crate::terminal_state) fn succeed_as_rescued(&mut self, rescued: &Rescued, events: u64) {
        self.seen.events += events;
        self.seen.task_id = self.seen.task_id.take().or_else(|| self.call.task_id().map(Into::into));
        self.seen.task_state = Some(rescued.state);
        self.seen.tolerated.insert(Tolerated::RECONCILED);
        self.succeed_as_seen();
    }

    /// The call ended, in a way that its caller sees from an answer that passes as it is.
    pub(in crate::terminal_state) fn settle_as(&mut self, kind: OutcomeKind, class: Class) {
        if std::mem::replace(&mut self.settled, true) {
            return;
        }
        let Seen { task_id, task_state, tolerated, .. } = &self.seen;
        self.observe(kind, class, None, task_id.as_deref(), *task_state, *tolerated);
    }

    /// The call failed.
    pub(in crate::terminal_state) fn fail(&mut self, error: &CallError) {
        if std::mem::replace(&mut self.settled, true) {
            return;
        }
        let recovery = self.canceller().filter(|recovery| recovery.cancels_on_failure());
        if let (Some(recovery), Some(origin), Some(task_id)) = (recovery, &self.origin, error.task_id())
            && is_loss(error)
        {
            recovery.cancel(origin, task_id);
        }
        let (task_id, state) = (error.task_id(), error.task_state());
        self.observe(error.outcome(), error.class(), Some(error), task_id, state, error.tolerated());
    }

    /// Asks what became of the task of a failed call, if that is wanted.
    pub(in crate::terminal_state) fn rescue(&self, error: &CallError) -> Option<Rescue> {
        let recovery = self.config.recovery.as_ref().filter(|recovery| recovery.reconciles())?;
        let origin = self.origin.as_ref()?;
        let task_id = error.task_id()?;
        // A connection that was lost before any answer may have lost the message too: what has become of the task since
        // says nothing of it.
        let sends = self.call.operation().is_some_and(Operation::is_send);
        let may_be_undelivered = sends && error.class() == Class::ConnectionLost && self.seen.task_id.is_none();
        // What comes of it goes out as the answer, or as an event, and may be as large as one.
        let limits = self.limits();
        let max = if self.call.is_streaming() { limits.max_event } else { limits.max_unary_body };
        (is_loss(error) && !may_be_undelivered).then(|| recovery.ask(origin, task_id, max)).flatten()
    }

    /// Who only watches a task does not end it: a call that sent none cancels none.
    fn canceller(&self) -> Option<&Recovery> {
        self.config.recovery.as_ref().filter(|_| self.call.operation().is_some_and(Operation::is_send))
    }

    fn observe(
        &self,
        kind: OutcomeKind,
        class: Class,
        error: Option<&CallError>,
        task_id: Option<&str>,
        task_state: Option<TaskState>,
        tolerated: Tolerated,
    ) {
        if !self.config.observer.listens() {
            return;
        }
        if let Some(error) = error {
            error.failure().told.set();
        }
        self.config.observer.observe(&Outcome {
            kind,
            class,
            call: &self.call,
            target: self.target.as_ref().or_else(|| self.call.target()),
            error,
            status: self.seen.status,
            grpc_code: self.seen.grpc_code,
            task_id,
            task_state,
            events: self.seen.events,
            tolerated,
            began: self.began,
            first_event: self.first_event,
            bytes: self.bytes,
            #[cfg(feature = "tracing")]
            span: self.span.as_ref(),
        });
    }
}

impl<O> Drop for Flight<O>
where
    O: Observe,
{
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        if self.seen.task_id.is_none() && self.seen.status.is_some() && self.seen.events == 0 {
            self.note_what_came();
        }
        // Who lets go of a task that waits for input or a credential has all there is for now, if an event said so: of
        // an answer that is judged as a whole, nothing was handed on.
        if self.seen.events > 0 && self.seen.task_state.is_some_and(|state| state.is_interrupted()) {
            return self.succeed_as_seen();
        }
        self.settle_as(OutcomeKind::Abandoned, Class::Abandoned);
        let recovery = self.canceller().filter(|recovery| recovery.cancels_on_drop());
        let task_id = self.seen.task_id.as_deref().or_else(|| self.call.task_id());
        if let (Some(recovery), Some(origin), Some(task_id)) = (recovery, &self.origin, task_id) {
            recovery.cancel(origin, task_id);
        }
    }
}
