//! The payload of a card's signature: which members it has, and its canonical text.

use super::{
    canonical::Output,
    tree::{Node, Object, order},
};
use crate::wire::grpc::card::schema::{Field, Kind, Presence, V1};

/// A reading of §8.4.1 that some signer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    defaults: Defaults,
    /// Whether fields that 1.0 does not know are part of it.
    pub(super) unknown: bool,
}

/// What becomes of values that say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defaults {
    /// As §8.4.1 has it: left out, unless `REQUIRED` or `optional`; what is `REQUIRED` is always there.
    Specified,
    /// They stay.
    Given,
    /// The same as specified, but what is not there stays so.
    Unfilled,
    /// Left out unless `optional`, as ProtoJSON does.
    ProtoJson,
    /// The same, and then everything that is empty or null.
    Cleaned,
}

impl Form {
    /// The specification's own.
    pub(super) const SPECIFIED: Self = Self { defaults: Defaults::Specified, unknown: true };

    /// All, the most likely first: the specification's, and the SDKs'.
    pub(super) const ALL: [Self; 9] = [
        Self::SPECIFIED,
        Self { defaults: Defaults::Cleaned, unknown: true },
        Self { defaults: Defaults::Cleaned, unknown: false },
        Self { defaults: Defaults::Given, unknown: true },
        Self { defaults: Defaults::Unfilled, unknown: true },
        Self { defaults: Defaults::ProtoJson, unknown: true },
        Self { defaults: Defaults::Specified, unknown: false },
        Self { defaults: Defaults::Unfilled, unknown: false },
        Self { defaults: Defaults::ProtoJson, unknown: false },
    ];

    /// The payload, unless it is longer than `max` bytes.
    pub(super) fn payload(self, card: &Object<'_>, max: usize) -> Option<Vec<u8>> {
        let mut writer = Writer::new(self, max);
        writer.message(card, &V1, &["signatures"]);
        writer.out.finish()
    }

    /// The card as it is, with or without the fields that 1.0 does not know.
    pub(super) fn plain(card: &Object<'_>, unknown: bool, max: usize) -> Option<Vec<u8>> {
        let form = Self { defaults: Defaults::Given, unknown };
        let mut writer = Writer::new(form, max);
        writer.message(card, &V1, &[]);
        writer.out.finish()
    }
}

struct Writer {
    form: Form,
    /// Whether values that say nothing are taken back, where it is now.
    cleans: bool,
    out: Output,
}

/// A member that is written: what stands in the card, or the default of a field that does not.
enum Value<'n> {
    Known(&'n Node<'n>, Kind),
    /// A value below a parameter: no field, but part of one.
    Any(&'n Node<'n>),
    /// Of a field that 1.0 does not know.
    Unknown(&'n Node<'n>),
    Default(&'static str),
}

impl Writer {
    fn new(form: Form, max: usize) -> Self {
        Self { form, cleans: form.defaults == Defaults::Cleaned, out: Output::new(max) }
    }

    fn message(&mut self, object: &Object<'_>, fields: &'static [Field], without: &[&str]) {
        let field = |name: &str| fields.iter().find(|field| field.name == name);
        let mut members = Vec::with_capacity(object.members().len());
        for (name, node) in object.members().filter(|(name, _)| !without.contains(name)) {
            match field(name) {
                Some(field) if self.leaves_out(field, node) => {}
                Some(field) => members.push((name, Value::Known(node, field.kind))),
                None if self.form.unknown => members.push((name, Value::Unknown(node))),
                None => {}
            }
        }
        if self.form.defaults == Defaults::Specified {
            for field in fields.iter().filter(|field| field.presence == Presence::Required) {
                let absent = matches!(object.get(field.name), None | Some(Node::Null));
                if let Some(default) = default(field.kind).filter(|_| absent) {
                    members.push((field.name, Value::Default(default)));
                }
            }
            members.sort_by(|(a, _), (b, _)| order(a, b));
        }
        self.object(members.into_iter());
    }

