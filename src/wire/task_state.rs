//! Task states, in the spelling of every version of A2A.

use std::fmt;

/// What a state means, however it is spelled (A2A 1.0 §4.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StateKind {
    /// The agent has the task and has not begun.
    Submitted,
    /// The agent is at work.
    Working,
    /// Interrupted: the agent waits for the caller's answer.
    InputRequired,
    /// Interrupted: the agent waits for a credential, which may come by another way.
    AuthRequired,
    /// Terminal: done.
    Completed,
    /// Terminal: the agent failed. The *call* that tells so succeeded.
    Failed,
    /// Terminal: canceled.
    Canceled,
    /// Terminal: the agent will not do it.
    Rejected,
    /// `unknown` (0.3) and `TASK_STATE_UNSPECIFIED` (1.0): says nothing.
    Unknown,
}

/// A task's state as the peer spelled it.
///
/// Known spellings only: 1.0 (`TASK_STATE_COMPLETED`) and 0.3 or older (`completed`).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TaskState(u8);

use StateKind::{AuthRequired, Canceled, Completed, Failed, InputRequired, Rejected, Submitted, Unknown, Working};

/// Every known spelling. The first nine stand in the order of `enum TaskState` in `a2a.proto`, so that its numbers
/// index them.
const SPELLINGS: [(&str, StateKind); 20] = [
    ("TASK_STATE_UNSPECIFIED", Unknown),
    ("TASK_STATE_SUBMITTED", Submitted),
    ("TASK_STATE_WORKING", Working),
    ("TASK_STATE_COMPLETED", Completed),
    ("TASK_STATE_FAILED", Failed),
    ("TASK_STATE_CANCELED", Canceled),
    ("TASK_STATE_INPUT_REQUIRED", InputRequired),
    ("TASK_STATE_REJECTED", Rejected),
    ("TASK_STATE_AUTH_REQUIRED", AuthRequired),
    // 0.3 called number 5 so in its proto.
    ("TASK_STATE_CANCELLED", Canceled),
    ("submitted", Submitted),
    ("working", Working),
    ("completed", Completed),
    ("failed", Failed),
    ("canceled", Canceled),
    ("cancelled", Canceled),
    ("input-required", InputRequired),
    ("rejected", Rejected),
    ("auth-required", AuthRequired),
    ("unknown", Unknown),
];

/// How many of [`SPELLINGS`] are numbers of the proto.
const NUMBERED: u32 = 9;

impl TaskState {
    /// The state that is spelled exactly so.
    #[must_use]
    pub fn from_wire(text: &[u8]) -> Option<Self> {
        SPELLINGS.iter().position(|(spelling, _)| spelling.as_bytes() == text).map(|index| Self(index as u8))
    }

    /// The state with this number in `a2a.proto`.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        (number < NUMBERED).then_some(Self(number as u8))
    }

    fn entry(self) -> (&'static str, StateKind) {
        SPELLINGS.get(usize::from(self.0)).copied().unwrap_or(("TASK_STATE_UNSPECIFIED", Unknown))
    }

    /// The state as it was spelled on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.entry().0
    }

    /// What the state means.
    #[must_use]
    pub fn kind(self) -> StateKind {
        self.entry().1
    }

    /// True for the four states that a task never leaves.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self.kind(), Completed | Failed | Canceled | Rejected)
    }

    /// True for the two states in which a task waits for somebody else.
    #[must_use]
    pub fn is_interrupted(self) -> bool {
        matches!(self.kind(), InputRequired | AuthRequired)
    }
}

impl fmt::Debug for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_reads_back_as_itself() {
        for (spelling, kind) in SPELLINGS {
            let state = TaskState::from_wire(spelling.as_bytes()).unwrap();
            assert_eq!(state.as_str(), spelling);
            assert_eq!(state.kind(), kind);
            assert_eq!((state.to_string(), format!("{state:?}")), (spelling.to_owned(), spelling.to_owned()));
        }
        assert_eq!(format!("{:>10}|", TaskState::from_wire(b"working").unwrap()), "   working|");
        assert_eq!(TaskState::from_wire(b"TASK_STATE_COMPLETE"), None);
        assert_eq!(TaskState::from_wire(b"Completed"), None);
        assert_eq!(TaskState::from_wire(b""), None);
    }

    #[test]
    fn numbers_are_those_of_the_proto() {
        let names: Vec<_> = (0..9).map(|number| TaskState::from_number(number).unwrap().as_str()).collect();
        assert_eq!(names[3], "TASK_STATE_COMPLETED");
        assert_eq!(names[5], "TASK_STATE_CANCELED");
        assert_eq!(names[6], "TASK_STATE_INPUT_REQUIRED");
        assert_eq!(names[8], "TASK_STATE_AUTH_REQUIRED");
        assert_eq!(TaskState::from_number(9), None);
    }

    #[test]
    fn terminal_and_interrupted_exclude_each_other() {
        for (spelling, _) in SPELLINGS {
            let state = TaskState::from_wire(spelling.as_bytes()).unwrap();
            assert!(!(state.is_terminal() && state.is_interrupted()), "{state}");
        }
        assert!(TaskState::from_wire(b"rejected").unwrap().is_terminal());
        assert!(TaskState::from_wire(b"auth-required").unwrap().is_interrupted());
    }
}
