//! How it stands with one endpoint: unknown, trusted, or distrusted.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use super::{
    lease::{Generation, Lease, Seen},
    probe::Probe,
    verdict::{Disproof, Verdict},
};
use crate::clock::{Millis, span};

/// However long a peer asks to wait, it is probed again after this long.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// So many callers are heard about an endpoint that is distrusted for what one of them was shown.
const SECOND_OPINIONS: usize = 8;

/// How long endpoints are trusted, and how soon they are probed again that are not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) trust: Millis,
    /// Up to so much of the trust is taken off, by chance.
    pub(super) jitter: f64,
    pub(super) back_off: Millis,
    pub(super) max_back_off: Millis,
}

#[derive(Debug)]
pub(super) struct Endpoint {
    terms: Terms,
    trusted: Lease,
    /// How long this endpoint is trusted by each proof, since the last probe.
    trust: AtomicU64,
    /// A call went there since the schedule last looked.
    used: AtomicBool,
    /// It stands in no map any longer.
    evicted: AtomicBool,
    /// There are doubts to be cleared away by a success.
    doubted: AtomicBool,
    /// Everything that only matters while it is not trusted.
    doubts: Mutex<Doubts>,
}

#[derive(Debug, Default)]
struct Doubts {
    /// How many probes in a row proved nothing.
    failures: u32,
    probed: Option<Millis>,
    /// Until then no probe is sent.
    wait_until: Millis,
    disproofs: Vec<Disproof>,
    /// With which credentials it was probed since it was last trusted, as far as that matters.
    asked: Vec<u64>,
    /// What the last call looked like for which it was probed.
    last: Option<Arc<Probe>>,
}

/// What is to be done about a call.
#[derive(Debug)]
pub(super) enum Standing {
    /// Trusted, or nobody knows and it is too soon to ask again: the call's own outcome tells.
    Go,
    Probe,
    Refuse(Disproof),
}

/// An endpoint as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointState {
    /// Nothing is known, or what was known has expired. The next call probes it, unless a probe has just come to
    /// nothing.
    Unknown,
    /// It speaks A2A.
    Trusted {
        /// How long that still counts.
        lasts: Duration,
    },
    /// A probe showed that it does not. Calls are refused.
    Distrusted {
        /// When it is probed again, by the next call after that.
        lasts: Duration,
    },
}

impl Endpoint {
    pub(super) fn new(terms: Terms) -> Self {
        Self {
            terms,
            trusted: Lease::default(),
            trust: AtomicU64::new(terms.trust),
            used: AtomicBool::new(false),
            evicted: AtomicBool::new(false),
            doubted: AtomicBool::new(false),
            doubts: Mutex::default(),
        }
    }

    /// Until when it is trusted, and what a success of now goes by.
    #[inline]
    pub(super) fn look(&self) -> Seen {
        self.trusted.seen()
    }

    pub(super) fn trust(&self) -> Millis {
        self.trust.load(Relaxed)
    }

    pub(super) fn evict(&self) {
        self.evicted.store(true, Relaxed);
    }

    #[inline]
    pub(super) fn is_evicted(&self) -> bool {
        self.evicted.load(Relaxed)
    }

    #[inline]
    pub(super) fn note_use(&self) {
        // Mostly it is set already, and then no other processor's cache is disturbed.
        if !self.used.load(Relaxed) {
            self.used.store(true, Relaxed);
        }
    }

    /// Whether its trust expires within `ahead`, and calls go there; and the probe of before.
    pub(super) fn is_due(&self, ahead: Millis, now: Millis) -> Option<Arc<Probe>> {
        let until = self.trusted.until();
        let due = until > now && until <= now.saturating_add(ahead);
        if due && self.used.swap(false, Relaxed) { self.doubts().last.clone() } else { None }
    }

    /// What is to be done about a call with this credential.
    pub(super) fn standing(&self, credential: u64, now: Millis) -> Standing {
        if self.trusted.until() > now {
            return Standing::Go;
        }
        let doubts = self.doubts();
        let waits = now < doubts.wait_until;
        match doubts.disproof(credential) {
            Some(disproof) if waits => Standing::Refuse(disproof.again()),
            // Others were shown something else than A2A. What this caller is shown is not known yet.
            None if !doubts.disproofs.is_empty() && doubts.may_ask(credential) => Standing::Probe,
            _ if waits => Standing::Go,
            _ => Standing::Probe,
        }
    }

