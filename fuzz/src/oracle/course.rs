//! The course of a stream, by the rules for the single answers in it.

use a2a_guard::wire::{Expected, PayloadKind, Progress, StateKind, TaskState};

use super::{
    answer::{Id, Ruling, Said, names_something, rule},
    events::Events,
    messages, tree,
};

/// How a stream ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// Between two events.
    Clean,
    /// With an event that lacks only its blank line.
    Unterminated,
    Error,
    /// With what is neither.
    Failed,
    /// One of the two.
    ErrorOrFailed,
    /// It is one JSON document.
    Unframed,
}

fn is_object(data: &[u8]) -> bool {
    tree::root(data).is_some_and(|root| tree::kind(root) == tree::Kind::Object)
}

/// How far a stream comes, and how it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    pub events: u64,
    pub task_id: String,
    pub state: Option<TaskState>,
    pub progress: Progress,
    /// How far it had come before an event without its end, which is one by the end of its body only.
    pub before_unterminated: Progress,
    pub end: End,
    /// The place behind the last event that may be handed on.
    pub passed: usize,
}

impl Course {
    /// Before the first event.
    pub const BEGIN: Self = Self {
        events: 0,
        task_id: String::new(),
        state: None,
        progress: Progress::Open,
        before_unterminated: Progress::Open,
        end: End::Clean,
        passed: 0,
    };

    /// That of a whole body.
    #[must_use]
    pub fn of_events(events: &Events, expected: Expected, id: Id<'_>, body: &[u8]) -> Self {
        let mut course = Self::BEGIN;
        match body.iter().find(|byte| !b" \t\r\n\xef\xbb\xbf".contains(byte)) {
            Some(b'{' | b'[') => return Self { end: End::Unframed, ..course },
            Some(b'<') => return Self { end: End::Failed, ..course },
            _ => {}
        }
        for event in &events.events {
            let before = course.progress;
            match rule(expected, id, &event.data) {
                Ruling::Valid(said) => course.take(&said),
                Ruling::Error => return Self { end: End::Error, ..course },
                // An object that says nothing of a task is meant as an error under that name.
                Ruling::Violation if event.is_error && is_object(&event.data) => {
                    let end = match names_something(expected, &event.data) {
                        Some(true) => End::Failed,
                        Some(false) => End::Error,
                        None => End::ErrorOrFailed,
                    };
                    return Self { end, ..course };
                }
                _ => return Self { end: End::Failed, ..course },
            }
            course.passed = event.end;
            if !event.terminated {
                course.end = End::Unterminated;
                course.before_unterminated = before;
            }
            if course.progress == Progress::Done {
                return course;
            }
        }
        if events.unfinished || (events.junk && course.events == 0) {
            course.end = End::Failed;
        }
        course
    }

    /// The same over gRPC.
    pub fn take_message(&mut self, said: &messages::Said) {
        let messages::Said { kind, task_id, context_id, state, .. } = said;
        let (task_id, context_id) = (task_id.clone(), context_id.clone());
        self.take(&Said { kind: *kind, task_id, context_id, state: *state });
    }

    /// A2A 1.0 §3.1.2: one message, or the course of one task.
    pub fn take(&mut self, said: &Said) {
        self.events += 1;
        if said.kind == PayloadKind::Message {
            if self.task_id.is_empty() {
                self.progress = Progress::Done;
            }
            return;
        }
        if self.task_id.is_empty() {
            self.task_id.clone_from(&said.task_id);
        }
        let speaks_of_it = matches!(said.kind, PayloadKind::Task | PayloadKind::StatusUpdate);
        if self.task_id == said.task_id && speaks_of_it {
            self.state = said.state;
            self.progress = match said.state.map(TaskState::kind) {
                Some(StateKind::InputRequired) => Progress::InputRequired,
                Some(StateKind::AuthRequired) => Progress::AuthRequired,
                Some(StateKind::Completed | StateKind::Failed | StateKind::Canceled | StateKind::Rejected) => {
                    Progress::Done
                }
                _ => Progress::Open,
            };
        }
    }
}
