//! Why a card, or an interface of it, cannot be used.

use std::fmt;

use super::{json::JsonType, mismatch::Mismatch, select::SelectFlaw, url::UrlFault};
use crate::{
    call::{Capability, Operation},
    outcome::Class,
    wire::text::escape,
};

/// Why a card cannot be used for a call. Each displays as one line, with the card's text escaped and cut.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CardFlaw {
    /// The card is no JSON object.
    #[error("the card {0}")]
    NotJson(NotJson),
    /// A name that decides where calls go stands twice in one object.
    ///
    /// RFC 8259 §4 leaves open which of them counts. A reader that takes the first and one that takes the last see two
    /// agents in such a card, one of which a verifier never saw; nobody writes it by mistake.
    #[error("the card states {path} twice")]
    RepeatedField {
        /// The place, spelled like `supportedInterfaces[0].url`.
        path: Box<str>,
    },
    /// A field that the card's version requires is missing.
    #[error("the card's {path} {why}")]
    MissingField {
        /// The place, spelled like `supportedInterfaces[0].protocolVersion`.
        path: Box<str>,
        /// What stands there instead.
        why: Absence,
    },
    /// The URL that the call would go to is one that is not called.
    #[error("the card's URL \"{}\" {why}", shown(url))]
    UnusableUrl {
        /// The URL, as the card states it.
        url: Box<str>,
        /// What is wrong with it.
        why: UrlFault,
    },
    /// No interface of the card is the target.
    #[error(transparent)]
    Mismatch(Box<Mismatch>),
    /// No interface of the card is one that the client speaks.
    #[error(transparent)]
    Select(SelectFlaw),
    /// The capability that the operation needs is not declared (A2A 1.0 §3.3.4).
    #[error("the card does not declare {capability}, which {operation} needs")]
    CapabilityMissing {
        /// The capability.
        capability: Capability,
        /// What needs it.
        operation: Operation,
    },
    /// The agent requires an extension that the call does not use (A2A 1.0 §4.6), or the call requires one that the
    /// agent does not declare.
    #[error("{by} requires extension \"{}\"{}", shown(uri), by.lacks())]
    ExtensionMissing {
        /// The extension.
        uri: Box<str>,
        /// Who requires it.
        by: Party,
    },
}

/// A text out of a card, as it stands in a message.
pub(super) fn shown(text: &str) -> impl fmt::Display {
    escape(text, 120)
}

/// One of the two sides of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Party {
    /// The agent, by its card.
    Agent,
    /// The client.
    Client,
}

impl Party {
    const fn lacks(self) -> &'static str {
        match self {
            Self::Agent => ", which the call does not use",
            Self::Client => ", which the card does not declare",
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "the agent",
            Self::Client => "the client",
        })
    }
}

/// Why some bytes are no card at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotJson {
    /// Nothing but white space.
    Empty,
    /// Not UTF-8 (RFC 8259 §8.1).
    NotUtf8,
    /// No JSON from here on. Lines and columns count from 1.
    Syntax {
        /// The line.
        line: usize,
        /// The column, in bytes.
        column: usize,
    },
    /// One of its own names holds an escape that stands for no character (a lone surrogate; RFC 8259 §8.2).
    UnreadableName,
    /// JSON, but no object (A2A 1.0 §14.3).
    NotAnObject(JsonType),
}

/// What stands in the place of a required value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Absence {
    /// Nothing.
    Absent,
    /// `null`.
    Null,
    /// An empty text or list.
    Empty,
    /// Another JSON type, which says no more than nothing.
    WrongType {
        /// The type of the field.
        expected: JsonType,
        /// The type of what stands there.
        found: JsonType,
    },
    /// An escape that stands for no character (a lone surrogate).
    Unreadable,
}

impl CardFlaw {
    /// Its class in the vocabulary of outcomes.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::NotJson(_) | Self::RepeatedField { .. } => Class::NotJson,
            Self::MissingField { .. } => Class::MissingField,
            Self::UnusableUrl { .. } => Class::UnusableUrl,
            Self::Mismatch(mismatch) => mismatch.class(),
            Self::Select(flaw) => flaw.class(),
            Self::CapabilityMissing { .. } => Class::CapabilityMissing,
            Self::ExtensionMissing { .. } => Class::ExtensionMissing,
        }
    }

    /// The field: of the card, or the one in which card and target differ.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::MissingField { path, .. } | Self::RepeatedField { path } => Some(path),
            Self::Mismatch(mismatch) => Some(mismatch.field().as_str()),
            _ => None,
        }
    }

    pub(super) fn missing(path: impl fmt::Display, why: Absence) -> Self {
        Self::MissingField { path: path.to_string().into(), why }
    }
}

impl From<SelectFlaw> for CardFlaw {
    fn from(flaw: SelectFlaw) -> Self {
        Self::Select(flaw)
    }
}

impl From<Mismatch> for CardFlaw {
    fn from(mismatch: Mismatch) -> Self {
        Self::Mismatch(Box::new(mismatch))
    }
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("is empty"),
            Self::NotUtf8 => f.write_str("is not UTF-8"),
            Self::Syntax { line, column } => write!(f, "is not JSON: line {line}, column {column}"),
            Self::UnreadableName => f.write_str("has a name with an escape that stands for no character"),
            Self::NotAnObject(found) => write!(f, "is {found}, not an object"),
        }
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("is absent"),
            Self::Null => f.write_str("is null"),
            Self::Empty => f.write_str("is empty"),
            Self::WrongType { expected, found } => write!(f, "is {found}, where {expected} is due"),
            Self::Unreadable => f.write_str("holds an escape that stands for no character"),
        }
    }
}
