use std::{fmt, sync::Arc, time::Duration};

use http::Uri;
use tower_layer::Layer;

use super::{
    Admission, CardConsistencyService, CardStore, CardStoreError, Direct, FirstEventExtension, Resolve, matching::Rules,
};
use crate::{call::Order, card::UrlPolicy, limits::CENTURY, limits::Totals, outcome::Observe};

/// Refuses calls that the target's Agent Card does not cover, before they are sent.
///
/// Resolve, then fetch, then match: the resolver says where a call really goes; the store has the card of that place,
/// or fetches it; the card must name the place as one of its interfaces, and declare what the call needs. `A2A-Version:
/// 1.0` is set on 1.0 requests that lack it, and so is the interface's tenant if the request names none (§8.3.2). If a
/// refusal from the agent contradicts its card, the next call reads the card anew.
///
/// It belongs below a [`CallLayer`](crate::CallLayer) and above a [`TerminalStateLayer`](crate::TerminalStateLayer).
/// Calls that nobody can name pass, and no card is asked for them.
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
pub struct CardConsistencyLayer<R = Direct, O = ()> {
    config: Arc<Config<R, O>>,
}

pub(super) struct Config<R, O> {
    pub(super) store: CardStore,
    pub(super) resolver: R,
    pub(super) observer: O,
    pub(super) settings: Settings,
}

/// What has no type of the user's.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) rules: Rules,
    pub(super) origin: Option<Uri>,
    pub(super) wait: Duration,
    pub(super) extended_card: bool,
    /// The totals that the layer below keeps, where they are known.
    pub(super) totals: Option<Arc<Totals>>,
    pub(super) order: Arc<Order>,
}

impl CardConsistencyLayer {
    /// Cards come from `store`; requests go where their URI says; URLs on cards are held to [`UrlPolicy::strict`]; a
    /// call waits for its card for at most 10 s; nobody observes.
    #[must_use]
    pub fn new(store: CardStore) -> Self {
        let urls = Arc::new(UrlPolicy::strict());
        let rules = Rules { urls, admissions: Vec::new(), strict: false, first_event: None };
        let wait = Duration::from_secs(10);
        let settings =
            Settings { rules, origin: None, wait, extended_card: false, totals: None, order: Arc::default() };
        Self { config: Arc::new(Config { store, resolver: Direct, observer: (), settings }) }
    }
}

impl<R, O> CardConsistencyLayer<R, O> {
    fn set(self, set: impl FnOnce(&mut Settings)) -> Self
    where
        R: Clone,
        O: Clone,
    {
        let mut config = Arc::try_unwrap(self.config).unwrap_or_else(|shared| Config {
            store: shared.store.clone(),
            resolver: shared.resolver.clone(),
            observer: shared.observer.clone(),
            settings: shared.settings.clone(),
        });
        set(&mut config.settings);
        Self { config: Arc::new(config) }
    }

    /// Says where a request really goes. Default: [`Direct`], where its URI says.
    #[must_use]
    pub fn resolver<T>(self, resolver: T) -> CardConsistencyLayer<T, O>
    where
        O: Clone,
        T: Resolve,
    {
        let Config { store, observer, settings, .. } = &*self.config;
        let (store, observer, settings) = (store.clone(), observer.clone(), settings.clone());
        CardConsistencyLayer { config: Arc::new(Config { store, resolver, observer, settings }) }
    }

    /// Is told of each call that this layer itself ends: refused for its card or for want of one, or dropped while it
    /// waited for one. All other calls go down to [`TerminalStateLayer`](crate::TerminalStateLayer), whose observer is
    /// told of them: exactly one of the two is told of a call. Default: nobody.
    ///
    /// ```
    /// # use a2a_guard::card_consistency::{CardConsistencyLayer, CardStore};
    /// # fn observed(store: CardStore) {
    /// use a2a_guard::{Outcome, TerminalStateLayer};
    ///
    /// let observer = |outcome: &Outcome<'_>| println!("{}/{}", outcome.kind(), outcome.class());
    /// let cards = CardConsistencyLayer::new(store).observe(observer);
    /// let ending = TerminalStateLayer::builder().observe(observer).build();
    /// # }
    /// ```
    #[must_use]
    pub fn observe<P>(self, observer: P) -> CardConsistencyLayer<R, P>
    where
        R: Clone,
        P: Observe,
    {
        let Config { store, resolver, settings, .. } = &*self.config;
        let (store, resolver, settings) = (store.clone(), resolver.clone(), settings.clone());
        CardConsistencyLayer { config: Arc::new(Config { store, resolver, observer, settings }) }
    }

