use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::Body;
use tokio::time::Instant;
use tower_layer::Layer;
use tower_service::Service;

use super::{EndpointState, ProbeCacheBuilder, ProbeCacheService, SkillAvailability, core::Core};
use crate::{call::Order, card_consistency::CardStore, error::BoxError, limits::Totals, outcome::Observe};

/// Knows, from the calls themselves and from as few probes as possible, whether A2A is spoken at an endpoint, and
/// whether a skill is there in a region.
///
/// **Endpoints.** The first call to an endpoint waits for a probe: `GetTask` of a task that does not exist, in the
/// call's own binding and version, with its credentials, tenant and extensions. `TaskNotFound` proves that A2A is
/// spoken, and so does each call that goes well; calls to a trusted endpoint cost a look-up. If something else is
/// spoken there, calls are refused as `stale/endpoint_not_conforming` before they are sent. If nobody can say, they go
/// on.
///
/// **Skills.** A call that names a skill ([`Call::skill`](crate::Call::skill)), begins a task and goes well makes the
/// skill known as available to the [`SkillAvailability`] handle. -32004 to such a call is `stale/skill_unavailable`,
/// and drops what was known. A probe never vouches for a skill.
///
/// It belongs above a [`TerminalStateLayer`](crate::TerminalStateLayer), whose word on successes and refusals it takes,
/// and below a [`CardConsistencyLayer`](crate::card_consistency::CardConsistencyLayer), if there is one, which reads
/// the card anew after a routing signal. Calls that nobody can name pass.
///
/// ```
/// # use std::convert::Infallible;
/// # use bytes::Bytes;
/// # use http_body_util::Full;
/// # let client = tower::service_fn(|_: http::Request<a2a_guard::CallBody<Full<Bytes>>>| async {
/// #     Ok::<_, Infallible>(http::Response::new(Full::<Bytes>::default()))
/// # });
/// use a2a_guard::{CallLayer, ProbeCacheLayer, TerminalStateLayer, probe_cache::SkillAvailability};
/// use tower::ServiceBuilder;
///
/// let skills = SkillAvailability::new();
/// let agent = ServiceBuilder::new()
///     .layer(CallLayer::new())
///     .layer(ProbeCacheLayer::builder(client.clone()).availability(skills.clone()).build()?)
///     .layer(TerminalStateLayer::new())
///     .service(client);
/// # fn is_service<S: tower::Service<http::Request<Full<Bytes>>>>(_: S) {}
/// # is_service(agent);
/// # Ok::<(), a2a_guard::probe_cache::ProbeCacheError>(())
/// ```
pub struct ProbeCacheLayer<O = ()> {
    config: Arc<Config<O>>,
}

pub(super) struct Config<O> {
    pub(super) core: Arc<Core>,
    pub(super) observer: O,
    pub(super) origin: Option<Uri>,
    pub(super) wait: Duration,
    /// The totals that the layer below keeps, where they are known.
    pub(super) totals: Option<Arc<Totals>>,
    pub(super) order: Arc<Order>,
    /// Whose cards are told whether probes passed.
    pub(super) noted: Option<CardStore>,
}

/// One endpoint that a layer knows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EndpointEntry {
    /// Where it is: scheme, host, port, and the path in front of the operation.
    pub url: String,
    /// For which tenant, if the call names one.
    pub tenant: Option<String>,
    /// What is known about it.
    pub state: EndpointState,
}

impl ProbeCacheLayer {
    /// Probes go through `client`. A clone of the client below will do, with or without a `TerminalStateLayer` around
    /// it. It must not follow redirects.
    pub fn builder<S, B, R>(client: S) -> ProbeCacheBuilder
    where
        S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: From<Bytes> + Send + 'static,
        R: Body<Data = Bytes> + Send + 'static,
        R::Error: Into<BoxError>,
    {
        ProbeCacheBuilder::probing(client)
    }

    /// A layer that never probes: no endpoint is refused, and skills are known from the calls alone.
    pub fn without_probes() -> ProbeCacheBuilder {
        ProbeCacheBuilder::unprobed()
    }
}

impl<O> ProbeCacheLayer<O> {
    pub(super) fn of(config: Config<O>) -> Self {
        Self { config: Arc::new(config) }
    }

    /// The same with another observer, and with the totals of calls, beyond which none waits. The cards of `store` are
    /// told whether probes passed, unless another's are.
    pub(crate) fn within<P>(&self, observer: P, totals: Arc<Totals>, store: Option<CardStore>) -> ProbeCacheLayer<P> {
        let Config { core, observer: _, origin, wait, totals: _, order, noted } = &*self.config;
        let (core, origin, order) = (Arc::clone(core), origin.clone(), Arc::clone(order));
        let noted = noted.clone().or(store);
        ProbeCacheLayer::of(Config { core, observer, origin, wait: *wait, totals: Some(totals), order, noted })
    }

    /// Whether somebody is told of what it ends.
    pub(crate) fn is_observed(&self) -> bool
    where
        O: Observe,
    {
        self.config.observer.listens()
    }

    /// The handle on skills.
    #[must_use]
    pub fn availability(&self) -> &SkillAvailability {
        &self.config.core.availability
    }

    /// The endpoints that are known.
    #[must_use]
    pub fn endpoints(&self) -> Vec<EndpointEntry> {
        let core = &self.config.core;
        let now = core.availability.clock().millis(Instant::now());
        let entry = |(key, endpoint): (super::key::EndpointKey, Arc<super::endpoint::Endpoint>)| EndpointEntry {
            url: key.url(),
            tenant: key.tenant().map(Into::into),
            state: endpoint.state(now),
        };
        core.places.endpoints().into_iter().map(entry).collect()
    }

    /// Forgets what is known about the endpoints at the origin of `uri`, and returns how many there were.
    pub fn forget_endpoints(&self, uri: &Uri) -> usize {
        self.config.core.places.forget(uri)
    }
}

impl<O> Clone for ProbeCacheLayer<O> {
    fn clone(&self) -> Self {
        Self { config: Arc::clone(&self.config) }
    }
}

impl<O> fmt::Debug for ProbeCacheLayer<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProbeCacheLayer").field("availability", self.availability()).finish_non_exhaustive()
    }
}

impl<S, O> Layer<S> for ProbeCacheLayer<O> {
    type Service = ProbeCacheService<S, O>;

    fn layer(&self, inner: S) -> Self::Service {
        ProbeCacheService::new(inner, Arc::clone(&self.config))
    }
}
