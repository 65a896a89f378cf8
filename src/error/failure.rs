use std::{error::Error as StdError, sync::Arc, time::Duration};

use http::StatusCode;

use super::{BoxError, CardFailure, PeerResponse};
use crate::{
    call::Call,
    outcome::{Class, OutcomeKind},
    wire::{PeerError, TaskState, Tolerated},
};

/// What a failed call knows. Shared by all clones of its error.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: OutcomeKind,
    pub(crate) class: Class,
    pub(crate) call: Call,
    pub(crate) elapsed: Duration,
    /// What happened, in our own words; never a peer's text.
    pub(crate) what: &'static str,
    pub(crate) seen: Seen,
    pub(crate) bound: Option<Duration>,
    /// The declared media type or content coding, where that was the trouble.
    pub(crate) got: Option<Box<str>>,
    pub(crate) peer: Option<Box<PeerError>>,
    pub(crate) response: Option<PeerResponse>,
    /// What is wrong with the card, of a call that was refused for it.
    pub(crate) card: Option<Box<CardFailure>>,
    pub(crate) source: Option<Arc<BoxError>>,
    /// The peer never saw the request, whatever the class says: the connection was never there, or it said so.
    pub(crate) never_sent: bool,
    /// It repeats what another call was told: nothing new was learnt.
    pub(crate) remembered: bool,
}

/// What was seen of the answer before it failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) status: Option<StatusCode>,
    pub(crate) task_id: Option<Box<str>>,
    pub(crate) task_state: Option<TaskState>,
    pub(crate) events: u64,
    pub(crate) tolerated: Tolerated,
    pub(crate) retry_after: Option<Duration>,
    /// Of an answer that passes as it is: what its `grpc-status` says.
    pub(crate) grpc_code: Option<u8>,
}

impl Failure {
    pub(crate) fn new(kind: OutcomeKind, class: Class, what: &'static str, call: Call, elapsed: Duration) -> Self {
        Self {
            kind,
            class,
            call,
            elapsed,
            what,
            seen: Seen::default(),
            bound: None,
            got: None,
            peer: None,
            response: None,
            card: None,
            source: None,
            never_sent: false,
            remembered: false,
        }
    }

    /// A call that was not sent for what its target's card says or lacks.
    pub(crate) fn of_card(card: CardFailure, call: Call, elapsed: Duration) -> Self {
        // No card for want of a connection says nothing of the card.
        let kind = match card {
            CardFailure::Connection { .. } => OutcomeKind::Transport,
            _ => OutcomeKind::Card,
        };
        let mut failure = Self::new(kind, card.class(), "no card", call, elapsed);
        failure.never_sent = true;
        failure.card = Some(Box::new(card));
        failure
    }

    pub(crate) fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let of_card = || self.card.as_deref().map(|card| card as &(dyn StdError + 'static));
        self.source.as_deref().map(|source| &**source as &(dyn StdError + 'static)).or_else(of_card)
    }
}
