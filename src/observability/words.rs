//! What spans and labels call things: words of closed sets.

use crate::wire::StateKind;

/// A task's state as 1.0 spells it, whatever version its peer speaks.
pub(super) const fn state(kind: StateKind) -> &'static str {
    match kind {
        StateKind::Submitted => "TASK_STATE_SUBMITTED",
        StateKind::Working => "TASK_STATE_WORKING",
        StateKind::InputRequired => "TASK_STATE_INPUT_REQUIRED",
        StateKind::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
        StateKind::Completed => "TASK_STATE_COMPLETED",
        StateKind::Failed => "TASK_STATE_FAILED",
        StateKind::Canceled => "TASK_STATE_CANCELED",
        StateKind::Rejected => "TASK_STATE_REJECTED",
        StateKind::Unknown => "TASK_STATE_UNSPECIFIED",
    }
}

#[cfg(test)]
mod tests {
    use super::state;
    use crate::wire::TaskState;

    #[test]
    fn states_of_1_0_are_called_what_they_are_spelled() {
        for number in 0..9 {
            let as_sent = TaskState::from_number(number).unwrap();
            assert_eq!(state(as_sent.kind()), as_sent.as_str());
        }
    }
}
