//! What all hosts of a run share: chance, what was done, and how calls ended.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use a2a_guard::Outcome;
use tokio::sync::Notify;

use crate::{
    caller::{self, Plan},
    gateway,
    scenario::{KINDS, Scenario},
};

pub(crate) const SUCCESS: &str = "success/success";

/// How one try of a call ended.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    /// What its observer knows it by: `send-Rest-agent-a-3#0`.
    pub(crate) key: String,
    /// The call.
    pub(crate) id: String,
    pub(crate) plan: Plan,
    pub(crate) word: String,
    /// What the gateway says befell it, in a refusal of its own.
    pub(crate) told: Option<String>,
    /// When, since the run began.
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    /// Whether the error says that the agent may have begun to work.
    pub(crate) may_have_started: bool,
    pub(crate) line: String,
}

/// What an observer was told.
#[derive(Clone, Debug)]
struct Noted {
    word: String,
    elapsed: Duration,
}

#[derive(Default)]
struct State {
    tried: Vec<Tried>,
    noted: BTreeMap<String, Vec<Noted>>,
    /// How many calls the gateway took up.
    passed_on: usize,
    worked: HashMap<String, usize>,
    completed: HashMap<String, usize>,
    wrong: Vec<String>,
}

#[derive(Clone)]
pub(crate) struct World {
    seed: u64,
    /// Which of its scenario's runs this is.
    pub(crate) run: usize,
    first_fault: Option<Duration>,
    state: Arc<Mutex<State>>,
    resets: Arc<Mutex<HashMap<&'static str, Arc<Notify>>>>,
}

impl World {
    pub(crate) fn new(seed: u64, first_fault: Option<Duration>) -> Self {
        let run = usize::try_from(seed / KINDS).expect("it fits");
        Self { seed, run, first_fault, state: Arc::default(), resets: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An agent works on this message.
    pub(crate) fn works_on(&self, id: &str) {
        *self.lock().worked.entry(id.to_owned()).or_default() += 1;
    }

    /// An agent has done what it was asked, and is about to say so.
    pub(crate) fn completes(&self, id: &str) {
        *self.lock().completed.entry(id.to_owned()).or_default() += 1;
    }

    /// The gateway takes up a call; gives what its observer will know it by.
    pub(crate) fn passes_on(&self) -> String {
        let mut state = self.lock();
        state.passed_on += 1;
        gateway_key(state.passed_on)
    }

    pub(crate) fn outcome(&self, outcome: &Outcome<'_>) {
        let key = outcome.call().region().unwrap_or_default().to_owned();
        let word = format!("{}/{}", outcome.kind(), outcome.class());
        self.lock().noted.entry(key).or_default().push(Noted { word, elapsed: outcome.elapsed() });
    }

    pub(crate) fn tried(&self, tried: Tried) {
        self.lock().tried.push(tried);
    }

    pub(crate) fn wrong(&self, what: String) {
        self.lock().wrong.push(what);
    }

    /// What tells a host's connections that they are to end without a word.
    pub(crate) fn reset(&self, host: &'static str) -> Arc<Notify> {
        self.resets.lock().unwrap_or_else(PoisonError::into_inner).entry(host).or_default().clone()
    }

    /// All tries.
    pub(crate) fn tries(&self) -> Vec<Tried> {
        self.lock().tried.clone()
    }

    /// What is not as it should be.
    pub(crate) fn judge(&self, scenario: &Scenario) -> Vec<String> {
        let state = self.lock();
        let mut faults = state.wrong.clone();
        faults.extend(state.judge_outcomes());
        if state.tried.len() < caller::CALLS {
            faults.push(format!("only {} calls ended", state.tried.len()));
        }
        for tried in &state.tried {
            // A message that a fault is about to hit may have been sent just before.
            let before = self.first_fault.is_none_or(|fault| tried.to < fault);
            let is_free = matches!(&*tried.word, SUCCESS | "given up");
            if !(is_free || scenario.admits(tried) && !before) {
                faults.push(format!(
                    "{} from {} to {} ms: {} (told: {:?})",
                    tried.key,
                    tried.from.as_millis(),
                    tried.to.as_millis(),
                    tried.line,
                    tried.told,
                ));
            }
        }
        for (id, &times) in &state.worked {
            let may = state.tried.iter().filter(|tried| tried.id == *id && tried.may_have_started).count();
            if times > 1 || times > may {
                faults.push(format!("{id} was worked on {times} times, in {may} tries that may have begun it"));
            }
        }
        for tried in state.tried.iter().filter(|tried| tried.word == SUCCESS) {
            if !state.completed.contains_key(&tried.id) {
                faults.push(format!("{} succeeded, and nobody completed it", tried.key));
            }
        }
        faults
    }

    /// A number below `below`, by the run's seed and a name.
    pub(crate) fn chance(&self, name: &str, below: u64) -> u64 {
        chance(self.seed, name, below)
    }
}

fn gateway_key(nth: usize) -> String {
    format!("passed on {nth}")
}

impl State {
    /// Each call has exactly one outcome, the one that its caller saw; and in time.
    fn judge_outcomes(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let one = |key: &str, faults: &mut Vec<String>| {
            let noted = self.noted.get(key).map(Vec::as_slice).unwrap_or_default();
            if noted.len() != 1 {
                faults.push(format!("{key} has not exactly one outcome: {noted:?}"));
            }
            noted.first().cloned()
        };
        for tried in &self.tried {
            let Some(noted) = one(&tried.key, &mut faults) else { continue };
            // Who gives up may do so right after the end, or without having heard of it.
            if noted.word != tried.word && tried.word != "given up" {
                faults.push(format!("{} ended as {}, and its observer was told {}", tried.key, tried.word, noted.word));
            }
            if noted.elapsed > caller::BOUND {
                faults.push(format!("{} took {:?}", tried.key, noted.elapsed));
            }
        }
        for nth in 1..=self.passed_on {
            let Some(noted) = one(&gateway_key(nth), &mut faults) else { continue };
            if noted.elapsed > gateway::BOUND {
                faults.push(format!("the gateway took {:?} for {noted:?}", noted.elapsed));
            }
        }
        if self.noted.len() != self.tried.len() + self.passed_on {
            faults.push(format!("{} calls were noted, of {}", self.noted.len(), self.tried.len() + self.passed_on));
        }
        faults
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
