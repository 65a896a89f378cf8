//! Decides what a result is, by the rules of its dialect, and whether it has what it needs.

use super::reader::{KindMember, Member, Members, Reader, Wrapper};
use super::{Flaw, Payload, PayloadKind, Verdict, Wrapping};
use crate::wire::json::JsonKind;
use crate::wire::tolerated::Tolerated;

impl Reader {
    /// Is `value`, the kind of the result, what was expected?
    pub(super) fn judge_payload(&mut self, value: Option<JsonKind>) -> Result<Verdict, Flaw> {
        let is_object = value == Some(JsonKind::Object);
        let fits = match self.expected.payload {
            Payload::Anything => true,
            Payload::ObjectOrArray => is_object || value == Some(JsonKind::Array),
            Payload::Object => is_object,
            Payload::Task | Payload::SendResult | Payload::StreamEvent => {
                return self.judge_typed(is_object);
            }
        };
        if !fits {
            return Err(Flaw::Violation("a result that is no object"));
        }
        if self.expected.payload != Payload::Anything && self.is_mere_words() {
            return Err(Flaw::Violation("an error's words where a result is due"));
        }
        self.facts.kind = PayloadKind::Other;
        Ok(Verdict::Valid)
    }

    fn judge_typed(&mut self, is_object: bool) -> Result<Verdict, Flaw> {
        if !is_object {
            return Err(Flaw::Violation("a result that is no object"));
        }
        let (kind, members) = match (self.expected.payload, self.expected.wrapping) {
            (Payload::Task, wrapping) => (self.bare_task(wrapping)?, self.notes.bare),
            (_, Wrapping::Member) => (self.wrapped()?, self.notes.inner),
            (_, Wrapping::Kind) => (self.named_by_kind()?, self.notes.bare),
            (_, Wrapping::Legacy) => (self.legacy()?, self.notes.bare),
        };
        self.facts.kind = kind;
        let is_update = matches!(kind, PayloadKind::StatusUpdate | PayloadKind::ArtifactUpdate);
        if is_update && self.expected.payload != Payload::StreamEvent {
            return Err(Flaw::Violation("an update where a task or message is due"));
        }
        self.judge_members(kind, members)?;
        self.forget_others(kind);
        Ok(Verdict::Valid)
    }

    /// A2A 1.0 §9.4.1 and §3.2.3: exactly one member that says what it is.
    fn wrapped(&self) -> Result<PayloadKind, Flaw> {
        let Some(wrapper) = self.notes.wrapper else {
            return Err(Flaw::Violation(if self.bare_kind() != PayloadKind::None {
                "a bare result where a wrapped one is due"
            } else if self.expected.payload == Payload::StreamEvent {
                "none of task, message, statusUpdate and artifactUpdate"
            } else {
                "neither a task nor a message"
            }));
        };
        if self.notes.second_wrapper {
            return Err(Flaw::Violation("more than one of task, message, statusUpdate and artifactUpdate"));
        }
        if self.notes.improper_wrapper {
            return Err(Flaw::Violation("a task, message or update that is no object"));
        }
        Ok(wrapper.into())
    }

    /// 0.3: `kind` says what it is; some servers leave it out.
    fn named_by_kind(&mut self) -> Result<PayloadKind, Flaw> {
        match self.notes.kind {
            Some(KindMember::Task) => Ok(PayloadKind::Task),
            Some(KindMember::Message) => Ok(PayloadKind::Message),
            Some(KindMember::StatusUpdate) => Ok(PayloadKind::StatusUpdate),
            Some(KindMember::ArtifactUpdate) => Ok(PayloadKind::ArtifactUpdate),
            Some(KindMember::Other) => Err(Flaw::Violation("a kind that is not known")),
            None => {
                let kind = self.told_by_members()?;
                self.facts.tolerated.insert(Tolerated::KIND_MISSING);
                Ok(kind)
            }
        }
    }

    /// 0.2: nothing says what it is, and updates have the task's id as `id`.
    fn legacy(&self) -> Result<PayloadKind, Flaw> {
        self.told_by_members()
    }

    fn told_by_members(&self) -> Result<PayloadKind, Flaw> {
        match self.bare_kind() {
            PayloadKind::None if self.notes.wrapper.is_some() => {
                Err(Flaw::Violation("a wrapped result where a bare one is due"))
            }
            PayloadKind::None => Err(Flaw::Violation("neither a task nor a message")),
            kind => Ok(kind),
        }
    }

