//! What a cell must come to.

use a2a_guard::{Binding, ProtocolVersion};

use crate::call::Ended;

/// How a call must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expect {
    pub(crate) outcome: &'static str,
    pub(crate) class: &'static str,
    /// The state that the task was last seen in; `None`: in none, there is no task.
    pub(crate) state: Option<State>,
    /// The A2A error's name, where the peer is clear about it.
    pub(crate) error: Option<&'static str>,
    /// What a lenient reader accepts here, and is told of.
    pub(crate) tolerated: Option<&'static str>,
}

/// The states in which tasks are seen here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Submitted,
    Working,
    Completed,
    Failed,
    Rejected,
    Canceled,
    InputRequired,
    AuthRequired,
}

impl State {
    /// Without the prefix of 1.0.
    fn upper(self) -> &'static str {
        match self {
            Self::Submitted => "SUBMITTED",
            Self::Working => "WORKING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Rejected => "REJECTED",
            Self::Canceled => "CANCELED",
            Self::InputRequired => "INPUT_REQUIRED",
            Self::AuthRequired => "AUTH_REQUIRED",
        }
    }

    /// As the wire spells it: lower case over JSON-RPC in 0.3, the enum's name everywhere else.
    fn spelled(self, version: ProtocolVersion, binding: Binding) -> String {
        match (version, binding) {
            (ProtocolVersion::V0_3, Binding::JsonRpc) => self.upper().to_ascii_lowercase().replace('_', "-"),
            // Its enum has the other spelling of this one.
            (ProtocolVersion::V0_3, _) if self == Self::Canceled => "TASK_STATE_CANCELLED".into(),
            _ => format!("TASK_STATE_{}", self.upper()),
        }
    }
}

const fn of(outcome: &'static str, class: &'static str) -> Expect {
    Expect { outcome, class, state: None, error: None, tolerated: None }
}

/// A success that is about no task.
pub(crate) const fn success() -> Expect {
    of("success", "success")
}

/// A success about a task in this state.
pub(crate) const fn rests(state: State) -> Expect {
    Expect { state: Some(state), ..of("success", "success") }
}

/// The peer's typed error.
pub(crate) const fn refused(error: &'static str) -> Expect {
    Expect { error: Some(error), ..of("refused", "peer_error") }
}

/// A refusal of another class, or one that is clear about nothing but itself.
pub(crate) const fn refused_as(class: &'static str) -> Expect {
    of("refused", class)
}

pub(crate) const fn broken(class: &'static str) -> Expect {
    of("broken", class)
}

pub(crate) const fn timed_out(class: &'static str) -> Expect {
    of("timeout", class)
}

/// Refused before anything is sent.
pub(crate) const fn card(class: &'static str) -> Expect {
    of("card", class)
}

pub(crate) const fn transport(class: &'static str) -> Expect {
    of("transport", class)
}

impl Expect {
    /// After the task was seen in this state.
    pub(crate) const fn after(self, state: State) -> Self {
        Self { state: Some(state), ..self }
    }

    pub(crate) const fn tolerating(self, what: &'static str) -> Self {
        Self { tolerated: Some(what), ..self }
    }

    /// What is not as it should be.
    pub(crate) fn judge(&self, ended: &Ended, version: ProtocolVersion, binding: Binding) -> Vec<String> {
        let mut wrong = ended.violations.clone();
        let what = format!("{}/{}", self.outcome, self.class);
        if ended.what != what {
            wrong.push(format!("{} instead of {what}", ended.what));
            return wrong;
        }
        let state = self.state.map(|state| state.spelled(version, binding));
        if ended.task_state != state.as_deref() {
            wrong.push(format!("task state {:?} instead of {state:?}", ended.task_state));
        }
        if self.error.is_some() && ended.a2a_error != self.error {
            wrong.push(format!("error {:?} instead of {:?}", ended.a2a_error, self.error));
        }
        let tolerated: Vec<_> = self.tolerated.into_iter().collect();
        if ended.tolerated != tolerated {
            wrong.push(format!("tolerated {:?} instead of {tolerated:?}", ended.tolerated));
        }
        if self.state.is_some() && ended.task_id.is_none() {
            wrong.push("no task id".into());
        }
        wrong
    }

    /// How it looks in the table.
    pub(crate) fn words(&self) -> String {
        let what = match self.outcome {
            "success" => "success".into(),
            outcome => format!("{outcome}/{}", self.class),
        };
        let state = self.state.map(State::upper);
        match self.error.map(|name| name.trim_end_matches("Error")).or(state) {
            Some(detail) => format!("{what} {detail}"),
            None => what,
        }
    }
}
