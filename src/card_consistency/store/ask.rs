//! What a call asks of the store.

use std::{fmt, sync::Arc, time::Duration};

use http::{HeaderMap, Uri};

use super::{CardKeyRef, ExtendedCall, Judge};
use crate::{
    call::ProtocolVersion,
    card::AgentCard,
    error::{CardFailure, without_secrets},
};

pub(super) type Counts = Arc<dyn Fn(&AgentCard) -> Result<(), CardFailure> + Send + Sync>;
pub(super) type Extend = Arc<dyn Fn(&AgentCard) -> Option<ExtendedCall> + Send + Sync>;

/// A call's wish for the card of its target.
#[derive(Clone)]
#[must_use]
pub struct CardAsk {
    pub(super) target: Uri,
    pub(super) headers: HeaderMap,
    pub(super) version: Option<ProtocolVersion>,
    pub(super) tenant: Option<Box<str>>,
    pub(super) bound: Duration,
    pub(super) counts: Option<Counts>,
    pub(super) extend: Option<Extend>,
    pub(super) judge: Option<Judge>,
}

impl CardAsk {
    /// For the card of the agent whose base is `target`: scheme, authority and base path. `headers` are the call's.
    /// Tenant headers travel to each location; credentials go to the target's own origin alone, and only after it
    /// answered 401; nothing else is sent.
    pub fn new(target: Uri, headers: HeaderMap) -> Self {
        Self {
            target,
            headers,
            version: None,
            tenant: None,
            bound: Duration::MAX,
            counts: None,
            extend: None,
            judge: None,
        }
    }

    /// The version that the call is written in. It is sent as `A2A-Version`: one URL may serve a card for each (§3.6).
    pub fn version(mut self, version: impl Into<Option<ProtocolVersion>>) -> Self {
        self.version = version.into();
        self
    }

    /// The tenant that the call is for, by which a configured location may go.
    pub fn tenant(mut self, tenant: Option<&str>) -> Self {
        self.tenant = tenant.map(Into::into);
        self
    }

    /// How long this caller waits at most. The fetch has a bound of its own, and goes on for others.
    pub fn bound(mut self, bound: Duration) -> Self {
        self.bound = bound;
        self
    }

    /// Says whether a card is the target's; one that is not is not kept, and the next location is asked.
    ///
    /// It must go by the target alone: calls with the same [`key`](Self::key) share the verdict.
    pub fn counts(mut self, counts: impl Fn(&AgentCard) -> Result<(), CardFailure> + Send + Sync + 'static) -> Self {
        self.counts = Some(Arc::new(counts));
        self
    }

    /// By whose rules a card counts. Their word that it does not is remembered for those who ask by the same ones;
    /// without this, it is not remembered at all.
    pub(in crate::card_consistency) fn judged_by(mut self, judge: Judge) -> Self {
        self.judge = Some(judge);
        self
    }

    /// How a public card's agent is asked for its extended one, if it is.
    pub(in crate::card_consistency) fn extend(
        mut self,
        extend: impl Fn(&AgentCard) -> Option<ExtendedCall> + Send + Sync + 'static,
    ) -> Self {
        self.extend = Some(Arc::new(extend));
        self
    }

    /// What the card is kept under.
    #[must_use]
    pub fn key(&self) -> CardKeyRef<'_> {
        CardKeyRef::new(&self.target, &self.headers).with_version(self.version).with_tenant(self.tenant.as_deref())
    }
}

impl fmt::Debug for CardAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardAsk")
            .field("target", &without_secrets(&self.target))
            .field("version", &self.version)
            .field("tenant", &self.tenant)
            .field("bound", &self.bound)
            .finish_non_exhaustive()
    }
}
