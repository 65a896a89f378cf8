use std::{fmt, sync::Arc, time::Duration};

use http::Uri;
use tower_layer::Layer;

use super::{Admission, CardConsistencyService, CardStore, Direct, Resolve, matching::Rules};
use crate::card::UrlPolicy;

/// Refuses calls that the target's Agent Card does not cover, before they are sent.
///
/// Resolve, then fetch, then match: the resolver says where a call really goes; the store has the card of that place, or
/// fetches it; the card must name the place as one of its interfaces, and declare what the call needs. `A2A-Version: 1.0`
/// is set on 1.0 requests that lack it, and so is the interface's tenant where the request names none (§8.3.2). A refusal
/// from the agent that contradicts its card makes the next call read the card anew.
///
/// Below a [`CallLayer`](crate::CallLayer), above a [`TerminalStateLayer`](crate::TerminalStateLayer). Calls that nobody
/// can name pass, and no card is asked for them.
///
/// ```
/// # use std::convert::Infallible;
/// # use bytes::Bytes;
/// # use http_body_util::Full;
/// # let client = tower::service_fn(|_: http::Request<Full<Bytes>>| async {
/// #     Ok::<_, Infallible>(http::Response::new(Full::<Bytes>::default()))
/// # });
/// use a2a_guard::card_consistency::{CardConsistencyLayer, CardStore};
///
/// let store = CardStore::builder(client).build()?;
/// let layer = CardConsistencyLayer::new(store);
/// # Ok::<(), a2a_guard::card_consistency::CardStoreError>(())
/// ```
pub struct CardConsistencyLayer<R = Direct> {
    config: Arc<Config<R>>,
}

pub(super) struct Config<R> {
    pub(super) store: CardStore,
    pub(super) resolver: R,
    pub(super) rules: Rules,
    pub(super) origin: Option<Uri>,
    pub(super) wait: Duration,
}

impl CardConsistencyLayer {
    /// Cards come from `store`; requests go where their URI says; URLs out of cards are held to
    /// [`UrlPolicy::strict`]; a call waits for a card for at most 10 s.
    #[must_use]
    pub fn new(store: CardStore) -> Self {
        let rules = Rules { urls: UrlPolicy::strict(), admissions: Vec::new(), strict: false };
        let config = Config { store, resolver: Direct, rules, origin: None, wait: Duration::from_secs(10) };
        Self { config: Arc::new(config) }
    }
}

impl<R> CardConsistencyLayer<R> {
    fn change<T>(self, change: impl FnOnce(Config<R>) -> Config<T>) -> CardConsistencyLayer<T>
    where
        R: Clone,
    {
        let config = Arc::try_unwrap(self.config).unwrap_or_else(|shared| Config {
            store: shared.store.clone(),
            resolver: shared.resolver.clone(),
            rules: shared.rules.clone(),
            origin: shared.origin.clone(),
            wait: shared.wait,
        });
        CardConsistencyLayer { config: Arc::new(change(config)) }
    }

    /// Another way to say where a request really goes.
    #[must_use]
    pub fn resolver<T>(self, resolver: T) -> CardConsistencyLayer<T>
    where
        R: Clone,
        T: Resolve,
    {
        self.change(|Config { store, rules, origin, wait, .. }| Config { store, resolver, rules, origin, wait })
    }

    /// What URLs out of cards may be. Default: [`UrlPolicy::strict`].
    #[must_use]
    pub fn urls(self, urls: UrlPolicy) -> Self
    where
        R: Clone,
    {
        self.change(|mut config| {
            config.rules.urls = urls;
            config
        })
    }

    /// Completes request URIs that are relative, as tonic's generated clients and axum's handlers have them: scheme and
    /// authority are taken from here. Default: none, and such a request is `card/unusable_url`.
    #[must_use]
    pub fn origin(self, origin: Uri) -> Self
    where
        R: Clone,
    {
        self.change(|mut config| {
            config.origin = Some(origin);
            config
        })
    }

    /// How long a call waits for a card at most. The fetch has its own bound, and goes on for others. Default: 10 s.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self
    where
        R: Clone,
    {
        self.change(|mut config| {
            config.wait = wait;
            config
        })
    }

    /// Registers which shapes a capability admits; others are refused.
    #[must_use]
    pub fn admit(self, admission: Admission) -> Self
    where
        R: Clone,
    {
        self.change(|mut config| {
            config.rules.admissions.push(admission);
            config
        })
    }

    /// Refuses cards that a lenient reader understands though they break their specification (an empty list of skills,
    /// say). Default: off.
    #[must_use]
    pub fn strict(self, strict: bool) -> Self
    where
        R: Clone,
    {
        self.change(|mut config| {
            config.rules.strict = strict;
            config
        })
    }
}

impl<R> Clone for CardConsistencyLayer<R> {
    fn clone(&self) -> Self {
        Self { config: Arc::clone(&self.config) }
    }
}

impl<R> fmt::Debug for CardConsistencyLayer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardConsistencyLayer").field("rules", &self.config.rules).finish_non_exhaustive()
    }
}

impl<S, R> Layer<S> for CardConsistencyLayer<R> {
    type Service = CardConsistencyService<S, R>;

    fn layer(&self, inner: S) -> Self::Service {
        CardConsistencyService::new(inner, Arc::clone(&self.config))
    }
}
