//! The seam at which replicas share evidence.

use std::{
    collections::VecDeque,
    fmt,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::{EvidenceChange, entry::Entry, handle::Inner};
use crate::directory::PeerId;

/// Where replicas share evidence: a server that all of them can reach, say. What [`Store`](crate::probe_cache::Store)
/// is to the availability of skills.
///
/// Calls are ranked by what this process knows, at once and whatever becomes of the store; the store carries
/// [`EvidenceChange`]s from one process to the others.
///
/// ```
/// use std::{future::Future, pin::Pin, sync::Arc};
/// use a2a_guard::directory::{EvidenceChange, EvidenceLink, EvidenceStore};
/// use tokio::sync::broadcast;
///
/// /// Handles in one process that are to know the same.
/// struct Shared(broadcast::Sender<EvidenceChange>);
///
/// impl EvidenceStore for Shared {
///     fn serve(self: Arc<Self>, mut link: EvidenceLink) -> Pin<Box<dyn Future<Output = ()> + Send>> {
///         let mut others = self.0.subscribe();
///         Box::pin(async move {
///             loop {
///                 tokio::select! {
///                     change = link.next() => match change {
///                         Some(change) => drop(self.0.send(change)),
///                         None => return, // the last handle is gone
///                     },
///                     change = others.recv() => match change {
///                         Ok(change) => drop(link.apply(change)),
///                         Err(broadcast::error::RecvError::Lagged(_)) => {}
///                         Err(broadcast::error::RecvError::Closed) => return,
///                     },
///                 }
///             }
///         })
///     }
/// }
/// ```
pub trait EvidenceStore: Send + Sync + 'static {
    /// Carries changes both ways, for as long as [`EvidenceLink::next`] gives any. Called once for each
    /// [`Evidence`](super::Evidence), in a task of the runtime in which the handle is built or, if that is in none,
    /// first used.
    ///
    /// A server that is away is this future's own matter: it connects again when it likes. Meanwhile each peer waits
    /// once, however often it is called, and calls notice nothing. If it ends, or panics, the handle goes on alone.
    fn serve(self: Arc<Self>, link: EvidenceLink) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// A store's end of an [`Evidence`](super::Evidence). It does not keep the handle alive.
pub struct EvidenceLink {
    outbox: Arc<Outbox>,
    handle: Weak<Inner>,
    me: u128,
    keep: Duration,
}

impl EvidenceLink {
    pub(super) fn new(outbox: Arc<Outbox>, handle: Weak<Inner>, me: u128, keep: Duration) -> Self {
        Self { outbox, handle, me, keep }
    }

    /// The next change that this process made, to be told to the others; `None` when its last handle is gone, what
    /// waited then was given, and the store's work is done. Cancel-safe: in a `select!`, nothing is lost.
    ///
    /// A quarantine is given at once, and so is what is forgotten; of other changes those of a
    /// [while](super::EvidenceBuilder::share_every) come together, one for each peer.
    pub async fn next(&mut self) -> Option<EvidenceChange> {
        loop {
            let changed = self.outbox.changed.notified();
            match self.outbox.take(Instant::now()) {
                Taken::Word(word) => return Some(self.change(word)),
                Taken::Closed => return None,
                Taken::Nothing => changed.await,
                Taken::NotBefore(then) => {
                    tokio::select! {
                        () = changed => {}
                        () = sleep_until(then) => {}
                    }
                }
            }
        }
    }

    /// The same without waiting: `None` if nothing is to be told just now.
    pub fn ready(&mut self) -> Option<EvidenceChange> {
        match self.outbox.take(Instant::now()) {
            Taken::Word(word) => Some(self.change(word)),
            _ => None,
        }
    }

    fn change(&self, word: Word) -> EvidenceChange {
        match word {
            Word::Of(entry) => {
                let now = Instant::now();
                let learnt = entry.read().told(now);
                EvidenceChange::seen(self.me, entry.peer.clone(), &learnt, now)
            }
            Word::Forgotten(peer) => EvidenceChange { from: self.me, peer, seen: None },
        }
    }

    /// Waits until the last handle is gone.
    pub async fn closed(&self) {
        loop {
            let changed = self.outbox.changed.notified();
            if self.outbox.is_closed.load(SeqCst) {
                // Whoever waits for changes is to hear of it as well.
                self.outbox.changed.notify_one();
                return;
            }
            changed.await;
        }
    }

    /// Takes in what another replica tells; it is not told back. `false` when the last handle is gone.
    ///
    /// What this replica told itself is ignored. Nothing counts for more than it would if it had been counted here, and
    /// no quarantine lasts longer than this handle's [policy](super::EvidenceBuilder::policy) allows.
    pub fn apply(&self, change: EvidenceChange) -> bool {
        match self.handle.upgrade() {
            Some(handle) => {
                handle.apply(&change, Instant::now());
                true
            }
            None => false,
        }
    }

    /// Everything that this replica counted, to be told to a server that has just come back, say.
    #[must_use]
    pub fn known(&self) -> Vec<EvidenceChange> {
        self.handle.upgrade().map(|handle| handle.known(Instant::now())).unwrap_or_default()
    }

    /// Which replica this is.
    #[must_use]
    pub fn replica(&self) -> u128 {
        self.me
    }

    /// After how long evidence is too old to be told from none: ten half-lives, at most 30 days.
    #[must_use]
    pub fn keep(&self) -> Duration {
        self.keep
    }
}

impl fmt::Debug for EvidenceLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvidenceLink").field("waiting", &self.outbox.queue().len()).finish_non_exhaustive()
    }
}