    /// What a probe came to. `chance` is between 0 and 1.
    pub(super) fn note(&self, verdict: &Verdict, probe: &Arc<Probe>, chance: f64, now: Millis) {
        let mut doubts = self.doubts();
        doubts.probed = Some(now);
        doubts.last = Some(Arc::clone(probe));
        match verdict {
            Verdict::Proved => {
                let spared = (self.terms.trust as f64 * self.terms.jitter * chance) as Millis;
                let trust = self.terms.trust - spared.min(self.terms.trust);
                self.trust.store(trust, Relaxed);
                self.clear(&mut doubts);
                self.trusted.grant(now.saturating_add(trust));
                return;
            }
            Verdict::Disproved(disproof) => {
                self.trusted.withdraw();
                doubts.add(disproof.clone());
                doubts.back_off(&self.terms, None, now);
            }
            Verdict::Unknown { wait } => {
                doubts.disproofs.retain(|before| before.credential() != probe.credential());
                doubts.back_off(&self.terms, *wait, now);
            }
        }
        doubts.note_asked(probe.credential());
        self.doubted.store(true, Relaxed);
    }

    /// A call that looked when the endpoint was of this generation went well.
    pub(super) fn succeed(&self, generation: Generation, now: Millis) {
        if !self.trusted.renew(now.saturating_add(self.trust()), generation) {
            return;
        }
        if self.doubted.load(Relaxed) {
            self.clear(&mut self.doubts());
        }
    }

    /// A call found no such endpoint, or a page: it is probed again, unless it has just been.
    pub(super) fn doubt(&self, now: Millis) {
        let doubts = self.doubts();
        if doubts.probed.is_none_or(|probed| now >= probed.saturating_add(self.terms.back_off)) {
            self.trusted.withdraw();
        }
    }

    pub(super) fn state(&self, now: Millis) -> EndpointState {
        if let Some(left) = self.trusted.until().checked_sub(now).filter(|left| *left > 0) {
            return EndpointState::Trusted { lasts: Duration::from_millis(left) };
        }
        let doubts = self.doubts();
        match doubts.wait_until.checked_sub(now).filter(|left| *left > 0) {
            Some(left) if !doubts.disproofs.is_empty() => {
                EndpointState::Distrusted { lasts: Duration::from_millis(left) }
            }
            _ => EndpointState::Unknown,
        }
    }

    fn clear(&self, doubts: &mut Doubts) {
        self.doubted.store(false, Relaxed);
        doubts.failures = 0;
        doubts.wait_until = 0;
        doubts.disproofs.clear();
        doubts.asked.clear();
    }

    fn doubts(&self) -> MutexGuard<'_, Doubts> {
        // Nothing is left half done under this lock.
        self.doubts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Doubts {
    /// Whether a caller with other credentials may ask for itself. Not each of them may: probes are not cheap.
    fn may_ask(&self, credential: u64) -> bool {
        self.asked.len() < SECOND_OPINIONS && !self.asked.contains(&credential)
    }

    fn note_asked(&mut self, credential: u64) {
        if self.may_ask(credential) {
            self.asked.push(credential);
        }
    }

    /// What holds against a call with this credential. A sign-in page is what one caller is shown; two callers are two
    /// witnesses.
    fn disproof(&self, credential: u64) -> Option<&Disproof> {
        let against = |disproof: &&Disproof| disproof.is_for_all() || disproof.credential() == credential;
        self.disproofs.iter().find(against).or_else(|| self.disproofs.first().filter(|_| self.disproofs.len() > 1))
    }

    fn add(&mut self, disproof: Disproof) {
        self.disproofs.retain(|before| before.credential() != disproof.credential());
        self.disproofs.push(disproof);
        if self.disproofs.len() > 2 {
            self.disproofs.remove(0);
        }
    }

    fn back_off(&mut self, terms: &Terms, wait: Option<Duration>, now: Millis) {
        let pause = terms.back_off.saturating_mul(1 << self.failures.min(20)).min(terms.max_back_off);
        let pause = pause.max(wait.map_or(0, |wait| span(wait.min(LONGEST_WAIT))));
        self.failures = self.failures.saturating_add(1);
        if now >= self.wait_until {
            self.asked.clear();
        }
        self.wait_until = now.saturating_add(pause);
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, Method, Uri};

    use super::*;
    use crate::{
        call::{Binding, Call},
        error::{CallError, Failure},
        outcome::{Class, OutcomeKind},
        probe_cache::verdict,
    };

    const TERMS: Terms = Terms { trust: 300_000, jitter: 0.0, back_off: 5_000, max_back_off: 60_000 };

    /// A probe by this caller.
    fn by(credential: u64) -> Arc<Probe> {
        let uri = Uri::from_static("https://agent.example.com/a2a");
        let call = Call::new().with_binding(Binding::JsonRpc);
        Arc::new(Probe::of(&call, &Method::POST, &uri, &HeaderMap::new(), &[], credential).unwrap())
    }

    /// A 404, as this caller got it.
    fn not_found(credential: u64) -> Verdict {
        let failure = Failure::new(OutcomeKind::Refused, Class::EndpointNotFound, "", Call::new(), Duration::ZERO);
        verdict::of_task_probe(Err(&CallError::new(failure)), credential)
    }

    const UNKNOWN: Verdict = Verdict::Unknown { wait: None };

    fn endpoint(notes: impl IntoIterator<Item = (u64, Verdict, Millis)>) -> Endpoint {
        let endpoint = Endpoint::new(TERMS);
        for (credential, verdict, at) in notes {
            endpoint.note(&verdict, &by(credential), 0.0, at);
        }
        endpoint
    }

    fn word(endpoint: &Endpoint, credential: u64, now: Millis) -> &'static str {
        match endpoint.standing(credential, now) {
            Standing::Go => "go",
            Standing::Probe => "probe",
            Standing::Refuse(_) => "refuse",
        }
    }

