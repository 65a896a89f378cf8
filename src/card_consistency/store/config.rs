//! What a store is set to.

use std::{fmt, hash::RandomState, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    HeaderName, Request, Response, Uri,
    header::{
        ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, EXPECT, HOST,
        IF_MODIFIED_SINCE, IF_NONE_MATCH, PROXY_AUTHORIZATION, RANGE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, VARY,
    },
};
use http_body::Body;
use tower_service::Service;

use super::{
    CardStore, CardTarget, Inner, NegativeTtl, VerifyCard,
    exchange::VERSION,
    key::Keying,
    location::{Pattern, Template},
    shelf::Shelf,
    stats::Counters,
};
use crate::{
    client::{Client, erase},
    clock::Clock,
    error::BoxError,
    flights::Flights,
    turns::Turns,
};

/// No card has authority for longer without being asked for again, whatever its `max-age` says.
const MAX_AUTHORITY: Duration = Duration::from_secs(300);

/// Headers that are the store's to set, or say nothing about a tenant.
const OWN: [HeaderName; 15] = [
    ACCEPT,
    CACHE_CONTROL,
    CONNECTION,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    EXPECT,
    HOST,
    IF_MODIFIED_SINCE,
    IF_NONE_MATCH,
    RANGE,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    VARY,
];

/// Builds a [`CardStore`].
#[must_use = "a builder does nothing before `build`"]
pub struct CardStoreBuilder {
    client: Box<dyn Client>,
    settings: Settings,
    capacity: usize,
    max_searches: usize,
    tenant_headers: Vec<HeaderName>,
    credential_headers: Vec<HeaderName>,
    pattern: Option<String>,
}

/// What searches and look-ups go by.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) max_card_bytes: usize,
    pub(super) fetch_timeout: Duration,
    pub(super) max_age: Duration,
    pub(super) default_ttl: Duration,
    pub(super) negative_ttl: NegativeTtl,
    pub(super) forced_refresh_interval: Duration,
    pub(super) stale_while_revalidate: Option<Duration>,
    pub(super) stale_if_error: Option<Duration>,
    pub(super) legacy_location: bool,
    pub(super) template: Option<Template>,
    pub(super) verifier: Option<Arc<dyn VerifyCard>>,
    pub(super) strict: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_card_bytes: 256 << 10,
            fetch_timeout: Duration::from_secs(10),
            max_age: MAX_AUTHORITY,
            default_ttl: Duration::from_secs(60),
            negative_ttl: NegativeTtl::default(),
            forced_refresh_interval: Duration::from_secs(5),
            stale_while_revalidate: None,
            stale_if_error: None,
            legacy_location: true,
            template: None,
            verifier: None,
            strict: false,
        }
    }
}

impl CardStoreBuilder {
    pub(super) fn new<S, B, R>(client: S) -> Self
    where
        S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: From<Bytes> + Send + 'static,
        R: Body + Send + 'static,
        R::Data: Send,
        R::Error: Into<BoxError>,
    {
        Self {
            client: Box::new(erase(client)),
            settings: Settings::default(),
            capacity: 1024,
            max_searches: 256,
            tenant_headers: Vec::new(),
            credential_headers: vec![AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE, HeaderName::from_static("x-api-key")],
            pattern: None,
        }
    }

    /// The largest card that is read, in bytes as decoded by the client. Default: 256 KiB.
    pub fn max_card_bytes(mut self, max: usize) -> Self {
        self.settings.max_card_bytes = max;
        self
    }

    /// How long a fetch takes at most, over all locations. Default: 10 s.
    pub fn fetch_timeout(mut self, timeout: Duration) -> Self {
        self.settings.fetch_timeout = timeout;
        self
    }

    /// How long a card counts at most after it was asked for, whatever its headers say. Default and maximum: 300 s.
    pub fn max_age(mut self, max: Duration) -> Self {
        self.settings.max_age = max;
        self
    }

