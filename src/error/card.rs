//! What can be wrong with an agent's card, with the facts that a decision needs.

mod line;

use std::{error::Error as StdError, sync::Arc, time::Duration};

use http::{StatusCode, Uri};

use super::{BoxError, place::without_secrets};
use crate::{
    call::{Capability, Shape},
    card::{CardFlaw, CardVersion, Mismatch, MismatchField, Offer, Party, SelectFlaw},
    outcome::Class,
    wire::A2aError,
};

/// Why an agent's card cannot be had, or does not allow a call.
///
/// Texts from cards and answers are here as they came: [`Display`](std::fmt::Display) cuts and escapes them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CardFailure {
    /// There is no card at any location (A2A 1.0 §8.2).
    #[non_exhaustive]
    NotFound {
        /// The locations that were tried, in order.
        tried: Vec<Uri>,
    },
    /// The card is shown only for credentials that allow it: 401 or 403.
    #[non_exhaustive]
    Unauthorized {
        /// 401 or 403.
        status: StatusCode,
        /// Where.
        location: Box<Uri>,
        /// The challenge (RFC 9110 §11.6.1).
        www_authenticate: Option<String>,
    },
    /// Any other status that is not a success. Redirects are not followed.
    #[non_exhaustive]
    HttpStatus {
        /// The status.
        status: StatusCode,
        /// Where.
        location: Box<Uri>,
        /// How long the peer asked to wait.
        retry_after: Option<Duration>,
    },
    /// A success that is not JSON.
    #[non_exhaustive]
    NotJson {
        /// The status.
        status: StatusCode,
        /// The declared media type.
        content_type: Option<String>,
        /// Where.
        location: Box<Uri>,
        /// What is wrong with it.
        why: String,
    },
    /// A card above the cap. Reading stopped there.
    #[non_exhaustive]
    TooLarge {
        /// The cap in bytes.
        limit: usize,
        /// Where.
        location: Box<Uri>,
    },
    /// No card within the bound on a fetch, or within the time left to the call.
    #[non_exhaustive]
    FetchTimeout {
        /// The bound.
        bound: Duration,
    },
    /// A required field is missing, or null where a value is needed.
    #[non_exhaustive]
    MissingField {
        /// The field's path: `supportedInterfaces[0].url`, say.
        field: String,
        /// What is there instead.
        why: String,
        /// The card's.
        location: Option<Box<Uri>>,
    },
    /// A URL that cannot or must not be called.
    #[non_exhaustive]
    UnusableUrl {
        /// The URL.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// No interface of the card is the target.
    #[non_exhaustive]
    UrlMismatch {
        /// What differs first: `scheme`, `authority` or `path`.
        field: &'static str,
        /// What the card has there.
        card: String,
        /// What the target has there.
        target: String,
        /// The interface's URL, as the card states it.
        card_url: String,
        /// The target's URL.
        target_url: String,
        /// The card's.
        location: Option<Box<Uri>>,
    },
    /// The request carries another tenant than the interface (§8.3.2).
    #[non_exhaustive]
    TenantMismatch {
        /// The interface's tenant.
        card: Option<String>,
        /// The request's.
        request: String,
    },
    /// No interface has a binding that the client speaks.
    #[non_exhaustive]
    NoCompatibleInterface {
        /// Binding and version of each interface.
        offered: Vec<(String, String)>,
        /// Binding and version of each that the client speaks.
        wanted: Vec<(String, String)>,
    },
    /// A binding that the client speaks, but in none of its versions (§3.6).
    #[non_exhaustive]
    UnsupportedVersion {
        /// Binding and version of each interface.
        offered: Vec<(String, String)>,
        /// Binding and version of each that the client speaks.
        wanted: Vec<(String, String)>,
    },
    /// The capability that the operation needs is not declared (§3.3.4).
    #[non_exhaustive]
    CapabilityMissing {
        /// The capability.
        capability: Capability,
    },
    /// An extension that the agent requires and the call does not use (§4.6), or that the call needs and the agent does
    /// not declare.
    #[non_exhaustive]
    ExtensionMissing {
        /// The extension's URI.
        uri: String,
        /// Who requires it.
        by: Party,
    },
    /// A shape that the capability does not admit at this target.
    #[non_exhaustive]
    ShapeNotAdmitted {
        /// What was asked.
        shape: Shape,
        /// What is admitted.
        admitted: Vec<String>,
    },
    /// The card was not vouched for (§8.4).
    #[non_exhaustive]
    Signature {
        /// What is wrong with it.
        why: String,
    },
    /// The connection to the card's location failed.
    #[non_exhaustive]
    Connection {
        /// `connect`, `connection_lost` or `tls`.
        fault: Class,
        /// The client's error.
        source: Arc<BoxError>,
    },
}

