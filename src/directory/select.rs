//! Who is to be asked: a pure function of an index, a need, the evidence and the time.
//!
//! Find, exclude, rank, ask for permission. The same arguments give the same answer, whoever registered first.

use std::{
    cmp::{Ordering, Reverse},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use super::{
    Candidate, Decision, Exclusion, Match, Need, Permission, PermissionAsk, PermissionEvent, Permit, Score, Skill,
    Stage, Standing, Verification,
    decision::EXCLUDED,
    index::{Index, Posting},
    peer::Peer,
    score,
    trust::{Condition, draw},
    version,
};
use crate::clock::Millis;

/// What selecting goes by, besides the need.
pub(super) struct Rules<'a> {
    pub(super) scorer: &'a dyn Score,
    pub(super) permission: &'a dyn Permission,
    /// Whether a peer on probation may do it.
    pub(super) low_risk: &'a dyn Fn(&Need, &Skill) -> bool,
    pub(super) standing: &'a dyn Fn(&Peer, Verification) -> Standing,
    /// Told of each permission that is asked for.
    pub(super) told: &'a mut dyn FnMut(PermissionEvent),
    pub(super) shortlist: usize,
    /// The share of calls in which a stranger goes before those who are trusted more.
    pub(super) explore: f64,
    pub(super) unknown: f64,
}

/// When, and which call it is.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) at: Instant,
    pub(super) millis: Millis,
    pub(super) call: u64,
}

/// One who fits.
struct Found<'i> {
    peer: &'i Arc<Peer>,
    skill: &'i Skill,
    fit: Match,
}

pub(super) fn select(index: &Index, need: &Need, moment: Moment, rules: &mut Rules<'_>) -> Decision {
    let mut candidates: Vec<_> = find(index, need, moment.millis, rules.scorer)
        .into_iter()
        .map(|found| judged(found, need, moment, rules))
        .collect();
    candidates.sort_unstable_by(order);
    let mut shortlisted = 0;
    for candidate in candidates.iter_mut().take_while(|candidate| candidate.excluded.is_none()) {
        if shortlisted >= rules.shortlist {
            candidate.excluded = Some(Exclusion::NotShortlisted);
            continue;
        }
        let permit = permitted(candidate, need, moment.at, Stage::Discovery, rules.permission, rules.told);
        candidate.excluded = Exclusion::of_permit(&permit);
        candidate.test = permit == Permit::AfterTest;
        shortlisted += usize::from(candidate.excluded.is_none());
    }
    // Stable: each part stays in its order.
    candidates.sort_by_key(|candidate| candidate.excluded.is_some());
    let kept = shortlisted + EXCLUDED;
    let omitted = candidates.len().saturating_sub(kept);
    candidates.truncate(kept);
    Decision {
        need: need.clone(),
        at: moment.at,
        call: moment.call,
        generation: index.generation,
        candidates,
        omitted,
        attempts: Vec::new(),
        chosen: None,
        fell_back: false,
    }
}

/// Asks for permission, and tells of it.
pub(super) fn permitted(
    candidate: &Candidate,
    need: &Need,
    at: Instant,
    stage: Stage,
    permission: &dyn Permission,
    told: &mut dyn FnMut(PermissionEvent),
) -> Permit {
    let peer = &candidate.at;
    let Some(skill) = peer.skills.iter().find(|skill| skill.id == candidate.skill) else {
        return Permit::Deny("the skill is not there any longer".into());
    };
    let ask = PermissionAsk {
        caller: need.caller_name(),
        need,
        skill,
        peer: &peer.id,
        verification: candidate.verification,
        standing: candidate.standing,
        tested: peer.is_tested(),
        stage,
    };
    let permit = permission.decide(&ask);
    told(PermissionEvent {
        at,
        caller: need.caller_name().cloned(),
        skill: Arc::clone(&candidate.skill),
        peer: peer.id.clone(),
        stage,
        permit: permit.clone(),
    });
    permit
}

