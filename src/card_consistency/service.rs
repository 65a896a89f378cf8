use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, Uri, request::Parts};
use http_body::Body;
use tokio::time::Instant;
use tower_service::Service;

use super::{
    CardConsistencyBody, CardConsistencyFuture, Direct, Resolution, Resolve,
    contradiction::Watch,
    future::{Waiting, Wish},
    layer::Config,
    matching::{self, unusable},
    store::{CardAsk, CardKeyRef, HeldCard},
};
use crate::{
    call::{self, Binding, Call, CallBody},
    clock,
    error::{BoxError, CallError, CardFailure, lost},
    limits::LimitOverrides,
};

/// The service of [`CardConsistencyLayer`](super::CardConsistencyLayer).
pub struct CardConsistencyService<S, R = Direct> {
    inner: S,
    config: Arc<Config<R>>,
}

impl<S, R> CardConsistencyService<S, R> {
    pub(super) fn new(inner: S, config: Arc<Config<R>>) -> Self {
        Self { inner, config }
    }
}

impl<S, R> Clone for CardConsistencyService<S, R>
where
    S: Clone,
{
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), Arc::clone(&self.config))
    }
}

impl<S, R> fmt::Debug for CardConsistencyService<S, R>
where
    S: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardConsistencyService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, R, B, P> Service<Request<CallBody<B>>> for CardConsistencyService<S, R>
where
    S: Service<Request<CallBody<B>>, Response = Response<P>> + Clone,
    S::Error: Into<BoxError>,
    R: Resolve,
    B: Body<Data = Bytes>,
    P: Body<Data = Bytes>,
    P::Error: Into<BoxError>,
{
    type Response = Response<CardConsistencyBody<P>>;
    type Error = CallError;
    type Future = CardConsistencyFuture<S, B, R>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        self.inner.poll_ready(cx).map_err(|error| lost(error.into(), &Call::new(), true))
    }

    fn call(&mut self, request: Request<CallBody<B>>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        let mut call = match head.extensions.get::<Call>() {
            Some(call) => call.clone(),
            None => call::from_head(&head.method, &head.uri, &head.headers),
        };
        if call.operation().is_none() || call.binding() == Some(Binding::Grpc) {
            return CardConsistencyFuture::calling(self.inner.call(Request::from_parts(head, body)), call, None);
        }
        if let Err(failure) = complete(&mut head, &mut call, self.config.origin.as_ref()) {
            return self.refuse(&call, failure);
        }
        match self.config.resolver.resolve(&head, &call) {
            Resolution::AsSent => {}
            Resolution::To(uri) => go_to(&mut head, &mut call, uri),
            Resolution::Refused(failure) => return self.refuse(&call, failure),
            Resolution::Later(resolution) => return self.wait(Wish::Resolving { resolution }, head, body, call),
        }
        // Not the call's beginning: reading its body may have taken long, and a retry begins later.
        let now = clock::now();
        match self.config.held(&head, &call, now) {
            // A hit: the service that was polled ready is called, and nothing waits.
            Some(card) => {
                let _for_the_layers_below = clock::hand_down(now);
                self.go(card, head, body, call)
            }
            None => match self.config.ask(&head, &call) {
                Ok(ask) => {
                    let fetch = Box::pin(self.config.store.get(ask));
                    self.wait(Wish::Fetching { fetch }, head, body, call)
                }
                Err(failure) => self.refuse(&call, failure),
            },
        }
    }
}

