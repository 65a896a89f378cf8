//! Notes what stands in an answer, member by member; nothing is decided here.
//!
//! There are four places of interest, one inside the other: the JSON-RPC envelope, the payload (a JSON-RPC result, or the whole of
//! an HTTP+JSON body), the object that the payload wraps, and a status.

use super::name::Name;
use super::{Envelope, Expected, Facts, Payload, PayloadKind, Wrapping};
use crate::wire::id::AnswerId;
use crate::wire::json::{JsonKind, JsonVisitor, Scope, Slot};
use crate::wire::peer_error::{A2aError, integer_of};
use crate::wire::task_state::TaskState;
use crate::wire::template::Value;
use crate::wire::tolerated::Tolerated;

const ENVELOPE: Scope = Scope(1);
const PAYLOAD: Scope = Scope(2);
const WRAPPED: Scope = Scope(3);
const STATUS: Scope = Scope(4);

// Slots of the envelope, each a bit of `Reader::seen`.
const JSONRPC: Slot = Slot(1);
const ID: Slot = Slot(2);
const RESULT: Slot = Slot(3);
const ERROR: Slot = Slot(4);
const CODE: Slot = Slot(5);
const TEXT: Slot = Slot(6);
// Slots of the payload.
const TASK: Slot = Slot(7);
const MESSAGE: Slot = Slot(8);
const STATUS_UPDATE: Slot = Slot(9);
const ARTIFACT_UPDATE: Slot = Slot(10);
const KIND: Slot = Slot(11);
// Slots of a payload that is not looked at otherwise.
const DETAIL: Slot = Slot(12);
const TYPE: Slot = Slot(13);
const LAST_SEEN: u8 = 13;
/// Slots of members of a task, message or update that stands bare in the payload begin here …
const BARE: u8 = 32;
/// … and of a wrapped one here.
const INNER: u8 = 64;
const LAST_INNER: u8 = 95;

/// What may have to be tolerated of a state.
const STATE_FLAGS: Tolerated = Tolerated::NUMERIC_STATE.union(Tolerated::UNKNOWN_STATE);

/// A member of a task, message or update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Member {
    Id,
    TaskId,
    ContextId,
    Status,
    State,
    Artifact,
    Final,
    MessageId,
    Parts,
    Role,
}

impl Member {
    const ALL: [Self; 10] = [
        Self::Id,
        Self::TaskId,
        Self::ContextId,
        Self::Status,
        Self::State,
        Self::Artifact,
        Self::Final,
        Self::MessageId,
        Self::Parts,
        Self::Role,
    ];

    fn named(name: Name) -> Option<Self> {
        Some(match name {
            Name::Id => Self::Id,
            Name::TaskId => Self::TaskId,
            Name::ContextId => Self::ContextId,
            Name::Status => Self::Status,
            Name::Artifact => Self::Artifact,
            Name::Final => Self::Final,
            Name::MessageId => Self::MessageId,
            Name::Parts => Self::Parts,
            Name::Role => Self::Role,
            _ => return None,
        })
    }

    /// The kinds of scalar that it may be, a bit for each.
    fn scalars(self) -> u8 {
        const STRING: u8 = 1 << JsonKind::String as u8;
        const NUMBER: u8 = 1 << JsonKind::Number as u8;
        const BOOL: u8 = 1 << JsonKind::Bool as u8;
        match self {
            Self::Id | Self::TaskId | Self::ContextId | Self::MessageId | Self::Role => STRING,
            Self::State => STRING | NUMBER,
            Self::Final => BOOL,
            Self::Status | Self::Artifact | Self::Parts => 0,
        }
    }

    fn is_never_empty(self) -> bool {
        matches!(self, Self::Id | Self::TaskId | Self::State)
    }

    fn bit(self) -> u16 {
        1 << self as u8
    }
}

/// Which members an object has, and which of them are of the right type and not empty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Members {
    present: u16,
    proper: u16,
}

