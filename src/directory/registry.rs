//! The directory: who is registered, and what becomes of it. Readers take what stands at the moment and are never
//! blocked by whoever changes it.

mod admission;
mod put;
mod said;
mod writing;

#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError, RwLock, atomic::AtomicU64},
};

use http::{HeaderMap, Uri};
use tokio::sync::Notify;

use self::writing::Writing;
pub(super) use self::{said::Said, writing::Events};
use super::{
    Change, PeerId, RegistryError, StaleReason,
    builder::{DirectoryBuilder, Settings},
    index::Index,
    peer::Peer,
    reading::{self, Read},
    skill::SkillSource,
    tools,
};
use crate::{
    card::Origin,
    card_consistency::{CardAsk, CardStore},
    clock::Clock,
    error::CardFailure,
};

/// Peers that may be found for a need. Being found is no permission, and being registered no trust.
///
/// Clones are the same directory. See the [module](super) for what becomes of a registration.
#[derive(Clone)]
pub struct Directory {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) store: CardStore,
    pub(super) settings: Settings,
    pub(super) clock: Clock,
    /// Locked for as long as it takes to clone or to swap a pointer.
    current: RwLock<Arc<Index>>,
    writing: Mutex<Writing>,
    /// How many calls there were.
    pub(super) calls: AtomicU64,
    /// Somebody wants a card read again soon.
    pub(super) wake: Arc<Notify>,
}

impl Directory {
    /// A directory whose peers' cards come from `cards`. One that is shared with the layers knows what they know.
    pub fn builder(cards: CardStore) -> DirectoryBuilder {
        DirectoryBuilder::new(cards)
    }

    pub(super) fn new(store: CardStore, settings: Settings) -> Self {
        let inner = Inner {
            store,
            settings,
            clock: Clock::new(),
            current: RwLock::default(),
            writing: Mutex::default(),
            calls: AtomicU64::new(0),
            wake: Arc::new(Notify::new()),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Registers the agent at `base`, or reads its card again, for `owner`. Its card comes through the card store,
    /// which verifies it, and counts only if it is the card of this place. From then on the peer is on probation.
    ///
    /// # Errors
    ///
    /// Why not. Whatever was registered before stays.
    pub async fn publish(&self, base: &Uri, owner: &str) -> Result<PeerId, RegistryError> {
        let peer = self.admitted(base, owner)?;
        let base = &base_of(&peer, base);
        let read = match self.read_card(base, false).await {
            Ok(read) => read,
            Err(error) => return Err(self.refused(&peer, owner, error)),
        };
        self.put(&peer, base, owner, Said::Card(read), None).map(|()| peer)
    }

    /// Registers the tools that the peer at `base` lists over MCP as skills of it, for `owner`: all pages of one
    /// `tools/list`, each the result or the whole response. What it had of tools before is replaced; what its card says
    /// is not. They count for [`tools_ttl`](DirectoryBuilder::tools_ttl).
    ///
    /// # Errors
    ///
    /// Why not. Whatever was registered before stays.
    pub fn publish_tools<P>(&self, base: &Uri, owner: &str, pages: &[P]) -> Result<PeerId, RegistryError>
    where
        P: AsRef<[u8]>,
    {
        let peer = self.admitted(base, owner)?;
        let base = &base_of(&peer, base);
        let read = match tools::read(pages, &self.inner.settings.bounds) {
            Ok((skills, left_out)) => Said::Tools { skills, left_out, as_of: None },
            Err(fault) => return Err(self.refused(&peer, owner, fault.into())),
        };
        self.put(&peer, base, owner, read, None).map(|()| peer)
    }

    /// The peer said that its list of tools changed (MCP `notifications/tools/list_changed`): what was known of them
    /// does not count until they are published again. Whether there was something to mark.
    pub fn tools_changed(&self, peer: &PeerId) -> bool {
        let current = self.inner.current();
        let Some(known) = current.peer(peer) else { return false };
        if known.state.until(SkillSource::Tools).is_none() {
            return false;
        }
        // Before the mark, for who is just listing them looks in the other order.
        known.state.note_tools_changed();
        self.mark_stale(known, SkillSource::Tools, StaleReason::ListChanged);
        self.inner.wake.notify_one();
        true
    }

    /// Somebody has reason to doubt what is known of a peer: its card is read again as soon as may be, by whoever
    /// [refreshes](Self::refresh_due) this directory. Until then it counts. `why` is a stable word. Whether it is
    /// registered.
    pub fn doubt(&self, peer: &PeerId, why: &'static str) -> bool {
        let current = self.inner.current();
        let Some(known) = current.peer(peer) else { return false };
        if known.state.until(SkillSource::Card).is_some() && known.state.doubt() {
            self.note(known, Change::Doubted { why });
            self.inner.wake.notify_one();
        }
        true
    }

    /// How many peers are registered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.current().len()
    }

    /// Whether nobody is registered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every change makes the next one.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.inner.current().generation
    }

    /// The card of a place, and what of it can be used.
    pub(super) async fn read_card(&self, base: &Uri, anew: bool) -> Result<Read, RegistryError> {
        let settings = &self.inner.settings;
        let origin = Origin::of(base).map_err(RegistryError::Unusable)?;
        let urls = settings.urls.clone();
        let place = base.clone();
        // A card without an interface at this origin, or at one that is allowed by name, is somebody else's.
        let counts = {
            let (origin, urls) = (origin.clone(), urls.clone());
            move |card: &crate::card::AgentCard| {
                reading::first_usable(card, &origin, &urls).map_err(|flaw| CardFailure::of(flaw, &place))
            }
        };
        let ask = CardAsk::new(base.clone(), HeaderMap::new()).bound(settings.discovery_timeout).counts(counts);
        let held = if anew { self.inner.store.refresh(ask).await? } else { self.inner.store.get(ask).await? };
        reading::read(&held, &origin, &urls, &settings.bounds, self.inner.store.has_verifier())
            .map_err(RegistryError::NoInterface)
    }

    /// What one source said does not count any longer.
    pub(super) fn mark_stale(&self, peer: &Peer, source: SkillSource, why: StaleReason) {
        if peer.state.mark_stale(source, why) {
            self.note(peer, Change::Stale { source, why });
        }
    }

    pub(super) fn note(&self, peer: &Peer, change: Change) {
        let event = self.inner.event(&mut self.inner.writing(), &peer.id, &peer.owner, change);
        self.tell(Events(vec![event]));
    }

    pub(super) fn tell(&self, events: Events) {
        events.0.iter().for_each(|event| self.inner.settings.observer.audit(event));
    }
}

impl Inner {
    pub(super) fn current(&self) -> Arc<Index> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One place is asked in one way, however it was written.
fn base_of(peer: &PeerId, base: &Uri) -> Uri {
    peer.as_str().parse().unwrap_or_else(|_| base.clone())
}

impl fmt::Debug for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let current = self.inner.current();
        f.debug_struct("Directory")
            .field("peers", &current.len())
            .field("generation", &current.generation)
            .field("settings", &self.inner.settings)
            .finish_non_exhaustive()
    }
}
