//! What all hosts of a run share: chance, what was done, and how calls ended.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::scenario::Scenario;

/// How one try of a call ended.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    /// The call: `send-agent-a-3`.
    pub(crate) id: String,
    pub(crate) word: String,
    /// When, since the run began.
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    /// Whether the error says that the agent may have begun to work.
    pub(crate) may_have_started: bool,
    pub(crate) line: String,
}

#[derive(Default)]
struct State {
    tried: Vec<Tried>,
    outcomes: usize,
    worked: HashMap<String, usize>,
    wrong: Vec<String>,
}

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) seed: u64,
    first_fault: Option<Duration>,
    state: Arc<Mutex<State>>,
}

impl World {
    pub(crate) fn new(seed: u64, first_fault: Option<Duration>) -> Self {
        Self { seed, first_fault, state: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An agent works on this message.
    pub(crate) fn works_on(&self, id: &str) {
        *self.lock().worked.entry(id.to_owned()).or_default() += 1;
    }

    pub(crate) fn outcome(&self) {
        self.lock().outcomes += 1;
    }

    pub(crate) fn tried(&self, tried: Tried) {
        self.lock().tried.push(tried);
    }

    pub(crate) fn wrong(&self, what: String) {
        self.lock().wrong.push(what);
    }

    /// The words of all tries.
    pub(crate) fn ends(&self) -> Vec<String> {
        self.lock().tried.iter().map(|tried| tried.word.clone()).collect()
    }

    /// What is not as it should be.
    pub(crate) fn judge(&self, scenario: &Scenario) -> Vec<String> {
        let state = self.lock();
        let mut faults = state.wrong.clone();
        if state.outcomes != state.tried.len() {
            faults.push(format!("{} calls, and {} outcomes were told", state.tried.len(), state.outcomes));
        }
        if state.tried.len() < crate::caller::CALLS {
            faults.push(format!("only {} calls ended", state.tried.len()));
        }
        for tried in &state.tried {
            // A message that a fault is about to hit may have been sent just before.
            let before = self.first_fault.is_none_or(|fault| tried.to < fault);
            let succeeded = tried.word == "success/success";
            if !(succeeded || scenario.admits(&tried.word, &tried.id) && !before) {
                faults.push(format!(
                    "{} from {} to {} ms: {}",
                    tried.id,
                    tried.from.as_millis(),
                    tried.to.as_millis(),
                    tried.line
                ));
            }
        }
        for (id, &times) in &state.worked {
            let may = state.tried.iter().filter(|tried| tried.id == *id && tried.may_have_started).count();
            if times > 1 || times > may {
                faults.push(format!("{id} was worked on {times} times, in {may} tries that may have begun it"));
            }
        }
        for tried in state.tried.iter().filter(|tried| tried.word == "success/success" && !tried.id.starts_with("get"))
        {
            if !state.worked.contains_key(&tried.id) {
                faults.push(format!("{} succeeded, and nobody worked on it", tried.id));
            }
        }
        faults
    }

    /// A number below `below`, by the run's seed and a name.
    pub(crate) fn chance(&self, name: &str, below: u64) -> u64 {
        chance(self.seed, name, below)
    }
}

/// FNV-1a, and a round of xorshift: the same on every machine.
pub(crate) fn chance(seed: u64, name: &str, below: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 29;
    hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^= hash >> 32;
    hash % below
}
