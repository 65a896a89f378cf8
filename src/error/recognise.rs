use std::{error::Error as StdError, sync::Arc};

use super::{
    AgentCardResolutionError, BoxError, CallError, CapabilityTimeout, Refusal, TransportError, UntypedRuntimeFailure,
};

/// Finds a [`CallError`] in what a foreign service returned. Boxed as it is, it comes out as it went in; deeper in the
/// chain (as tower's `Buffer` makes them) its facts are kept and the foreign error becomes its source.
pub(crate) fn recognise(error: BoxError) -> Result<CallError, BoxError> {
    let error = match error.downcast::<CallError>() {
        Ok(call_error) => return Ok(*call_error),
        Err(error) => error,
    };
    match in_chain(&*error) {
        Some(found) => {
            let mut failure = found.failure().clone();
            failure.source = Some(Arc::new(error));
            Ok(CallError::new(failure))
        }
        None => Err(error),
    }
}

fn in_chain(error: &(dyn StdError + 'static)) -> Option<CallError> {
    let mut next = Some(error);
    // A chain is as long as its makers built it; a cycle in one must not hang us.
    for _ in 0..32 {
        let error = next?;
        let found = error
            .downcast_ref::<CallError>()
            .cloned()
            .or_else(|| error.downcast_ref::<Refusal>().cloned().map(Into::into))
            .or_else(|| error.downcast_ref::<UntypedRuntimeFailure>().cloned().map(Into::into))
            .or_else(|| error.downcast_ref::<CapabilityTimeout>().cloned().map(Into::into))
            .or_else(|| error.downcast_ref::<AgentCardResolutionError>().cloned().map(Into::into))
            .or_else(|| error.downcast_ref::<TransportError>().cloned().map(Into::into));
        if found.is_some() {
            return found;
        }
        next = error.source();
    }
    None
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
    fn a_foreign_error_stays_foreign() {
        assert!(recognise("no".into()).is_err());
    }
}
