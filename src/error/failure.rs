use std::{
    error::Error as StdError,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::StatusCode;

use super::{BoxError, CallError, CardFailure, PeerResponse};
use crate::{
    call::Call,
    outcome::{Class, OutcomeKind},
    transport,
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
    /// An observer was told.
    pub(crate) told: Told,
    /// An event tells of it.
    #[cfg(feature = "tracing")]
    pub(crate) traced: Told,
    /// What tonic takes it for.
    #[cfg(feature = "tonic")]
    pub(crate) status: crate::tonic::StatusCell,
}

/// Whether somebody was told of a failure. Shared by all clones of its error.
#[derive(Debug, Default)]
pub(crate) struct Told(AtomicBool);

impl Told {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Clone for Told {
    fn clone(&self) -> Self {
        Self(AtomicBool::new(self.is_set()))
    }
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
    /// The head's status, where it is a part of what went wrong: over gRPC 204 is, too.
    pub(crate) fn telling_status(&self) -> Option<StatusCode> {
        self.seen.status.filter(|status| !status.is_success() || self.class == Class::HttpStatus)
    }

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
            told: Told::default(),
            #[cfg(feature = "tracing")]
            traced: Told::default(),
            #[cfg(feature = "tonic")]
            status: crate::tonic::StatusCell::default(),
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

    /// What a client or service below failed with, without what may be secret in its text.
    pub(crate) fn caused_by(&mut self, error: BoxError) {
        self.source = Some(Arc::new(transport::without_secrets(error)));
    }

    /// The source that the error of this failure shows: the cause, behind the status that tonic looks for.
    pub(crate) fn source_of(&self, error: impl FnOnce() -> CallError) -> Option<&(dyn StdError + 'static)> {
        #[cfg(feature = "tonic")]
        if let Some(status) = self.status.get(self, error) {
            return Some(status);
        }
        #[cfg(not(feature = "tonic"))]
        let _ = error;
        self.source()
    }

    pub(crate) fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let of_card = || self.card.as_deref().map(|card| card as &(dyn StdError + 'static));
        self.source.as_deref().map(|source| &**source as &(dyn StdError + 'static)).or_else(of_card)
    }
}
