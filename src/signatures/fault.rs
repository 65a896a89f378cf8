//! Why a card is not believed.

use std::{
    fmt::{self, Display},
    sync::Arc,
};

use super::{key::SignatureAlgorithm, tree::TreeFlaw};
use crate::wire::text::escape;

/// A peer's or a user's name in a message.
pub(super) fn shown(name: &str) -> impl Display {
    escape(name, 40)
}

/// Why a card has no payload.
#[derive(Debug)]
pub(super) enum CardFault {
    NotUtf8,
    Tree(TreeFlaw),
    NotAnObject,
    /// It carries no signature.
    None,
    /// None of so many counts.
    Void(usize, SignatureFault),
}

/// Why a signature does not count. The later, the nearer it came to counting.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SignatureFault {
    /// Not what §4.4.7 says one is.
    Form(&'static str),
    /// `crit`, or a header outside the signature that has what belongs inside.
    Header(String),
    /// A key that is not trusted.
    UnknownKey(String),
    /// Its keys are at an address that is allowed, and cannot be had there.
    NoKeys { at: String, why: Arc<str> },
    /// A key that is trusted, of a kind that is not verified here.
    PassedOver { key: String, why: String },
    /// Another algorithm than its key is for.
    Algorithm { key: String, named: String, right: SignatureAlgorithm },
    /// Too many before it.
    Untried,
    /// It is about another text, or by another key.
    Invalid { key: String },
    /// It is valid, and does not cover all that would be believed.
    Partial { key: String },
}

impl SignatureFault {
    fn rank(&self) -> u8 {
        match self {
            Self::Form(_) => 0,
            Self::Header(_) => 1,
            Self::UnknownKey(_) => 2,
            Self::NoKeys { .. } => 3,
            Self::PassedOver { .. } => 4,
            Self::Algorithm { .. } => 5,
            Self::Untried => 6,
            Self::Invalid { .. } => 7,
            Self::Partial { .. } => 8,
        }
    }

    /// The one of two that says more to an operator: the first of the nearest.
    pub(super) fn nearest(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }
}

impl Display for CardFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 => f.write_str("it is not UTF-8"),
            Self::Tree(TreeFlaw::Syntax) => f.write_str("it is no JSON"),
            Self::Tree(TreeFlaw::Repeated(name)) => {
                write!(f, "{} stands twice in one object: what was signed is anybody's guess", shown(name))
            }
            Self::Tree(TreeFlaw::Surrogate) => f.write_str("a text in it is no Unicode, and has no canonical form"),
            Self::Tree(TreeFlaw::Number) => f.write_str("a number in it is too large for a canonical form"),
            Self::Tree(TreeFlaw::Depth) => f.write_str("it nests too deep"),
            Self::Tree(TreeFlaw::Size) => f.write_str("it holds too many values"),
            Self::NotAnObject => f.write_str("it is no object"),
            Self::None => f.write_str("it carries no signature"),
            Self::Void(1, fault) => write!(f, "its signature does not count: {fault}"),
            Self::Void(count, fault) => write!(f, "none of its {count} signatures counts: {fault}"),
        }
    }
}

impl Display for SignatureFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(why) => f.write_str(why),
            Self::Header(why) => f.write_str(why),
            Self::UnknownKey(key) => write!(f, "key {} is not trusted", shown(key)),
            Self::NoKeys { at, why } => write!(f, "no keys at {}: {}", escape(at, 120), escape(why, 160)),
            Self::PassedOver { key, why } => write!(f, "key {} {why}", shown(key)),
            Self::Algorithm { key, named, right } => {
                write!(f, "key {} is for {right}, not for {}", shown(key), escape(named, 16))
            }
            Self::Untried => f.write_str("too many to try"),
            Self::Invalid { key } => write!(f, "key {} did not sign this content", shown(key)),
            Self::Partial { key } => write!(f, "key {} signed less than the card says", shown(key)),
        }
    }
}
