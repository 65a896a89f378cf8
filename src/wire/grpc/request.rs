//! Reads an outgoing request: tenant, task, context, and whether its answer may wait.

use super::frame::{Framing, Part};
use super::utf8::Utf8;
use super::varint::Malformed;
use super::walk::{Reader, Scope, Slot, Take, Walk};
use crate::wire::request::{RequestFacts, prefer};
use crate::wire::text::SmallText;

/// Which fields of a request's message are what. See the table in the [module's](super) documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestLayout {
    // 0 is no field.
    tenant: u32,
    task_id: u32,
    /// 0.3: `tasks/{id}`, and more behind it.
    task_name: u32,
    context_id: u32,
    message: u32,
    configuration: u32,
    metadata: u32,
    /// What field 4 of the configuration is: `return_immediately` if true, else `blocking`.
    returns_immediately: bool,
}

impl RequestLayout {
    const NONE: Self = Self {
        tenant: 0,
        task_id: 0,
        task_name: 0,
        context_id: 0,
        message: 0,
        configuration: 0,
        metadata: 0,
        returns_immediately: false,
    };
    /// `SendMessage`, `SendStreamingMessage` of 1.0.
    pub const V1_SEND: Self =
        Self { tenant: 1, message: 2, configuration: 3, metadata: 4, returns_immediately: true, ..Self::NONE };
    /// `GetTask`, `SubscribeToTask` of 1.0.
    pub const V1_TASK: Self = Self { tenant: 1, task_id: 2, ..Self::NONE };
    /// `CancelTask` of 1.0.
    pub const V1_CANCEL: Self = Self { metadata: 3, ..Self::V1_TASK };
    /// `ListTasks` of 1.0.
    pub const V1_LIST_TASKS: Self = Self { tenant: 1, context_id: 2, ..Self::NONE };
    /// `CreateTaskPushNotificationConfig` of 1.0.
    pub const V1_CREATE_PUSH: Self = Self { tenant: 1, task_id: 3, ..Self::NONE };
    /// `GetTaskPushNotificationConfig`, `DeleteTaskPushNotificationConfig` of 1.0.
    pub const V1_PUSH: Self = Self { tenant: 1, task_id: 2, ..Self::NONE };
    /// `ListTaskPushNotificationConfigs` of 1.0.
    pub const V1_LIST_PUSH: Self = Self { tenant: 4, task_id: 1, ..Self::NONE };
    /// `GetExtendedAgentCard` of 1.0.
    pub const V1_CARD: Self = Self { tenant: 1, ..Self::NONE };
    /// `SendMessage`, `SendStreamingMessage` of 0.3.
    pub const V03_SEND: Self = Self { message: 1, configuration: 2, metadata: 3, ..Self::NONE };
    /// Every other request of 0.3 that names a task: `name` or `parent`.
    pub const V03_NAME: Self = Self { task_name: 1, ..Self::NONE };
    /// `GetAgentCard` of 0.3.
    pub const V03_CARD: Self = Self::NONE;

    /// Whether requests of this kind carry a tenant.
    #[must_use]
    pub const fn has_tenant(self) -> bool {
        self.tenant != 0
    }

    pub(super) fn tenant_field(self) -> Option<u32> {
        self.has_tenant().then_some(self.tenant)
    }
}

const ROOT: Scope = 0;
const MESSAGE: Scope = 1;
const CONFIGURATION: Scope = 2;
const METADATA: Scope = 3;
const ENTRY: Scope = 4;
const VALUE: Scope = 5;

const TENANT: Slot = 0;
const TASK_ID: Slot = 1;
const TASK_NAME: Slot = 2;
const CONTEXT_ID: Slot = 3;
const KEY: Slot = 4;
const STRING: Slot = 5;
const WAITS: Slot = 6;

/// Scans one request's message, in any cut. The facts may be asked for at any time: they are those of what was seen.
#[derive(Clone, Debug)]
pub struct GrpcRequestScan {
    framing: Framing,
    walk: Walk,
    reader: RequestReader,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reading,
    /// The message is whole.
    Whole,
    /// Nothing more can be learnt: it is compressed, or no message.
    Lost,
}

impl GrpcRequestScan {
    /// A scan before the first byte. The keys name the members of `metadata` that hold skill and region; they are found
    /// up to a length of 1 KiB.
    #[must_use]
    pub fn new(layout: RequestLayout, skill_key: Option<&str>, region_key: Option<&str>) -> Self {
        Self {
            framing: Framing::new(),
            walk: Walk::new(0),
            reader: RequestReader {
                layout,
                skill_key: skill_key.map(Box::from),
                region_key: region_key.map(Box::from),
                facts: RequestFacts::default(),
                key: SmallText::default(),
                string: SmallText::default(),
                utf8: Utf8::default(),
                in_message: false,
                skill_rank: 0,
                region_rank: 0,
            },
            state: State::Reading,
        }
    }

