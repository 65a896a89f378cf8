use std::{any::Any, error::Error as StdError, io};

use super::{
    AgentCardResolutionError, BoxError, CallError, CapabilityTimeout, Refusal, StaleAgentCardError, TransportError,
    UntypedRuntimeFailure,
};

/// Finds a [`CallError`] in what a foreign service returned. Boxed as it is, it comes out as it went in; deeper in the
/// chain (as tower's `Buffer` makes them) its facts are kept and the foreign error becomes its source.
pub(crate) fn recognise(error: BoxError) -> Result<CallError, BoxError> {
    if let Some(own) = own(&*error) {
        return Ok(own);
    }
    let found = chain(&*error).find_map(own);
    match found {
        Some(found) => {
            let mut failure = found.failure().clone();
            failure.caused_by(error);
            Ok(CallError::new(failure))
        }
        None => Err(error),
    }
}

/// Finds a [`CallError`] in an error of whatever type: it may be one, or a box with one in its chain.
pub(crate) fn call_error_in<E: 'static>(error: &E) -> Option<CallError> {
    let error: &dyn Any = error;
    if let Some(error) = error.downcast_ref::<CallError>() {
        return Some(error.clone());
    }
    error.downcast_ref::<BoxError>().and_then(|error| chain(&**error).find_map(own))
}

fn own(error: &(dyn StdError + 'static)) -> Option<CallError> {
    error
        .downcast_ref::<CallError>()
        .cloned()
        .or_else(|| error.downcast_ref::<Refusal>().cloned().map(Into::into))
        .or_else(|| error.downcast_ref::<UntypedRuntimeFailure>().cloned().map(Into::into))
        .or_else(|| error.downcast_ref::<CapabilityTimeout>().cloned().map(Into::into))
        .or_else(|| error.downcast_ref::<AgentCardResolutionError>().cloned().map(Into::into))
        .or_else(|| error.downcast_ref::<StaleAgentCardError>().cloned().map(Into::into))
        .or_else(|| error.downcast_ref::<TransportError>().cloned().map(Into::into))
}

/// An error and what caused it. An `io::Error` gives as its source that of the error in it; that one counts too. A
/// cycle in a foreign chain must not hang us.
pub(crate) fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    let next = |&error: &&'a (dyn StdError + 'static)| {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        inner.map(|inner| inner as &(dyn StdError + 'static)).or_else(|| error.source())
    };
    std::iter::successors(Some(error), next).take(32)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        call::Call,
        error::Failure,
        outcome::{Class, OutcomeKind},
    };

    #[derive(Debug, thiserror::Error)]
    #[error("wrapped")]
    struct Wrapper(#[source] CallError);

    fn timeout() -> CallError {
        CallError::new(Failure::new(OutcomeKind::Timeout, Class::Idle, "", Call::new(), Duration::ZERO))
    }

    #[test]
    fn a_boxed_call_error_comes_out_as_it_went_in() {
        let error = recognise(Box::new(timeout())).unwrap();
        assert_eq!(error.class(), Class::Idle);
        assert!(error.source().is_none());
    }

    #[test]
    fn one_in_a_chain_keeps_the_foreign_error_as_its_source() {
        let error = recognise(Box::new(Wrapper(timeout()))).unwrap();
        assert_eq!(error.class(), Class::Idle);
        assert_eq!(error.source().unwrap().to_string(), "wrapped");
    }

    #[test]
    fn one_in_an_io_error_is_found() {
        let error = recognise(Box::new(io::Error::other(timeout()))).unwrap();
        assert_eq!(error.class(), Class::Idle);
    }

    #[test]
    fn one_is_found_in_an_error_of_any_type() {
        assert!(call_error_in(&timeout()).is_some());
        let boxed: BoxError = Box::new(Wrapper(timeout()));
        assert_eq!(call_error_in(&boxed).unwrap().class(), Class::Idle);
        assert!(call_error_in(&"no").is_none());
        assert!(call_error_in::<BoxError>(&"no".into()).is_none());
    }

    #[test]
    fn a_foreign_error_stays_foreign() {
        assert!(recognise("no".into()).is_err());
    }
}
