//! What was accepted although the peer was slightly wrong.

use std::fmt;

/// The set of irregularities that a call met and that harmed nobody. A strict reader refuses a call for any of them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Tolerated(u16);

impl Tolerated {
    /// The JSON-RPC id came back as another JSON type: `1` as `"1"` (JSON-RPC 2.0 §5 wants the same value).
    pub const ID_TYPE_CHANGED: Self = Self(1);
    /// `"error": null` beside a result (JSON-RPC 2.0 §5: the member must not exist on success).
    pub const NULL_ERROR_MEMBER: Self = Self(1 << 1);
    /// `"result": null` beside an error (JSON-RPC 2.0 §5: the member must not exist on error).
    pub const NULL_RESULT_MEMBER: Self = Self(1 << 2);
    /// A stream began with an update instead of its task (A2A 1.0 §3.1.2).
    pub const FIRST_EVENT_NOT_TASK: Self = Self(1 << 3);
    /// An envelope without `"jsonrpc": "2.0"` (JSON-RPC 2.0 §5).
    pub const JSONRPC_MEMBER_MISSING: Self = Self(1 << 4);
    /// A 0.3 result without its `kind`, told by its members instead.
    pub const KIND_MISSING: Self = Self(1 << 5);
    /// A state as its number in `a2a.proto` (ProtoJSON takes it, A2A 1.0 §5.5 wants the name).
    pub const NUMERIC_STATE: Self = Self(1 << 6);
    /// A state of a name that nobody knows.
    pub const UNKNOWN_STATE: Self = Self(1 << 7);
    /// An event of another task in a task's stream.
    pub const OTHER_TASK_ID: Self = Self(1 << 8);
    /// A message in a stream that had begun as a task's (A2A 1.0 §3.1.2 knows streams of either kind).
    pub const MESSAGE_IN_TASK_STREAM: Self = Self(1 << 9);
    /// The last event lacked its blank line (the event stream format of the HTML standard, §9.2.6).
    pub const UNTERMINATED_EVENT: Self = Self(1 << 10);
    /// The stream was cut, and a later `GetTask` showed that the task had finished.
    pub const RECONCILED: Self = Self(1 << 11);
    /// A streaming call was answered with one JSON result, which was made into a stream of one event.
    pub const DOWNGRADE_ADAPTED: Self = Self(1 << 12);
    /// A gRPC message was compressed, and therefore not inspected: what it says of its task is not known.
    pub const COMPRESSED_MESSAGE: Self = Self(1 << 13);

    /// Adds what is in `other`.
    pub fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Takes away what is in `other`.
    pub(crate) fn remove(&mut self, other: Self) {
        self.0 &= !other.0;
    }

    /// What is in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True if everything in `other` is in here.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// True if nothing had to be tolerated.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The stable names of what is in here, as they stand in outcomes and metrics.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().filter(move |(flag, _)| self.contains(*flag)).map(|(_, name)| *name)
    }
}

const NAMES: [(Tolerated, &str); 14] = [
    (Tolerated::ID_TYPE_CHANGED, "id_type_changed"),
    (Tolerated::NULL_ERROR_MEMBER, "null_error_member"),
    (Tolerated::NULL_RESULT_MEMBER, "null_result_member"),
    (Tolerated::FIRST_EVENT_NOT_TASK, "first_event_not_task"),
    (Tolerated::JSONRPC_MEMBER_MISSING, "jsonrpc_member_missing"),
    (Tolerated::KIND_MISSING, "kind_missing"),
    (Tolerated::NUMERIC_STATE, "numeric_state"),
    (Tolerated::UNKNOWN_STATE, "unknown_state"),
    (Tolerated::OTHER_TASK_ID, "other_task_id"),
    (Tolerated::MESSAGE_IN_TASK_STREAM, "message_in_task_stream"),
    (Tolerated::UNTERMINATED_EVENT, "unterminated_event"),
    (Tolerated::RECONCILED, "reconciled"),
    (Tolerated::DOWNGRADE_ADAPTED, "downgrade_adapted"),
    (Tolerated::COMPRESSED_MESSAGE, "compressed_message"),
];

impl fmt::Debug for Tolerated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_distinct_and_named() {
        let mut all = Tolerated::default();
        assert!(all.is_empty());
        for (count, (flag, name)) in NAMES.into_iter().enumerate() {
            assert!(!all.contains(flag), "{name} shares a bit");
            all.insert(flag);
            assert_eq!(all.iter().count(), count + 1);
        }
        assert_eq!(
            format!("{:?}", Tolerated::ID_TYPE_CHANGED.union(Tolerated::RECONCILED)),
            r#"{"id_type_changed", "reconciled"}"#
        );
    }
}
