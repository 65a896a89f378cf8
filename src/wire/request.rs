//! Reads an outgoing request's body: what is called, with which id, about which task.

#[cfg(test)]
mod tests;

use super::id::JsonRpcId;
use super::json::{JsonKind, JsonScanner, JsonVisitor, Scope, Slot};
use super::judge::Envelope;
use super::template::{Read, Value};
use super::text::SmallText;

/// What is known of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestFacts {
    /// The body is an object.
    pub is_object: bool,
    /// It says `"jsonrpc": "2.0"`.
    pub jsonrpc: bool,
    /// The JSON-RPC method.
    pub method: SmallText,
    /// The JSON-RPC id.
    pub id: JsonRpcId,
    /// `tenant`, of the parameters: of several, the last, which is the one that agents go by.
    pub tenant: SmallText,
    /// The task addressed: `taskId` of the parameters, else their `id` (JSON-RPC), else `taskId` of the message.
    pub task_id: SmallText,
    /// The context: `contextId` of the message, else of the parameters.
    pub context_id: SmallText,
    /// `configuration.returnImmediately` (A2A 1.0 §3.2.2).
    pub return_immediately: Option<bool>,
    /// `configuration.blocking` (0.3).
    pub blocking: Option<bool>,
    /// The skill, by the metadata key given for it. What the request says comes before what its message says.
    pub skill: SmallText,
    /// The region, likewise.
    pub region: SmallText,
}

/// Scans one request. Bytes may come in any cut, and the facts may be asked for at any time: they are those of the
/// prefix seen.
#[derive(Clone, Debug)]
pub struct RequestScan {
    scanner: JsonScanner,
    reader: Reader,
    is_valid: bool,
}

impl RequestScan {
    /// A scan before the first byte. The keys name the members of `metadata` that hold skill and region; they are found
    /// up to a length of 128 bytes.
    #[must_use]
    #[inline]
    pub fn new(envelope: Envelope, skill_key: Option<&str>, region_key: Option<&str>) -> Self {
        Self {
            scanner: JsonScanner::new(),
            reader: Reader {
                envelope,
                skill_key: skill_key.map(Box::from),
                region_key: region_key.map(Box::from),
                facts: RequestFacts::default(),
                in_message: false,
                task_id_rank: 0,
                context_id_rank: 0,
                skill_rank: 0,
                region_rank: 0,
            },
            is_valid: true,
        }
    }

    /// Reads on. What is no JSON ends the scan, and its facts stay as they are.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.is_valid &= self.scanner.feed(bytes, &mut self.reader).is_ok();
    }

    /// The body is at its end.
    pub fn finish(&mut self) {
        self.is_valid &= self.scanner.finish(&mut self.reader).is_ok();
    }

    /// False once the body is known to be no JSON document.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.is_valid
    }

    /// What is known so far.
    #[must_use]
    pub fn facts(&self) -> &RequestFacts {
        &self.reader.facts
    }
}

impl Read for RequestScan {
    fn feed(&mut self, bytes: &[u8]) {
        Self::feed(self, bytes);
    }

    fn value_here(&self) -> Value {
        self.scanner.slot_here().map_or(Value::Minded, |slot| match slot {
            Slot::IGNORED => Value::Ignored,
            ID => Value::Id,
            PARAMS_ID | PARAMS_TASK_ID | MESSAGE_TASK_ID => Value::TaskId,
            PARAMS_CONTEXT_ID | MESSAGE_CONTEXT_ID => Value::ContextId,
            _ => Value::Minded,
        })
    }
}

const ENVELOPE: Scope = Scope(1);
const PARAMS: Scope = Scope(2);
const MESSAGE_IN: Scope = Scope(3);
const CONFIGURATION_IN: Scope = Scope(4);
const METADATA_IN: Scope = Scope(5);

const JSONRPC: Slot = Slot(1);
const METHOD: Slot = Slot(2);
const ID: Slot = Slot(3);
const PARAMETERS: Slot = Slot(4);
const TENANT: Slot = Slot(5);
const PARAMS_ID: Slot = Slot(6);
const PARAMS_TASK_ID: Slot = Slot(7);
const PARAMS_CONTEXT_ID: Slot = Slot(8);
const MESSAGE: Slot = Slot(9);
const MESSAGE_TASK_ID: Slot = Slot(10);
const MESSAGE_CONTEXT_ID: Slot = Slot(11);
const CONFIGURATION: Slot = Slot(12);
const RETURN_IMMEDIATELY: Slot = Slot(13);
const BLOCKING: Slot = Slot(14);
const METADATA: Slot = Slot(15);
const SKILL: Slot = Slot(16);
const REGION: Slot = Slot(17);

#[derive(Clone, Debug)]
struct Reader {
    envelope: Envelope,
    skill_key: Option<Box<str>>,
    region_key: Option<Box<str>>,
    facts: RequestFacts,
    /// The object being read is the message, or in it.
    in_message: bool,
    // Where the best value so far came from: members may stand in any order.
    task_id_rank: u8,
    context_id_rank: u8,
    skill_rank: u8,
    region_rank: u8,
}

