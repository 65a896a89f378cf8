//! Who is told.

use std::sync::Arc;

use super::Outcome;
use crate::error::Told;

/// Told of each call's end.
///
/// A closure over `&Outcome<'_>` is one; so is a pair of observers ([`and`](Self::and)), an `Option` and an `Arc` of
/// one. `()`, the default, observes nothing and costs nothing. An observer is called where the call ends, on a path
/// that others wait for (even in a `Drop`): count, do not block.
///
/// The type of a closure's parameter has to be written: `|outcome: &Outcome<'_>|`.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
/// use a2a_guard::{Observe, Outcome, OutcomeKind, TerminalStateLayer};
///
/// /// How the agent does, apart from what it is asked.
/// #[derive(Default)]
/// struct Health {
///     good: AtomicU64,
///     bad: AtomicU64,
/// }
///
/// impl Observe for Health {
///     fn observe(&self, outcome: &Outcome<'_>) {
///         match outcome.kind() {
///             OutcomeKind::Success | OutcomeKind::Refused => self.good.fetch_add(1, Ordering::Relaxed),
///             OutcomeKind::Broken | OutcomeKind::Timeout | OutcomeKind::Transport => {
///                 self.bad.fetch_add(1, Ordering::Relaxed)
///             }
///             // Never sent, or nobody waited for the end.
///             _ => 0,
///         };
///     }
/// }
///
/// let slow = |outcome: &Outcome<'_>| {
///     if outcome.elapsed().as_secs() > 10 {
///         eprintln!("{}: {}/{}", outcome.call().shape(), outcome.kind(), outcome.class());
///     }
/// };
/// let health = Arc::new(Health::default());
/// let layer = TerminalStateLayer::builder().observe(Arc::clone(&health).and(slow)).build()?;
/// # let _ = layer;
/// # Ok::<(), a2a_guard::ConfigError>(())
/// ```
pub trait Observe {
    /// Whether anybody listens: if not, no outcome is put together.
    #[doc(hidden)]
    fn listens(&self) -> bool {
        true
    }

    /// Takes note of an outcome.
    fn observe(&self, outcome: &Outcome<'_>);

    /// This observer, and then another one.
    fn and<O>(self, other: O) -> (Self, O)
    where
        Self: Sized,
        O: Observe,
    {
        (self, other)
    }
}

impl Observe for () {
    fn listens(&self) -> bool {
        false
    }

    fn observe(&self, _: &Outcome<'_>) {}
}

/// Both, in this order.
impl<A, B> Observe for (A, B)
where
    A: Observe,
    B: Observe,
{
    fn listens(&self) -> bool {
        self.0.listens() || self.1.listens()
    }

    fn observe(&self, outcome: &Outcome<'_>) {
        self.0.observe(outcome);
        self.1.observe(outcome);
    }
}

/// Chosen at run time: `None` observes nothing.
impl<O> Observe for Option<O>
where
    O: Observe,
{
    fn listens(&self) -> bool {
        self.as_ref().is_some_and(Observe::listens)
    }

    fn observe(&self, outcome: &Outcome<'_>) {
        if let Some(observer) = self {
            observer.observe(outcome);
        }
    }
}

/// Shared between layers, or with whoever reads it.
impl<O> Observe for Arc<O>
where
    O: Observe + ?Sized,
{
    fn listens(&self) -> bool {
        (**self).listens()
    }

    fn observe(&self, outcome: &Outcome<'_>) {
        (**self).observe(outcome);
    }
}

impl<F> Observe for F
where
    F: Fn(&Outcome<'_>),
{
    fn observe(&self, outcome: &Outcome<'_>) {
        self(outcome);
    }
}

/// Tells an observer of a call that failed before it came down to where its end is judged, unless one was told of it.
pub(crate) fn tell<O>(observer: &O, outcome: &Outcome<'_>)
where
    O: Observe,
{
    let told = outcome.error.map(|error| &error.failure().told);
    if !observer.listens() || told.is_some_and(Told::is_set) {
        return;
    }
    if let Some(told) = told {
        told.set();
    }
    observer.observe(outcome);
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::call::Call;

    #[test]
    fn an_observer_may_be_chosen_at_run_time() {
        let observers: [&dyn Observe; 2] = [&(), &|_: &Outcome<'_>| {}];
        assert_eq!(observers.map(Observe::listens), [false, true]);
    }

    #[test]
    fn observers_are_told_in_order_and_listen_if_one_does() {
        let told = Mutex::new(Vec::new());
        let note = |name: &'static str| {
            let told = &told;
            move |_: &Outcome<'_>| told.lock().unwrap().push(name)
        };
        let shared: Arc<dyn Observe + '_> = Arc::new(note("third"));
        let all = note("first").and(Some(note("second"))).and(shared).and(());
        assert!(all.listens());
        all.observe(&Outcome::of_nothing(&Call::new()));
        assert_eq!(*told.lock().unwrap(), ["first", "second", "third"]);
        assert!(!().and(None::<fn(&Outcome<'_>)>).and(Arc::new(())).listens());
    }
}
