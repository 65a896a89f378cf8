//! Whether a caller may have a peer do something: the caller's own side decides, and no card has a say in it.

use std::{borrow::Cow, collections::HashSet, fmt, sync::Arc};

use tokio::time::Instant;

use super::{Caller, Need, PeerId, Skill, Standing, Verification, bounds::DirectoryBounds, tokens::folded};
use crate::wire::text::escape;

/// When permission is asked: for each candidate, and once more right before something is sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// It was found.
    Discovery,
    /// It is about to be called.
    Dispatch,
}

impl Stage {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Discovery => "discovery",
            Self::Dispatch => "dispatch",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// May this caller have this peer do this?
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PermissionAsk<'a> {
    /// On whose behalf; `None`: nobody said.
    pub caller: Option<&'a Caller>,
    /// What is to be done.
    pub need: &'a Need,
    /// The skill by which the peer would do it. All of it is the peer's claim.
    pub skill: &'a Skill,
    /// By whom.
    pub peer: &'a PeerId,
    /// Who stands for the peer.
    pub verification: Verification,
    /// What is known of it from calls.
    pub standing: Standing,
    /// Whether a test call of it went well, since it last changed what it says.
    pub tested: bool,
    /// When.
    pub stage: Stage,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Permit {
    /// Yes.
    Allow,
    /// Yes, once a test call (the message probe, which marks itself as one, and is cancelled) went well, since the peer
    /// last changed what it says.
    AfterTest,
    /// No, and why, in words for the operator.
    Deny(Cow<'static, str>),
}

impl fmt::Display for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allow => f.write_str("allowed"),
            Self::AfterTest => f.write_str("allowed after a test"),
            Self::Deny(why) => write!(f, "denied: {}", escape(why, DirectoryBounds::SHOWN)),
        }
    }
}

/// Says who may have whom do what: a policy of the caller's side, asked after discovery and again before dispatch. The
/// narrower answer of the two holds.
///
/// A closure from [`PermissionAsk`] to [`Permit`] is one. It is called on the path of calls: decide, do not ask others.
pub trait Permission: Send + Sync {
    /// Decides.
    fn decide(&self, ask: &PermissionAsk<'_>) -> Permit;
}

impl<F> Permission for F
where
    F: Fn(&PermissionAsk<'_>) -> Permit + Send + Sync,
{
    fn decide(&self, ask: &PermissionAsk<'_>) -> Permit {
        self(ask)
    }
}

/// A decision about permission, for the audit: apart from the events of registration, for being registered permits
/// nothing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PermissionEvent {
    /// When.
    pub at: Instant,
    /// On whose behalf.
    pub caller: Option<Caller>,
    /// The skill's id, as the peer has it.
    pub skill: Arc<str>,
    /// By whom it would be done.
    pub peer: PeerId,
    /// When it was asked.
    pub stage: Stage,
    /// The answer.
    pub permit: Permit,
}

/// On one line: `dispatch orders-service translate https://agent.example.com: allowed`.
impl fmt::Display for PermissionEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.stage)?;
        match &self.caller {
            Some(caller) => write!(f, "{caller}")?,
            None => f.write_str("nobody")?,
        }
        write!(f, " {} {}: {}", escape(&self.skill, 64), self.peer, self.permit)
    }
}

/// The ready-made policy, and the default: everything but what is sensitive.
///
/// Sensitive is a skill that is named here ([`sensitive`](Self::sensitive)), one that its own card tags `sensitive` (a
/// card can only ever narrow), and a need that says so of itself. It is denied to all but those with a
/// [`grant`](Self::grant).
///
/// ```
/// use a2a_guard::directory::{Grant, PeerId, PermissionRules};
///
/// let bank = PeerId::parse("https://bank.example.com/a2a")?;
/// let rules = PermissionRules::new()
///     .sensitive(["payments"])
///     .grant(Grant::of("payments").to_caller("orders-service").at_peer(bank))
///     .test_high_value();
/// # let _ = rules;
/// # Ok::<(), a2a_guard::directory::PeerIdFault>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PermissionRules {
    /// Folded.
    sensitive: HashSet<Box<str>>,
    grants: Vec<Grant>,
    test_high_value: bool,
}

impl PermissionRules {
    /// Denies what is sensitive by its card or its need.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Marks skills as sensitive, by their ids: in any case and width, with and without accents, for a peer that writes
    /// an id in another way is not to get around it.
    #[must_use]
    pub fn sensitive<T: Into<Box<str>>>(mut self, skills: impl IntoIterator<Item = T>) -> Self {
        self.sensitive.extend(skills.into_iter().map(|skill| folded(&skill.into()).into()));
        self
    }

    /// Allows something that is sensitive.
    #[must_use]
    pub fn grant(mut self, grant: Grant) -> Self {
        self.grants.push(grant);
        self
    }

    /// Before a peer gets work of [high value](Need::high_value) for the first time, a test call has to go well.
    #[must_use]
    pub fn test_high_value(mut self) -> Self {
        self.test_high_value = true;
        self
    }
}

impl Permission for PermissionRules {
    fn decide(&self, ask: &PermissionAsk<'_>) -> Permit {
        // What the caller calls it counts as well: a peer does not get around a rule by another name for a skill.
        let is_named = |id: &str| !self.sensitive.is_empty() && self.sensitive.contains(&*folded(id));
        let sensitive = ask.need.is_sensitive()
            || is_named(ask.skill.id())
            || ask.need.skill_id().is_some_and(is_named)
            || ask.skill.has_folded_tag("sensitive");
        if sensitive && !self.grants.iter().any(|grant| grant.covers(ask)) {
            return Permit::Deny("the skill is sensitive, and no grant covers it".into());
        }
        match self.test_high_value && ask.need.is_high_value() && !ask.tested {
            true => Permit::AfterTest,
            false => Permit::Allow,
        }
    }
}

/// Allows one sensitive skill: to all callers and at all peers, unless it names one.
#[derive(Clone, Debug)]
pub struct Grant {
    skill: Box<str>,
    caller: Option<Caller>,
    peer: Option<PeerId>,
}

impl Grant {
    /// Of the skill with this id.
    #[must_use]
    pub fn of(skill: &str) -> Self {
        Self { skill: skill.into(), caller: None, peer: None }
    }

    /// To this caller alone.
    #[must_use]
    pub fn to_caller(mut self, caller: &str) -> Self {
        self.caller = Some(Caller::new(caller));
        self
    }

    /// At this peer alone.
    #[must_use]
    pub fn at_peer(mut self, peer: PeerId) -> Self {
        self.peer = Some(peer);
        self
    }

    fn covers(&self, ask: &PermissionAsk<'_>) -> bool {
        *self.skill == *ask.skill.id()
            && self.caller.as_ref().is_none_or(|caller| ask.caller == Some(caller))
            && self.peer.as_ref().is_none_or(|peer| peer == ask.peer)
    }
}
