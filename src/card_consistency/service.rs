use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Extensions, Request, Response, Uri, Version, header::HOST};
use http_body::Body;
use tokio::time::Instant;
use tower_service::Service;

use super::{
    CardConsistencyBody, CardConsistencyFuture, Direct, Resolution, Resolve,
    future::{Waiting, Wish},
    layer::Config,
    matching, modes,
    store::{CardAsk, CardKeyRef, Fresh, HeldCard, Judge, Matched},
};
use crate::{
    call::{self, Binding, Call, CallBody, Operation, Rank},
    clock,
    error::{BoxError, CallError, CardFailure, Failure, lost},
    limits::left_of_total,
    outcome::{self, Class, Observe, Outcome},
};

/// The service of [`CardConsistencyLayer`](super::CardConsistencyLayer).
pub struct CardConsistencyService<S, R = Direct, O = ()> {
    inner: S,
    config: Arc<Config<R, O>>,
    /// What the last call through this handle went by. The next one mostly goes by the same, and then nothing is
    /// looked up, hashed or matched for it.
    last: Option<Last>,
}

/// A card that every call to its target goes by, and until when it was fresh.
#[derive(Clone)]
struct Last {
    card: Arc<HeldCard>,
    fresh: Fresh,
}

impl<S, R, O> CardConsistencyService<S, R, O> {
    pub(super) fn new(inner: S, config: Arc<Config<R, O>>) -> Self {
        Self { inner, config, last: None }
    }
}

impl<S, R, O> Clone for CardConsistencyService<S, R, O>
where
    S: Clone,
{
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), config: Arc::clone(&self.config), last: self.last.clone() }
    }
}

impl<S, R, O> fmt::Debug for CardConsistencyService<S, R, O>
where
    S: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardConsistencyService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, R, O, B, P> Service<Request<CallBody<B>>> for CardConsistencyService<S, R, O>
where
    S: Service<Request<CallBody<B>>, Response = Response<P>> + Clone,
    S::Error: Into<BoxError>,
    R: Resolve,
    O: Observe,
    B: Body<Data = Bytes>,
    P: Body<Data = Bytes>,
    P::Error: Into<BoxError>,
{
    type Response = Response<CardConsistencyBody<P>>;
    type Error = CallError;
    type Future = CardConsistencyFuture<S, B, R, O>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        self.inner.poll_ready(cx).map_err(|error| lost(error.into(), &Call::new(), true))
    }

    fn call(&mut self, mut request: Request<CallBody<B>>) -> Self::Future {
        let mut call = call::come_past(&mut request, Rank::Card, &self.config.settings.order);
        if call.operation().is_none() {
            return CardConsistencyFuture::calling(self.inner.call(request), call, None, None);
        }
        match self.look(&mut request, &mut call) {
            // A hit: the service that was polled ready is called, and nothing waits.
            Ok((card, now)) => {
                let asked = modes::kept(&call, request.body());
                let _for_the_layers_below = clock::hand_down(now);
                CardConsistencyFuture::calling(self.inner.call(request), call, Some(card), asked)
            }
            Err(instead) => self.instead(*instead, request, call),
        }
    }
}

/// Why a call does not just go by a card that is held.
enum Instead {
    Refused(CardFailure),
    /// It is not known yet where it goes.
    Resolving(Pin<Box<dyn Future<Output = Resolution> + Send>>),
    /// No card is held that it may use.
    Fetch,
}

impl From<CardFailure> for Box<Instead> {
    #[cold]
    fn from(failure: CardFailure) -> Self {
        Self::new(Instead::Refused(failure))
    }
}

impl<S, R, O> CardConsistencyService<S, R, O>
where
    R: Resolve,
{
    /// The card that a call goes by which may go at once, and the time at which it may.
    #[inline]
    fn look<B>(
        &mut self,
        request: &mut Request<CallBody<B>>,
        call: &mut Call,
    ) -> Result<(Arc<HeldCard>, Instant), Box<Instead>>
    where
        B: Body,
    {
        if call::is_relative(request.uri()) {
            complete(request, call, self.config.settings.origin.as_ref())?;
        }
        if !self.config.resolver.is_direct() {
            self.resolve(request, call)?;
        }
        // Not the call's beginning: reading its body may have taken long, and a retry begins later.
        let now = clock::now();
        let card = match self.card_as_before(request, call, now) {
            Some(card) => card,
            None => self.card_of(request, call, now)?,
        };
        Ok((card, now))
    }

    /// Sends the call where the resolver says that it goes.
    #[inline(never)]
    fn resolve<B>(&self, request: &mut Request<CallBody<B>>, call: &mut Call) -> Result<(), Box<Instead>>
    where
        B: Body,
    {
        let (head, body) = std::mem::take(request).into_parts();
        let resolution = self.config.resolver.resolve(&head, call);
        *request = Request::from_parts(head, body);
        match resolution {
            Resolution::AsSent => {}
            Resolution::To(uri) => go_to(request, call, uri),
            Resolution::Refused(failure) => return Err(failure.into()),
            Resolution::Later(resolution) => return Err(Box::new(Instead::Resolving(resolution))),
        }
        Ok(())
    }
}

