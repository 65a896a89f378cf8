use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Extensions, Request, Response, Uri, header::HOST};
use http_body::Body;
use tower_service::Service;

use super::{
    ProbeCacheBody, ProbeCacheFuture,
    core::{Asking, Instead, Last},
    future::Waiting,
    layer::Config,
    watch::Watch,
};
use crate::{
    call::{self, Call, Rank},
    clock,
    error::{BoxError, CallError, CardFailure, Failure, lost},
    limits::left_of_total,
    outcome::{self, Class, Observe, Outcome, OutcomeKind},
    wire::PeerError,
};

/// The service of [`ProbeCacheLayer`](crate::ProbeCacheLayer).
pub struct ProbeCacheService<S, O = ()> {
    inner: S,
    config: Arc<Config<O>>,
    /// Where the last call through this handle went.
    last: Option<Last>,
}

impl<S, O> ProbeCacheService<S, O> {
    pub(super) fn new(inner: S, config: Arc<Config<O>>) -> Self {
        Self { inner, config, last: None }
    }
}

impl<S, O> Clone for ProbeCacheService<S, O>
where
    S: Clone,
{
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), config: Arc::clone(&self.config), last: self.last.clone() }
    }
}

impl<S, O> fmt::Debug for ProbeCacheService<S, O>
where
    S: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProbeCacheService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, B, P, O> Service<Request<B>> for ProbeCacheService<S, O>
where
    S: Service<Request<B>, Response = Response<P>> + Clone,
    S::Error: Into<BoxError>,
    P: Body<Data = Bytes>,
    P::Error: Into<BoxError>,
    O: Observe,
{
    type Response = Response<ProbeCacheBody<P>>;
    type Error = CallError;
    type Future = ProbeCacheFuture<S, B, O>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        self.inner.poll_ready(cx).map_err(|error| lost(error.into(), &Call::new(), true))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let mut call = call::come_past(&mut request, Rank::Probe, &self.config.order);
        if call.operation().is_none() {
            return ProbeCacheFuture::calling(self.inner.call(request), call, None);
        }
        if let Some(origin) = &self.config.origin
            && call::is_relative(request.uri())
        {
            complete(&mut request, &mut call, origin);
        }
        let now = clock::now();
        let head = (request.method(), request.uri(), request.headers());
        let noted = self.config.noted.as_ref();
        match self.config.core.look(head, &call, now, &mut self.last, noted) {
            // A hit: the service that was polled ready is called, and nothing waits.
            Ok(watch) => {
                let _for_the_layers_below = clock::hand_down(now);
                ProbeCacheFuture::calling(self.inner.call(request), call, Some(watch))
            }
            Err(instead) => self.instead(*instead, request, call),
        }
    }
}