    /// How long a card counts if its headers do not say. Nothing is guessed from `Last-Modified`: how long a card has
    /// not changed says little about when its agent's skills will. This is shorter than [`max_age`](Self::max_age),
    /// because such an agent vouches for no lifetime; it costs one small request a minute. Default: 60 s.
    pub fn default_ttl(mut self, ttl: Duration) -> Self {
        self.settings.default_ttl = ttl;
        self
    }

    /// How long failures are remembered. Default: [`NegativeTtl::default`].
    pub fn negative_ttl(mut self, ttl: NegativeTtl) -> Self {
        self.settings.negative_ttl = ttl;
        self
    }

    /// The least time between two fetches of a card that refusals contradict, however many calls are refused.
    /// Default: 5 s.
    pub fn forced_refresh_interval(mut self, interval: Duration) -> Self {
        self.settings.forced_refresh_interval = interval;
        self
    }

    /// How many entries are held at most, cards and failures. Default: 1,024.
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }

    /// How many cards are fetched at once at most, of one origin three quarters of these (of three or fewer, all);
    /// further fetches wait for their turn. A quarter is kept for origins of which none is fetched. Default: 256.
    pub fn max_searches(mut self, max: usize) -> Self {
        self.max_searches = max;
        self
    }

    /// Headers that name a tenant (`X-Tenant`, say). They are sent to each location as the call has them, and each
    /// value has a card of its own. Default: none.
    pub fn tenant_headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.tenant_headers = names.into_iter().collect();
        self
    }

    /// Headers that hold credentials. They are sent to the target's own origin alone, and only after a 401.
    /// Default: `Authorization`, `Proxy-Authorization`, `Cookie` and `X-Api-Key`.
    pub fn credential_headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.credential_headers = names.into_iter().collect();
        self
    }

    /// Lets a call use a card for this long after it stopped being fresh, while the card is asked for again in the
    /// background. Such a card is beyond its authority. Never done if the agent says `must-revalidate`, `no-cache` or
    /// `Vary: *`.
    /// Default: off.
    pub fn stale_while_revalidate(mut self, reach: Duration) -> Self {
        self.settings.stale_while_revalidate = Some(reach);
        self
    }

    /// Lets calls use a card for this long after it stopped being fresh, if it cannot be asked for again: no
    /// connection, a timeout, 429 or 5xx. Such a card is beyond its authority. Never done where the agent says
    /// `must-revalidate`, `no-cache` or `Vary: *`. Default: off.
    pub fn stale_if_error(mut self, reach: Duration) -> Self {
        self.settings.stale_if_error = Some(reach);
        self
    }

    /// Whether `agent.json`, the name before version 0.3, is tried if there is no `agent-card.json`.
    /// Default: yes.
    pub fn legacy_location(mut self, legacy: bool) -> Self {
        self.settings.legacy_location = legacy;
        self
    }

    /// A URL that is asked before all others, with placeholders for the target: `{scheme}`, `{host}`, `{port}`,
    /// `{authority}`, `{path}`, and `{tenant}` (encoded; for a call without a tenant, a URL that wants one is left
    /// out). No value can leave its place: a tenant or path with steps in it (`..`) is `unusable_url`, and in a
    /// query `&` and the like are encoded. Example: `https://cards.example.com/{host}/agent-card.json?tenant={tenant}`. Default: none.
    pub fn location_template(mut self, pattern: impl Into<String>) -> Self {
        self.pattern = Some(pattern.into());
        self
    }

    /// The same as a function; `None` leaves it out.
    pub fn location_fn(mut self, locate: impl Fn(CardTarget<'_>) -> Option<Uri> + Send + Sync + 'static) -> Self {
        self.settings.template = Some(Template::Function(Arc::new(locate)));
        self.pattern = None;
        self
    }

    /// Who vouches for cards. Default: nobody is asked.
    pub fn verifier(mut self, verifier: Arc<dyn VerifyCard>) -> Self {
        self.settings.verifier = Some(verifier);
        self
    }

    /// Refuses cards that are slightly wrong, though they can be understood. Default: off.
    pub fn strict(mut self, strict: bool) -> Self {
        self.settings.strict = strict;
        self
    }

    /// The store.
    ///
    /// # Errors
    ///
    /// If a setting is impossible. The error names it.
    pub fn build(mut self) -> Result<CardStore, CardStoreError> {
        let settings = &mut self.settings;
        let nonzero = [
            ("max_card_bytes", settings.max_card_bytes == 0, "had"),
            ("fetch_timeout", settings.fetch_timeout.is_zero(), "had"),
            ("capacity", self.capacity == 0, "kept"),
            ("max_searches", self.max_searches == 0, "had"),
        ];
        if let Some((setting, _, what)) = nonzero.into_iter().find(|(_, is_zero, _)| *is_zero) {
            return Err(CardStoreError { setting, why: format!("must not be zero: no card could ever be {what}") });
        }
        if settings.max_age > MAX_AUTHORITY {
            let why = format!("is {:?}: no card has authority for more than {MAX_AUTHORITY:?}", settings.max_age);
            return Err(CardStoreError { setting: "max_age", why });
        }
        if let Some(name) = self.tenant_headers.iter().find(|name| self.credential_headers.contains(name)) {
            let why = format!("has {name}, which is one of the credential_headers: it would be sent to strangers");
            return Err(CardStoreError { setting: "tenant_headers", why });
        }
        for (setting, names) in
            [("tenant_headers", &self.tenant_headers), ("credential_headers", &self.credential_headers)]
        {
            if let Some(name) = names.iter().find(|name| OWN.contains(name) || *name == VERSION) {
                return Err(CardStoreError { setting, why: format!("has {name}, which is the store's to set") });
            }
        }
        if let Some(pattern) = &self.pattern {
            let pattern = Pattern::parse(pattern).map_err(|why| CardStoreError {
                setting: "location_template",
                why: format!("(\"{pattern}\") {why}"),
            })?;
            settings.template = Some(Template::Pattern(pattern));
        }
        let keying = Keying {
            tenant_headers: self.tenant_headers.into(),
            credential_headers: self.credential_headers.into(),
            by_tenant: settings.template.as_ref().is_some_and(Template::by_tenant),
            random: RandomState::new(),
        };
        Ok(CardStore {
            inner: Arc::new(Inner {
                client: self.client,
                settings: self.settings,
                shelf: Shelf::new(self.capacity, keying),
                flights: Arc::new(Flights::new()),
                turns: Turns::new(self.max_searches),
                clock: Clock::new(),
                stats: Arc::new(Counters::default()),
            }),
        })
    }
}

