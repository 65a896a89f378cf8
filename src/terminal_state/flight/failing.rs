//! What a call in flight fails with.

use tokio::time::Instant;

use super::Flight;
use crate::{
    error::{BoxError, CallError, Failure, recognise},
    outcome::{Class, Observe, OutcomeKind},
    terminal_state::{contained::Panicked, deadline::Due},
    transport::{self, Fault},
    wire::{Flaw, Tolerated},
};

impl<O> Flight<O>
where
    O: Observe,
{
    /// A failure of this call, with what was seen so far.
    #[cold]
    pub(in crate::terminal_state) fn failure(&self, kind: OutcomeKind, class: Class, what: &'static str) -> Failure {
        let call = match &self.target {
            Some(target) => self.call.clone().with_target(target.clone()),
            None => self.call.clone(),
        };
        let mut failure = Failure::new(kind, class, what, call, self.began.elapsed());
        failure.seen = self.seen.clone();
        failure
    }

    pub(in crate::terminal_state) fn broken(&self, class: Class, what: &'static str) -> CallError {
        CallError::new(self.failure(OutcomeKind::Broken, class, what))
    }

    pub(in crate::terminal_state) fn flawed(&self, flaw: Flaw) -> CallError {
        match flaw {
            Flaw::Empty => self.broken(Class::Empty, "the answer ended with nothing in it"),
            Flaw::Malformed(what) => self.broken(Class::Malformed, what),
            Flaw::Violation(what) => self.broken(Class::ProtocolViolation, what),
            Flaw::TooLarge => self.broken(Class::TooLarge, "an event is larger than max_event"),
        }
    }

    /// What `strict()` says of slips, if it is on and there are any.
    pub(in crate::terminal_state) fn strictly(&self, tolerated: Tolerated) -> Option<CallError> {
        if !self.config.strict {
            return None;
        }
        let slip = tolerated.iter().next()?;
        let mut failure =
            self.failure(OutcomeKind::Broken, Class::ProtocolViolation, "the peer is slightly wrong, and strict is on");
        failure.got = Some(slip.into());
        failure.seen.tolerated = tolerated;
        Some(CallError::new(failure))
    }

    /// The client below failed. `before_sending`: it was not even ready.
    pub(in crate::terminal_state) fn lost(&self, error: BoxError, before_sending: bool) -> CallError {
        let error = match recognise(error) {
            Ok(error) => return error,
            Err(error) => error,
        };
        if transport::is_expired(&*error) {
            let mut failure = self.failure(OutcomeKind::Timeout, Class::Total, "a timer of the client below fired");
            failure.never_sent = before_sending;
            failure.caused_by(error);
            return CallError::new(failure);
        }
        let fault = transport::classify(&*error);
        let Fault { class, what, never_sent } = fault;
        let mut failure = self.failure(fault.kind(), class, what);
        failure.never_sent = never_sent || before_sending;
        failure.caused_by(error);
        CallError::new(failure)
    }

    /// The client below failed before a head came. If that was for want of time, by the same clock that the request as
    /// it was sent gives the call (a client may keep to `grpc-timeout` too), it is the timeout that it would have
    /// been.
    pub(in crate::terminal_state) fn lost_or_late(&self, error: BoxError) -> CallError {
        let due = self.deadlines.total();
        let is_told = self.asked_total.is_some() || self.config.sends_timeout_of(&self.call);
        if !is_told || Instant::now() < due.at {
            return self.lost(error, false);
        }
        match recognise(error) {
            Ok(error) => error,
            Err(error) => {
                let mut failure = self.failure(OutcomeKind::Timeout, due.class, "not finished");
                failure.bound = Some(due.bound);
                failure.caused_by(error);
                CallError::new(failure)
            }
        }
    }

    /// The body broke off.
    pub(in crate::terminal_state) fn cut(&self, error: BoxError) -> CallError {
        let error = match recognise(error) {
            Ok(error) => return error,
            Err(error) => error,
        };
        let mut failure = self.failure(OutcomeKind::Broken, Class::Truncated, "the body broke off");
        failure.caused_by(error);
        CallError::new(failure)
    }

    /// The service below panicked: before its head, as an opaque 500; behind it, as a connection that broke off.
    pub(in crate::terminal_state) fn panicked(&self, panicked: Panicked) -> CallError {
        CallError::new(self.panic(panicked))
    }

    /// The same before it was called.
    pub(in crate::terminal_state) fn panicked_unsent(&self, panicked: Panicked) -> CallError {
        CallError::new(Failure { never_sent: true, ..self.panic(panicked) })
    }

    fn panic(&self, panicked: Panicked) -> Failure {
        let class = if self.seen.status.is_none() { Class::HttpStatus } else { Class::Truncated };
        let mut failure = self.failure(OutcomeKind::Broken, class, "the service below panicked");
        failure.caused_by(Box::new(panicked));
        failure
    }

    pub(in crate::terminal_state) fn timeout(&self, due: Due) -> CallError {
        let what = match due.class {
            Class::Head => "no response head",
            Class::FirstEvent => "no event",
            Class::Idle => "no bytes",
            Class::EventGap => "bytes, but no event",
            _ => "not finished",
        };
        let mut failure = self.failure(OutcomeKind::Timeout, due.class, what);
        failure.bound = Some(due.bound);
        CallError::new(failure)
    }
}

/// Whether the call was lost while the task may go on without it.
pub(super) fn is_loss(error: &CallError) -> bool {
    // What never reached the peer left nothing behind there.
    if error.failure().never_sent {
        return false;
    }
    match error.outcome() {
        OutcomeKind::Timeout => error.class() != Class::Ready,
        OutcomeKind::Transport => error.class() == Class::ConnectionLost,
        _ => error.class() == Class::Truncated,
    }
}