    fn leaves_out(&self, field: &Field, node: &Node<'_>) -> bool {
        if self.form.defaults == Defaults::Given {
            return false;
        }
        // ProtoJSON reads it as absence.
        if matches!(node, Node::Null) {
            return true;
        }
        let goes = match field.presence {
            Presence::Explicit | Presence::Member => false,
            Presence::Implicit => true,
            Presence::Required => matches!(self.form.defaults, Defaults::ProtoJson | Defaults::Cleaned),
        };
        goes && is_default(field.kind, node)
    }

    fn object<'n>(&mut self, members: impl Iterator<Item = (&'n str, Value<'n>)>) {
        self.out.raw("{");
        let begin = self.out.len();
        for (name, value) in members {
            let before = self.out.len();
            if before > begin {
                self.out.raw(",");
            }
            self.out.text(name);
            self.out.raw(":");
            let from = self.out.len();
            match value {
                Value::Known(node, kind) => self.known(node, kind),
                Value::Any(node) => self.any(node),
                Value::Unknown(node) => {
                    // What an empty value of it means is not known either: to an older reader it may mean much.
                    let cleans = std::mem::replace(&mut self.cleans, false);
                    self.any(node);
                    self.cleans = cleans;
                    continue;
                }
                Value::Default(text) => self.out.raw(text),
            }
            self.clean(before, from);
        }
        self.out.raw("}");
    }

    fn list(&mut self, items: &[Node<'_>], kind: Option<Kind>) {
        self.out.raw("[");
        let begin = self.out.len();
        for item in items {
            let before = self.out.len();
            if before > begin {
                self.out.raw(",");
            }
            let from = self.out.len();
            match kind {
                Some(kind) => self.known(item, kind),
                None => self.any(item),
            }
            self.clean(before, from);
        }
        self.out.raw("]");
    }

    /// A value that the schema knows. One of another JSON type than the field has is written as it is.
    fn known(&mut self, node: &Node<'_>, kind: Kind) {
        if self.out.is_full() {
            return;
        }
        match (kind, node) {
            (Kind::Message(fields), Node::Object(object)) => self.message(object, fields, &[]),
            (Kind::List(kind), Node::List(items)) => self.list(items, Some(*kind)),
            (Kind::Map(kind), Node::Object(object)) => {
                self.object(object.members().map(|(name, value)| (name, Value::Known(value, *kind))));
            }
            _ => self.any(node),
        }
    }

    fn any(&mut self, node: &Node<'_>) {
        match node {
            _ if self.out.is_full() => {}
            Node::Null => self.out.raw("null"),
            Node::Bool(true) => self.out.raw("true"),
            Node::Bool(false) => self.out.raw("false"),
            Node::Number(number) => self.out.number(*number),
            Node::Text(text) => self.out.text(text),
            Node::List(items) => self.list(items, None),
            Node::Object(object) => self.object(object.members().map(|(name, value)| (name, Value::Any(value)))),
        }
    }

    /// Takes back what was written since `before`, if its value, from `from` on, says nothing, and such is not wanted.
    fn clean(&mut self, before: usize, from: usize) {
        let empty = [&b"null"[..], b"\"\"", b"[]", b"{}"];
        if self.cleans && empty.contains(&self.out.since(from)) {
            self.out.truncate(before);
        }
    }
}

fn default(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Text => Some("\"\""),
        Kind::Flag => Some("false"),
        Kind::List(_) => Some("[]"),
        Kind::Map(_) => Some("{}"),
        Kind::Message(_) | Kind::Struct => None,
    }
}

fn is_default(kind: Kind, node: &Node<'_>) -> bool {
    match (kind, node) {
        (Kind::Text, Node::Text(text)) => text.is_empty(),
        (Kind::Flag, Node::Bool(flag)) => !flag,
        (Kind::List(_), Node::List(items)) => items.is_empty(),
        (Kind::Map(_), Node::Object(object)) => object.members().len() == 0,
        _ => false,
    }
}
