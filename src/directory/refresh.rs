//! What is known of peers is read again before its time is over, and where there is reason to doubt it.

use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};

use super::{Directory, PeerId, RegistryError, StaleReason, peer::Peer, registry::Said, skill::SkillSource, tools};
use crate::{
    card::CardUrl,
    error::{BoxError, CallError, CardFailure},
    outcome::{Observe, Outcome, OutcomeKind},
    wire::A2aError,
};

/// At most so many are read at once.
const AT_ONCE: usize = 16;
/// The shortest time between two rounds, however many have reason to doubt.
const PAUSE: Duration = Duration::from_secs(5);

/// The pages of one peer's `tools/list`, from whoever speaks MCP with it.
pub(super) type ListTools = Arc<dyn Fn(PeerId) -> Pages + Send + Sync>;
pub(super) type Pages = Pin<Box<dyn Future<Output = Result<Vec<Bytes>, BoxError>> + Send>>;

impl Directory {
    /// Reads again what will not count any longer after `ahead`, what does not already, and what is doubted: 16 at once,
    /// each within the [discovery timeout](super::DirectoryBuilder::discovery_timeout). Nobody who looks for a peer waits
    /// for it. Says how many were read.
    ///
    /// Where there is no card that is the peer's any more, the peer does not count from then on. Where none can be had at
    /// the moment, it counts until its time is over.
    pub async fn refresh_due(&self, ahead: Duration) -> usize {
        let now = self.inner.clock.millis(Instant::now());
        let ahead = crate::clock::span(ahead);
        let is_due = |peer: &Peer, source| {
            let Some(until) = peer.state.until(source) else { return false };
            let doubted = source == SkillSource::Card && peer.state.is_doubted();
            doubted || peer.state.standing(source, now.saturating_add(ahead)).is_err() || until <= now
        };
        let current = self.inner.current();
        let mut due: Vec<(Arc<Peer>, SkillSource)> = Vec::new();
        for peer in current.peers() {
            for source in [SkillSource::Card, SkillSource::Tools] {
                if is_due(peer, source) {
                    due.push((Arc::clone(peer), source));
                }
            }
        }
        drop(current);
        // Those who have waited longest first, if a round is broken off.
        due.sort_by(|(one, a), (two, b)| (one.state.until(*a), &one.id).cmp(&(two.state.until(*b), &two.id)));
        let count = due.len();
        let mut reading = JoinSet::new();
        for (peer, source) in due {
            if reading.len() >= AT_ONCE {
                reading.join_next().await;
            }
            let directory = self.clone();
            reading.spawn(async move {
                match source {
                    SkillSource::Card => directory.refresh_card(&peer).await,
                    SkillSource::Tools => directory.refresh_tools(&peer).await,
                }
            });
        }
        while reading.join_next().await.is_some() {}
        count
    }

