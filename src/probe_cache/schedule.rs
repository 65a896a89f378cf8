//! Probes endpoints in use before their trust expires, by option.

use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::oneshot,
    time::{Instant, timeout},
};

use super::{
    core::Core,
    prober::{Prober, Question},
};
use crate::clock::span;

/// How often is looked, at least.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// And at most.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);

/// One task for a layer, from its first probe on.
#[derive(Debug)]
pub(super) struct Schedule {
    ahead: Duration,
    core: OnceLock<Weak<Core>>,
    /// Ends the task when this is dropped: at once, or with the probe that is under way.
    alive: Mutex<Option<oneshot::Sender<()>>>,
}

impl Schedule {
    pub(super) fn new(ahead: Duration) -> Self {
        Self { ahead, core: OnceLock::new(), alive: Mutex::new(None) }
    }

    pub(super) fn belongs_to(&self, core: &Arc<Core>) {
        let _only_once = self.core.set(Arc::downgrade(core));
    }

    /// Starts the task, if there is none, or if its runtime ended.
    pub(super) fn start(&self, prober: &Arc<Prober>) {
        let mut alive = self.alive.lock().unwrap_or_else(PoisonError::into_inner);
        if alive.as_ref().is_some_and(|alive| !alive.is_closed()) {
            return;
        }
        let (Some(core), Ok(runtime)) = (self.core.get(), tokio::runtime::Handle::try_current()) else { return };
        let (sender, gone) = oneshot::channel();
        *alive = Some(sender);
        runtime.spawn(run(Weak::clone(core), Arc::downgrade(prober), self.ahead, gone));
    }
}

async fn run(core: Weak<Core>, prober: Weak<Prober>, ahead: Duration, mut gone: oneshot::Receiver<()>) {
    let pause = (ahead / 4).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
    loop {
        if timeout(pause, &mut gone).await.is_ok() {
            return;
        }
        // One after the other: there is time, and no wish to storm anybody.
        let due = match (core.upgrade(), prober.upgrade()) {
            (Some(core), Some(prober)) => due(&core, &prober, ahead),
            _ => return,
        };
        for question in due {
            let Some(prober) = prober.upgrade() else { return };
            prober.renew(question).await;
        }
    }
}

fn due(core: &Core, prober: &Prober, ahead: Duration) -> Vec<Question> {
    let now = prober.clock.millis(Instant::now());
    let endpoints = core.places.endpoints().into_iter();
    let due = endpoints.filter_map(|(key, endpoint)| {
        let probe = endpoint.is_due(span(ahead), now)?;
        Some(Question { key, endpoint, probe })
    });
    due.collect()
}
