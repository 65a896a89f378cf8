//! The directory: who is registered, and what becomes of it. Readers take what stands at the moment and are never
//! blocked by whoever changes it.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, atomic::AtomicU64},
};

use http::{HeaderMap, Uri};
use tokio::{sync::Notify, time::Instant};

use super::{
    AuditEvent, Change, DirectoryObserver, PeerId, RegistryError, StaleReason,
    builder::{DirectoryBuilder, Settings},
    index::{Index, IndexChange},
    peer::{Peer, State},
    reading::{self, Read},
    skill::{Skill, SkillSource},
    tools,
};
use crate::{
    card::{CardUrl, Origin},
    card_consistency::{CardAsk, CardStore},
    clock::{Clock, Millis, span},
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

/// What only those need who change something, one at a time.
#[derive(Default)]
pub(super) struct Writing {
    sequence: u64,
    owners: HashMap<Arc<str>, usize>,
    /// Who must not come back, and whose it was. One entry for each act of an operator.
    pub(super) revoked: HashMap<PeerId, Arc<str>>,
    /// What stood before the last change, and that change. Few read it any longer, and soon nobody: then it becomes the
    /// next one, with what it lacks, and nothing is copied.
    before: Option<(Arc<Index>, IndexChange)>,
}

/// Events on their way to the observer, who is told when no lock is held.
#[must_use]
pub(super) struct Events(pub(super) Vec<AuditEvent>);

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

    /// Registers the agent at `base`, or reads its card again, for `owner`. Its card comes through the card store, which
    /// verifies it, and counts only if it is the card of this place. From then on the peer is on probation.
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
    /// [refreshes](Self::refresh_due) this directory. Until then it counts. `why` is a stable word. Whether it is registered.
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

    /// Whether `owner` may register `base` at all.
    fn admitted(&self, base: &Uri, owner: &str) -> Result<PeerId, RegistryError> {
        let peer = PeerId::of(base)?;
        let settings = &self.inner.settings;
        let judged = if owner.is_empty() || owner.len() > super::bounds::DirectoryBounds::NAME {
            Err(RegistryError::Owner)
        } else {
            // What a registrant names is a stranger's word: seen from a place that nobody is at.
            let usable = CardUrl::of(base).and_then(|url| {
                let nowhere = Origin::parse("https://directory.invalid")?;
                settings.urls.usable(&url, &nowhere)
            });
            usable.map_err(RegistryError::Unusable).and_then(|()| match &settings.admission {
                Some(admission) => admission(owner, &peer).map_err(|why| RegistryError::NotAdmitted(why.into())),
                None => Ok(()),
            })
        };
        let judged = judged.and_then(|()| self.may_write(&self.inner.writing(), &self.inner.current(), &peer, owner));
        match judged {
            Ok(()) => Ok(peer),
            Err(error) => Err(self.refused(&peer, owner, error)),
        }
    }

    fn may_write(&self, writing: &Writing, current: &Index, peer: &PeerId, owner: &str) -> Result<(), RegistryError> {
        let bounds = &self.inner.settings.bounds;
        if writing.revoked.contains_key(peer) {
            return Err(RegistryError::Revoked);
        }
        match current.peer(peer) {
            Some(known) if *known.owner != *owner => Err(RegistryError::OwnedByAnother),
            Some(_) => Ok(()),
            None if current.len() >= bounds.peers => Err(RegistryError::Full(bounds.peers)),
            None if writing.owners.get(owner).is_some_and(|peers| *peers >= bounds.peers_of_owner) => {
                Err(RegistryError::OwnerFull(bounds.peers_of_owner))
            }
            None => Ok(()),
        }
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

    /// Writes what a source said when it was asked again, unless the peer was withdrawn or revoked meanwhile, whoever
    /// registered it since: then that stands.
    pub(super) fn put_again(&self, peer: &Peer, said: Said) {
        let _told_by_the_audit = self.put(&peer.id, &peer.base, &peer.owner, said, Some(&peer.state));
    }

    /// Writes what a source said; of one who was asked `again`, if it is the same registration still.
    fn put(
        &self,
        id: &PeerId,
        base: &Uri,
        owner: &str,
        said: Said,
        again: Option<&Arc<State>>,
    ) -> Result<(), RegistryError> {
        let now = self.inner.clock.millis(Instant::now());
        let mut writing = self.inner.writing();
        let current = self.inner.current();
        let is_it = |state| current.peer(id).is_some_and(|known| Arc::ptr_eq(&known.state, state));
        if !again.is_none_or(is_it) {
            return Ok(());
        }
        if let Err(error) = self.may_write(&writing, &current, id, owner) {
            drop(writing);
            return Err(self.refused(id, owner, error));
        }
        let known = current.peer(id);
        let (source, left_out) = (said.source(), said.left_out());
        let (until, as_of) = (self.inner.until(&said, now), said.as_of());
        let mut next = self.merged(id, base, owner, known, said, now);
        let same = known.is_some_and(|known| says_the_same(known, &next, source));
        next.said = known.map_or(0, |known| known.said) + u64::from(!same);
        let next = Arc::new(next);
        let was = known.and_then(|known| known.state.until(source));
        let stood = known.is_some_and(|known| known.state.standing(source, now).is_ok());
        let skills = next.skills.iter().filter(|skill| skill.source == source).count();
        let mut changes = Vec::new();
        match known {
            Some(known) if was.is_some() => {
                if !same {
                    changes.push(Change::Updated { source, skills, left_out });
                } else if !stood {
                    changes.push(Change::Renewed { source });
                }
                if known.by_card != next.by_card {
                    changes.push(Change::Verified { verification: next.by_card });
                }
            }
            _ => changes.push(Change::Registered { source, skills, left_out }),
        }
        next.state.renew(source, until, now);
        if as_of.is_some_and(|changes| changes != next.state.tools_changes()) {
            let why = StaleReason::ListChanged;
            if next.state.mark_stale(source, why) {
                changes.push(Change::Stale { source, why });
            }
            self.inner.wake.notify_one();
        }
        let is_new = known.is_none();
        drop(current);
        if is_new {
            *writing.owners.entry(Arc::clone(&next.owner)).or_default() += 1;
        }
        // What only goes on as it was is in the state, which all versions share: no index is written for it.
        if !changes.iter().all(|change| matches!(change, Change::Renewed { .. } | Change::Stale { .. })) {
            self.inner.change(&mut writing, IndexChange::Put(Arc::clone(&next)));
        }
        let events =
            changes.into_iter().map(|change| self.inner.event(&mut writing, id, &next.owner, change)).collect();
        drop(writing);
        self.tell(Events(events));
        Ok(())
    }

    /// What a peer says, with what one of its sources says now.
    fn merged(&self, id: &PeerId, base: &Uri, owner: &str, known: Option<&Arc<Peer>>, said: Said, now: Millis) -> Peer {
        let source = said.source();
        let kept = known.map(|known| &*known.skills).unwrap_or_default();
        let kept = kept.iter().filter(|skill| skill.source != source).cloned();
        let (own, interfaces, by_card) = match said {
            Said::Card(read) => (read.skills, read.interfaces, read.verification),
            Said::Tools { skills, .. } => {
                let interfaces = known.map(|known| Arc::clone(&known.interfaces)).unwrap_or_else(|| Arc::from([]));
                (skills, interfaces, known.map(|known| known.by_card).unwrap_or_default())
            }
        };
        // Those of the card first, whichever came first.
        let skills: Arc<[Skill]> = match source {
            SkillSource::Card => own.into_iter().chain(kept).collect(),
            SkillSource::Tools => kept.chain(own).collect(),
        };
        Peer {
            id: id.clone(),
            owner: known.map(|known| Arc::clone(&known.owner)).unwrap_or_else(|| owner.into()),
            base: known.map(|known| known.base.clone()).unwrap_or_else(|| base.clone()),
            skills,
            interfaces,
            by_card,
            said: 0,
            state: known.map(|known| Arc::clone(&known.state)).unwrap_or_else(|| Arc::new(State::new(now))),
        }
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

    pub(super) fn refused(&self, peer: &PeerId, owner: &str, error: RegistryError) -> RegistryError {
        let owner = super::tokens::cut(owner, super::bounds::DirectoryBounds::NAME).into();
        let change = Change::Refused { why: super::tokens::cut(&error.to_string(), 1024).into() };
        let event = self.inner.event(&mut self.inner.writing(), peer, &owner, change);
        self.tell(Events(vec![event]));
        error
    }

    pub(super) fn tell(&self, events: Events) {
        events.0.iter().for_each(|event| self.inner.settings.observer.audit(event));
    }
}

impl Inner {
    pub(super) fn current(&self) -> Arc<Index> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes the next index; says whether all of it had to be copied, since somebody still reads the one before.
    fn change(&self, writing: &mut Writing, change: IndexChange) -> bool {
        let caught_up = writing.before.take().and_then(|(before, missed)| {
            let mut index = Arc::into_inner(before)?;
            index.apply(missed);
            Some(index)
        });
        let is_copied = caught_up.is_none();
        let mut next = caught_up.unwrap_or_else(|| Index::clone(&self.current()));
        next.apply(change.clone());
        match &change {
            IndexChange::Put(peer) => self.settings.evidence.set_present(&peer.id, true),
            IndexChange::TakeOut(id) => self.settings.evidence.set_present(id, false),
        }
        self.settings.evidence.set_registered(next.len());
        let next = Arc::new(next);
        let before = std::mem::replace(&mut *self.current.write().unwrap_or_else(PoisonError::into_inner), next);
        writing.before = Some((before, change));
        is_copied
    }

    /// Nothing is left half done under this lock, so that a poisoned one is as good as new.
    pub(super) fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn event(&self, writing: &mut Writing, peer: &PeerId, owner: &Arc<str>, change: Change) -> AuditEvent {
        writing.sequence += 1;
        AuditEvent {
            sequence: writing.sequence,
            at: Instant::now(),
            peer: peer.clone(),
            owner: Arc::clone(owner),
            change,
        }
    }

    pub(super) fn take_out(&self, writing: &mut Writing, peer: &Peer, change: Change) -> Events {
        peer.state.set_gone();
        if let Some(peers) = writing.owners.get_mut(&peer.owner) {
            *peers -= 1;
            if *peers == 0 {
                writing.owners.remove(&peer.owner);
            }
        }
        self.change(writing, IndexChange::TakeOut(peer.id.clone()));
        Events(vec![self.event(writing, &peer.id, &peer.owner, change)])
    }

    /// Until when what is said now counts. A card that no cache may keep still tells where its agent is for a moment;
    /// the layers below ask for it again before anything is sent.
    fn until(&self, said: &Said, now: Millis) -> Millis {
        match said {
            Said::Card(read) => {
                self.clock.millis(read.fresh_until).max(now.saturating_add(span(self.settings.min_freshness)))
            }
            Said::Tools { .. } => now.saturating_add(span(self.settings.tools_ttl)),
        }
    }
}

/// One place is asked in one way, however it was written.
fn base_of(peer: &PeerId, base: &Uri) -> Uri {
    peer.as_str().parse().unwrap_or_else(|_| base.clone())
}

/// What a source said.
pub(super) enum Said {
    Card(Read),
    Tools {
        skills: Vec<Skill>,
        left_out: usize,
        /// How often the list had changed when it was asked for, where that is known.
        as_of: Option<u64>,
    },
}

impl Said {
    fn source(&self) -> SkillSource {
        match self {
            Self::Card(_) => SkillSource::Card,
            Self::Tools { .. } => SkillSource::Tools,
        }
    }

    fn left_out(&self) -> usize {
        match self {
            Self::Card(read) => read.left_out,
            Self::Tools { left_out, .. } => *left_out,
        }
    }

    fn as_of(&self) -> Option<u64> {
        match self {
            Self::Card(_) => None,
            Self::Tools { as_of, .. } => *as_of,
        }
    }
}

fn says_the_same(before: &Peer, after: &Peer, source: SkillSource) -> bool {
    let of = |peer: &Peer| peer.skills.iter().filter(|skill| skill.source == source).cloned().collect::<Vec<_>>();
    let (one, two) = (of(before), of(after));
    one.len() == two.len()
        && one.iter().zip(&two).all(|(one, two)| one.says_the_same(two))
        && before.interfaces == after.interfaces
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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use bytes::Bytes;
    use http_body_util::Full;

    use super::*;

    fn nobodys() -> Directory {
        let nobody = tower::service_fn(|_: http::Request<Full<Bytes>>| async {
            Ok::<_, Infallible>(http::Response::builder().status(404).body(Full::<Bytes>::default()).unwrap())
        });
        Directory::builder(CardStore::builder(nobody).build().unwrap()).build()
    }

    /// A full directory takes one more as an empty one does.
    #[tokio::test]
    async fn nothing_is_copied_for_a_change_that_nobody_reads_by() {
        let directory = nobodys();
        let tools = &[r#"{"tools":[{"name":"x"}]}"#];
        let ids: Vec<_> = (0..8)
            .map(|n| {
                let base = format!("https://agent-{n}.example").parse().unwrap();
                directory.publish_tools(&base, "o", tools).unwrap()
            })
            .collect();
        let take_out = |id: &PeerId| {
            let copied = directory.inner.change(&mut directory.inner.writing(), IndexChange::TakeOut(id.clone()));
            (copied, directory.len(), directory.inner.current().with_skill("x").len())
        };
        assert_eq!(take_out(&ids[0]), (false, 7, 7));
        let reader = directory.inner.current();
        assert_eq!(take_out(&ids[1]), (false, 6, 6));
        assert_eq!(take_out(&ids[2]), (true, 5, 5), "somebody reads the one before");
        assert_eq!((reader.len(), reader.with_skill("x").len()), (7, 7));
        assert_eq!(take_out(&ids[3]), (false, 4, 4));
        drop(reader);
        assert_eq!(take_out(&ids[4]), (false, 3, 3));
        assert_eq!(directory.generation(), 13);
    }

    /// It is withdrawn, or somebody else's, when what was read of it is written.
    #[tokio::test]
    async fn what_was_read_of_a_registration_that_is_over_is_not_written() {
        let directory = nobodys();
        let base = Uri::from_static("https://a.example");
        let tools = || Said::Tools { skills: Vec::new(), left_out: 0, as_of: None };
        let publish = |owner| directory.publish_tools(&base, owner, &[r#"{"tools":[{"name":"x"}]}"#]).unwrap();
        let id = publish("one");
        let before = Arc::clone(directory.inner.current().peer(&id).unwrap());
        directory.withdraw(&id, "one").unwrap();
        directory.put_again(&before, tools());
        assert!(directory.is_empty());
        for owner in ["one", "two"] {
            publish(owner);
            directory.put_again(&before, tools());
            assert_eq!(directory.peer(&id).unwrap().skills.len(), 1);
            directory.withdraw(&id, owner).unwrap();
        }
    }
}
