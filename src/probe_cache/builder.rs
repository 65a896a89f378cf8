use std::{fmt, hash::RandomState, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    HeaderName, Request, Response, Uri,
    header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION},
};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;

use super::{
    ProbeCacheError, ProbeCacheLayer, SkillAvailability, core::Core, endpoint::Terms, layer::Config, place::Places,
    prober::Prober, schedule::Schedule,
};
use crate::{
    card_consistency::CardStore,
    client::{Client, erase},
    clock::span,
    error::BoxError,
    flights::Flights,
    limits::{CENTURY, Limits},
    outcome::Observe,
    terminal_state::TerminalStateLayer,
    turns::Turns,
};

/// How much of a probe's answer is read at most, in bytes.
const MAX_ANSWER: usize = 256 << 10;

type Connect = Box<dyn FnOnce(&TerminalStateLayer) -> Box<dyn Client> + Send>;

/// Builds a [`ProbeCacheLayer`].
#[must_use = "a builder does nothing before `build`"]
pub struct ProbeCacheBuilder<O = ()> {
    client: Option<Connect>,
    availability: Option<SkillAvailability>,
    cards: Option<CardStore>,
    noted: Option<CardStore>,
    observer: O,
    origin: Option<Uri>,
    tenant_headers: Vec<HeaderName>,
    credential_headers: Vec<HeaderName>,
    settings: Settings,
}

#[derive(Clone, Debug)]
struct Settings {
    trust: Duration,
    jitter: f64,
    back_off: Duration,
    max_back_off: Duration,
    probe_timeout: Duration,
    wait: Duration,
    capacity: usize,
    max_probes: usize,
    message_probe: bool,
    refresh_ahead: Option<Duration>,
}

impl ProbeCacheBuilder {
    pub(super) fn probing<S, B, R>(client: S) -> Self
    where
        S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: From<Bytes> + Send + 'static,
        R: Body<Data = Bytes> + Send + 'static,
        R::Error: Into<BoxError>,
    {
        let connect: Connect = Box::new(|ending| Box::new(erase(ending.layer(client))));
        Self { client: Some(connect), ..Self::unprobed() }
    }

    pub(super) fn unprobed() -> Self {
        Self {
            client: None,
            availability: None,
            cards: None,
            noted: None,
            observer: (),
            origin: None,
            tenant_headers: Vec::new(),
            credential_headers: vec![AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE, HeaderName::from_static("x-api-key")],
            settings: Settings {
                trust: Duration::from_secs(300),
                jitter: 0.1,
                back_off: Duration::from_secs(5),
                max_back_off: Duration::from_secs(60),
                probe_timeout: Duration::from_secs(5),
                wait: Duration::from_secs(5),
                capacity: 1024,
                max_probes: 64,
                message_probe: false,
                refresh_ahead: None,
            },
        }
    }
}

impl<O> ProbeCacheBuilder<O> {
    /// The handle that keeps what is learnt about skills. Default: one of the layer's own, with its defaults.
    pub fn availability(mut self, availability: SkillAvailability) -> Self {
        self.availability = Some(availability);
        self
    }

    /// The store whose cards are to be read anew when an endpoint is disproved, or a skill refused. Below a
    /// `CardConsistencyLayer` with this store it is not needed: that layer sees the same errors, and marks the card
    /// that the call went by. Default: none.
    pub fn cards(mut self, store: CardStore) -> Self {
        self.cards = Some(store);
        self
    }

    /// The store whose cards are told whether probes of their agents passed, which is one of the conditions of a card's
    /// [authority](crate::card_consistency::HeldCard::authority): that of the `CardConsistencyLayer` above. A
    /// [`Guard`](crate::Guard) with cards sets it to its own. Headers that tell tenants apart are to be named to both.
    /// Default: that of [`cards`](Self::cards), if there is one.
    pub fn note_probes(mut self, store: CardStore) -> Self {
        self.noted = Some(store);
        self
    }

    /// Is told, exactly once, of each call that this layer itself ends: refused, or dropped while it waited for a
    /// probe. Such a call never reaches `TerminalStateLayer`, whose observer is told of all others. Default:
    /// nobody.
    pub fn observe<P>(self, observer: P) -> ProbeCacheBuilder<P>
    where
        P: Observe,
    {
        let Self { client, availability, cards, noted, origin, tenant_headers, credential_headers, settings, .. } =
            self;
        ProbeCacheBuilder {
            client,
            availability,
            cards,
            noted,
            observer,
            origin,
            tenant_headers,
            credential_headers,
            settings,
        }
    }

