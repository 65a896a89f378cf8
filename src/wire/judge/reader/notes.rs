//! What is noted of an answer.

use super::member::Members;
use crate::wire::json::JsonKind;

/// The objects that a payload may wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wire::judge) enum Wrapper {
    Task,
    Message,
    StatusUpdate,
    ArtifactUpdate,
}

/// What the member `kind` says (0.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wire::judge) enum KindMember {
    Task,
    Message,
    StatusUpdate,
    ArtifactUpdate,
    /// Something unknown, or no string.
    Other,
}

/// What stands where, and of which type.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::wire::judge) struct Notes {
    pub(in crate::wire::judge) root: Option<JsonKind>,
    /// Is `jsonrpc` there, and "2.0"?
    pub(in crate::wire::judge) jsonrpc: Option<bool>,
    pub(in crate::wire::judge) result: Option<JsonKind>,
    pub(in crate::wire::judge) error: Option<JsonKind>,
    /// An integer `code` beside the payload.
    pub(in crate::wire::judge) code: Option<i64>,
    /// A string `message` beside the payload.
    pub(in crate::wire::judge) text: bool,
    /// A `type` that is one of A2A's problem types (§11.6), where an envelope or a result is due.
    pub(in crate::wire::judge) problem_type: bool,
    /// A string `detail` in a payload that is not looked at otherwise …
    pub(in crate::wire::judge) detail: bool,
    /// … and any member that no error has.
    pub(in crate::wire::judge) other: bool,
    pub(in crate::wire::judge) kind: Option<KindMember>,
    /// The first object that the payload wraps …
    pub(in crate::wire::judge) wrapper: Option<Wrapper>,
    /// … and whether there is a second one …
    pub(in crate::wire::judge) second_wrapper: bool,
    /// … or one of these members is neither an object nor null.
    pub(in crate::wire::judge) improper_wrapper: bool,
    pub(in crate::wire::judge) bare: Members,
    pub(in crate::wire::judge) inner: Members,
    /// A member that matters stood there twice.
    pub(in crate::wire::judge) duplicate: bool,
    /// One bit for each slot of envelope and payload.
    pub(super) seen: u16,
    /// The object whose status is being read is the wrapped one.
    pub(super) status_is_inner: bool,
}
