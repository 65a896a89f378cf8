//! The seam at which replicas share what they learn.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::sync::mpsc;

use super::{SkillKey, handle::Inner};
use crate::card::Origin;

/// Where replicas share what they learn of skills: a server that all of them can reach, say.
///
/// It is no cache of its own. Calls are answered by what this process knows, at once and whatever becomes of the store;
/// the store carries [`Change`]s from one process to the others. Without one, a process learns for itself alone.
///
/// ```
/// use std::{future::Future, pin::Pin, sync::Arc};
/// use a2a_guard::probe_cache::{Change, Link, Store};
/// use tokio::sync::broadcast;
///
/// /// Handles in one process that are to know the same.
/// struct Shared(broadcast::Sender<Change>);
///
/// impl Store for Shared {
///     fn serve(self: Arc<Self>, mut link: Link) -> Pin<Box<dyn Future<Output = ()> + Send>> {
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
pub trait Store: Send + Sync + 'static {
    /// Carries changes both ways, for as long as [`Link::next`] gives any. Called once for each
    /// [`SkillAvailability`](super::SkillAvailability), in a task of the runtime in which the handle is built or, if
    /// that is in none, first used.
    ///
    /// A server that is away is this future's own matter: it connects again when it likes. Meanwhile changes wait for
    /// it in a queue that is bounded (see [`shared_queue`](super::SkillAvailabilityBuilder::shared_queue)), and calls
    /// notice nothing. If it ends, or panics, the handle goes on alone.
    fn serve(self: Arc<Self>, link: Link) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// What was learnt of skills, here or in another replica. Each counts from when it is told; the order in which changes
/// of one key are told is the order in which they happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A call for the skill went well. It holds for this long.
    Available {
        /// What.
        key: SkillKey,
        /// How long it holds: at most the handle's [`ttl`](super::SkillAvailabilityBuilder::ttl).
        lasts: Duration,
    },
    /// A call for the skill was refused, and others are not to try for this long.
    Unavailable {
        /// What.
        key: SkillKey,
        /// How long it holds.
        lasts: Duration,
    },
    /// Nothing is known of the skill any longer: a call for it was refused, or somebody said so.
    Dropped {
        /// What.
        key: SkillKey,
    },
    /// Nothing is known of any skill of one host.
    DroppedHost {
        /// Whose.
        origin: Origin,
    },
    /// Nothing is known of any skill.
    DroppedAll,
}

/// A [`Store`]'s end of a [`SkillAvailability`](super::SkillAvailability). It does not keep the handle alive.
pub struct Link {
    changes: mpsc::Receiver<Change>,
    handle: Weak<Inner>,
}

impl Link {
    pub(super) fn new(changes: mpsc::Receiver<Change>, handle: Weak<Inner>) -> Self {
        Self { changes, handle }
    }

    /// The next change that this process made, to be told to the others; `None` when its last handle is gone, and the
    /// store's work with it. Cancel-safe: in a `select!`, nothing is lost.
    ///
    /// Renewals are told at most four times in a [`ttl`](super::SkillAvailabilityBuilder::ttl), invalidations each.
    pub async fn next(&mut self) -> Option<Change> {
        self.changes.recv().await
    }

    /// Takes in what another replica learnt; it is not told back. `false` when the last handle is gone.
    ///
    /// Nothing holds for longer than it would if it had been learnt here: `lasts` is cut to the handle's own settings,
    /// and [`Change::Unavailable`] only counts where
    /// [`unavailable_for`](super::SkillAvailabilityBuilder::unavailable_for) is set; it drops the entry all the same.
    pub fn apply(&self, change: Change) -> bool {
        match self.handle.upgrade() {
            Some(handle) => {
                handle.apply(change);
                true
            }
            None => false,
        }
    }

    /// Everything that is known here, of skills that are available and of those that are not, to be told to a server
    /// that has just come back, say.
    #[must_use]
    pub fn known(&self) -> Vec<Change> {
        self.handle.upgrade().map(|handle| handle.known()).unwrap_or_default()
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("waiting", &self.changes.len()).finish_non_exhaustive()
    }
}

/// The queue in front of a store.
#[derive(Debug)]
pub(super) struct Outbox {
    sender: mpsc::Sender<Change>,
}

impl Outbox {
    pub(super) fn new(capacity: usize) -> (Self, mpsc::Receiver<Change>) {
        let (sender, receiver) = mpsc::channel(capacity);
        (Self { sender }, receiver)
    }

    /// Puts a change into the queue, if there is room. Invalidations may fill it; the rest leaves them the second half,
    /// for losing one of those costs another replica a refused call, and losing the rest costs nothing.
    pub(super) fn push(&self, change: Change) -> bool {
        let free = self.sender.capacity();
        if matches!(change, Change::Available { .. }) && free <= self.sender.max_capacity() / 2 {
            return false;
        }
        self.sender.try_send(change).is_ok()
    }
}