    /// Completes relative request URIs, which tonic's generated clients and axum's handlers have: scheme and authority
    /// are taken from here, and the `host` header goes, which names the server of yours that received it. Default:
    /// none, and such a request is `card/unusable_url`.
    pub fn origin(mut self, origin: Uri) -> Self {
        self.origin = Some(origin);
        self
    }

    /// How long an endpoint is trusted after a probe or a call that went well. Default: 300 s.
    pub fn trust(mut self, trust: Duration) -> Self {
        self.settings.trust = trust;
        self
    }

    /// Up to this part of the trust is taken off at random, anew with each probe, so that endpoints that were first
    /// called together are not probed together. Between 0 and 1. Default: 0.1.
    pub fn jitter(mut self, part: f64) -> Self {
        self.settings.jitter = part;
        self
    }

    /// How soon an endpoint that a probe did not prove is probed again, and the longest that this becomes: it doubles
    /// each time. Until then calls to a disproved endpoint are refused; those to an unknown one go on. Default: 5
    /// s, up to 60 s.
    pub fn back_off(mut self, first: Duration, max: Duration) -> Self {
        (self.settings.back_off, self.settings.max_back_off) = (first, max);
        self
    }

    /// How long a probe may take. Default: 5 s.
    pub fn probe_timeout(mut self, timeout: Duration) -> Self {
        self.settings.probe_timeout = timeout;
        self
    }

