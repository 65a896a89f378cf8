use std::{error::Error as StdError, fmt, sync::Arc, time::Duration};

use super::{CallError, CapabilityNegotiationError, CardFailure, Failure, PeerResponse, display};
use crate::{
    call::{Call, Capability, Shape},
    outcome::Class,
};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident => $variant:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(pub(super) Arc<Failure>);

        impl $name {
            /// What exactly happened.
            #[must_use]
            pub fn class(&self) -> Class {
                self.0.class
            }

            /// The call that failed.
            #[must_use]
            pub fn call(&self) -> &Call {
                &self.0.call
            }

            /// How long the call took to fail.
            #[must_use]
            pub fn elapsed(&self) -> Duration {
                self.0.elapsed
            }
        }

        impl From<$name> for CallError {
            fn from(error: $name) -> Self {
                Self::$variant(error)
            }
        }

        impl CapabilityNegotiationError for $name {
            fn capability(&self) -> Option<Capability> {
                self.call().capability()
            }

            fn shape(&self) -> Shape {
                self.call().shape()
            }

            fn class(&self) -> Class {
                Self::class(self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                display::line(&self.0, &CallError::$variant(self.clone()), f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&format_args!("{self}")).finish()
            }
        }

        impl StdError for $name {
            fn source(&self) -> Option<&(dyn StdError + 'static)> {
                self.0.source_of(|| CallError::$variant(self.clone()))
            }
        }
    )*};
}

kinds! {
    /// The peer said no in a defined way. Keeps the peer's answer.
    Refusal => Refused;
    /// The peer failed in an untyped way: an opaque 500, a page where JSON was due, a stream that ended early.
    UntypedRuntimeFailure => Untyped;
    /// A bound was reached.
    CapabilityTimeout => Timeout;
    /// Refused before it was sent: the target has no card, or its card does not cover the call.
    AgentCardResolutionError => Card;
    /// A routing signal: what the agent's card says about this place is stale. Read the card again and route the call to
    /// another region or skill; nothing is broken, and nobody need be woken.
    ///
    /// About a skill (`stale/skill_unavailable`): the agent answered -32004 to a call that names a skill. About an endpoint
    /// (`stale/endpoint_not_conforming`): a probe showed that A2A is not spoken there, and the call was not sent.
    StaleAgentCardError => Stale;
    /// The connection failed, or was never there.
    TransportError => Transport;
}

impl Refusal {
    /// The peer's own answer.
    #[must_use]
    pub fn response(&self) -> Option<&PeerResponse> {
        self.0.response.as_ref()
    }
}

impl AgentCardResolutionError {
    /// What exactly is wrong, with the facts.
    #[must_use]
    pub fn failure(&self) -> Option<&CardFailure> {
        self.0.card.as_deref()
    }
}

impl UntypedRuntimeFailure {
    /// What is wrong with the answer.
    #[must_use]
    pub fn detail(&self) -> &'static str {
        self.0.what
    }
}

impl CapabilityTimeout {
    /// The bound that was reached.
    #[must_use]
    pub fn bound(&self) -> Duration {
        self.0.bound.unwrap_or_default()
    }
}