impl Members {
    /// Is it there, as what it should be?
    pub(super) fn has(self, member: Member) -> bool {
        self.proper & member.bit() != 0
    }

    /// Is it there at all?
    pub(super) fn names(self, member: Member) -> bool {
        self.present & member.bit() != 0
    }
}

/// The objects that a payload may wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapper {
    Task,
    Message,
    StatusUpdate,
    ArtifactUpdate,
}

/// What the member `kind` says (0.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KindMember {
    Task,
    Message,
    StatusUpdate,
    ArtifactUpdate,
    /// Something unknown, or no string.
    Other,
}

/// What stands in one answer.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    pub(super) expected: Expected,
    pub(super) facts: Facts,
    pub(super) id: AnswerId,
    pub(super) notes: Notes,
}

/// What stands where, and of which type.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notes {
    pub(super) root: Option<JsonKind>,
    /// Is `jsonrpc` there, and "2.0"?
    pub(super) jsonrpc: Option<bool>,
    pub(super) result: Option<JsonKind>,
    pub(super) error: Option<JsonKind>,
    /// An integer `code` beside the payload.
    pub(super) code: Option<i64>,
    /// A string `message` beside the payload.
    pub(super) text: bool,
    /// A `type` that is one of A2A's problem types (§11.6), where an envelope or a result is due.
    pub(super) problem_type: bool,
    /// A string `detail` in a payload that is not looked at otherwise …
    pub(super) detail: bool,
    /// … and any member that no error has.
    pub(super) other: bool,
    pub(super) kind: Option<KindMember>,
    /// The first object that the payload wraps …
    pub(super) wrapper: Option<Wrapper>,
    /// … and whether there is a second one …
    pub(super) second_wrapper: bool,
    /// … or one of these members is neither an object nor null.
    pub(super) improper_wrapper: bool,
    pub(super) bare: Members,
    pub(super) inner: Members,
    /// A member that matters stood there twice.
    pub(super) duplicate: bool,
    /// One bit for each slot of envelope and payload.
    seen: u16,
    /// The object whose status is being read is the wrapped one.
    status_is_inner: bool,
}

impl Reader {
    #[inline]
    pub(super) fn new(expected: Expected) -> Self {
        Self { expected, facts: Facts::default(), id: AnswerId::default(), notes: Notes::default() }
    }

    pub(super) fn clear(&mut self) {
        self.facts.clear();
        self.id.clear();
        self.notes = Notes::default();
    }

    /// What a string or a number in this slot is to the verdict.
    pub(super) fn value_in(slot: Slot) -> Value {
        match (slot, member_of(slot)) {
            // Of these it is only asked whether they are there, and strings.
            (Slot::IGNORED, _) | (_, Some((Member::MessageId | Member::Role, _))) => Value::Ignored,
            (ID, _) => Value::Id,
            (_, Some((Member::Id | Member::TaskId, _))) => Value::TaskId,
            (_, Some((Member::ContextId, _))) => Value::ContextId,
            _ => Value::Minded,
        }
    }

    /// Does the payload have members that are looked at?
    pub(super) fn is_typed(&self) -> bool {
        matches!(self.expected.payload, Payload::SendResult | Payload::Task | Payload::StreamEvent)
    }

    /// `{code, message}` where an envelope or a result is due. In JSON-RPC the code must be one of its own (§5.1).
    pub(super) fn is_code_and_message(&self, json_rpc: bool) -> bool {
        let known = |code| !json_rpc || (-32768..=-32000).contains(&code);
        self.notes.text && self.notes.code.is_some_and(known)
    }

    /// Words, and nothing but words, where some object was due: `{"message": …}`, `{"detail": …}`. In an envelope they stand
    /// beside the result, and say nothing of it.
    pub(super) fn is_mere_words(&self) -> bool {
        let Notes { text, detail, other, .. } = self.notes;
        self.expected.envelope == Envelope::Bare && (text || detail) && !other
    }

