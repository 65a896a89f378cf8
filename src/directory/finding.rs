//! A directory as those see it who look for a peer.

use std::sync::{Arc, atomic::Ordering};

use tokio::time::Instant;

use super::{
    Candidate, Decision, Directory, DirectoryObserver, Evidence, Exclusion, Need, Permit, Stage, Verification,
    peer::Peer,
    select::{Moment, Rules, permitted, select},
};

impl Directory {
    /// Who is to be asked for what is needed, the best first, and why nobody else is. Nothing is sent.
    ///
    /// Each time it is another call, by which peers in their slow start take turns.
    #[must_use]
    pub fn find(&self, need: &Need) -> Decision {
        self.find_at(need, Instant::now(), self.next_call())
    }

    /// The same at `now`, of the call with this number: a function of these, of what is registered and of the evidence.
    #[must_use]
    pub fn find_at(&self, need: &Need, now: Instant, call: u64) -> Decision {
        let settings = &self.inner.settings;
        let moment = Moment { at: now, millis: self.inner.clock.millis(now), call };
        let standing = |peer: &Peer, verification: Verification| {
            settings.evidence.standing_at(&peer.id, verification.is_verified(), now)
        };
        let mut rules = Rules {
            scorer: &*settings.scorer,
            permission: &*settings.permission,
            low_risk: &*settings.low_risk,
            standing: &standing,
            told: &mut |event| settings.observer.permission(&event),
            shortlist: settings.shortlist,
            explore: settings.explore,
            unknown: settings.evidence.policy().unknown(),
        };
        select(&self.inner.current(), need, moment, &mut rules)
    }

    /// The last look at a candidate before it is called, as things stand now and not when it was found: whether what
    /// made it one still counts, and whether it may be asked. Says whether a test has to go well first.
    pub(super) fn last_look(&self, candidate: &Candidate, need: &Need, now: Instant) -> Result<bool, Exclusion> {
        let current = self.inner.current();
        let at = current.peer(&candidate.peer).filter(|_| !candidate.at.state.is_gone()).ok_or(Exclusion::Gone)?;
        let is_there = candidate.interface().is_none_or(|own| at.interfaces.iter().any(|one| one.is_same_place(own)));
        // Its tools and its card may both have it. One that counts is enough.
        let sources = at.skills.iter().filter(|skill| skill.id == candidate.skill).map(|skill| skill.source);
        let standing = sources.map(|source| at.state.standing(source, self.inner.clock.millis(now)));
        standing.reduce(Result::or).filter(|_| is_there).ok_or(Exclusion::Changed)?.map_err(Exclusion::Stale)?;

        let settings = &self.inner.settings;
        let verification = at.verification();
        let standing = settings.evidence.standing_at(&candidate.peer, verification.is_verified(), now);
        let as_it_is = Candidate { verification, standing, at: Arc::clone(at), ..candidate.clone() };
        let told = &mut |event| settings.observer.permission(&event);
        let permit = permitted(&as_it_is, need, now, Stage::Dispatch, &*settings.permission, told);
        match Exclusion::of_permit(&permit) {
            Some(denied) => Err(denied),
            // The narrower answer of the two holds.
            None => Ok((permit == Permit::AfterTest || candidate.test) && !at.is_tested()),
        }
    }

    pub(super) fn observer(&self) -> &dyn DirectoryObserver {
        &*self.inner.settings.observer
    }

    /// A peer answered a call.
    pub(super) fn note_seen(&self, candidate: &Candidate, now: Instant) {
        candidate.at.state.note_seen(self.inner.clock.millis(now));
    }

    pub(super) fn next_call(&self) -> u64 {
        self.inner.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// What is known of peers from calls to them.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.inner.settings.evidence
    }
}