impl CardFailure {
    /// A flaw of the card that was found at `location`.
    pub(crate) fn of(flaw: CardFlaw, location: &Uri) -> Self {
        match flaw {
            CardFlaw::MissingField { path, why } => {
                let location = Some(Box::new(location.clone()));
                Self::MissingField { field: path.into(), why: why.to_string(), location }
            }
            CardFlaw::UnusableUrl { url, why } => Self::UnusableUrl { url: url.into(), why: why.to_string() },
            CardFlaw::Mismatch(mismatch) => Self::of_mismatch(&mismatch, location),
            CardFlaw::Select(SelectFlaw::UnsupportedVersion { offered, wanted }) => Self::UnsupportedVersion {
                offered: offers(&offered),
                wanted: wanted.iter().map(|version| (String::new(), version.to_string())).collect(),
            },
            CardFlaw::Select(SelectFlaw::NoCompatibleInterface { offered, wanted }) => Self::NoCompatibleInterface {
                offered: offers(&offered),
                wanted: wanted.iter().map(|binding| (binding.to_string(), String::new())).collect(),
            },
            CardFlaw::CapabilityMissing { capability, .. } => Self::CapabilityMissing { capability },
            CardFlaw::ExtensionMissing { uri, by } => Self::ExtensionMissing { uri: uri.into(), by },
            flaw @ (CardFlaw::NotJson(_) | CardFlaw::RepeatedField { .. }) => Self::NotJson {
                status: StatusCode::OK,
                content_type: None,
                location: Box::new(location.clone()),
                why: flaw.to_string(),
            },
        }
    }

    fn of_mismatch(mismatch: &Mismatch, location: &Uri) -> Self {
        let (card, target) = (mismatch.card().to_owned(), mismatch.target().to_owned());
        match mismatch.field() {
            field @ (MismatchField::Scheme | MismatchField::Authority | MismatchField::Path) => Self::UrlMismatch {
                field: field.as_str(),
                card,
                target,
                card_url: mismatch.card_url().to_owned(),
                target_url: mismatch.target_url().to_owned(),
                location: Some(Box::new(location.clone())),
            },
            MismatchField::Binding => Self::NoCompatibleInterface {
                offered: vec![(card, String::new())],
                wanted: vec![(target, String::new())],
            },
            MismatchField::Version => {
                Self::UnsupportedVersion { offered: vec![(String::new(), card)], wanted: vec![(String::new(), target)] }
            }
            MismatchField::Tenant => {
                Self::TenantMismatch { card: Some(card).filter(|card| !card.is_empty()), request: target }
            }
        }
    }

    /// The same of the card that stands there.
    pub(crate) fn found_at(mut self, at: &Uri) -> Self {
        if let Self::MissingField { location, .. } | Self::UrlMismatch { location, .. } = &mut self {
            *location = Some(Box::new(at.clone()));
        }
        self
    }

    /// The same of one that the program has as a URI. What may be secret in it is left out.
    pub(crate) fn unusable_uri(uri: &Uri, why: impl Into<String>) -> Self {
        Self::unusable_url(without_secrets(uri), why)
    }

