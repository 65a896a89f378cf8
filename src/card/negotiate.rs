//! What an agent offers, what a client wants, and what they have in common: as values, to show or to decide by.

use std::{collections::HashSet, hash::Hash};

use super::{
    agent_card::AgentCard,
    interface::{CardBinding, CardVersion},
    select::{ClientSpeaks, Offer},
};
use crate::call::Capability;

/// What one side of a call brings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Terms {
    /// Its bindings, each in a version, without repetition. The agent's stand in its order of preference.
    pub interfaces: Vec<Offer>,
    /// The capabilities that are declared, or needed.
    pub capabilities: Vec<Capability>,
    /// The URIs of its extensions.
    pub extensions: Vec<Box<str>>,
    /// The media types that the agent takes, or that the client would send.
    pub input_modes: Vec<Box<str>>,
    /// The media types that the agent gives, or that the client would take.
    pub output_modes: Vec<Box<str>>,
}

impl Terms {
    /// The terms of a client.
    #[must_use]
    pub fn of_client(client: &ClientSpeaks) -> Self {
        let pair = |binding: &_| {
            let binding = CardBinding::from(*binding);
            client.versions.iter().map(move |version| Offer { binding: binding.clone(), version: (*version).into() })
        };
        Self { interfaces: client.bindings.iter().flat_map(pair).collect(), ..Self::default() }
    }

    /// Sets the capabilities.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: impl IntoIterator<Item = Capability>) -> Self {
        self.capabilities = capabilities.into_iter().collect();
        self
    }

    /// Sets the extensions, by their URIs.
    #[must_use]
    pub fn with_extensions<T: Into<Box<str>>>(mut self, extensions: impl IntoIterator<Item = T>) -> Self {
        self.extensions = extensions.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the media types.
    #[must_use]
    pub fn with_modes<I: Into<Box<str>>, O: Into<Box<str>>>(
        mut self,
        input: impl IntoIterator<Item = I>,
        output: impl IntoIterator<Item = O>,
    ) -> Self {
        self.input_modes = input.into_iter().map(Into::into).collect();
        self.output_modes = output.into_iter().map(Into::into).collect();
        self
    }

    /// The different bindings in [`interfaces`](Self::interfaces).
    #[must_use]
    pub fn bindings(&self) -> Vec<&CardBinding> {
        distinct(self.interfaces.iter().map(|offer| &offer.binding))
    }

    /// The different versions in [`interfaces`](Self::interfaces).
    #[must_use]
    pub fn versions(&self) -> Vec<&CardVersion> {
        distinct(self.interfaces.iter().map(|offer| &offer.version))
    }

    fn in_common(&self, wanted: &Self) -> Self {
        Self {
            interfaces: common(&self.interfaces, &wanted.interfaces, PartialEq::eq),
            capabilities: common(&self.capabilities, &wanted.capabilities, PartialEq::eq),
            extensions: common(&self.extensions, &wanted.extensions, PartialEq::eq),
            input_modes: common(&self.input_modes, &wanted.input_modes, |one, two| same_mode(one, two)),
            output_modes: common(&self.output_modes, &wanted.output_modes, |one, two| same_mode(one, two)),
        }
    }
}

/// How a card and a client meet. Nothing is decided by it: modes, say, are hints and refuse no call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Negotiation {
    /// What the agent's card offers.
    pub offered: Terms,
    /// What the client wants.
    pub wanted: Terms,
    /// What is in both, in the agent's order.
    pub common: Terms,
    /// The extensions that the agent requires and the client does not bring.
    pub required: Vec<Box<str>>,
}

impl Negotiation {
    /// The binding and version that a call would use: the first that both speak.
    #[must_use]
    pub fn interface(&self) -> Option<&Offer> {
        self.common.interfaces.first()
    }

    /// Whether a call is possible, and the card declares everything that is wanted but modes.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.interface().is_some()
            && self.required.is_empty()
            && self.wanted.capabilities.iter().all(|wanted| self.common.capabilities.contains(wanted))
            && self.wanted.extensions.iter().all(|wanted| self.common.extensions.contains(wanted))
    }
}

/// Compares what a card offers with what a client wants.
///
/// ```
/// # use a2a_guard::card::{AgentCard, ClientSpeaks, Terms, negotiate};
/// # use a2a_guard::{Binding, Capability, ProtocolVersion};
/// let card = AgentCard::read(br#"{"url": "https://agent.example.com/a2a", "protocolVersion": "0.3.0",
///     "capabilities": {"streaming": true}}"#)?;
/// let ours = ClientSpeaks::new([Binding::JsonRpc], [ProtocolVersion::V1_0, ProtocolVersion::V0_3]);
/// let negotiation = negotiate(&card, Terms::of_client(&ours).with_capabilities([Capability::Streaming]));
/// assert_eq!(negotiation.interface().unwrap().to_string(), "JSONRPC 0.3");
/// assert!(negotiation.is_complete());
/// # Ok::<(), a2a_guard::card::CardFlaw>(())
/// ```
#[must_use]
pub fn negotiate(card: &AgentCard, ours: Terms) -> Negotiation {
    let offered = Terms {
        interfaces: card.offers(usize::MAX),
        capabilities: [Capability::Streaming, Capability::PushNotifications, Capability::ExtendedAgentCard]
            .into_iter()
            .filter(|capability| card.declares(*capability))
            .collect(),
        extensions: card.extensions().iter().map(|extension| extension.uri().into()).collect(),
        input_modes: card.default_input_modes().to_vec(),
        output_modes: card.default_output_modes().to_vec(),
    };
    let required = card.unmet_extensions(ours.extensions.iter().map(|uri| &**uri)).map(Into::into).collect();
    Negotiation { common: offered.in_common(&ours), offered, wanted: ours, required }
}

fn common<T: Clone>(offered: &[T], wanted: &[T], same: impl Fn(&T, &T) -> bool) -> Vec<T> {
    offered.iter().filter(|offer| wanted.iter().any(|want| same(offer, want))).cloned().collect()
}

/// Media types are compared without case and parameters (RFC 9110 §8.3.1).
fn same_mode(one: &str, two: &str) -> bool {
    let essence = |mode: &str| mode.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence(one) == essence(two)
}

fn distinct<'a, T: Eq + Hash>(items: impl Iterator<Item = &'a T>) -> Vec<&'a T> {
    let mut seen = HashSet::new();
    items.filter(|item| seen.insert(*item)).collect()
}
