//! Errors of services below that type none: a layer that stands without a `TerminalStateLayer` types them.

use std::any::Any;

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
        failure.caused_by(error);
        CallError::new(failure)
    })
}

/// What a body failed with, if it is no [`CallError`] already.
pub(crate) fn broke_off(error: BoxError, call: &Call) -> CallError {
    recognise(error).unwrap_or_else(|error| {
        let what = "the body broke off";
        let mut failure = Failure::new(OutcomeKind::Broken, Class::Truncated, what, call.clone(), call.elapsed());
        failure.caused_by(error);
        CallError::new(failure)
    })
}

/// A call that a layer above turned away, which knows of no calls: shed, say. Nothing where the call may have come
/// down, for then its end was told of there.
pub(crate) fn turned_away<E: 'static>(error: &E, call: Option<&Call>) -> Option<CallError> {
    let error = (error as &dyn Any).downcast_ref::<BoxError>()?;
    let fault = transport::known(&**error).filter(|fault| fault.never_sent)?;
    let call = call.cloned().unwrap_or_default();
    let elapsed = call.elapsed();
    let mut failure = Failure::new(fault.kind(), fault.class, fault.what, call, elapsed);
    failure.never_sent = true;
    Some(CallError::new(failure))
}
