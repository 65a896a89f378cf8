//! Evidence from calls that nobody delegated.

use std::fmt;

use super::Evidence;
use crate::{
    directory::{PeerId, Report},
    outcome::{Observe, Outcome},
};

/// An observer that takes note of each call's end, so that calls which were not delegated count as well.
///
/// `peer_of` says whose a call is, by its target or by anything else that the outcome tells; what it gives `None` for
/// does not count. Leave out what is delegated: that has been taken note of.
///
/// ```
/// use a2a_guard::{Outcome, TerminalStateLayer};
/// use a2a_guard::directory::{Evidence, PeerId};
///
/// let evidence = Evidence::new();
/// let peer = PeerId::parse("https://agent.example.com/a2a")?;
/// // Over JSON-RPC a call goes to the agent's URL itself; below it are the paths of HTTP+JSON.
/// let peer_of = move |outcome: &Outcome<'_>| {
///     let target = outcome.target()?;
///     let is_its = target.host() == Some("agent.example.com") && target.path().starts_with("/a2a");
///     is_its.then(|| peer.clone())
/// };
/// let layer = TerminalStateLayer::builder().observe(evidence.observer(peer_of)).build()?;
/// # let _ = layer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct EvidenceObserver<F> {
    evidence: Evidence,
    peer_of: F,
}

impl Evidence {
    /// An observer that takes note of calls by whose they are.
    pub fn observer<F>(&self, peer_of: F) -> EvidenceObserver<F>
    where
        F: Fn(&Outcome<'_>) -> Option<PeerId>,
    {
        EvidenceObserver { evidence: self.clone(), peer_of }
    }
}

impl<F> Observe for EvidenceObserver<F>
where
    F: Fn(&Outcome<'_>) -> Option<PeerId>,
{
    fn observe(&self, outcome: &Outcome<'_>) {
        if let Some(peer) = (self.peer_of)(outcome) {
            self.evidence.record(&peer, outcome.call().skill(), Report::of_outcome(outcome));
        }
    }
}

impl<F> fmt::Debug for EvidenceObserver<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvidenceObserver").field("evidence", &self.evidence).finish_non_exhaustive()
    }
}
