//! What of a call decides which card it gets.

use std::fmt;

use http::{HeaderMap, Uri};

use super::Judge;
use crate::{call::ProtocolVersion, error::without_secrets};

/// Where the card of a call is kept: the target, and what else of the call decides which card it gets.
///
/// Borrowed from the call, so that looking a card up costs no allocation.
#[derive(Clone, Copy)]
pub struct CardKeyRef<'a> {
    pub(super) target: &'a Uri,
    pub(super) path: &'a str,
    pub(in crate::card_consistency::store) headers: &'a HeaderMap,
    pub(super) version: Option<ProtocolVersion>,
    pub(super) tenant: Option<&'a str>,
    /// Of a JSON-RPC URL, where agents of one path may be told apart by it.
    pub(in crate::card_consistency::store) query: Option<&'a str>,
    /// By whose rules a card counts for the call: see [`CardKeyRef::judged_by`].
    pub(in crate::card_consistency::store) judge: Option<Judge>,
}

impl<'a> CardKeyRef<'a> {
    /// Of a target that `target` names in full: scheme, authority, and the base path of the agent. `headers` are the
    /// call's: the store reads its tenant headers and, where the card is not public, its credentials from them.
    #[must_use]
    pub fn new(target: &'a Uri, headers: &'a HeaderMap) -> Self {
        Self { target, path: target.path(), headers, version: None, tenant: None, query: None, judge: None }
    }

    /// Another base path than the URI's: what stands before `/message:send`, say.
    #[must_use]
    pub fn with_path(mut self, path: &'a str) -> Self {
        self.path = path;
        self
    }

    /// The version that the call is written in.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<Option<ProtocolVersion>>) -> Self {
        self.version = version.into();
        self
    }

    /// The tenant that the call is for. It only counts where a card's location depends on it.
    #[must_use]
    pub fn with_tenant(mut self, tenant: impl Into<Option<&'a str>>) -> Self {
        self.tenant = tenant.into();
        self
    }

    /// The query of the call's URL, where it is a part of the agent's address. It only counts for an extended card.
    pub(in crate::card_consistency) fn with_query(mut self, query: Option<&'a str>) -> Self {
        self.query = query;
        self
    }

    /// By whose rules a card counts for the call. That a card does not count is one judge's word, and stands beside the
    /// cards.
    pub(in crate::card_consistency) fn judged_by(mut self, judge: Option<Judge>) -> Self {
        self.judge = judge;
        self
    }
}

/// Without the call's headers, which hold its credentials.
impl fmt::Debug for CardKeyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardKeyRef")
            .field("target", &without_secrets(self.target))
            .field("path", &self.path)
            .field("version", &self.version)
            .field("tenant", &self.tenant)
            .finish_non_exhaustive()
    }
}