    /// How long a call waits for a probe at most, and never longer than what is left of its own total (a
    /// [`LimitOverrides`](crate::LimitOverrides) in its extensions). After that it goes on; the probe goes on for
    /// others. Default: 5 s.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.settings.wait = wait;
        self
    }

    /// How many endpoints are kept at most. Default: 1,024.
    pub fn capacity(mut self, endpoints: usize) -> Self {
        self.settings.capacity = endpoints;
        self
    }

    /// How many probes run at once at most, of one origin three quarters of these (of three or fewer, all); further
    /// calls wait for their turn. A quarter is kept for origins of which none runs. Default: 64.
    pub fn max_probes(mut self, max: usize) -> Self {
        self.settings.max_probes = max;
        self
    }

    /// Headers that name a tenant (`X-Tenant`, say). Probes carry them, and each value counts as an endpoint of its
    /// own. Default: none.
    pub fn tenant_headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.tenant_headers = names.into_iter().collect();
        self
    }

    /// Headers that hold credentials. Probes carry them: they go to the endpoint that the call itself goes to.
    /// Default: `Authorization`, `Proxy-Authorization`, `Cookie` and `X-Api-Key`.
    pub fn credential_headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.credential_headers = names.into_iter().collect();
        self
    }

    /// Probes with a message instead, which an agent may take for work: its text is `__probe__`, its metadata is
    /// `{"a2a_probe": true}`, it does not ask to wait for the task, and a task that results from it is canceled. Never
    /// sent without this option. Default: off.
    ///
    /// -32001 and -32004 prove that the lifecycle is there. Any code in -32000..=-32099 says that the card is stale for
    /// this region: it is read anew, and with any other code than those two calls are refused as
    /// `stale/endpoint_not_conforming`.
    pub fn message_probe(mut self) -> Self {
        self.settings.message_probe = true;
        self
    }

    /// Probes endpoints in use this long before their trust expires, in one task, so that no call waits for it. Each
    /// probe carries what the call carried for which the endpoint was last probed. The task ends when the
    /// layer and all of its services are gone. Default: off.
    pub fn refresh_ahead(mut self, ahead: Duration) -> Self {
        self.settings.refresh_ahead = Some(ahead);
        self
    }

    /// The layer.
    ///
    /// # Errors
    ///
    /// If a setting is impossible. The error names it.
    pub fn build(self) -> Result<ProbeCacheLayer<O>, ProbeCacheError> {
        self.check()?;
        let Self { client, availability, cards, noted, observer, origin, tenant_headers, credential_headers, settings } =
            self;
        let availability = availability.unwrap_or_default();
        let terms = Terms {
            trust: span(settings.trust),
            jitter: settings.jitter,
            back_off: span(settings.back_off),
            max_back_off: span(settings.max_back_off),
        };
        let limits = Limits::within(settings.probe_timeout).max_unary_body(MAX_ANSWER);
        let ending = TerminalStateLayer::builder()
            .limits(limits)
            .build()
            .map_err(|error| ProbeCacheError::new("probe_timeout", format!("makes no bounds: {error}")))?;
        let carried = credential_headers.iter().chain(&tenant_headers).cloned().collect();
        let prober = client.map(|connect| {
            Arc::new(Prober {
                client: connect(&ending),
                clock: availability.clock(),
                timeout: settings.probe_timeout,
                sends_message: settings.message_probe,
                turns: Turns::new(settings.max_probes),
                flights: Arc::new(Flights::new()),
                availability: availability.clone(),
                cards: cards.clone(),
                random: RandomState::new(),
                carried,
            })
        });
        let core = Arc::new(Core {
            places: Places::new(settings.capacity, availability.clone(), terms),
            availability,
            tenant_headers: tenant_headers.into(),
            prober,
            cards,
            schedule: settings.refresh_ahead.map(Schedule::new),
        });
        if let Some(schedule) = &core.schedule {
            schedule.belongs_to(&core);
        }
        Ok(ProbeCacheLayer::of(Config {
            core,
            observer,
            origin,
            wait: settings.wait,
            totals: None,
            order: Arc::default(),
            noted,
        }))
    }

    fn check(&self) -> Result<(), ProbeCacheError> {
        let settings = &self.settings;
        let least = Duration::from_millis(1);
        let unprobed = "raise it, or use ProbeCacheLayer::without_probes";
        for (setting, duration, why, cure) in [
            ("trust", settings.trust, "each call would be probed for", unprobed),
            ("back_off", settings.back_off, "endpoints that fail would be probed all the time", "raise it"),
            ("probe_timeout", settings.probe_timeout, "no probe could be answered in time", unprobed),
            ("wait", settings.wait, "no probe could be waited for", unprobed),
            (
                "refresh_ahead",
                settings.refresh_ahead.unwrap_or(least),
                "no probe could end before its call needs it",
                "leave it out instead",
            ),
        ] {
            if duration < least {
                return Err(ProbeCacheError::new(setting, format!("is below 1 ms: {why}; {cure}")));
            }
            if duration > CENTURY {
                return Err(ProbeCacheError::new(setting, "is longer than a century, which is no bound"));
            }
        }
        if !(0.0..=1.0).contains(&settings.jitter) {
            let why = format!("is {}: it is a part of the trust, between 0 and 1", settings.jitter);
            return Err(ProbeCacheError::new("jitter", why));
        }
        if settings.max_back_off < settings.back_off {
            let why = format!(
                "starts at {:?}, above its maximum of {:?}: lower the first, or raise the maximum",
                settings.back_off, settings.max_back_off
            );
            return Err(ProbeCacheError::new("back_off", why));
        }
        if settings.capacity == 0 {
            return Err(ProbeCacheError::new("capacity", "must not be zero: each call would be probed for"));
        }
        if settings.max_probes == 0 {
            return Err(ProbeCacheError::new("max_probes", "must not be zero: no probe could ever be sent"));
        }
        let spared = settings.trust.mul_f64(settings.jitter);
        if let Some(ahead) =
            settings.refresh_ahead.filter(|ahead| *ahead >= settings.trust - spared.min(settings.trust))
        {
            let why =
                format!("({ahead:?}) is no shorter than the trust can be: endpoints would be probed all the time");
            return Err(ProbeCacheError::new("refresh_ahead", why));
        }
        let probes = [("message_probe", settings.message_probe), ("refresh_ahead", settings.refresh_ahead.is_some())];
        if let Some((setting, _)) = probes.into_iter().find(|(_, is_set)| *is_set && self.client.is_none()) {
            return Err(ProbeCacheError::new(setting, "needs a client to probe with: use ProbeCacheLayer::builder"));
        }
        let origin = self.origin.as_ref();
        if origin.is_some_and(|origin| origin.scheme().is_none() || origin.authority().is_none()) {
            return Err(ProbeCacheError::new(
                "origin",
                "needs a scheme and an authority: https://agent.example.com, say",
            ));
        }
        Ok(())
    }
}

impl<O> fmt::Debug for ProbeCacheBuilder<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProbeCacheBuilder")
            .field("probes", &self.client.is_some())
            .field("origin", &self.origin)
            .field("tenant_headers", &self.tenant_headers)
            .field("credential_headers", &self.credential_headers)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
