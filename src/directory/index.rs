//! All peers at one moment, and where to find them: by skill, tag, binding and version. It never changes; a change makes
//! the next one, while readers go on with theirs.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use super::{PeerId, peer::Peer};
use crate::card::{CardBinding, CardVersion};

/// A skill of a peer, by its place in the peer's list.
#[derive(Clone, Debug)]
pub(super) struct Posting {
    pub(super) peer: Arc<Peer>,
    pub(super) skill: u16,
}

type Postings = Arc<[Posting]>;
type Peers = Arc<[Arc<Peer>]>;

#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    pub(super) generation: u64,
    peers: HashMap<PeerId, Arc<Peer>>,
    skills: HashMap<Arc<str>, Postings>,
    tags: HashMap<Arc<str>, Postings>,
    bindings: HashMap<CardBinding, Peers>,
    versions: HashMap<CardVersion, Peers>,
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

    /// The same with this peer, in the stead of the one of the same place.
    pub(super) fn with(&self, peer: Arc<Peer>) -> Self {
        let mut next = self.without(&peer.id);
        for (place, skill) in peer.skills.iter().enumerate() {
            let Ok(place) = u16::try_from(place) else { break };
            let posting = Posting { peer: Arc::clone(&peer), skill: place };
            append(&mut next.skills, &skill.id, posting.clone());
            skill.tags.iter().for_each(|tag| append(&mut next.tags, tag, posting.clone()));
        }
        for binding in distinct(peer.interfaces.iter().map(|interface| interface.binding())) {
            append(&mut next.bindings, binding, Arc::clone(&peer));
        }
        for version in distinct(peer.interfaces.iter().map(|interface| interface.version())) {
            append(&mut next.versions, version, Arc::clone(&peer));
        }
        next.peers.insert(peer.id.clone(), peer);
        next
    }

    /// The same without the peer of this place.
    pub(super) fn without(&self, id: &PeerId) -> Self {
        let mut next = Self { generation: self.generation.wrapping_add(1), ..self.clone() };
        let Some(peer) = next.peers.remove(id) else { return next };
        for skill in peer.skills.iter() {
            take_out(&mut next.skills, &skill.id, |posting| posting.peer.id == *id);
            skill.tags.iter().for_each(|tag| take_out(&mut next.tags, tag, |posting| posting.peer.id == *id));
        }
        for interface in peer.interfaces.iter() {
            take_out(&mut next.bindings, interface.binding(), |other| other.id == *id);
            take_out(&mut next.versions, interface.version(), |other| other.id == *id);
        }
        next
    }
}

fn append<K: Eq + Hash + Clone, V: Clone>(map: &mut HashMap<K, Arc<[V]>>, key: &K, value: V) {
    let list = map.get(key).map(|list| &**list).unwrap_or_default();
    let longer = list.iter().cloned().chain(std::iter::once(value)).collect();
    map.insert(key.clone(), longer);
}

fn take_out<K: Eq + Hash, V: Clone>(map: &mut HashMap<K, Arc<[V]>>, key: &K, is_it: impl Fn(&V) -> bool) {
    let Some(list) = map.get_mut(key) else { return };
    let rest: Arc<[V]> = list.iter().filter(|value| !is_it(value)).cloned().collect();
    if rest.is_empty() {
        map.remove(key);
    } else {
        *list = rest;
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
