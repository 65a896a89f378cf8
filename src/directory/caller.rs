use std::{fmt, sync::Arc};

use super::{bounds::DirectoryBounds, tokens::cut};
use crate::wire::text::escape;

/// On whose behalf a call is made: the name by which permission is asked. It travels with the call, in the extensions
/// of its request, and by option in a header.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Caller(Arc<str>);

impl Caller {
    /// By this name, cut to 256 bytes. Two that differ behind that are one: use ids.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(cut(name, DirectoryBounds::NAME).into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", escape(&self.0, DirectoryBounds::SHOWN))
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Caller({self})")
    }
}
