//! What a directory holds, to look at.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{Directory, PeerId, Skill, SkillSource, StaleReason, Verification, peer::Peer};
use crate::card::{CardBinding, CardVersion};

/// What is known of a peer at one moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PeerEntry {
    /// Who.
    pub peer: PeerId,
    /// Who registered it.
    pub owner: Arc<str>,
    /// What it says it can do.
    pub skills: Arc<[Skill]>,
    /// Who else stands for it.
    pub verification: Verification,
    /// How much longer its card counts, or why it does not. `None`: it was not registered by a card.
    pub card: Option<Result<Duration, StaleReason>>,
    /// The same of its tools.
    pub tools: Option<Result<Duration, StaleReason>>,
    /// When it last answered: with its card, or to a call through the directory.
    pub last_seen: Instant,
}

impl Directory {
    /// What is known of all peers, in the order of their ids.
    #[must_use]
    pub fn snapshot(&self) -> Vec<PeerEntry> {
        let (current, now) = (self.inner.current(), Instant::now());
        let mut entries: Vec<_> = current.peers().map(|peer| self.entry(peer, now)).collect();
        entries.sort_unstable_by(|one, two| one.peer.cmp(&two.peer));
        entries
    }

    /// What is known of one peer.
    #[must_use]
    pub fn peer(&self, peer: &PeerId) -> Option<PeerEntry> {
        self.inner.current().peer(peer).map(|peer| self.entry(peer, Instant::now()))
    }

    fn entry(&self, peer: &Arc<Peer>, now: Instant) -> PeerEntry {
        let (clock, at) = (self.inner.clock, self.inner.clock.millis(now));
        let standing = |source| {
            let until = peer.state.until(source)?;
            Some(peer.state.standing(source, at).map(|()| Duration::from_millis(until.saturating_sub(at))))
        };
        PeerEntry {
            peer: peer.id.clone(),
            owner: Arc::clone(&peer.owner),
            skills: Arc::clone(&peer.skills),
            verification: peer.verification(),
            card: standing(SkillSource::Card),
            tools: standing(SkillSource::Tools),
            last_seen: clock.instant(peer.state.last_seen()),
        }
    }

    /// Those who have an interface of this binding, in the order of their ids.
    #[must_use]
    pub fn with_binding(&self, binding: &CardBinding) -> Vec<PeerId> {
        sorted(self.inner.current().with_binding(binding))
    }

    /// Those who have an interface of this version, in the order of their ids.
    #[must_use]
    pub fn with_version(&self, version: &CardVersion) -> Vec<PeerId> {
        sorted(self.inner.current().with_version(version))
    }
}

fn sorted(peers: &[Arc<Peer>]) -> Vec<PeerId> {
    let mut ids: Vec<_> = peers.iter().map(|peer| peer.id.clone()).collect();
    ids.sort_unstable();
    ids
}