impl<S, O> ProbeCacheService<S, O>
where
    S: Clone,
    O: Observe,
{
    #[cold]
    fn instead<B, P>(&mut self, instead: Instead, request: Request<B>, call: Call) -> ProbeCacheFuture<S, B, O>
    where
        S: Service<Request<B>, Response = Response<P>>,
    {
        match instead {
            Instead::Ask(asking) => self.ask(asking, request, call),
            Instead::Distrusted(disproof) => {
                let call = at(call, request.uri());
                self.refuse(disproof.refusal(&call), call, request.extensions())
            }
            Instead::Unavailable { lasts, said } => {
                let call = at(call, request.uri());
                self.refuse(unavailable(&call, lasts, said), call, request.extensions())
            }
            Instead::Relative => {
                let why = "it is relative: set origin(uri) on ProbeCacheLayer";
                let failure = CardFailure::unusable_uri(request.uri(), why);
                let error = CallError::new(Failure::of_card(failure, call.clone(), call.elapsed()));
                self.refuse(error, call, request.extensions())
            }
        }
    }

    /// Waiting while holding a ready service would deadlock under a concurrency limit, for probes go through the same
    /// client: its readiness is given back, and a fresh clone waited for once the answer is there.
    fn ask<B, P>(&mut self, asking: Asking, request: Request<B>, call: Call) -> ProbeCacheFuture<S, B, O>
    where
        S: Service<Request<B>, Response = Response<P>>,
    {
        let Asking { question, prober, place, card } = asking;
        let bound = self.config.wait_of(&request, &call);
        if bound.is_zero() {
            // Its time is over. What is ready need not be waited for once more to find that out.
            let watch = Watch::new(Arc::clone(&place), &call, place.clock.millis(clock::now()), card);
            return ProbeCacheFuture::calling(self.inner.call(request), call, Some(watch));
        }
        let service = self.inner.clone();
        self.inner = service.clone();
        let call = at(call, request.uri());
        let answer = Box::pin(async move {
            // What takes longer is left to the call's own outcome; the probe goes on for others.
            tokio::time::timeout(bound, prober.ask(question)).await.unwrap_or(Ok(()))
        });
        let waiting = Waiting { service, config: Arc::clone(&self.config), request, place, card };
        ProbeCacheFuture::waiting(answer, waiting, call)
    }

    /// The ready service is not called, and who is idle must not hold a place either.
    fn refuse<B, P>(&mut self, error: CallError, call: Call, extensions: &Extensions) -> ProbeCacheFuture<S, B, O>
    where
        S: Service<Request<B>, Response = Response<P>>,
    {
        self.inner = self.inner.clone();
        ProbeCacheFuture::refused(self.config.refuse(error, extensions), call)
    }
}

impl<O> Config<O>
where
    O: Observe,
{
    /// Tells the observer of a call that is refused here, and nobody below hears of.
    pub(super) fn refuse(&self, error: CallError, extensions: &Extensions) -> CallError {
        outcome::tell(&self.observer, &Outcome::of_error(&error).within(extensions));
        error
    }

    /// Tells the observer of a call that its caller let go of here.
    pub(super) fn tell_abandoned(&self, call: &Call, extensions: &Extensions) {
        outcome::tell(&self.observer, &Outcome::of_abandoned(call).within(extensions));
    }
}

impl<O> Config<O> {
    /// How long a call may wait for a probe: no longer than what is left of its total, where that is known here.
    fn wait_of<B>(&self, request: &Request<B>, call: &Call) -> Duration {
        let left = left_of_total(request, call, self.totals.as_deref());
        left.map_or(self.wait, |left| self.wait.min(left))
    }
}

/// Sends a relative request to `origin`, which is not the server that its `Host` field names (RFC 9112 §3.2). Layers
/// below find the call in its extensions, if anyone has put it there.
#[inline(never)]
fn complete<B>(request: &mut Request<B>, call: &mut Call, origin: &Uri) {
    let mut parts = request.uri().clone().into_parts();
    parts.scheme = origin.scheme().cloned();
    parts.authority = origin.authority().cloned();
    parts.path_and_query = parts.path_and_query.or_else(|| Some(http::uri::PathAndQuery::from_static("/")));
    let Ok(uri) = Uri::from_parts(parts) else { return };
    *call = std::mem::take(call).with_target(uri.clone());
    *request.uri_mut() = uri;
    request.headers_mut().remove(HOST);
    if let Some(told) = request.extensions_mut().get_mut::<Call>() {
        *told = call.clone();
    }
}

/// The call, with its target for who reads of it.
fn at(call: Call, uri: &Uri) -> Call {
    if call.target().is_some() { call } else { call.with_target(uri.clone()) }
}

/// The skill was refused a moment ago.
fn unavailable(call: &Call, lasts: Duration, said: Option<Box<PeerError>>) -> CallError {
    let what = "the skill was refused here a moment ago";
    let mut failure = Failure::new(OutcomeKind::Stale, Class::SkillUnavailable, what, call.clone(), call.elapsed());
    failure.peer = said;
    failure.never_sent = true;
    failure.remembered = true;
    failure.seen.retry_after = Some(lasts);
    CallError::new(failure)
}