    #[inline]
    fn payload_key(&mut self, name: Option<Name>) -> Slot {
        if !self.is_typed() {
            return self.untyped_key(name);
        }
        match name {
            Some(Name::Error) if self.expected.envelope == Envelope::Bare => ERROR,
            Some(Name::Code) if self.expected.envelope == Envelope::Bare => CODE,
            Some(Name::Type) if self.expected.envelope == Envelope::Bare => TYPE,
            Some(Name::Task) => TASK,
            Some(Name::Message) => MESSAGE,
            Some(Name::StatusUpdate) => STATUS_UPDATE,
            Some(Name::ArtifactUpdate) => ARTIFACT_UPDATE,
            Some(Name::Kind) => KIND,
            Some(Name::SessionId) if self.expected.wrapping == Wrapping::Legacy => Slot(BARE + Member::ContextId as u8),
            Some(name) => Self::member_key(BARE, name),
            None => Slot::IGNORED,
        }
    }

    /// Of a payload whose members are not looked at, except that it may be an error instead.
    #[inline(never)]
    fn untyped_key(&mut self, name: Option<Name>) -> Slot {
        match name {
            Some(Name::Error) if self.expected.envelope == Envelope::Bare => return ERROR,
            Some(Name::Code) if self.expected.envelope == Envelope::Bare => return CODE,
            Some(Name::Message) => return TEXT,
            Some(Name::Detail) => return DETAIL,
            Some(Name::Type) => return TYPE,
            Some(Name::Title | Name::Status | Name::Instance | Name::Details) => {}
            _ => self.notes.other = true,
        }
        Slot::IGNORED
    }

    #[inline]
    fn member_key(base: u8, name: Name) -> Slot {
        match Member::named(name) {
            Some(member) => Slot(base + member as u8),
            None => Slot::IGNORED,
        }
    }

    fn note_duplicate(&mut self, slot: Slot) {
        match member_of(slot) {
            Some((member, is_inner)) => {
                let members = self.members(is_inner);
                let twice = members.names(member);
                members.present |= member.bit();
                self.notes.duplicate |= twice;
            }
            None if slot.0 <= LAST_SEEN => {
                let bit = 1 << slot.0;
                self.notes.duplicate |= self.notes.seen & bit != 0;
                self.notes.seen |= bit;
            }
            None => {}
        }
    }

    fn members(&mut self, is_inner: bool) -> &mut Members {
        if is_inner { &mut self.notes.inner } else { &mut self.notes.bare }
    }

    fn begin_wrapper(&mut self, wrapper: Wrapper, kind: JsonKind) -> Scope {
        if kind != JsonKind::Object {
            self.notes.improper_wrapper = true;
            return Scope::SKIPPED;
        }
        if self.notes.wrapper.is_some() {
            self.notes.second_wrapper = true;
            return Scope::SKIPPED;
        }
        self.notes.wrapper = Some(wrapper);
        if self.is_wrapped() && self.notes.bare.present != 0 {
            // What stood before it is not its own.
            self.facts.clear();
        }
        WRAPPED
    }

    fn begin_member(&mut self, member: Member, is_inner: bool, kind: JsonKind) -> Scope {
        let is_proper = match member {
            Member::Status | Member::Artifact => kind == JsonKind::Object,
            Member::Parts => kind == JsonKind::Array,
            _ => false,
        };
        if !is_proper {
            return Scope::SKIPPED;
        }
        self.members(is_inner).proper |= member.bit();
        if member == Member::Status {
            self.notes.status_is_inner = is_inner;
            return STATUS;
        }
        Scope::SKIPPED
    }

