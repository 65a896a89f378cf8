//! Which interface of a card a client uses.

use std::{collections::HashSet, fmt};

use super::{
    agent_card::AgentCard,
    interface::{AgentInterface, CardBinding, CardVersion},
};
use crate::{
    call::{Binding, ProtocolVersion},
    outcome::Class,
};

/// At most so many offers stand in an error.
const OFFERS_SHOWN: usize = 16;

/// What a client can speak. The order says nothing: the agent's preference decides (A2A 1.0 §8.3.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientSpeaks {
    /// Its bindings.
    pub bindings: Vec<Binding>,
    /// Its versions, each over each of the bindings.
    pub versions: Vec<ProtocolVersion>,
}

impl ClientSpeaks {
    /// A client of these bindings and versions.
    pub fn new(
        bindings: impl IntoIterator<Item = Binding>,
        versions: impl IntoIterator<Item = ProtocolVersion>,
    ) -> Self {
        Self { bindings: bindings.into_iter().collect(), versions: versions.into_iter().collect() }
    }

    fn has_binding_of(&self, interface: &AgentInterface) -> bool {
        interface.binding.known().is_some_and(|binding| self.bindings.contains(&binding))
    }

    fn has_version_of(&self, interface: &AgentInterface) -> bool {
        interface.version.known().is_some_and(|version| self.versions.contains(&version))
    }
}

/// A binding in a version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Offer {
    /// The binding.
    pub binding: CardBinding,
    /// The version.
    pub version: CardVersion,
}

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.binding, self.version)
    }
}

/// Why no interface of a card is one that the client speaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectFlaw {
    /// A binding of the client's is there, in none of its versions. There is no silent fallback to another
    /// (A2A 1.0 §3.6.3).
    #[error("the card offers {}; the client speaks {}", List(offered), List(wanted))]
    UnsupportedVersion {
        /// What the card offers, in its order: the first few different ones.
        offered: Box<[Offer]>,
        /// The client's versions.
        wanted: Box<[ProtocolVersion]>,
    },
    /// No binding of the client's is there.
    #[error("the card offers {}; the client speaks {}", List(offered), List(wanted))]
    NoCompatibleInterface {
        /// What the card offers, in its order: the first few different ones.
        offered: Box<[Offer]>,
        /// The client's bindings.
        wanted: Box<[Binding]>,
    },
}

impl SelectFlaw {
    /// Its class in the vocabulary of outcomes.
    #[must_use]
    pub const fn class(&self) -> Class {
        match self {
            Self::UnsupportedVersion { .. } => Class::UnsupportedVersion,
            Self::NoCompatibleInterface { .. } => Class::NoCompatibleInterface,
        }
    }

    /// What the card offers.
    #[must_use]
    pub fn offered(&self) -> &[Offer] {
        match self {
            Self::UnsupportedVersion { offered, .. } | Self::NoCompatibleInterface { offered, .. } => offered,
        }
    }
}

impl AgentCard {
    /// The first interface that the client speaks by binding *and* version, and its place in
    /// [`interfaces`](Self::interfaces) (A2A 1.0 §8.3.2).
    ///
    /// Its URL is not judged here: see [`UrlPolicy`](super::UrlPolicy). If it must not be called, the next one is not
    /// taken in its stead: the agent's preference is the agent's.
    ///
    /// # Errors
    ///
    /// What the card offers, and what the client wanted.
    pub fn select(&self, client: &ClientSpeaks) -> Result<(usize, &AgentInterface), SelectFlaw> {
        let speaks = |interface: &AgentInterface| client.has_binding_of(interface) && client.has_version_of(interface);
        if let Some(found) = self.interfaces().iter().enumerate().find(|(_, interface)| speaks(interface)) {
            return Ok(found);
        }
        let offered = self.offers(OFFERS_SHOWN).into_boxed_slice();
        Err(if self.interfaces().iter().any(|interface| client.has_binding_of(interface)) {
            SelectFlaw::UnsupportedVersion { offered, wanted: client.versions.clone().into() }
        } else {
            SelectFlaw::NoCompatibleInterface { offered, wanted: client.bindings.clone().into() }
        })
    }

    pub(super) fn no_interface_of(&self, binding: Option<Binding>) -> SelectFlaw {
        SelectFlaw::NoCompatibleInterface {
            offered: self.offers(OFFERS_SHOWN).into(),
            wanted: binding.into_iter().collect(),
        }
    }

    /// The first `max` different pairs of binding and version.
    pub(super) fn offers(&self, max: usize) -> Vec<Offer> {
        let mut seen = HashSet::new();
        self.interfaces()
            .iter()
            .map(|interface| (&interface.binding, &interface.version))
            .filter(|pair| seen.insert(*pair))
            .take(max)
            .map(|(binding, version)| Offer { binding: binding.clone(), version: version.clone() })
            .collect()
    }
}

/// Things in a row, with commas.
struct List<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing");
        }
        for (index, item) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{item}")?;
        }
        Ok(())
    }
}
