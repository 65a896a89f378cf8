use std::{fmt, sync::Arc};

use tower_layer::{Identity, Layer};

use super::{GuardBuilder, GuardService, service::Origin};
use crate::{
    call::{CallLayer, CallService},
    observability::{ObserveLayer, ObserveService},
    outcome::Observe,
    refusal_response::{RefusalResponseLayer, RefusalResponseService},
    terminal_state::{TerminalStateLayer, TerminalStateService},
};

/// All layers in one, in the right order: every call through it ends in success, a typed refusal or a typed timeout.
///
/// `O` is the observer, `C` the card layer ([`GuardCards`](super::GuardCards)), `P` the probe layer
/// ([`GuardProbes`](super::GuardProbes)) and `M` the retry layer; a layer that is not there is `Identity`.
///
/// ```
/// # use std::convert::Infallible;
/// # use bytes::Bytes;
/// # use http_body_util::Full;
/// use a2a_guard::{CallBody, Guard, Limits};
/// use std::time::Duration;
/// use tower::Layer;
///
/// # let client = tower::service_fn(|_: http::Request<CallBody<Full<Bytes>>>| async {
/// #     Ok::<_, Infallible>(http::Response::new(Full::<Bytes>::default()))
/// # });
/// let guard = Guard::builder()
///     .limits(Limits::within(Duration::from_secs(60)))
///     .cards(client.clone()) // what the agent's own card does not cover is not sent
///     .build()?;
/// let agent = guard.layer(client);
/// # fn is_service<S: tower::Service<http::Request<Full<Bytes>>, Error = a2a_guard::CallError>>(_: S) {}
/// # is_service(agent);
/// # Ok::<(), a2a_guard::GuardError>(())
/// ```
///
/// For a service that cannot fail, for a router or below a client that knows nothing of this crate, see
/// [`rendered`](Self::rendered).
pub struct Guard<O = (), C = Identity, P = Identity, M = Identity> {
    pub(super) origin: Option<Arc<Origin>>,
    pub(super) naming: CallLayer<Arc<O>>,
    pub(super) observing: ObserveLayer<Arc<O>>,
    pub(super) retrying: M,
    pub(super) cards: C,
    pub(super) probes: P,
    pub(super) ending: TerminalStateLayer<Arc<O>>,
}

impl Guard {
    /// The default bounds; no cards, no probes, observed by nobody.
    #[must_use]
    pub fn new() -> Self {
        let observer = Arc::new(());
        Self {
            origin: None,
            naming: CallLayer::new().observe(Arc::clone(&observer)),
            observing: ObserveLayer::new(Arc::clone(&observer)),
            retrying: Identity::new(),
            cards: Identity::new(),
            probes: Identity::new(),
            ending: TerminalStateLayer::observed(observer),
        }
    }

    /// Sets bounds and parts.
    pub fn builder() -> GuardBuilder {
        GuardBuilder::new()
    }
}

impl Default for Guard {
    fn default() -> Self {
        Self::new()
    }
}

impl<O, C, P, M> Guard<O, C, P, M> {
    /// The same with its failures rendered by a [`RefusalResponseLayer`]: its service cannot fail.
    #[must_use]
    pub fn rendered(self) -> RenderedGuard<O, C, P, M> {
        RenderedGuard { guard: self }
    }
}

impl<O, C, P, M> Clone for Guard<O, C, P, M>
where
    C: Clone,
    P: Clone,
    M: Clone,
{
    fn clone(&self) -> Self {
        Self {
            origin: self.origin.clone(),
            naming: self.naming.clone(),
            observing: self.observing.clone(),
            retrying: self.retrying.clone(),
            cards: self.cards.clone(),
            probes: self.probes.clone(),
            ending: self.ending.clone(),
        }
    }
}

impl<O, C, P, M> fmt::Debug for Guard<O, C, P, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("ending", &self.ending).finish_non_exhaustive()
    }
}

impl<S, O, C, P, M> Layer<S> for Guard<O, C, P, M>
where
    O: Observe,
    P: Layer<TerminalStateService<S, Arc<O>>>,
    C: Layer<P::Service>,
    M: Layer<C::Service>,
{
    type Service = GuardService<CallService<ObserveService<M::Service, Arc<O>>, Arc<O>>>;

    fn layer(&self, inner: S) -> Self::Service {
        GuardService::new(self.naming.layer(self.stack(inner)), self.origin.clone())
    }
}

impl<O, C, P, M> Guard<O, C, P, M> {
    /// What stands below the layers that name and render.
    fn stack<S>(&self, inner: S) -> ObserveService<M::Service, Arc<O>>
    where
        O: Observe,
        P: Layer<TerminalStateService<S, Arc<O>>>,
        C: Layer<P::Service>,
        M: Layer<C::Service>,
    {
        let ending = self.ending.layer(inner);
        self.observing.layer(self.retrying.layer(self.cards.layer(self.probes.layer(ending))))
    }
}

/// A [`Guard`] whose failures are rendered as the binding's own errors: its service cannot fail, and can be passed
/// straight to `axum::Router::fallback_service`.
pub struct RenderedGuard<O = (), C = Identity, P = Identity, M = Identity> {
    guard: Guard<O, C, P, M>,
}

impl<O, C, P, M> Clone for RenderedGuard<O, C, P, M>
where
    C: Clone,
    P: Clone,
    M: Clone,
{
    fn clone(&self) -> Self {
        Self { guard: self.guard.clone() }
    }
}

impl<O, C, P, M> fmt::Debug for RenderedGuard<O, C, P, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenderedGuard").field("guard", &self.guard).finish_non_exhaustive()
    }
}

impl<S, O, C, P, M> Layer<S> for RenderedGuard<O, C, P, M>
where
    O: Observe,
    P: Layer<TerminalStateService<S, Arc<O>>>,
    C: Layer<P::Service>,
    M: Layer<C::Service>,
{
    type Service = GuardService<CallService<RefusalResponseService<ObserveService<M::Service, Arc<O>>>, Arc<O>>>;

    fn layer(&self, inner: S) -> Self::Service {
        let rendering = RefusalResponseLayer::new().layer(self.guard.stack(inner));
        GuardService::new(self.guard.naming.layer(rendering), self.guard.origin.clone())
    }
}
