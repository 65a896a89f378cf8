//! What is wrong with a set of keys.

use std::fmt;

use super::fault::shown;

/// Keys that no card can be verified with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureVerifierError {
    /// The setting.
    setting: &'static str,
    /// Its place in the set, from 1, and its `kid`.
    key: Option<(usize, Option<String>)>,
    why: String,
}

impl SignatureVerifierError {
    pub(super) fn of_set(why: impl Into<String>) -> Self {
        Self { setting: "jwks", key: None, why: why.into() }
    }

    pub(super) fn of_origin(why: impl Into<String>) -> Self {
        Self { setting: "allow_jku_origin", key: None, why: why.into() }
    }

    pub(super) fn of_key(place: usize, id: Option<&str>, why: impl Into<String>) -> Self {
        Self { setting: "jwks", key: Some((place, id.map(str::to_owned))), why: why.into() }
    }

    /// The `kid` of the key that is wrong, if it is one key, and it has one.
    #[must_use]
    pub fn kid(&self) -> Option<&str> {
        self.key.as_ref()?.1.as_deref()
    }
}

impl fmt::Display for SignatureVerifierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.setting)?;
        if let Some((place, id)) = &self.key {
            write!(f, ": key {place}")?;
            if let Some(id) = id {
                write!(f, " ({})", shown(id))?;
            }
        }
        write!(f, " {}", self.why)
    }
}

impl std::error::Error for SignatureVerifierError {}
