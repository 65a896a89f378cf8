//! How a stream ends: well, by a bound, or with a failure that may be rescued.

use bytes::Bytes;

use super::Rest;
use crate::{
    error::CallError,
    outcome::{Class, Observe},
    terminal_state::{
        answer::{AnyStreamJudge, StreamExpected},
        deadline::Due,
        flight::Flight,
        rescue::Rescued,
    },
    wire::{Finish, Flaw, Judge, Progress, sse::event_data},
};

impl<O> Rest<O>
where
    O: Observe,
{
    pub(super) fn bound_reached(&mut self, due: Due) {
        if due.class == Class::Success || self.judge.progress() == Progress::Done {
            return self.end_well();
        }
        self.note_task_of_held();
        let error = self.timed.get().timeout(due);
        self.fail(error);
    }

    pub(super) fn broke_off(&mut self, error: impl FnOnce(&Flight<O>) -> CallError) {
        if self.rests() {
            return self.end_well();
        }
        self.note_task_of_held();
        let error = error(self.timed.get());
        self.fail(error);
    }

    pub(super) fn ended(&mut self) {
        if self.judge.progress() == Progress::Done {
            return self.end_well();
        }
        let AnyStreamJudge::Events(judge) = &mut self.judge else { return self.messages_ended() };
        match judge.finish(self.timed.get().id()) {
            Finish::Clean => {}
            Finish::Event { missing } => {
                if let Some(error) = self.strictly() {
                    return self.fail(error);
                }
                self.held.append_to(&mut self.out);
                self.out.push(Bytes::from_static(missing));
                self.event_ended();
            }
            Finish::Error => return self.refused(),
            Finish::Cut if self.rests() => return self.end_well(),
            Finish::Cut => return self.truncated("the stream ended within an event"),
            Finish::Flawed(flaw) => return self.flawed(flaw),
            Finish::Unframed => return self.unframed(),
        }
        if self.rests() {
            self.end_well();
        } else if self.timed.as_mut().flight().seen.events == 0 {
            self.flawed(Flaw::Empty);
        } else {
            self.truncated("the stream ended before its task rested");
        }
    }

    pub(super) fn truncated(&mut self, what: &'static str) {
        self.note_task_of_held();
        let error = self.timed.get().broken(Class::Truncated, what);
        self.fail(error);
    }

    pub(super) fn flawed(&mut self, flaw: Flaw) {
        // Only of gRPC is anything looked at behind the end of the task.
        if self.judge.progress() == Progress::Done {
            return self.end_well();
        }
        self.note_task_of_held();
        let error = self.timed.get().flawed(flaw);
        self.fail(error);
    }

    /// An event of the wrong shape, or the beginning of one, may still name the task that it leaves behind.
    pub(super) fn note_task_of_held(&mut self) {
        if self.held.is_empty() || self.timed.get().seen.task_id.is_some() {
            return;
        }
        let flight = self.timed.as_mut().flight();
        let tolerated = flight.seen.tolerated;
        match (&mut self.judge, self.expected) {
            (AnyStreamJudge::Messages(judge), _) => flight.note_facts(judge.last()),
            (_, StreamExpected::Events(expected)) => {
                let mut judge = Judge::new(expected);
                judge.feed(&event_data(&self.held.prefix(self.held.len())));
                judge.finish(flight.id());
                flight.note_facts(judge.facts());
            }
            _ => {}
        }
        flight.seen.tolerated = tolerated;
    }

    /// The task rests: whatever the transport does now, the stream is a success.
    pub(super) fn rests(&self) -> bool {
        self.judge.progress() != Progress::Open
    }

    pub(super) fn end_well(&mut self) {
        if self.is_grpc() {
            self.end_messages_well();
        }
        self.held.append_to(&mut self.out);
        self.timed.as_mut().flight().succeed_as_seen();
        self.over = true;
    }

    pub(super) fn fail(&mut self, error: CallError) {
        self.held.clear();
        self.trailers = None;
        if let Some(rescue) = self.timed.get().rescue(&error) {
            self.rescue = Some((rescue, error));
            return;
        }
        self.timed.as_mut().flight().fail(&error);
        self.failure = Some(error);
        self.over = true;
    }

    pub(super) fn end_of_rescue(&mut self, rescued: Option<Rescued>) {
        let Some((_, error)) = self.rescue.take() else { return };
        match (rescued, self.timed.get().origin()) {
            (Some(rescued), Some(origin)) => {
                let event = origin.event(&rescued);
                self.out.push(event);
                if self.is_grpc() {
                    self.end_messages_well();
                }
                self.timed.as_mut().flight().succeed_as_rescued(&rescued, 1);
            }
            _ => {
                self.timed.as_mut().flight().fail(&error);
                self.failure = Some(error);
            }
        }
        self.over = true;
    }
}
