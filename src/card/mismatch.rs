//! How an interface differs from where a call goes.

use std::fmt;

use super::{flaw::shown, interface::Place};
use crate::outcome::Class;

/// The field in which card and target differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MismatchField {
    /// `http` or `https`.
    Scheme,
    /// Host and port.
    Authority,
    /// Path and query.
    Path,
    /// The binding.
    Binding,
    /// The protocol version.
    Version,
    /// The tenant.
    Tenant,
}

impl MismatchField {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheme => "scheme",
            Self::Authority => "authority",
            Self::Path => "path",
            Self::Binding => "binding",
            Self::Version => "version",
            Self::Tenant => "tenant",
        }
    }

    /// The class of a difference in this field.
    #[must_use]
    pub const fn class(self) -> Class {
        match self {
            Self::Scheme | Self::Authority | Self::Path => Class::UrlMismatch,
            Self::Binding => Class::NoCompatibleInterface,
            Self::Version => Class::UnsupportedVersion,
            Self::Tenant => Class::TenantMismatch,
        }
    }
}

impl fmt::Display for MismatchField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How the interface that comes closest to a target differs from it: in the first such field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the card's {place} is not the target: {field} \"{}\" instead of \"{}\" (card {}, target {})",
    shown(card),
    shown(target),
    shown(card_url),
    shown(target_url)
)]
pub struct Mismatch {
    pub(super) field: MismatchField,
    pub(super) card: Box<str>,
    pub(super) target: Box<str>,
    pub(super) card_url: Box<str>,
    pub(super) target_url: Box<str>,
    pub(super) place: Place,
}

impl Mismatch {
    /// The field.
    #[must_use]
    pub fn field(&self) -> MismatchField {
        self.field
    }

    /// Its value in the card; empty where the card has none.
    #[must_use]
    pub fn card(&self) -> &str {
        &self.card
    }

    /// Its value in the target; empty where the target has none.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The interface's URL, as the card states it.
    #[must_use]
    pub fn card_url(&self) -> &str {
        &self.card_url
    }

    /// The target's URL, normalised.
    #[must_use]
    pub fn target_url(&self) -> &str {
        &self.target_url
    }

    /// Where in the card the interface stands.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// Its class in the vocabulary of outcomes.
    #[must_use]
    pub fn class(&self) -> Class {
        self.field.class()
    }
}
