//! The record of a decision on its way.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use crate::directory::{Attempt, AttemptEnd, Candidate, Decision, DirectoryObserver, PeerId};

/// The record of a decision on its way: the observer has it once, also of a call that its caller let go of.
pub(super) struct Record<'d> {
    pub(super) decision: Decision,
    observer: &'d dyn DirectoryObserver,
    told: bool,
    /// Whose turn it is, and since when.
    under_way: Option<(PeerId, Instant)>,
    /// The request has gone out to it.
    pub(super) sent: bool,
}

impl<'d> Record<'d> {
    pub(super) fn new(decision: Decision, observer: &'d dyn DirectoryObserver) -> Self {
        Self { decision, observer, told: false, under_way: None, sent: false }
    }

    pub(super) fn begin(&mut self, candidate: &Candidate) {
        self.under_way = Some((candidate.peer.clone(), Instant::now()));
        self.sent = false;
    }

    pub(super) fn note(&mut self, candidate: &Candidate, ended: AttemptEnd, elapsed: Duration) {
        self.under_way = None;
        self.decision.attempts.push(Attempt { peer: candidate.peer.clone(), ended, elapsed });
    }

    pub(super) fn end(&mut self, chosen: Option<&Candidate>) -> Arc<Decision> {
        self.decision.chosen = chosen.map(|candidate| candidate.peer.clone());
        self.tell();
        Arc::new(self.decision.clone())
    }

    fn tell(&mut self) {
        if !self.told {
            self.told = true;
            self.observer.decided(&self.decision);
        }
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if let Some((peer, began)) = self.under_way.take() {
            let ended = AttemptEnd::Abandoned { sent: self.sent };
            self.decision.attempts.push(Attempt { peer, ended, elapsed: began.elapsed() });
        }
        self.tell();
    }
}
