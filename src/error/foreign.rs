//! Errors of services below that type none: a layer that stands without a `TerminalStateLayer` types them.

use std::{any::Any, sync::Arc};

use super::{BoxError, CallError, Failure, recognise};
use crate::{
    call::Call,
    outcome::{Class, OutcomeKind},
    transport::{self, Fault},
};

/// What the service below failed with, if it is no [`CallError`] already. `before_sending`: it was not even ready.
pub(crate) fn lost(error: BoxError, call: &Call, before_sending: bool) -> CallError {
    recognise(error).unwrap_or_else(|error| {
        let fault = transport::classify(&*error);
        let Fault { class, what, never_sent } = fault;
        let mut failure = Failure::new(fault.kind(), class, what, call.clone(), call.elapsed());
        failure.never_sent = never_sent || before_sending;
        failure.source = Some(Arc::new(transport::without_secrets(error)));
        CallError::new(failure)
    })
}

/// What a body failed with, if it is no [`CallError`] already.
pub(crate) fn broke_off(error: BoxError, call: &Call) -> CallError {
    recognise(error).unwrap_or_else(|error| {
        let what = "the body broke off";
        let mut failure = Failure::new(OutcomeKind::Broken, Class::Truncated, what, call.clone(), call.elapsed());
        failure.source = Some(Arc::new(error));
        CallError::new(failure)
    })
}

/// What a layer failed with that knows of no calls, as an observer is told of it. Nothing of a timer that fired: what it
/// dropped was told of.
pub(crate) fn foreign_in<E: 'static>(error: &E, call: Option<&Call>) -> Option<CallError> {
    let error = (error as &dyn Any).downcast_ref::<BoxError>()?;
    if transport::is_expired(&**error) {
        return None;
    }
    let call = call.cloned().unwrap_or_default();
    let known = transport::known(&**error);
    let fault = known.unwrap_or(Fault { what: "a layer between the caller and the agent failed", ..Fault::LOST });
    let elapsed = call.elapsed();
    let mut failure = Failure::new(fault.kind(), fault.class, fault.what, call, elapsed);
    failure.never_sent = fault.never_sent;
    Some(CallError::new(failure))
}
