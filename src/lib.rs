#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]

pub mod call;
pub mod card;
pub mod card_consistency;
mod client;
mod clock;
pub mod error;
mod flights;
mod limits;
pub mod outcome;
pub mod probe_cache;
pub mod terminal_state;
#[cfg(feature = "tonic")]
pub mod tonic;
mod transport;
pub mod wire;
mod words;

pub use crate::{
    call::{
        Binding, Call, CallBody, CallFuture, CallLayer, CallService, Capability, Operation, ProtocolVersion, Shape,
    },
    error::{
        AgentCardResolutionError, BoxError, CallError, CapabilityNegotiationError, CapabilityTimeout, CardFailure,
        PeerResponse, Refusal, Retry, StaleAgentCardError, TransportError, UntypedRuntimeFailure,
    },
    limits::{LimitOverrides, Limits},
    outcome::{Class, Observe, Outcome, OutcomeKind},
    probe_cache::ProbeCacheLayer,
    terminal_state::{
        ConfigError, Recovery, TerminalStateBody, TerminalStateBuilder, TerminalStateFuture, TerminalStateLayer,
        TerminalStateService,
    },
};
