//! What is known of peers is read again before its time is over, and where there is reason to doubt it.

use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{
    sync::Semaphore,
    task::JoinSet,
    time::{Instant, timeout},
};

use super::{Directory, PeerId, RegistryError, StaleReason, peer::Peer, registry::Said, skill::SkillSource, tools};
use crate::{
    call::Binding,
    card::{AgentInterface, Authority, CardUrl},
    error::{BoxError, CallError, CardFailure},
    outcome::{Observe, Outcome, OutcomeKind},
    wire::A2aError,
};

/// At most so many are read at once, and those besides that take longer than this.
const AT_ONCE: usize = 16;
const SLOW: Duration = Duration::from_secs(1);
/// The shortest time between two rounds, however many have reason to doubt.
const PAUSE: Duration = Duration::from_secs(5);

/// The pages of one peer's `tools/list`, from whoever speaks MCP with it.
pub(super) type ListTools = Arc<dyn Fn(PeerId) -> Pages + Send + Sync>;
pub(super) type Pages = Pin<Box<dyn Future<Output = Result<Vec<Bytes>, BoxError>> + Send>>;

impl Directory {
    /// Reads again what will not count any longer after `ahead`, what does not already, and what is doubted: 16 at
    /// once and slow ones besides, each within the [discovery timeout](super::DirectoryBuilder::discovery_timeout).
    /// Nobody who looks for a peer waits for it. Says how many were read.
    ///
    /// Where there is no card that is the peer's any more, the peer does not count from then on. Where none can be had
    /// at the moment, it counts until its time is over.
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
        // Those who count first, lest they cease to; of these and the others, those who have waited longest.
        due.sort_by_cached_key(|(peer, source)| {
            (peer.state.standing(*source, now).is_err(), peer.state.until(*source), peer.id.clone())
        });
        let count = due.len();
        let (mut reading, places) = (JoinSet::new(), Arc::new(Semaphore::new(AT_ONCE)));
        for (peer, source) in due {
            // It is never closed.
            let place = Arc::clone(&places).acquire_owned().await;
            let directory = self.clone();
            reading.spawn(async move {
                let mut read = std::pin::pin!(async {
                    match source {
                        SkillSource::Card => directory.refresh_card(&peer).await,
                        SkillSource::Tools => directory.refresh_tools(&peer).await,
                    }
                });
                // Whoever is slow keeps nobody else waiting.
                let in_time = timeout(SLOW, &mut read).await;
                drop(place);
                if in_time.is_err() {
                    read.await;
                }
            });
            while reading.try_join_next().is_some() {}
        }
        while reading.join_next().await.is_some() {}
        count
    }

    /// Goes on [refreshing](Self::refresh_due): each `interval` what is due before the next; in between whatever would
    /// not last until then, in time for a slow answer; and within 5 s what is doubted or said that it changed. To
    /// be spawned; it ends once the directory is not used any longer.
    pub fn keep_fresh(&self, interval: Duration) -> impl Future<Output = ()> + Send + 'static {
        let (weak, wake) = (Arc::downgrade(&self.inner), Arc::clone(&self.inner.wake));
        async move {
            let mut next_round = Instant::now().checked_add(interval);
            loop {
                let Some(inner) = weak.upgrade() else { return };
                let soon = inner.settings.discovery_timeout.saturating_add(PAUSE);
                let directory = Self { inner };
                let now = Instant::now();
                let until = next_round.map_or(interval, |round| round.saturating_duration_since(now));
                let lasts = directory.first_to_expire().map(|first| first.saturating_duration_since(now));
                drop(directory);
                let wait = lasts.map_or(until, |lasts| lasts.saturating_sub(soon).min(until));
                let _whichever_comes_first = timeout(wait, wake.notified()).await;
                let Some(inner) = weak.upgrade() else { return };
                let now = Instant::now();
                // Only what lasts for less than a round is read between two.
                let ahead = match next_round.is_some_and(|round| round <= now) {
                    true => {
                        next_round = now.checked_add(interval);
                        interval.saturating_add(soon)
                    }
                    false => soon,
                };
                Self { inner }.refresh_due(ahead).await;
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// When the first of all that counts will not any longer.
    fn first_to_expire(&self) -> Option<Instant> {
        let clock = self.inner.clock;
        let now = clock.millis(Instant::now());
        let current = self.inner.current();
        let counts =
            |peer: &Arc<Peer>, source| peer.state.until(source).filter(|_| peer.state.standing(source, now).is_ok());
        let sources = [SkillSource::Card, SkillSource::Tools];
        let first = current.peers().flat_map(|peer| sources.map(|source| counts(peer, source))).flatten().min();
        first.map(|first| clock.instant(first))
    }

    async fn refresh_card(&self, peer: &Peer) {
        let was_doubted = peer.state.take_doubt();
        let failure = match self.read_card(&peer.base, true).await {
            Ok(read) => return self.put_again(peer, Said::Card(read)),
            Err(failure) => failure,
        };
        if peer.state.is_gone() {
            return;
        }
        if is_definite(&failure) {
            self.mark_stale(peer, SkillSource::Card, StaleReason::Gone);
            return;
        }
        // Nothing was learnt, so that it is as it was.
        if was_doubted {
            peer.state.doubt();
        }
        self.note_expired(peer, SkillSource::Card);
    }

    async fn refresh_tools(&self, peer: &Peer) {
        let as_of = Some(peer.state.tools_changes());
        let pages = match &self.inner.settings.list_tools {
            Some(list) => timeout(self.inner.settings.discovery_timeout, list(peer.id.clone())).await,
            None => return self.note_expired(peer, SkillSource::Tools),
        };
        let read = match pages {
            Ok(Ok(pages)) => tools::read(&pages, &self.inner.settings.bounds).ok(),
            Ok(Err(_)) | Err(_) => None,
        };
        match read {
            Some((skills, left_out)) => self.put_again(peer, Said::Tools { skills, left_out, as_of }),
            None => self.note_expired(peer, SkillSource::Tools),
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

    /// Whose interface a URL is at: of several on its path, that of the longest. More than one, where they share it.
    fn peers_at(&self, url: &CardUrl) -> Vec<PeerId> {
        let authority = Authority::of(url);
        let length = |interface: &AgentInterface| {
            let own = interface.parsed_url().ok()?;
            if Authority::of(own).host_port() != authority.host_port() {
                return None;
            }
            // Over gRPC the path is the operation's, whatever the interface's own is.
            if interface.binding().known() == Some(Binding::Grpc) {
                return Some(0);
            }
            let path = own.path().trim_end_matches('/');
            let rest = url.path().strip_prefix(path)?;
            (rest.is_empty() || rest.starts_with('/')).then_some(path.len())
        };
        let current = self.inner.current();
        let mut found: Vec<(usize, PeerId)> = current
            .at_authority(&authority)
            .iter()
            .filter_map(|peer| Some((peer.interfaces.iter().filter_map(length).max()?, peer.id.clone())))
            .collect();
        let longest = found.iter().map(|(length, _)| *length).max();
        found.retain(|(length, _)| Some(*length) == longest);
        found.into_iter().map(|(_, peer)| peer).collect()
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
        {
            self.directory.peers_at(&url).iter().for_each(|peer| _ = self.directory.doubt(peer, why));
        }
    }
}

impl fmt::Debug for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drift").finish_non_exhaustive()
    }
}
