use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use metrics::Key;

use super::names;
use crate::{
    call::{Binding, Operation},
    observability::words,
    outcome::{Class, Outcome, OutcomeKind},
    wire::StateKind,
};

/// What the series of a call differ by. All of it is of closed sets, so that the table of series is bounded.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Labels {
    operation: Option<Operation>,
    binding: Option<Binding>,
    kind: OutcomeKind,
    class: Class,
    state: Option<StateKind>,
}

impl Labels {
    pub(super) fn of(outcome: &Outcome<'_>) -> Self {
        Self {
            operation: outcome.call().operation(),
            binding: outcome.call().binding(),
            kind: outcome.kind(),
            class: outcome.class(),
            state: outcome.task_state().map(|state| state.kind()),
        }
    }
}

/// The series that a call counts in.
pub(super) struct Series {
    pub(super) calls: Key,
    pub(super) duration: Key,
    pub(super) first_event: Key,
    pub(super) events: Key,
    pub(super) bytes: Key,
    pub(super) task_states: Option<Key>,
}

impl Series {
    fn of(labels: Labels) -> Self {
        let shape = [
            ("operation", labels.operation.map_or("unknown", Operation::as_str)),
            ("binding", labels.binding.map_or("unknown", Binding::as_str)),
        ];
        let with = |more: &[_]| [&shape, more].concat();
        let (outcome, class) = (("outcome", labels.kind.as_str()), ("class", labels.class.as_str()));
        Self {
            calls: names::key(names::CALLS, &with(&[outcome, class])),
            duration: names::key(names::DURATION, &with(&[outcome])),
            first_event: names::key(names::FIRST_EVENT, &shape),
            events: names::key(names::EVENTS, &shape),
            bytes: names::key(names::BYTES, &shape),
            task_states: labels
                .state
                .map(|state| names::key(names::TASK_STATES, &with(&[("state", words::state(state))]))),
        }
    }
}

/// Series that were met, so that a call makes no labels of its own. What stands for them in a recorder is not kept: it
/// may be installed later than the first call.
#[derive(Default)]
pub(super) struct Table(RwLock<HashMap<Labels, Arc<Series>>>);

impl Table {
    pub(super) fn of(&self, labels: Labels) -> Arc<Series> {
        let met = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&labels).map(Arc::clone);
        met.unwrap_or_else(|| {
            let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(table.entry(labels).or_insert_with(|| Arc::new(Series::of(labels))))
        })
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.0.read().unwrap_or_else(PoisonError::into_inner).len();
        f.debug_struct("Table").field("len", &len).finish()
    }
}
