//! The card, once it is read.

use super::{
    details::{AgentExtension, AgentSkill},
    flaw::{CardFlaw, Party},
    interface::AgentInterface,
    warning::{Warning, Warnings},
};
use crate::call::{Capability, Operation};

/// An Agent Card as it was read (A2A 1.0 §4.4.1): a claim, not yet believed.
///
/// All text comes from the agent as it is. Escape it before it reaches a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCard {
    pub(super) name: Box<str>,
    pub(super) description: Box<str>,
    pub(super) version: Box<str>,
    pub(super) interfaces: Box<[AgentInterface]>,
    pub(super) capabilities: Capabilities,
    pub(super) extensions: Box<[AgentExtension]>,
    pub(super) skills: Box<[AgentSkill]>,
    pub(super) default_input_modes: Box<[Box<str>]>,
    pub(super) default_output_modes: Box<[Box<str>]>,
    pub(super) signatures: usize,
    pub(super) warnings: Warnings,
}

/// The flags of a card. What is not declared is not there (A2A 1.0 §3.3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Capabilities {
    pub(super) streaming: bool,
    pub(super) push_notifications: bool,
    pub(super) extended_agent_card: bool,
}

impl AgentCard {
    /// The agent's name; empty if a card older than 1.0 has none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the agent does; empty if a card older than 1.0 does not say.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The version of the agent, not of the protocol; empty if a card older than 1.0 does not say.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Its interfaces, the preferred one first; never empty. Those of 1.0 stand before those that an older reader sees,
    /// and each only once.
    #[must_use]
    pub fn interfaces(&self) -> &[AgentInterface] {
        &self.interfaces
    }

    /// Whether the card declares a capability. An absent flag is false (A2A 1.0 §3.3.4).
    #[must_use]
    pub fn declares(&self, capability: Capability) -> bool {
        match capability {
            Capability::Streaming => self.capabilities.streaming,
            Capability::PushNotifications => self.capabilities.push_notifications,
            Capability::ExtendedAgentCard => self.capabilities.extended_agent_card,
        }
    }

    /// The extensions.
    #[must_use]
    pub fn extensions(&self) -> &[AgentExtension] {
        &self.extensions
    }

    /// The extension of a URI.
    #[must_use]
    pub fn extension(&self, uri: &str) -> Option<&AgentExtension> {
        self.extensions.iter().find(|extension| &*extension.uri == uri)
    }

    /// The skills.
    #[must_use]
    pub fn skills(&self) -> &[AgentSkill] {
        &self.skills
    }

    /// The skill of an id.
    #[must_use]
    pub fn skill(&self, id: &str) -> Option<&AgentSkill> {
        self.skills.iter().find(|skill| &*skill.id == id)
    }

    /// The media types that every skill takes that says nothing else.
    #[must_use]
    pub fn default_input_modes(&self) -> &[Box<str>] {
        &self.default_input_modes
    }

    /// The media types that every skill gives that says nothing else.
    #[must_use]
    pub fn default_output_modes(&self) -> &[Box<str>] {
        &self.default_output_modes
    }

    /// How many signatures the card carries. None of them is verified here.
    #[must_use]
    pub fn signatures(&self) -> usize {
        self.signatures
    }

    /// What is odd about the card: the first places, in the order in which they were read.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        self.warnings.kept()
    }

    /// How many oddities [`warnings`](Self::warnings) leaves out.
    #[must_use]
    pub fn more_warnings(&self) -> usize {
        self.warnings.dropped()
    }

    /// What a strict reader says of the card. What is only unknown to this crate is no fault of the card
    /// (A2A 1.0 §5.7).
    ///
    /// # Errors
    ///
    /// The first place where the card breaks its specification.
    pub fn strict(&self) -> Result<(), &Warning> {
        self.warnings.first_violation().map_or(Ok(()), Err)
    }

    /// Whether the card declares what an operation needs (A2A 1.0 §3.3.4).
    ///
    /// # Errors
    ///
    /// [`CardFlaw::CapabilityMissing`].
    pub fn check_operation(&self, operation: Operation) -> Result<(), CardFlaw> {
        match operation.needs() {
            Some(capability) if !self.declares(capability) => {
                Err(CardFlaw::CapabilityMissing { capability, operation })
            }
            _ => Ok(()),
        }
    }

    /// Whether a call that uses the extensions in `used`, and cannot do without those in `needed`, suits the agent
    /// (A2A 1.0 §4.6).
    ///
    /// # Errors
    ///
    /// [`CardFlaw::ExtensionMissing`]: the first that the agent requires and the call does not use, or that the call
    /// needs and the agent does not declare.
    pub fn check_extensions(&self, used: &[&str], needed: &[&str]) -> Result<(), CardFlaw> {
        let missing = |uri: &str, by| Err(CardFlaw::ExtensionMissing { uri: uri.into(), by });
        if let Some(uri) = self.unmet_extensions(used.iter().copied()).next() {
            return missing(uri, Party::Agent);
        }
        match needed.iter().find(|uri| self.extension(uri).is_none()) {
            Some(uri) => missing(uri, Party::Client),
            None => Ok(()),
        }
    }

    /// Whether two cards tell the same, whatever was odd about either, and whoever signed it.
    #[cfg(feature = "signatures")]
    pub(crate) fn says_the_same_as(&self, other: &Self) -> bool {
        let of = |card: &Self| Self { signatures: 0, warnings: Warnings::default(), ..card.clone() };
        of(self) == of(other)
    }

    /// The extensions that the agent requires and that are not in `used`.
    pub(super) fn unmet_extensions<'a>(
        &'a self,
        used: impl Iterator<Item = &'a str> + Clone,
    ) -> impl Iterator<Item = &'a str> {
        self.extensions
            .iter()
            .filter(|extension| extension.required)
            .map(AgentExtension::uri)
            .filter(move |uri| !used.clone().any(|used| used == *uri))
    }
}