    /// Where URLs on cards may lead. Default: [`UrlPolicy::strict`].
    #[must_use]
    pub fn urls(self, urls: UrlPolicy) -> Self
    where
        R: Clone,
        O: Clone,
    {
        self.set(|settings| settings.rules.urls = Arc::new(urls))
    }

    /// Completes relative request URIs, which tonic's generated clients and axum's handlers have: scheme and authority
    /// are taken from here, and the `host` header goes, which names the server of yours that received it. Default:
    /// none, and such a request is `card/unusable_url`.
    #[must_use]
    pub fn origin(self, origin: Uri) -> Self
    where
        R: Clone,
        O: Clone,
    {
        self.set(|settings| settings.origin = Some(origin))
    }

    /// How long a call waits for its card at most. The fetch has a bound of its own, and goes on for others. Default:
    /// 10 s.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self
    where
        R: Clone,
        O: Clone,
    {
        // A century is no bound, and instants have an end.
        self.set(|settings| settings.wait = wait.min(CENTURY))
    }

    /// Where the cards come from.
    pub(crate) fn store(&self) -> &CardStore {
        &self.config.store
    }

    /// No call waits for longer than what is left of its total.
    pub(crate) fn totals(self, totals: Arc<Totals>) -> Self
    where
        R: Clone,
        O: Clone,
    {
        self.set(|settings| settings.totals = Some(totals))
    }

    /// Registers which shapes a capability admits; others are refused.
    #[must_use]
    pub fn admit(self, admission: Admission) -> Self
    where
        R: Clone,
        O: Clone,
    {
        self.set(|settings| settings.rules.admissions.push(admission))
    }

    /// Refuses cards that break their specification, though a lenient reader understands them (an empty list of skills,
    /// say). Default: off.
    #[must_use]
    pub fn strict(self, strict: bool) -> Self
    where
        R: Clone,
        O: Clone,
    {
        self.set(|settings| settings.rules.strict = strict)
    }

    /// Whether calls with credentials are held against the *extended* card of agents that declare one (A2A 1.0
    /// §3.1.11).
    ///
    /// `GetExtendedAgentCard` is then called once for each credential, at the call's own target and in its dialect,
    /// through the store's client. The card that comes back replaces the public one, for that credential alone, until
    /// the public card's version changes or it has been held for the store's `max_age`. If an agent has none
    /// (-32007) or cannot be asked, the public card counts, and the agent is asked again after a while
    /// ([`NegativeTtl`](super::NegativeTtl)). Over gRPC the store's client must speak HTTP/2, and what is held, and
    /// shown to a verifier, is the message as ProtoJSON has it. Version 0.2 has no such operation. Default: off.
    #[must_use]
    pub fn extended_card(self, extended: bool) -> Self
    where
        R: Clone,
        O: Clone,
    {
        self.set(|settings| settings.extended_card = extended)
    }

    /// Lets an agent's card say how long the first event of a stream may take: see [`FirstEventExtension`]. It sets the
    /// bound [`first_event`](crate::Limits::first_event) of each stream to that agent, unless the call's
    /// [`LimitOverrides`](crate::LimitOverrides) set it already. Default: the layer below decides alone.
    ///
    /// # Errors
    ///
    /// If the extension can never work: an empty name, a unit or cap of zero. The error says which.
    pub fn first_event(self, extension: FirstEventExtension) -> Result<Self, CardStoreError>
    where
        R: Clone,
        O: Clone,
    {
        extension.check()?;
        Ok(self.set(|settings| settings.rules.first_event = Some(Arc::new(extension))))
    }
}

impl<R, O> Clone for CardConsistencyLayer<R, O> {
    fn clone(&self) -> Self {
        Self { config: Arc::clone(&self.config) }
    }
}

impl<R, O> fmt::Debug for CardConsistencyLayer<R, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardConsistencyLayer").field("rules", &self.config.settings.rules).finish_non_exhaustive()
    }
}

impl<S, R, O> Layer<S> for CardConsistencyLayer<R, O> {
    type Service = CardConsistencyService<S, R, O>;

    fn layer(&self, inner: S) -> Self::Service {
        CardConsistencyService::new(inner, Arc::clone(&self.config))
    }
}