    /// Get, cancel and the like: the task itself, in every dialect.
    fn bare_task(&mut self, wrapping: Wrapping) -> Result<PayloadKind, Flaw> {
        let is_kind_dialect = wrapping == Wrapping::Kind;
        match self.notes.kind {
            Some(kind) if is_kind_dialect && kind != KindMember::Task => {
                return Err(Flaw::Violation("no task, by its kind"));
            }
            None if is_kind_dialect => self.facts.tolerated.insert(Tolerated::KIND_MISSING),
            _ => {}
        }
        if self.notes.wrapper.is_some() && !self.notes.bare.names(Member::Id) {
            return Err(Flaw::Violation("a wrapped result where a bare one is due"));
        }
        Ok(PayloadKind::Task)
    }

    /// Whether an update may have its task's id as `id`. 0.3 and 0.2 spell `tasks/resubscribe` alike, so that events
    /// without a `kind` may be an older server's.
    fn may_be_legacy(&self) -> bool {
        match self.expected.wrapping {
            Wrapping::Legacy => true,
            Wrapping::Kind => self.notes.kind.is_none(),
            Wrapping::Member => false,
        }
    }

    /// What the bare payload looks like.
    fn bare_kind(&self) -> PayloadKind {
        let names = |member| self.notes.bare.names(member);
        let is_legacy = self.expected.wrapping == Wrapping::Legacy;
        let points_to_task = names(Member::TaskId) || (self.may_be_legacy() && names(Member::Id));
        if names(Member::Id) && names(Member::Status) && !(is_legacy && names(Member::Final)) {
            PayloadKind::Task
        } else if points_to_task && names(Member::Status) {
            PayloadKind::StatusUpdate
        } else if points_to_task && names(Member::Artifact) {
            PayloadKind::ArtifactUpdate
        } else if names(Member::MessageId) || (names(Member::Parts) && names(Member::Role)) {
            PayloadKind::Message
        } else {
            PayloadKind::None
        }
    }

    fn judge_members(&self, kind: PayloadKind, members: Members) -> Result<(), Flaw> {
        let points_to_task = members.has(Member::TaskId) || (self.may_be_legacy() && members.has(Member::Id));
        let has_state = members.has(Member::Status) && members.has(Member::State);
        let is_message = members.has(Member::MessageId) || members.has(Member::Parts) || members.has(Member::Role);
        let missing = match kind {
            PayloadKind::Task if !members.has(Member::Id) => "a task without its id",
            PayloadKind::Task if !has_state => "a task without its state",
            PayloadKind::StatusUpdate | PayloadKind::ArtifactUpdate if !points_to_task => {
                "an update without its task's id"
            }
            PayloadKind::StatusUpdate if !has_state => "a status update without a state",
            PayloadKind::Message if !is_message => "a message with nothing in it",
            _ => return Ok(()),
        };
        Err(Flaw::Violation(missing))
    }

    /// Does an HTTP+JSON body hold a result, be it a proper one or not?
    pub(super) fn has_result(&self) -> bool {
        match self.expected.payload {
            Payload::Task => self.bare_kind() == PayloadKind::Task,
            Payload::SendResult | Payload::StreamEvent => self.notes.wrapper.is_some(),
            Payload::Object | Payload::ObjectOrArray | Payload::Anything => false,
        }
    }

    /// Fills in what the verdict did not need, so that an answer of the wrong shape still names its task.
    pub(super) fn complete_facts(&mut self) {
        if self.facts.kind == PayloadKind::None && self.is_typed() {
            self.facts.kind = match self.notes.wrapper {
                Some(wrapper) => wrapper.into(),
                None => self.bare_kind(),
            };
        }
        let is_bare_message =
            self.facts.kind == PayloadKind::Message && (self.notes.wrapper.is_none() || !self.is_wrapped());
        if is_bare_message && !self.notes.bare.has(Member::TaskId) {
            self.facts.task_id.clear();
        }
    }
}

impl From<Wrapper> for PayloadKind {
    fn from(wrapper: Wrapper) -> Self {
        match wrapper {
            Wrapper::Task => Self::Task,
            Wrapper::Message => Self::Message,
            Wrapper::StatusUpdate => Self::StatusUpdate,
            Wrapper::ArtifactUpdate => Self::ArtifactUpdate,
        }
    }
}