impl Reader {
    fn params_key(&mut self, key: &[u8]) -> Slot {
        self.in_message = false;
        match key {
            b"tenant" => TENANT,
            b"id" if self.envelope == Envelope::JsonRpc => PARAMS_ID,
            b"taskId" => PARAMS_TASK_ID,
            b"contextId" => PARAMS_CONTEXT_ID,
            b"message" => MESSAGE,
            b"configuration" => CONFIGURATION,
            b"metadata" => METADATA,
            _ => Slot::IGNORED,
        }
    }

    fn metadata_key(&self, key: &[u8]) -> Slot {
        let is = |name: &Option<Box<str>>| name.as_deref().is_some_and(|name| name.as_bytes() == key);
        if is(&self.skill_key) {
            SKILL
        } else if is(&self.region_key) {
            REGION
        } else {
            Slot::IGNORED
        }
    }

    fn text(&mut self, slot: Slot, text: &[u8], cut: bool) {
        let facts = &mut self.facts;
        let metadata_rank = if self.in_message { 1 } else { 2 };
        match slot {
            METHOD => facts.method.set(text, cut),
            TENANT => facts.tenant.set(text, cut),
            PARAMS_TASK_ID => prefer(&mut facts.task_id, &mut self.task_id_rank, 3, text, cut),
            PARAMS_ID => prefer(&mut facts.task_id, &mut self.task_id_rank, 2, text, cut),
            MESSAGE_TASK_ID => prefer(&mut facts.task_id, &mut self.task_id_rank, 1, text, cut),
            MESSAGE_CONTEXT_ID => {
                prefer(&mut facts.context_id, &mut self.context_id_rank, 2, text, cut);
            }
            PARAMS_CONTEXT_ID => {
                prefer(&mut facts.context_id, &mut self.context_id_rank, 1, text, cut);
            }
            SKILL => prefer(&mut facts.skill, &mut self.skill_rank, metadata_rank, text, cut),
            REGION => prefer(&mut facts.region, &mut self.region_rank, metadata_rank, text, cut),
            _ => {}
        }
    }
}

/// Takes a value if it comes from a place at least as good as the last one's. Empty text says nothing.
pub(in crate::wire) fn prefer(place: &mut SmallText, held: &mut u8, rank: u8, text: &[u8], cut: bool) {
    if rank >= *held && !text.is_empty() {
        *held = rank;
        place.set(text, cut);
    }
}

impl JsonVisitor for Reader {
    fn key(&mut self, scope: Scope, key: &[u8]) -> Slot {
        match scope {
            ENVELOPE => match key {
                b"jsonrpc" => JSONRPC,
                b"method" => METHOD,
                b"id" => ID,
                b"params" => PARAMETERS,
                _ => Slot::IGNORED,
            },
            PARAMS => self.params_key(key),
            MESSAGE_IN => match key {
                b"taskId" => MESSAGE_TASK_ID,
                b"contextId" => MESSAGE_CONTEXT_ID,
                b"metadata" => METADATA,
                _ => Slot::IGNORED,
            },
            CONFIGURATION_IN => match key {
                b"returnImmediately" => RETURN_IMMEDIATELY,
                b"blocking" => BLOCKING,
                _ => Slot::IGNORED,
            },
            METADATA_IN => self.metadata_key(key),
            _ => Slot::IGNORED,
        }
    }

    fn begin(&mut self, slot: Slot, kind: JsonKind) -> Scope {
        match slot {
            Slot::ROOT => {
                self.facts.is_object = kind == JsonKind::Object;
                match self.envelope {
                    Envelope::JsonRpc => ENVELOPE,
                    Envelope::Bare => PARAMS,
                }
            }
            ID => {
                self.facts.id = JsonRpcId::Other;
                Scope::SKIPPED
            }
            PARAMETERS => {
                self.facts.tenant.clear();
                PARAMS
            }
            TENANT => {
                self.facts.tenant.clear();
                Scope::SKIPPED
            }
            MESSAGE => {
                self.in_message = true;
                MESSAGE_IN
            }
            CONFIGURATION => CONFIGURATION_IN,
            METADATA => METADATA_IN,
            _ => Scope::SKIPPED,
        }
    }

    fn scalar(&mut self, slot: Slot, kind: JsonKind, text: &[u8], cut: bool) {
        match (slot, kind) {
            (JSONRPC, _) => self.facts.jsonrpc = kind == JsonKind::String && text == b"2.0",
            (ID, _) => self.facts.id = JsonRpcId::from_scalar(kind, text, cut),
            (RETURN_IMMEDIATELY, JsonKind::Bool) => {
                self.facts.return_immediately = Some(text == b"true");
            }
            (BLOCKING, JsonKind::Bool) => self.facts.blocking = Some(text == b"true"),
            // Of several the last counts, whatever it is.
            (PARAMETERS, _) => self.facts.tenant.clear(),
            (_, JsonKind::String) => self.text(slot, text, cut),
            (TENANT, _) => self.facts.tenant.clear(),
            _ => {}
        }
    }
}