/// Those who fit, each by its best skill.
fn find<'i>(index: &'i Index, need: &Need, now: Millis, scorer: &dyn Score) -> Vec<Found<'i>> {
    let facts = &need.facts;
    let has_tags = |skill: &Skill| facts.tags.iter().all(|tag| skill.has_folded_tag(tag));
    let mut found: Vec<Found<'i>> = Vec::new();
    let mut add = |peer: &'i Arc<Peer>, skill: &'i Skill| {
        let fit = score::with_modes(scorer.score(need, skill), need, skill);
        // All skills of a peer come one behind the other.
        let before = found.last_mut().filter(|before| Arc::ptr_eq(before.peer, peer));
        match before {
            Some(before) => {
                // A skill that counts before one that does not, then the better one, then by its id.
                let rank =
                    |skill: &Skill, fit: &Match| (peer.state.standing(skill.source, now).is_err(), Reverse(fit.rank()));
                if (rank(skill, &fit), skill.id(), skill.source)
                    < (rank(before.skill, &before.fit), before.skill.id(), before.skill.source)
                {
                    (before.skill, before.fit) = (skill, fit);
                }
            }
            None => found.push(Found { peer, skill, fit }),
        }
    };
    let mut postings = |list: &'i [Posting]| {
        for posting in list {
            if let Some(skill) = posting.peer.skills.get(usize::from(posting.skill)).filter(|skill| has_tags(skill)) {
                add(&posting.peer, skill);
            }
        }
    };
    match (&facts.skill, facts.tags.iter().map(|tag| index.with_tag(tag)).min_by_key(|list| list.len())) {
        (Some(skill), _) => postings(index.with_skill(skill)),
        (None, Some(rarest)) => postings(rarest),
        (None, None) if !facts.words.is_empty() => {
            for peer in index.peers() {
                peer.skills.iter().for_each(|skill| add(peer, skill));
            }
            found.retain(|found| found.fit.score() > 0.0);
        }
        (None, None) => {}
    }
    found
}

/// Of a stranger's share of turns, whoever failed has so much at least: it may be well again.
const LEAST_EXPLORED: f64 = 0.1;

/// So that whose turn it is to be tried does not go by whose turn it is in a slow start.
const OTHER_TURNS: u64 = 1 << 63;

/// What is to be said of one who fits, before permission is asked.
fn judged(found: Found<'_>, need: &Need, moment: Moment, rules: &Rules<'_>) -> Candidate {
    let Found { peer, skill, fit } = found;
    let verification = peer.verification();
    let standing = (rules.standing)(peer, verification);
    let facts = &need.facts;
    let negotiated = match facts.written.as_slice() {
        [] => Ok(None),
        written => version::negotiate(written, &peer.interfaces, facts.tenant.as_deref()).map(Some),
    };
    let proven = verification.is_verified() || standing.proven;
    let excluded = if peer.state.is_gone() {
        Some(Exclusion::Gone)
    } else if let Err(why) = peer.state.standing(skill.source, moment.millis) {
        Some(Exclusion::Stale(why))
    } else if let Err(flaw) = &negotiated {
        Some(Exclusion::Version(Box::new(flaw.clone())))
    } else if !proven && !(rules.low_risk)(need, skill) {
        Some(Exclusion::Probation)
    } else if matches!(standing.condition, Condition::Quarantined { .. }) {
        Some(Exclusion::Quarantined)
    } else if matches!(standing.condition, Condition::SlowStart { .. })
        && !standing.condition.admits(draw(&peer.id, moment.call))
    {
        Some(Exclusion::SlowStart)
    } else {
        None
    };
    let share = rules.explore * (standing.trust / rules.unknown.max(f64::MIN_POSITIVE)).clamp(LEAST_EXPLORED, 1.0);
    let turn = || draw(&peer.id, moment.call.wrapping_add(OTHER_TURNS));
    let explored = excluded.is_none() && share > 0.0 && Condition::SlowStart { share }.admits(turn());
    let place = |interface| peer.interfaces.iter().position(|one| std::ptr::eq(one, interface));
    let negotiated = negotiated.ok().flatten();
    Candidate {
        peer: peer.id.clone(),
        skill: Arc::clone(&skill.id),
        fit,
        verification,
        standing,
        written: negotiated.map(|(_, written)| written),
        explored,
        test: false,
        excluded,
        interface: negotiated.and_then(|(interface, _)| place(interface)),
        at: Arc::clone(peer),
    }
}

/// By fit, verification, trust, latency, id; who is demoted comes behind all who are not, for claiming more is how one
/// comes to fit better. Trust in twentieths: a rate is not known better than that after a hundred calls, and what two
/// replicas' clocks differ by decides nothing.
fn order(one: &Candidate, two: &Candidate) -> Ordering {
    let key = |candidate: &Candidate| {
        let Candidate { fit, verification, standing, excluded, explored, .. } = candidate;
        let demoted = standing.condition == Condition::Demoted;
        let trust = (standing.trust.clamp(0.0, 1.0) * 20.0).round() as u8;
        let latency = standing.latency.unwrap_or(Duration::MAX).as_millis();
        let fit = (Reverse(fit.rank()), Reverse(verification.is_verified()));
        (excluded.is_some(), demoted, fit, Reverse(*explored), Reverse(trust), latency)
    };
    key(one).cmp(&key(two)).then_with(|| one.peer.cmp(&two.peer))
}
