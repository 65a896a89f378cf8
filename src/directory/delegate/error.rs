//! How delegated calls fail.

use std::{error::Error as StdError, fmt, sync::Arc};

use crate::{
    call::Call,
    directory::Decision,
    error::{CallError, Failure},
    outcome::{Class, OutcomeKind},
};

/// At most so many candidates stand in a message.
const SHOWN: usize = 5;

/// Why a call that named a need has no answer.
///
/// Its [`source`](StdError::source) is always a [`CallError`], so that
/// [`RefusalResponseLayer`](crate::RefusalResponseLayer) above renders each of them as a typed answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum DelegateError {
    /// Nobody may be asked. Nothing was sent.
    NoEligiblePeer(NoEligiblePeer),
    /// The request is none that can be delegated, for this reason: it names no need, is written in nothing that could
    /// be told, or is about a task, which is where it is. Nothing was sent.
    NotDelegable {
        /// Why not.
        why: &'static str,
        /// The same, as an error of the call.
        error: CallError,
    },
    /// The last one who was asked failed, and nobody else may be asked any more; or time was over.
    Call {
        /// How.
        error: CallError,
        /// Who was asked, and what became of each; `None` where it did not come to a choice.
        decision: Option<Arc<Decision>>,
    },
}

impl DelegateError {
    pub(super) fn not_delegable(why: &'static str, call: &Call) -> Self {
        let class = Class::EndpointNotConforming;
        let mut failure = Failure::new(OutcomeKind::Stale, class, why, call.clone(), call.elapsed());
        failure.never_sent = true;
        Self::NotDelegable { why, error: CallError::new(failure) }
    }

    /// What it comes to, as the error of the call: of a need that nobody may be asked for, that the skill is not
    /// available.
    #[must_use]
    pub fn call_error(&self) -> &CallError {
        match self {
            Self::NoEligiblePeer(NoEligiblePeer { error, .. })
            | Self::NotDelegable { error, .. }
            | Self::Call { error, .. } => error,
        }
    }

    /// Who was considered, who was asked, and what became of each, if it came to a choice.
    #[must_use]
    pub fn decision(&self) -> Option<&Decision> {
        match self {
            Self::NoEligiblePeer(nobody) => Some(nobody.decision()),
            Self::Call { decision, .. } => decision.as_deref(),
            Self::NotDelegable { .. } => None,
        }
    }
}

impl From<CallError> for DelegateError {
    fn from(error: CallError) -> Self {
        Self::Call { error, decision: None }
    }
}

impl fmt::Display for DelegateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEligiblePeer(nobody) => nobody.fmt(f),
            Self::NotDelegable { why, .. } => write!(f, "the request cannot be delegated: {why}"),
            Self::Call { error, .. } => error.fmt(f),
        }
    }
}

impl StdError for DelegateError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(self.call_error())
    }
}

/// Nobody may be asked for what is needed, and why not, for each who fits.
#[derive(Clone, Debug)]
pub struct NoEligiblePeer {
    decision: Arc<Decision>,
    error: CallError,
}

impl NoEligiblePeer {
    pub(super) fn new(decision: Arc<Decision>, call: &Call) -> Self {
        let class = Class::SkillUnavailable;
        let what = "no peer may be asked for what is needed";
        let mut failure = Failure::new(OutcomeKind::Stale, class, what, call.clone(), call.elapsed());
        failure.never_sent = true;
        Self { decision, error: CallError::new(failure) }
    }

    /// Who was considered, and why each was left out.
    #[must_use]
    pub fn decision(&self) -> &Decision {
        &self.decision
    }
}

impl fmt::Display for NoEligiblePeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Decision { need, candidates, omitted, attempts, .. } = &*self.decision;
        write!(f, "no eligible peer for {need}: ")?;
        if candidates.is_empty() {
            return f.write_str("nobody registered fits");
        }
        let mut separator = "";
        // What was found out when a candidate's turn came says more than that it was eligible before.
        let turned = attempts.iter().map(|attempt| (&attempt.peer, attempt.ended.to_string()));
        let excluded = candidates.iter().filter_map(|one| Some((&one.peer, one.excluded.as_ref()?.to_string())));
        for (peer, why) in turned.chain(excluded).take(SHOWN) {
            write!(f, "{separator}{peer} {why}")?;
            separator = "; ";
        }
        let more = (attempts.len() + candidates.iter().filter(|one| one.excluded.is_some()).count() + omitted)
            .saturating_sub(SHOWN);
        if more > 0 { write!(f, "{separator}and {more} more") } else { Ok(()) }
    }
}

impl StdError for NoEligiblePeer {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.error)
    }
}
