#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]

pub mod call;
pub mod card;
pub mod card_consistency;
mod client;
mod clock;
#[cfg(feature = "directory")]
#[cfg_attr(docsrs, doc(cfg(feature = "directory")))]
pub mod directory;
pub mod error;
mod flights;
mod frames;
pub mod guard;
mod hop;
mod limits;
pub mod observability;
pub mod outcome;
pub mod probe_cache;
pub mod refusal_response;
#[cfg(feature = "retry")]
#[cfg_attr(docsrs, doc(cfg(feature = "retry")))]
pub mod retry;
#[cfg(feature = "signatures")]
#[cfg_attr(docsrs, doc(cfg(feature = "signatures")))]
pub mod signatures;
pub mod terminal_state;
mod times;
#[cfg(feature = "tonic")]
#[cfg_attr(docsrs, doc(cfg(feature = "tonic")))]
pub mod tonic;
mod transport;
mod turns;
pub mod wire;
mod words;

pub use crate::{
    call::{
        Binding, Call, CallBody, CallFuture, CallLayer, CallService, Capability, Operation, OrderMistake,
        ProtocolVersion, Shape,
    },
    error::{
        AgentCardResolutionError, BoxError, CallError, CapabilityNegotiationError, CapabilityTimeout, CardFailure,
        PeerResponse, Refusal, Retry, StaleAgentCardError, TransportError, UntypedRuntimeFailure,
    },
    guard::{Guard, GuardBuilder, GuardError, RenderedGuard},
    limits::{LimitOverrides, Limits},
    outcome::{Class, Observe, Outcome, OutcomeKind},
    probe_cache::ProbeCacheLayer,
    refusal_response::{RefusalResponseBody, RefusalResponseFuture, RefusalResponseLayer, RefusalResponseService},
    terminal_state::{
        ConfigError, Recovery, TerminalStateBody, TerminalStateBuilder, TerminalStateFuture, TerminalStateLayer,
        TerminalStateService,
    },
};