impl<S, R> CardConsistencyService<S, R>
where
    S: Clone,
{
    /// Waiting while holding a ready service would deadlock under a concurrency limit: its readiness is given back,
    /// and a fresh clone waited for once the card is there.
    fn wait<B, P>(&mut self, wish: Wish, head: Parts, body: CallBody<B>, call: Call) -> CardConsistencyFuture<S, B, R>
    where
        S: Service<Request<CallBody<B>>, Response = Response<P>>,
        B: Body,
    {
        let service = self.inner.clone();
        self.inner = service.clone();
        let deadline = Instant::now() + self.config.wait_of(&head, &call);
        let waiting = Waiting { service, config: Arc::clone(&self.config), head, body, deadline };
        CardConsistencyFuture::waiting(wish, waiting, call)
    }

    /// The ready service is not called, and who is idle must not hold a place either.
    fn refuse<B, P>(&mut self, call: &Call, failure: CardFailure) -> CardConsistencyFuture<S, B, R>
    where
        S: Service<Request<CallBody<B>>, Response = Response<P>>,
        B: Body,
    {
        self.inner = self.inner.clone();
        CardConsistencyFuture::refused(call, failure)
    }

    fn go<B, P>(
        &mut self,
        card: Arc<HeldCard>,
        mut head: Parts,
        mut body: CallBody<B>,
        mut call: Call,
    ) -> CardConsistencyFuture<S, B, R>
    where
        S: Service<Request<CallBody<B>>, Response = Response<P>>,
        B: Body,
    {
        match self.config.prepare(&card, &mut call, &mut head, &mut body) {
            Ok(()) => {
                let watch = Watch { store: self.config.store.clone(), card };
                let future = self.inner.call(Request::from_parts(head, body));
                CardConsistencyFuture::calling(future, call, Some(watch))
            }
            Err(failure) => self.refuse(&call, failure),
        }
    }
}

impl<R> Config<R> {
    pub(super) fn held(&self, head: &Parts, call: &Call, now: Instant) -> Option<Arc<HeldCard>> {
        let at = CardKeyRef::new(&head.uri, &head.headers)
            .with_path(matching::base_path(head, call))
            .with_version(call.version())
            .with_tenant(call.tenant());
        self.store.held(&at, now)
    }

    pub(super) fn ask(&self, head: &Parts, call: &Call) -> Result<CardAsk, CardFailure> {
        let target = matching::target_uri(head, call)?;
        let (rules, asked) = (self.rules.clone(), call.clone());
        let place = target.clone();
        Ok(CardAsk::new(target, head.headers.clone())
            .version(call.version())
            .tenant(call.tenant())
            .bound(self.wait_of(head, call))
            .counts(move |card| rules.counts(card, &asked, &place)))
    }

    pub(super) fn prepare<B>(
        &self,
        card: &HeldCard,
        call: &mut Call,
        head: &mut Parts,
        body: &mut CallBody<B>,
    ) -> Result<(), CardFailure>
    where
        B: Body,
    {
        self.rules.apply(card, call, head, body)
    }

    /// How long a call may wait for its card: no longer than what is left of its total, where that is known here.
    pub(super) fn wait_of(&self, head: &Parts, call: &Call) -> Duration {
        let total = head.extensions.get::<LimitOverrides>().and_then(LimitOverrides::longest_total);
        let passed = call.began().map(|began| began.elapsed()).unwrap_or_default();
        total.map_or(self.wait, |total| self.wait.min(total.saturating_sub(passed)))
    }

    /// How long a call waits for its card at most.
    pub(super) fn wait(&self) -> Duration {
        self.wait
    }
}

/// The call goes somewhere else than its request said. Errors and layers below are to say where.
pub(super) fn go_to(head: &mut Parts, call: &mut Call, uri: Uri) {
    *call = std::mem::take(call).with_target(uri.clone());
    head.uri = uri;
    matching::tell(head, call);
}

/// Completes a relative URI.
fn complete(head: &mut Parts, call: &mut Call, origin: Option<&Uri>) -> Result<(), CardFailure> {
    if head.uri.scheme().is_some() && head.uri.authority().is_some() {
        return Ok(());
    }
    let Some(origin) = origin else {
        return Err(unusable(&head.uri, "it is relative: set origin(uri) on CardConsistencyLayer"));
    };
    let mut parts = std::mem::take(&mut head.uri).into_parts();
    parts.scheme = origin.scheme().cloned();
    parts.authority = origin.authority().cloned();
    parts.path_and_query = parts.path_and_query.or_else(|| Some(http::uri::PathAndQuery::from_static("/")));
    let uri = Uri::from_parts(parts).map_err(|_| unusable(origin, "it is no origin that completes a relative URI"))?;
    go_to(head, call, uri);
    Ok(())
}
