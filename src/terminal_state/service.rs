use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body::Body;
use tokio::{
    task::coop,
    time::{Instant, Sleep},
};
use tower_service::Service;

use super::{
    TerminalStateBody, TerminalStateFuture,
    contained::{Panicked, contain},
    deadline::LEFT_ALONE,
    flight::{Boxed, Flight, Timed},
    layer::Config,
    rescue::Origin,
};
use crate::{
    call::{self, Binding, Rank},
    error::{BoxError, CallError},
    limits::LimitOverrides,
    outcome::{Class, Observe, OutcomeKind},
    wire::grpc::timeout::format_timeout,
};

/// The service of [`TerminalStateLayer`](crate::TerminalStateLayer).
pub struct TerminalStateService<S, O = ()> {
    inner: S,
    config: Arc<Config<O>>,
    readiness: Readiness,
}

/// How it stands with the readiness of one handle.
#[derive(Default)]
struct Readiness {
    sleep: Option<Pin<Box<Sleep>>>,
    begun_again: bool,
    failed: Option<NotReady>,
}

/// Remembered until the next `call`: an error of `poll_ready` has no call to tell of yet, and some callers (tonic, for
/// one) lose its type.
enum NotReady {
    Timeout(Duration),
    Error(BoxError),
    Panicked(Panicked),
}

impl<S, O> TerminalStateService<S, O> {
    pub(super) fn new(inner: S, config: Arc<Config<O>>) -> Self {
        Self { inner, config, readiness: Readiness::default() }
    }
}

impl<S, O> Clone for TerminalStateService<S, O>
where
    S: Clone,
{
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), Arc::clone(&self.config))
    }
}

impl<S, O> fmt::Debug for TerminalStateService<S, O>
where
    S: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalStateService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, O, B, R> Service<Request<B>> for TerminalStateService<S, O>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    R: Body<Data = Bytes>,
    R::Error: Into<BoxError>,
    O: Observe,
{
    type Response = Response<TerminalStateBody<R, O>>;
    type Error = CallError;
    type Future = TerminalStateFuture<S::Future, R, O>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        if self.readiness.failed.is_some() {
            return Poll::Ready(Ok(()));
        }
        // The client first: one that is ready now is ready, however late.
        let polled = match self.config.catch_panics {
            false => self.inner.poll_ready(cx),
            true => match contain(|| self.inner.poll_ready(cx)) {
                Ok(polled) => polled,
                Err(panicked) => {
                    self.readiness = Readiness { failed: Some(NotReady::Panicked(panicked)), ..Readiness::default() };
                    return Poll::Ready(Ok(()));
                }
            },
        };
        match polled {
            Poll::Ready(result) => {
                self.readiness =
                    Readiness { failed: result.err().map(|e| NotReady::Error(e.into())), ..Readiness::default() };
                Poll::Ready(Ok(()))
            }
            Poll::Pending => self.readiness.poll_bound(cx, self.config.ready()).map(Ok),
        }
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let failed = self.readiness.failed.take();
        let mut timed = self.begin(&mut request);
        if let Some(failed) = failed {
            return TerminalStateFuture::failed(failed.into_error(timed.as_mut().flight()));
        }
        if self.config.sends_timeout_of(&timed.get().call) {
            send_timeout(request.headers_mut(), timed.get().left());
        }
        if self.config.catch_panics {
            return match contain(|| self.inner.call(request)) {
                Ok(future) => TerminalStateFuture::called(future, timed),
                Err(panicked) => TerminalStateFuture::failed(panicked_at_once(panicked, timed.as_mut().flight())),
            };
        }
        TerminalStateFuture::called(self.inner.call(request), timed)
    }
}

impl<S, O> TerminalStateService<S, O>
where
    O: Observe,
{
    /// What is to be known of a call while it lasts.
    #[inline(always)]
    fn begin<B>(&self, request: &mut Request<B>) -> Boxed<O> {
        let call = call::come_past(request, Rank::Terminal, &self.config.order);
        let overrides = request.extensions().get::<LimitOverrides>();
        let asked = match call.binding() {
            Some(Binding::Grpc) => call::grpc_timeout(request.headers()),
            _ => None,
        };
        let target = call.target().is_none().then(|| request.uri().clone());
        // A POST that no `CallLayer` read.
        let unread = request.method() == Method::POST && call.began().is_none();
        let mut timed = Timed::boxed(Arc::clone(&self.config), call, target, overrides, asked, unread);
        let flight = timed.as_mut().flight();
        if self.config.recovery.is_some() {
            flight.origin = Origin::of(&flight.call, request).map(Box::new);
        }
        #[cfg(feature = "tracing")]
        if self.config.observer.listens() {
            flight.span = request.extensions().get::<crate::observability::CallSpan>().cloned();
        }
        timed
    }
}

#[inline(never)]
fn send_timeout(headers: &mut HeaderMap, left: Duration) {
    if let Ok(left) = HeaderValue::try_from(format_timeout(left)) {
        headers.insert("grpc-timeout", left);
    }
}

#[cold]
fn panicked_at_once<O>(panicked: Panicked, flight: &mut Flight<O>) -> CallError
where
    O: Observe,
{
    let error = flight.panicked(panicked);
    flight.fail(&error);
    error
}

impl Readiness {
    /// Ready when the client has not become so within `bound`.
    fn poll_bound(&mut self, cx: &mut Context<'_>, bound: Duration) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(bound)));
        // Where the task's budget is spent, the timer does not say whether it fired.
        if sleep.as_mut().poll(cx).is_pending() && (coop::has_budget_remaining() || Instant::now() < sleep.deadline()) {
            return Poll::Pending;
        }
        // A handle that nobody polled for a while has not waited. Its time starts again, once: a runtime that is late
        // each time must not wait for ever.
        let late = Instant::now().saturating_duration_since(sleep.deadline());
        if late > LEFT_ALONE && !self.begun_again {
            self.begun_again = true;
            sleep.as_mut().reset(Instant::now() + bound);
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
        *self = Self { failed: Some(NotReady::Timeout(bound)), ..Self::default() };
        Poll::Ready(())
    }
}

impl NotReady {
    /// How a call ends that meets it.
    #[cold]
    fn into_error<O>(self, flight: &mut Flight<O>) -> CallError
    where
        O: Observe,
    {
        let error = match self {
            Self::Timeout(bound) => {
                let mut failure = flight.failure(OutcomeKind::Timeout, Class::Ready, "the client below was not ready");
                failure.bound = Some(bound);
                failure.never_sent = true;
                CallError::new(failure)
            }
            Self::Error(error) => flight.lost(error, true),
            Self::Panicked(panicked) => flight.panicked_unsent(panicked),
        };
        flight.fail(&error);
        error
    }
}