    fn member(&mut self, member: Member, is_inner: bool, kind: JsonKind, text: &[u8], cut: bool) {
        let is_proper = member.scalars() & (1 << kind as u8) != 0;
        if !is_proper || (text.is_empty() && member.is_never_empty()) {
            return;
        }
        self.members(is_inner).proper |= member.bit();
        if !self.counts(member, is_inner) {
            return;
        }
        match member {
            Member::Id | Member::TaskId => self.facts.task_id.set(text, cut),
            Member::ContextId => self.facts.context_id.set(text, cut),
            Member::State => self.state(kind, text),
            Member::Final => self.facts.is_final = text == b"true",
            _ => {}
        }
    }

    /// Is the result the object that it wraps, and not the one around that?
    pub(super) fn is_wrapped(&self) -> bool {
        self.expected.wrapping == Wrapping::Member && self.expected.payload != Payload::Task
    }

    /// Members of the result itself come before those of an object in it or around it, in whatever order they stand. As long as there is no such
    /// member, the other one's is what is known.
    fn counts(&self, member: Member, is_inner: bool) -> bool {
        let bare = self.notes.bare;
        let is_id = matches!(member, Member::Id | Member::TaskId);
        if is_inner {
            // A task's own id is `id`, all others point to it by `taskId`.
            let names = !is_id || (member == Member::Id) == (self.notes.wrapper == Some(Wrapper::Task));
            let is_told = bare.has(member) || (is_id && (bare.has(Member::Id) || bare.has(Member::TaskId)));
            return names && (self.is_wrapped() || !is_told);
        }
        if self.is_wrapped() && self.notes.wrapper.is_some() {
            return false;
        }
        match member {
            Member::TaskId if self.expected.payload == Payload::Task => !bare.has(Member::Id),
            // It may be either, and its kind may be told later.
            Member::Id if self.expected.payload != Payload::Task => !bare.has(Member::TaskId),
            _ => true,
        }
    }

    /// The result is of this kind: forgets what came from an object in it, and a state that is none of its own.
    pub(super) fn forget_others(&mut self, kind: PayloadKind) {
        let has_state = matches!(kind, PayloadKind::Task | PayloadKind::StatusUpdate);
        let mut keeps_state = has_state;
        if !self.is_wrapped() && self.notes.wrapper.is_some() {
            let bare = self.notes.bare;
            if !bare.has(Member::Id) && !bare.has(Member::TaskId) {
                self.facts.task_id.clear();
            }
            if !bare.has(Member::ContextId) {
                self.facts.context_id.clear();
            }
            self.facts.is_final &= bare.has(Member::Final);
            keeps_state &= bare.has(Member::State);
        }
        if !keeps_state {
            self.facts.state = None;
            self.facts.tolerated.remove(STATE_FLAGS);
        }
    }

    fn state(&mut self, kind: JsonKind, text: &[u8]) {
        self.facts.tolerated.remove(STATE_FLAGS);
        if kind == JsonKind::Number {
            self.facts.tolerated.insert(Tolerated::NUMERIC_STATE);
            self.facts.state =
                std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).and_then(TaskState::from_number);
        } else {
            self.facts.state = TaskState::from_wire(text);
        }
        if self.facts.state.is_none() {
            self.facts.tolerated.insert(Tolerated::UNKNOWN_STATE);
        }
    }
}

fn member_of(slot: Slot) -> Option<(Member, bool)> {
    let (base, is_inner) = match slot.0 {
        BARE..INNER => (BARE, false),
        INNER..=LAST_INNER => (INNER, true),
        _ => return None,
    };
    let member = Member::ALL.get(usize::from(slot.0 - base))?;
    Some((*member, is_inner))
}

fn wrapper_of(slot: Slot) -> Option<Wrapper> {
    Some(match slot {
        TASK => Wrapper::Task,
        MESSAGE => Wrapper::Message,
        STATUS_UPDATE => Wrapper::StatusUpdate,
        ARTIFACT_UPDATE => Wrapper::ArtifactUpdate,
        _ => return None,
    })
}