/// Whose evidence changed, and was not told yet.
#[derive(Debug)]
pub(super) struct Outbox {
    queue: Mutex<Queue>,
    changed: Notify,
    is_closed: AtomicBool,
    every: Duration,
    capacity: usize,
}

#[derive(Debug, Default)]
struct Queue {
    forgotten: VecDeque<PeerId>,
    /// To be told now.
    ready: VecDeque<Arc<Entry>>,
    /// To be told together.
    waiting: Vec<Arc<Entry>>,
    /// When they were, last.
    last: Option<Instant>,
}

enum Word {
    Of(Arc<Entry>),
    Forgotten(PeerId),
}

enum Taken {
    Word(Word),
    NotBefore(Instant),
    Nothing,
    Closed,
}

impl Outbox {
    pub(super) fn new(every: Duration, capacity: usize) -> Self {
        Self { queue: Mutex::default(), changed: Notify::new(), is_closed: AtomicBool::new(false), every, capacity }
    }

    // Nothing panics while it is held.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, entry: &Arc<Entry>, is_urgent: bool) {
        let waits = entry.wait();
        if waits && !is_urgent {
            return;
        }
        let is_first = {
            let mut queue = self.queue();
            if queue.len() > 2 * self.capacity {
                // Peers that were forgotten to make room, while nobody took anything.
                queue.waiting.retain(|entry| !entry.is_gone());
                queue.ready.retain(|entry| !entry.is_gone());
            }
            if is_urgent {
                // It may wait elsewhere too: then it is told twice, which does no harm.
                queue.ready.push_back(Arc::clone(entry));
            } else {
                queue.waiting.push(Arc::clone(entry));
            }
            queue.len() == 1
        };
        if is_first || is_urgent {
            self.changed.notify_one();
        }
    }

    pub(super) fn push_forgotten(&self, peer: PeerId) {
        let mut queue = self.queue();
        if queue.forgotten.len() < self.capacity {
            queue.forgotten.push_back(peer);
        }
        drop(queue);
        self.changed.notify_one();
    }

    pub(super) fn close(&self) {
        self.is_closed.store(true, SeqCst);
        self.changed.notify_one();
    }

    fn take(&self, now: Instant) -> Taken {
        let is_closed = self.is_closed.load(SeqCst);
        let mut queue = self.queue();
        loop {
            if let Some(peer) = queue.forgotten.pop_front() {
                return Taken::Word(Word::Forgotten(peer));
            }
            while let Some(entry) = queue.ready.pop_front() {
                // From now on it is pushed again: what is read of it next has all that was counted before.
                entry.wait_no_more();
                if !entry.is_gone() {
                    return Taken::Word(Word::Of(entry));
                }
            }
            if queue.waiting.is_empty() {
                return if is_closed { Taken::Closed } else { Taken::Nothing };
            }
            let then = queue.last.and_then(|last| last.checked_add(self.every)).filter(|then| now < *then);
            match then {
                Some(then) if !is_closed => return Taken::NotBefore(then),
                _ => {
                    queue.last = Some(now);
                    queue.ready = std::mem::take(&mut queue.waiting).into();
                }
            }
        }
    }
}

impl Queue {
    fn len(&self) -> usize {
        self.forgotten.len() + self.ready.len() + self.waiting.len()
    }
}