    /// Goes on [refreshing](Self::refresh_due): each `interval` what is due before the next, and within 5 s what is
    /// doubted or said that it changed. To be spawned; it ends once the directory is not used any longer.
    pub fn keep_fresh(&self, interval: Duration) -> impl Future<Output = ()> + Send + 'static {
        let (weak, wake) = (Arc::downgrade(&self.inner), Arc::clone(&self.inner.wake));
        async move {
            loop {
                let _whichever_comes_first = timeout(interval, wake.notified()).await;
                let Some(inner) = weak.upgrade() else { return };
                let ahead = interval.saturating_add(inner.settings.discovery_timeout);
                Self { inner }.refresh_due(ahead).await;
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    async fn refresh_card(&self, peer: &Peer) {
        let failure = match self.read_card(&peer.base, true).await {
            Ok(read) => {
                // It may have been withdrawn, or revoked, meanwhile; then that stands.
                if !peer.state.is_gone() {
                    let _told_by_the_audit = self.put(&peer.id, &peer.base, &peer.owner, Said::Card(read));
                }
                return;
            }
            Err(failure) => failure,
        };
        if peer.state.is_gone() {
            return;
        }
        if is_definite(&failure) {
            self.mark_stale(peer, SkillSource::Card, StaleReason::Gone);
        } else {
            self.note_expired(peer, SkillSource::Card);
        }
    }

    async fn refresh_tools(&self, peer: &Peer) {
        let pages = match &self.inner.settings.list_tools {
            Some(list) => timeout(self.inner.settings.discovery_timeout, list(peer.id.clone())).await,
            None => return self.note_expired(peer, SkillSource::Tools),
        };
        let read = match pages {
            Ok(Ok(pages)) => tools::read(&pages, &self.inner.settings.bounds).ok(),
            Ok(Err(_)) | Err(_) => None,
        };
        match read {
            Some((skills, left_out)) if !peer.state.is_gone() => {
                let said = Said::Tools { skills, left_out };
                let _told_by_the_audit = self.put(&peer.id, &peer.base, &peer.owner, said);
            }
            _ => self.note_expired(peer, SkillSource::Tools),
        }
    }

    /// Its time is over, and that is an event. Counting it does not need one.
    fn note_expired(&self, peer: &Peer, source: SkillSource) {
        let now = self.inner.clock.millis(Instant::now());
        if !peer.state.is_gone() && peer.state.standing(source, now) == Err(StaleReason::Expired) {
            self.mark_stale(peer, source, StaleReason::Expired);
        }
    }

    /// An observer of calls that were not delegated: what says of a peer's card that it is wrong is a reason to
    /// [doubt](Self::doubt) it. Delegated calls are looked at anyway.
    ///
    /// ```
    /// # use std::convert::Infallible;
    /// # use bytes::Bytes;
    /// # use http_body_util::Full;
    /// # type Whole = http::Response<Full<Bytes>>;
    /// # let client = tower::service_fn(|_: http::Request<Full<Bytes>>| async { Ok::<Whole, Infallible>(Whole::default()) });
    /// use a2a_guard::{Guard, card_consistency::CardStore, directory::Directory};
    ///
    /// let directory = Directory::builder(CardStore::builder(client).build()?).build();
    /// let guard = Guard::builder().observe(directory.drift()).build()?;
    /// # let _ = guard;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn drift(&self) -> Drift {
        Drift { directory: self.clone() }
    }

    /// Whose interface a URL is at.
    fn peer_at(&self, url: &CardUrl) -> Option<PeerId> {
        let is_at = |peer: &&Arc<Peer>| {
            peer.interfaces.iter().filter_map(|interface| interface.parsed_url().ok()).any(|own| {
                own.authority() == url.authority() && url.path().starts_with(own.path().trim_end_matches('/'))
            })
        };
        // Of several, the one whose id comes first: an operation's path may be below two of them.
        self.inner.current().peers().filter(is_at).map(|peer| peer.id.clone()).min()
    }
}

/// Whether a failure says that there is no card which is the peer's: nothing that passes.
fn is_definite(error: &RegistryError) -> bool {
    match error {
        RegistryError::NoInterface(_) => true,
        RegistryError::Card(failure) => matches!(
            failure,
            CardFailure::NotFound { .. }
                | CardFailure::MissingField { .. }
                | CardFailure::UnusableUrl { .. }
                | CardFailure::UrlMismatch { .. }
                | CardFailure::Signature { .. }
        ),
        _ => false,
    }
}

/// Whether a failure says that the peer's card is wrong: the word for it.
pub(super) fn drift_of(error: &CallError) -> Option<&'static str> {
    let drifted = error.is_routing_signal()
        || error.outcome() == OutcomeKind::Card
        || matches!(error.a2a_error(), Some(A2aError::VersionNotSupported | A2aError::MethodNotFound));
    drifted.then(|| error.class().as_str())
}

/// See [`Directory::drift`].
#[derive(Clone)]
pub struct Drift {
    directory: Directory,
}

impl Observe for Drift {
    fn observe(&self, outcome: &Outcome<'_>) {
        if let Some(why) = outcome.error().and_then(drift_of)
            && let Some(url) = outcome.target().and_then(|target| CardUrl::of(target).ok())
            && let Some(peer) = self.directory.peer_at(&url)
        {
            self.directory.doubt(&peer, why);
        }
    }
}

impl fmt::Debug for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drift").finish_non_exhaustive()
    }
}