impl<S, R, O> CardConsistencyService<S, R, O> {
    /// The card of the last call, if this one comes to the same.
    #[inline]
    fn card_as_before<B>(&self, request: &mut Request<B>, call: &Call, now: Instant) -> Option<Arc<HeldCard>> {
        let Last { card, fresh } = self.last.as_ref()?;
        let epoch = self.config.store.epoch();
        if !card.is_still(fresh, now) || !self.config.settings.rules.covers(card, epoch, call, request) {
            return None;
        }
        matching::state_version_of(request, call);
        Some(Arc::clone(card))
    }

    /// The card that is held for a call, which it covers.
    #[inline(never)]
    fn card_of<B>(
        &mut self,
        request: &mut Request<CallBody<B>>,
        call: &mut Call,
        now: Instant,
    ) -> Result<Arc<HeldCard>, Box<Instead>>
    where
        B: Body,
    {
        let epoch = self.config.store.epoch();
        let Some((card, is_for_all)) = self.config.held(request, call, now) else {
            return Err(Box::new(Instead::Fetch));
        };
        if let Some(known) = self.config.prepare(&card, call, request)?.filter(|_| is_for_all) {
            known.confirm(epoch);
            self.last = Some(Last { fresh: card.fresh(), card: Arc::clone(&card) });
        }
        Ok(card)
    }
}

impl<S, R, O> CardConsistencyService<S, R, O>
where
    S: Clone,
    O: Observe,
{
    #[cold]
    #[inline(never)]
    fn instead<B, P>(
        &mut self,
        instead: Instead,
        request: Request<CallBody<B>>,
        call: Call,
    ) -> CardConsistencyFuture<S, B, R, O>
    where
        S: Service<Request<CallBody<B>>, Response = Response<P>>,
        B: Body,
    {
        match instead {
            Instead::Refused(failure) => self.refuse(&call, failure, request.extensions()),
            Instead::Resolving(resolution) => self.wait(Wish::Resolving { resolution }, request, call),
            Instead::Fetch => self.fetch(request, call),
        }
    }

    fn fetch<B, P>(&mut self, request: Request<CallBody<B>>, call: Call) -> CardConsistencyFuture<S, B, R, O>
    where
        S: Service<Request<CallBody<B>>, Response = Response<P>>,
        B: Body,
    {
        match self.config.ask(&request, &call) {
            Ok(ask) => {
                let fetch = Box::pin(self.config.store.get(ask));
                self.wait(Wish::Fetching { fetch }, request, call)
            }
            Err(failure) => self.refuse(&call, failure, request.extensions()),
        }
    }

    /// Waiting while holding a ready service would deadlock under a concurrency limit: its readiness is given back,
    /// and a fresh clone waited for once the card is there.
    fn wait<B, P>(&mut self, wish: Wish, request: Request<CallBody<B>>, call: Call) -> CardConsistencyFuture<S, B, R, O>
    where
        S: Service<Request<CallBody<B>>, Response = Response<P>>,
        B: Body,
    {
        let service = self.inner.clone();
        self.inner = service.clone();
        let deadline = clock::now() + self.config.wait_of(&request, &call);
        let waiting = Waiting { service, config: Arc::clone(&self.config), request, deadline };
        CardConsistencyFuture::waiting(wish, waiting, call)
    }

    /// The ready service is not called, and who is idle must not hold a place either.
    fn refuse<B, P>(
        &mut self,
        call: &Call,
        failure: CardFailure,
        extensions: &Extensions,
    ) -> CardConsistencyFuture<S, B, R, O>
    where
        S: Service<Request<CallBody<B>>, Response = Response<P>>,
        B: Body,
    {
        self.inner = self.inner.clone();
        CardConsistencyFuture::refused(self.config.refuse(call, failure, extensions), call)
    }
}

impl<R, O> Config<R, O> {
    fn key<'a, B>(&self, request: &'a Request<B>, call: &'a Call) -> CardKeyRef<'a> {
        CardKeyRef::new(request.uri(), request.headers())
            .with_path(matching::base_path(request, call))
            .with_version(call.version())
            .with_tenant(call.tenant())
            .with_query(request.uri().query().filter(|_| call.binding() == Some(Binding::JsonRpc)))
    }

    /// The card that a call may use as it is, and whether every call to the target gets this one.
    pub(super) fn held<B>(&self, request: &Request<B>, call: &Call, now: Instant) -> Option<(Arc<HeldCard>, bool)> {
        let at = self.key(request, call);
        let (public, is_for_all) = self.store.held_by(&at, now)?;
        if self.wants_extended(call) {
            return Some((self.store.stands_in(&at, public, now)?, false));
        }
        Some((public, is_for_all && !self.settings.extended_card))
    }