    /// After so many probes in a row that prove nothing, it is this long until the next.
    #[test]
    fn a_success_ends_a_row_of_failures() {
        let failed = || endpoint([(1, UNKNOWN, 0), (1, UNKNOWN, 5_000), (1, UNKNOWN, 15_000)]);
        let next = |endpoint: &Endpoint, at: Millis| {
            endpoint.note(&UNKNOWN, &by(1), 0.0, at);
            (1..).find(|pause| word(endpoint, 1, at + pause * 1_000) == "probe").unwrap()
        };
        assert_eq!(next(&failed(), 35_000), 40);
        let by_a_probe = failed();
        by_a_probe.note(&Verdict::Proved, &by(1), 0.0, 35_000);
        assert_eq!(next(&by_a_probe, 335_000), 5);
        let by_a_call = failed();
        by_a_call.succeed(by_a_call.look().generation(), 15_001);
        assert_eq!(word(&by_a_call, 1, 15_002), "go");
        assert_eq!(next(&by_a_call, 335_000), 5);
    }

    /// Also after what was known of it was taken back; a call that looked before that renews nothing.
    #[test]
    fn a_success_renews_trust_that_was_given_again() {
        let again = endpoint([(1, Verdict::Proved, 0), (1, not_found(1), 10_000), (1, Verdict::Proved, 20_000)]);
        let before = Endpoint::new(TERMS).look().generation();
        again.succeed(before, 100_000);
        assert_eq!(again.look().until(), 320_000);
        again.succeed(again.look().generation(), 100_000);
        assert_eq!(again.look().until(), 400_000);
    }

    #[test]
    fn nobody_knows_and_it_is_too_soon_to_ask_whoever_asks() {
        let unknown = endpoint([(1, UNKNOWN, 0)]);
        for credential in [1, 2] {
            assert_eq!(word(&unknown, credential, 4_999), "go");
            assert_eq!(word(&unknown, credential, 5_000), "probe");
        }
        assert_eq!(unknown.state(4_999), EndpointState::Unknown);
    }

    #[test]
    fn it_is_distrusted_for_as_long_as_that_holds() {
        let distrusted = endpoint([(1, not_found(1), 0)]);
        let lasts = Duration::from_millis(1);
        assert_eq!(distrusted.state(4_999), EndpointState::Distrusted { lasts });
        assert_eq!(distrusted.state(5_000), EndpointState::Unknown);
    }

    /// What one caller is shown is that one's: each of the next few may ask once, and no more of them.
    #[test]
    fn second_opinions_are_few_and_one_for_each_caller() {
        let asked = endpoint([(0, not_found(0), 0)]);
        assert_eq!((word(&asked, 0, 1), word(&asked, 1, 1)), ("refuse", "probe"));
        for credential in 1..8 {
            assert_eq!(word(&asked, credential, 1), "probe");
            asked.note(&UNKNOWN, &by(credential), 0.0, 1);
            assert_eq!(word(&asked, credential, 1), "go", "it has asked");
            assert_eq!(word(&asked, 1, 1), "go", "and so has the first of them");
        }
        assert_eq!(word(&asked, 8, 1), "go", "there were enough");
        assert_eq!(word(&asked, 0, 1), "refuse");
        // When it is time again, all of it begins anew.
        let later = 1_000_000;
        asked.note(&not_found(0), &by(0), 0.0, later);
        assert_eq!((word(&asked, 1, later), word(&asked, 0, later)), ("probe", "refuse"));
    }

    /// Of what was held against a caller, its own newer probe is the end; others' are not.
    #[test]
    fn a_newer_probe_of_ones_own_counts() {
        let own = endpoint([(1, not_found(1), 0), (1, UNKNOWN, 5_000)]);
        assert_eq!(word(&own, 1, 5_001), "go");
        let anothers = endpoint([(1, not_found(1), 0), (2, UNKNOWN, 1)]);
        assert_eq!(word(&anothers, 1, 2), "refuse");
    }
}
