//! Writes what a source said of a peer, beside what its other source says.

use std::sync::Arc;

use http::Uri;
use tokio::time::Instant;

use super::{Directory, Inner, said::Said, writing::Events};
use crate::{
    clock::{Millis, span},
    directory::{
        Change, PeerId, RegistryError, StaleReason,
        index::IndexChange,
        peer::{Peer, State},
        skill::{Skill, SkillSource},
    },
};

impl Directory {
    /// Writes what a source said when it was asked again, unless the peer was withdrawn or revoked meanwhile, whoever
    /// registered it since: then that stands.
    pub(in crate::directory) fn put_again(&self, peer: &Peer, said: Said) {
        let _told_by_the_audit = self.put(&peer.id, &peer.base, &peer.owner, said, Some(&peer.state));
    }

    /// Writes what a source said; of one who was asked `again`, if it is the same registration still.
    pub(super) fn put(
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
}

impl Inner {
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

fn says_the_same(before: &Peer, after: &Peer, source: SkillSource) -> bool {
    let of = |peer: &Peer| peer.skills.iter().filter(|skill| skill.source == source).cloned().collect::<Vec<_>>();
    let (one, two) = (of(before), of(after));
    one.len() == two.len()
        && one.iter().zip(&two).all(|(one, two)| one.says_the_same(two))
        && before.interfaces == after.interfaces
}