impl JsonVisitor for Reader {
    fn key(&mut self, scope: Scope, key: &[u8]) -> Slot {
        let name = Name::of(key);
        let slot = match (scope, name) {
            (PAYLOAD, _) => self.payload_key(name),
            (WRAPPED, Some(name)) => Self::member_key(INNER, name),
            (ENVELOPE, Some(name)) => match name {
                Name::JsonRpc => JSONRPC,
                Name::Id => ID,
                Name::Result => RESULT,
                Name::Error => ERROR,
                Name::Code => CODE,
                Name::Message => TEXT,
                Name::Type => TYPE,
                _ => Slot::IGNORED,
            },
            (STATUS, Some(Name::State)) => {
                let base = if self.notes.status_is_inner { INNER } else { BARE };
                Slot(base + Member::State as u8)
            }
            _ => Slot::IGNORED,
        };
        if slot != Slot::IGNORED {
            self.note_duplicate(slot);
        }
        slot
    }

    fn begin(&mut self, slot: Slot, kind: JsonKind) -> Scope {
        match slot {
            Slot::ROOT => {
                self.notes.root = Some(kind);
                match self.expected.envelope {
                    Envelope::JsonRpc => ENVELOPE,
                    Envelope::Bare => PAYLOAD,
                }
            }
            RESULT => {
                self.notes.result = Some(kind);
                if self.is_typed() { PAYLOAD } else { Scope::SKIPPED }
            }
            ERROR => {
                self.notes.error = Some(kind);
                Scope::SKIPPED
            }
            ID => {
                self.id.set(kind, &[], false);
                Scope::SKIPPED
            }
            JSONRPC => {
                self.notes.jsonrpc = Some(false);
                Scope::SKIPPED
            }
            KIND => {
                self.notes.kind = Some(KindMember::Other);
                Scope::SKIPPED
            }
            _ => match (wrapper_of(slot), member_of(slot)) {
                (Some(wrapper), _) => self.begin_wrapper(wrapper, kind),
                (_, Some((member, is_inner))) => self.begin_member(member, is_inner, kind),
                _ => Scope::SKIPPED,
            },
        }
    }

    fn scalar(&mut self, slot: Slot, kind: JsonKind, text: &[u8], cut: bool) {
        let is_string = kind == JsonKind::String;
        match slot {
            Slot::ROOT => self.notes.root = Some(kind),
            JSONRPC => self.notes.jsonrpc = Some(is_string && text == b"2.0"),
            ID => self.id.set(kind, text, cut),
            RESULT => self.notes.result = Some(kind),
            ERROR => self.notes.error = Some(kind),
            CODE if kind == JsonKind::Number => {
                self.notes.code = std::str::from_utf8(text).ok().and_then(integer_of).filter(|_| !cut);
            }
            TEXT => self.notes.text = is_string,
            DETAIL => self.notes.detail = is_string,
            TYPE => {
                let uri = std::str::from_utf8(text).unwrap_or_default();
                self.notes.problem_type = is_string && !cut && A2aError::from_problem_type(uri).is_some();
            }
            KIND => {
                self.notes.kind = Some(match text {
                    _ if !is_string => KindMember::Other,
                    b"task" => KindMember::Task,
                    b"message" => KindMember::Message,
                    b"status-update" => KindMember::StatusUpdate,
                    b"artifact-update" => KindMember::ArtifactUpdate,
                    _ => KindMember::Other,
                });
            }
            MESSAGE if is_string => {
                // `{code, message}` is an error; a message would be an object.
                self.notes.text = true;
                self.notes.improper_wrapper = true;
            }
            TASK | MESSAGE | STATUS_UPDATE | ARTIFACT_UPDATE => {
                self.notes.improper_wrapper |= kind != JsonKind::Null;
            }
            _ => {
                if let Some((member, is_inner)) = member_of(slot) {
                    self.member(member, is_inner, kind, text, cut);
                }
            }
        }
    }
}