    pub(super) fn ask<B>(&self, request: &Request<B>, call: &Call) -> Result<CardAsk, CardFailure> {
        let target = matching::target_uri(request, call)?;
        let (rules, asked) = (self.settings.rules.clone(), call.clone());
        let place = target.clone();
        let ask = CardAsk::new(target, request.headers().clone())
            .version(call.version())
            .tenant(call.tenant())
            .bound(self.wait_of(request, call))
            .counts(move |card| rules.counts(card, &asked, &place))
            .judged_by(self.judge(request, call));
        if !self.wants_extended(call) {
            return Ok(ask);
        }
        let (rules, call, method, uri) =
            (self.settings.rules.clone(), call.clone(), request.method().clone(), request.uri().clone());
        Ok(ask.extend(move |public| rules.extended_call(public, &call, &method, &uri)))
    }

    /// Whose word it is that a card does not count for a call: the verdict is by the policy, the binding, and the path
    /// to the letter, of which a slash at the end is no part of the key.
    fn judge<B>(&self, request: &Request<B>, call: &Call) -> Judge {
        self.store.judge((&*self.settings.rules.urls, call.binding(), matching::base_path(request, call)))
    }

    /// Who asks for the extended card itself does so by the public one.
    fn wants_extended(&self, call: &Call) -> bool {
        self.settings.extended_card && call.operation() != Some(Operation::GetExtendedAgentCard)
    }

    pub(super) fn prepare<'c, B>(
        &self,
        card: &'c HeldCard,
        call: &mut Call,
        request: &mut Request<CallBody<B>>,
    ) -> Result<Option<&'c Matched>, CardFailure>
    where
        B: Body,
    {
        self.settings.rules.apply(card, call, request)
    }

    /// How long a call may wait for its card: no longer than what is left of its total, where that is known here.
    pub(super) fn wait_of<B>(&self, request: &Request<B>, call: &Call) -> Duration {
        let left = left_of_total(request, call, self.settings.totals.as_deref());
        left.map_or(self.wait(), |left| self.wait().min(left))
    }

    /// How long a call waits for its card at most.
    pub(super) fn wait(&self) -> Duration {
        self.settings.wait
    }

    /// How long the failure to get a call's card is remembered: until then the same call ends the same way.
    pub(super) fn remembered<B>(&self, request: &Request<B>, call: &Call) -> Option<Duration> {
        let at = self.key(request, call).judged_by(Some(self.judge(request, call)));
        self.store.remembered(&at, clock::now())
    }
}

impl<R, O> Config<R, O>
where
    O: Observe,
{
    /// Refused before dispatch.
    pub(super) fn refuse(&self, call: &Call, failure: CardFailure, extensions: &Extensions) -> CallError {
        self.refuse_until(call, failure, None, extensions)
    }

    /// The same for want of a card, which is not asked for again for so long.
    pub(super) fn refuse_until(
        &self,
        call: &Call,
        failure: CardFailure,
        after: Option<Duration>,
        extensions: &Extensions,
    ) -> CallError {
        let mut failure = Failure::of_card(failure, call.clone(), call.elapsed());
        // Other credentials are another question, and may be asked at once.
        failure.seen.retry_after = after.filter(|_| failure.class != Class::Unauthorized);
        failure.remembered = failure.seen.retry_after.is_some();
        let error = CallError::new(failure);
        self.tell(&error, extensions);
        error
    }

    /// Tells the observer of a call that fails here.
    pub(super) fn tell(&self, error: &CallError, extensions: &Extensions) {
        outcome::tell(&self.observer, &Outcome::of_error(error).within(extensions));
    }

    /// Tells the observer of a call that its caller let go of here.
    pub(super) fn tell_abandoned(&self, call: &Call, extensions: &Extensions) {
        outcome::tell(&self.observer, &Outcome::of_abandoned(call).within(extensions));
    }
}

/// The call goes somewhere else than its request said. Errors and layers below are to say where.
///
/// With another server, what the request has of the connection by which it came ends here: a `Host` field, which the
/// client below writes anew (RFC 9112 §3.2), and the version of HTTP, which that client knows better. gRPC has one
/// alone.
pub(super) fn go_to<B>(request: &mut Request<B>, call: &mut Call, uri: Uri) {
    if request.uri().authority() != uri.authority() {
        request.headers_mut().remove(HOST);
        if call.binding() != Some(Binding::Grpc) {
            *request.version_mut() = Version::default();
        }
    }
    *call = std::mem::take(call).with_target(uri.clone());
    *request.uri_mut() = uri;
    matching::tell(request, call);
}

/// Completes a relative URI.
#[inline(never)]
fn complete<B>(request: &mut Request<B>, call: &mut Call, origin: Option<&Uri>) -> Result<(), CardFailure> {
    let Some(origin) = origin else {
        return Err(CardFailure::unusable_uri(
            request.uri(),
            "it is relative: set origin(uri) on CardConsistencyLayer",
        ));
    };
    let mut parts = std::mem::take(request.uri_mut()).into_parts();
    parts.scheme = origin.scheme().cloned();
    parts.authority = origin.authority().cloned();
    parts.path_and_query = parts.path_and_query.or_else(|| Some(http::uri::PathAndQuery::from_static("/")));
    let uri = Uri::from_parts(parts)
        .map_err(|_| CardFailure::unusable_uri(origin, "it is no origin that completes a relative URI"))?;
    go_to(request, call, uri);
    Ok(())
}