    /// A URL that cannot or must not be called: for a [`Resolve`](crate::card_consistency::Resolve) of the user's.
    #[must_use]
    pub fn unusable_url(url: impl Into<String>, why: impl Into<String>) -> Self {
        Self::UnusableUrl { url: url.into(), why: why.into() }
    }

    /// No card at any of these locations: for a [`Resolve`](crate::card_consistency::Resolve) of the user's.
    #[must_use]
    pub fn not_found(tried: Vec<Uri>) -> Self {
        Self::NotFound { tried }
    }

    /// The class.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::NotFound { .. } => Class::NotFound,
            Self::Unauthorized { .. } => Class::Unauthorized,
            Self::HttpStatus { .. } => Class::HttpStatus,
            Self::NotJson { .. } => Class::NotJson,
            Self::TooLarge { .. } => Class::TooLarge,
            Self::FetchTimeout { .. } => Class::FetchTimeout,
            Self::MissingField { .. } => Class::MissingField,
            Self::UnusableUrl { .. } => Class::UnusableUrl,
            Self::UrlMismatch { .. } => Class::UrlMismatch,
            Self::TenantMismatch { .. } => Class::TenantMismatch,
            Self::NoCompatibleInterface { .. } => Class::NoCompatibleInterface,
            Self::UnsupportedVersion { .. } => Class::UnsupportedVersion,
            Self::CapabilityMissing { .. } => Class::CapabilityMissing,
            Self::ExtensionMissing { .. } => Class::ExtensionMissing,
            Self::ShapeNotAdmitted { .. } => Class::ShapeNotAdmitted,
            Self::Signature { .. } => Class::Signature,
            Self::Connection { fault, .. } => *fault,
        }
    }

    /// The specification's error with which the agent itself would have to refuse the call for the same reason (§3.3.4,
    /// §3.6).
    #[must_use]
    pub fn a2a_error(&self) -> Option<A2aError> {
        match self {
            Self::CapabilityMissing { capability: Capability::PushNotifications } => {
                Some(A2aError::PushNotificationNotSupported)
            }
            Self::CapabilityMissing { .. } => Some(A2aError::UnsupportedOperation),
            Self::UnsupportedVersion { .. } => Some(A2aError::VersionNotSupported),
            Self::ExtensionMissing { .. } => Some(A2aError::ExtensionSupportRequired),
            _ => None,
        }
    }

    /// The field that is missing or differs.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::MissingField { field, .. } => Some(field),
            Self::UrlMismatch { field, .. } => Some(field),
            _ => None,
        }
    }

    /// The status that the card's location answered with.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Unauthorized { status, .. } | Self::HttpStatus { status, .. } | Self::NotJson { status, .. } => {
                Some(*status)
            }
            _ => None,
        }
    }

    /// The location that answered.
    #[must_use]
    pub fn location(&self) -> Option<&Uri> {
        match self {
            Self::MissingField { location, .. } | Self::UrlMismatch { location, .. } => location.as_deref(),
            Self::Unauthorized { location, .. }
            | Self::HttpStatus { location, .. }
            | Self::NotJson { location, .. }
            | Self::TooLarge { location, .. } => Some(location),
            Self::NotFound { tried } => tried.last(),
            _ => None,
        }
    }

    /// How long the peer asked to wait.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::HttpStatus { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The challenge that came with a 401 or 403.
    #[must_use]
    pub fn www_authenticate(&self) -> Option<&str> {
        match self {
            Self::Unauthorized { www_authenticate, .. } => www_authenticate.as_deref(),
            _ => None,
        }
    }
}

impl StdError for CardFailure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Connection { source, .. } => Some(&***source),
            _ => None,
        }
    }
}

fn offers(offered: &[Offer]) -> Vec<(String, String)> {
    let version = |offer: &Offer| match &offer.version {
        CardVersion::Known(version) => version.to_string(),
        CardVersion::Other(text) => text.to_string(),
    };
    offered.iter().map(|offer| (offer.binding.as_str().to_owned(), version(offer))).collect()
}