impl fmt::Debug for CardStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardStoreBuilder")
            .field("settings", &self.settings)
            .field("capacity", &self.capacity)
            .field("tenant_headers", &self.tenant_headers)
            .field("credential_headers", &self.credential_headers)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("max_card_bytes", &self.max_card_bytes)
            .field("fetch_timeout", &self.fetch_timeout)
            .field("max_age", &self.max_age)
            .field("default_ttl", &self.default_ttl)
            .field("negative_ttl", &self.negative_ttl)
            .field("forced_refresh_interval", &self.forced_refresh_interval)
            .field("stale_while_revalidate", &self.stale_while_revalidate)
            .field("stale_if_error", &self.stale_if_error)
            .field("legacy_location", &self.legacy_location)
            .field("template", &self.template)
            .field("strict", &self.strict)
            .finish_non_exhaustive()
    }
}

/// A setting that is impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} {why}")]
pub struct CardStoreError {
    setting: &'static str,
    why: String,
}

impl CardStoreError {
    pub(in crate::card_consistency) fn new(setting: &'static str, why: impl Into<String>) -> Self {
        Self { setting, why: why.into() }
    }

    /// The setting that is wrong.
    #[must_use]
    pub fn setting(&self) -> &'static str {
        self.setting
    }
}