    /// Reads on. Behind the first message nothing is read.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while self.state == State::Reading {
            let (used, part) = self.framing.next(rest);
            rest = rest.get(used..).unwrap_or_default();
            let read = match part {
                Part::Begin(prefix) if prefix.compressed => Err("compressed"),
                Part::Begin(prefix) => {
                    self.walk.begin(prefix.len);
                    Ok(())
                }
                Part::Data(piece) => self.walk.feed(piece, &mut self.reader),
                Part::End => {
                    self.state = State::Whole;
                    self.walk.finish(&mut self.reader)
                }
                Part::More => return,
                Part::Bad => Err("no gRPC"),
            };
            if read.is_err() {
                self.state = State::Lost;
            }
        }
    }

    /// True once the message is whole, or nothing more can be learnt.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.state != State::Reading
    }

    /// False once the body is known to be no plain message.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.state != State::Lost
    }

    /// What is known so far.
    #[must_use]
    pub fn facts(&self) -> &RequestFacts {
        &self.reader.facts
    }
}

#[derive(Clone, Debug)]
struct RequestReader {
    layout: RequestLayout,
    skill_key: Option<Box<str>>,
    region_key: Option<Box<str>>,
    facts: RequestFacts,
    /// Of the entry of metadata that is being read.
    key: SmallText,
    string: SmallText,
    /// Of the text that is coming.
    utf8: Utf8,
    /// Whose metadata they are.
    in_message: bool,
    skill_rank: u8,
    region_rank: u8,
}

impl RequestReader {
    fn wants_metadata(&self) -> bool {
        self.skill_key.is_some() || self.region_key.is_some()
    }

    fn metadata(&mut self, in_message: bool) -> Take {
        self.in_message = in_message;
        if self.wants_metadata() { Take::Into(METADATA) } else { Take::Skip }
    }

    fn root(&mut self, number: u32) -> Take {
        let layout = self.layout;
        match number {
            n if n == layout.tenant => Take::Text(TENANT),
            n if n == layout.task_id => Take::Text(TASK_ID),
            n if n == layout.task_name => Take::Text(TASK_NAME),
            n if n == layout.context_id => Take::Text(CONTEXT_ID),
            n if n == layout.message => Take::Into(MESSAGE),
            n if n == layout.configuration => {
                // A boolean that is not there is false (proto3).
                if !layout.returns_immediately {
                    self.facts.blocking.get_or_insert(false);
                }
                Take::Into(CONFIGURATION)
            }
            n if n == layout.metadata => self.metadata(false),
            _ => Take::Skip,
        }
    }
}

impl Reader for RequestReader {
    fn field(&mut self, scope: Scope, number: u32) -> Take {
        match (scope, number) {
            (ROOT, _) => self.root(number),
            (MESSAGE, 2) => Take::Text(CONTEXT_ID),
            (MESSAGE, 3) => Take::Text(TASK_ID),
            (MESSAGE, 6) => self.metadata(true),
            (CONFIGURATION, 4) => Take::Number(WAITS),
            // `google.protobuf.Struct`, and what it is made of.
            (METADATA, 1) => {
                self.key.clear();
                self.string.clear();
                Take::Into(ENTRY)
            }
            (ENTRY, 1) => Take::Text(KEY),
            (ENTRY, 2) => Take::Into(VALUE),
            (VALUE, 3) => Take::Text(STRING),
            _ => Take::Skip,
        }
    }

    fn number(&mut self, _: Slot, value: u64) {
        let on = Some(value != 0);
        if self.layout.returns_immediately {
            self.facts.return_immediately = on;
        } else {
            self.facts.blocking = on;
        }
    }

    fn text(&mut self, slot: Slot, piece: &[u8], first: bool, last: bool) -> Result<(), Malformed> {
        let place = match slot {
            TENANT => &mut self.facts.tenant,
            CONTEXT_ID => &mut self.facts.context_id,
            KEY => &mut self.key,
            STRING => &mut self.string,
            _ => &mut self.facts.task_id,
        };
        super::answer::take_text(place, &mut self.utf8, piece, first, last)?;
        if slot == TASK_NAME && last {
            let name = std::mem::take(&mut self.facts.task_id);
            if let Some(id) = name.as_bytes().strip_prefix(b"tasks/") {
                let end = memchr::memchr(b'/', id);
                self.facts
                    .task_id
                    .set(end.and_then(|end| id.get(..end)).unwrap_or(id), end.is_none() && name.is_truncated());
            }
        }
        Ok(())
    }

    fn leave(&mut self, scope: Scope) {
        if scope != ENTRY || self.key.is_truncated() {
            return;
        }
        let rank = if self.in_message { 1 } else { 2 };
        let Self { facts, key, string, .. } = self;
        let is = |name: &Option<Box<str>>| name.as_deref() == Some(key.as_str());
        if is(&self.skill_key) {
            prefer(&mut facts.skill, &mut self.skill_rank, rank, string.as_bytes(), string.is_truncated());
        }
        if is(&self.region_key) {
            prefer(&mut facts.region, &mut self.region_rank, rank, string.as_bytes(), string.is_truncated());
        }
    }
}
