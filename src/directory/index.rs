//! All peers at one moment, and where to find them: by skill, tag, binding and version. It never changes while anybody
//! reads it; a change makes the next one, out of the one before last where nobody reads that any longer.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use super::{PeerId, peer::Peer};
use crate::card::{Authority, CardBinding, CardVersion};

/// A skill of a peer, by its place in the peer's list.
#[derive(Clone, Debug)]
pub(super) struct Posting {
    pub(super) peer: Arc<Peer>,
    pub(super) skill: u16,
}

/// What makes one index the next.
#[derive(Clone, Debug)]
pub(super) enum IndexChange {
    /// This peer, in the stead of the one of the same place.
    Put(Arc<Peer>),
    /// Without the peer of this place.
    TakeOut(PeerId),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    pub(super) generation: u64,
    peers: HashMap<PeerId, Arc<Peer>>,
    skills: HashMap<Arc<str>, Vec<Posting>>,
    tags: HashMap<Arc<str>, Vec<Posting>>,
    bindings: HashMap<CardBinding, Vec<Arc<Peer>>>,
    versions: HashMap<CardVersion, Vec<Arc<Peer>>>,
    /// By `host:port` of their interfaces.
    authorities: HashMap<Box<str>, Vec<Arc<Peer>>>,
}

impl Index {
    pub(super) fn peer(&self, id: &PeerId) -> Option<&Arc<Peer>> {
        self.peers.get(id)
    }

    pub(super) fn peers(&self) -> impl Iterator<Item = &Arc<Peer>> {
        self.peers.values()
    }

    pub(super) fn len(&self) -> usize {
        self.peers.len()
    }

    pub(super) fn with_skill(&self, id: &str) -> &[Posting] {
        self.skills.get(id).map(|found| &**found).unwrap_or_default()
    }

    /// `tag` is folded.
    pub(super) fn with_tag(&self, tag: &str) -> &[Posting] {
        self.tags.get(tag).map(|found| &**found).unwrap_or_default()
    }

    pub(super) fn with_binding(&self, binding: &CardBinding) -> &[Arc<Peer>] {
        self.bindings.get(binding).map(|found| &**found).unwrap_or_default()
    }

    pub(super) fn with_version(&self, version: &CardVersion) -> &[Arc<Peer>] {
        self.versions.get(version).map(|found| &**found).unwrap_or_default()
    }

    /// Those who have an interface there.
    pub(super) fn at_authority(&self, authority: &Authority) -> &[Arc<Peer>] {
        self.authorities.get(authority.host_port()).map(|found| &**found).unwrap_or_default()
    }

    /// Makes this one the next.
    pub(super) fn apply(&mut self, change: IndexChange) {
        self.generation = self.generation.wrapping_add(1);
        match change {
            IndexChange::Put(peer) => {
                self.take_out(&peer.id);
                self.put(peer);
            }
            IndexChange::TakeOut(id) => self.take_out(&id),
        }
    }

    fn put(&mut self, peer: Arc<Peer>) {
        for (place, skill) in peer.skills.iter().enumerate() {
            let Ok(place) = u16::try_from(place) else { break };
            let posting = Posting { peer: Arc::clone(&peer), skill: place };
            append(&mut self.skills, &skill.id, posting.clone());
            skill.tags.iter().for_each(|tag| append(&mut self.tags, tag, posting.clone()));
        }
        for binding in distinct(peer.interfaces.iter().map(|interface| interface.binding())) {
            append(&mut self.bindings, binding, Arc::clone(&peer));
        }
        for version in distinct(peer.interfaces.iter().map(|interface| interface.version())) {
            append(&mut self.versions, version, Arc::clone(&peer));
        }
        for authority in distinct(authorities(&peer).iter()) {
            append(&mut self.authorities, authority, Arc::clone(&peer));
        }
        self.peers.insert(peer.id.clone(), peer);
    }

    fn take_out(&mut self, id: &PeerId) {
        let Some(peer) = self.peers.remove(id) else { return };
        for skill in peer.skills.iter() {
            take_out(&mut self.skills, &skill.id, |posting| Arc::ptr_eq(&posting.peer, &peer));
            skill
                .tags
                .iter()
                .for_each(|tag| take_out(&mut self.tags, tag, |posting| Arc::ptr_eq(&posting.peer, &peer)));
        }
        for interface in peer.interfaces.iter() {
            take_out(&mut self.bindings, interface.binding(), |other| Arc::ptr_eq(other, &peer));
            take_out(&mut self.versions, interface.version(), |other| Arc::ptr_eq(other, &peer));
        }
        authorities(&peer)
            .iter()
            .for_each(|authority| take_out(&mut self.authorities, authority, |other| Arc::ptr_eq(other, &peer)));
    }
}

/// As often as the peer has interfaces there.
fn authorities(peer: &Peer) -> Vec<Box<str>> {
    let parsed = peer.interfaces.iter().filter_map(|interface| interface.authority().ok());
    parsed.map(|authority| authority.host_port().into()).collect()
}

fn append<K: Eq + Hash + Clone, V>(map: &mut HashMap<K, Vec<V>>, key: &K, value: V) {
    match map.get_mut(key) {
        Some(list) => list.push(value),
        None => _ = map.insert(key.clone(), vec![value]),
    }
}

fn take_out<K: Eq + Hash, V>(map: &mut HashMap<K, Vec<V>>, key: &K, is_it: impl Fn(&V) -> bool) {
    let Some(list) = map.get_mut(key) else { return };
    list.retain(|value| !is_it(value));
    if list.is_empty() {
        map.remove(key);
    }
}

fn distinct<'a, T: Eq>(items: impl Iterator<Item = &'a T>) -> Vec<&'a T> {
    let mut seen = Vec::new();
    items.for_each(|item| {
        if !seen.contains(&item) {
            seen.push(item);
        }
    });
    seen
}
