use std::sync::Arc;

use tower_layer::Identity;

use super::GuardError;
use crate::{card_consistency::CardStore, limits::Totals, outcome::Observe, probe_cache::ProbeCacheLayer};

/// The probe layer of a guard that has one. `O` is the guard's observer.
pub type GuardProbes<O = ()> = ProbeCacheLayer<Arc<O>>;

/// Whether a guard has a probe layer: [`ProbeCacheLayer`] or `Identity`.
pub trait ProbePart<O>: sealed::Sealed {
    /// The layer that it becomes.
    type Layer;

    #[doc(hidden)]
    fn into_layer(
        self,
        observer: Arc<O>,
        totals: Arc<Totals>,
        cards: Option<CardStore>,
    ) -> Result<Self::Layer, GuardError>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for tower_layer::Identity {}
    impl<T> Sealed for super::ProbeCacheLayer<T> {}
}

impl<O> ProbePart<O> for Identity {
    type Layer = Self;

    fn into_layer(self, _: Arc<O>, _: Arc<Totals>, _: Option<CardStore>) -> Result<Self, GuardError> {
        Ok(self)
    }
}

impl<O, T> ProbePart<O> for ProbeCacheLayer<T>
where
    O: Observe,
    T: Observe,
{
    type Layer = GuardProbes<O>;

    fn into_layer(
        self,
        observer: Arc<O>,
        totals: Arc<Totals>,
        cards: Option<CardStore>,
    ) -> Result<Self::Layer, GuardError> {
        if self.is_observed() {
            return Err(GuardError::new(
                "availability",
                "has an observer of its own, and each call is told of once: leave it out, and set it by observe(…) of the \
                 guard, with and(…) beside the guard's own",
            ));
        }
        Ok(self.within(observer, totals, cards))
    }
}
