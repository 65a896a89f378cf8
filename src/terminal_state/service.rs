use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response};
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
    flight::{Flight, Timed},
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
        let call = call::come_past(&mut request, Rank::Terminal, &self.config.order);
        let target = call.target().is_none().then(|| request.uri().clone());
        let overrides = request.extensions().get::<LimitOverrides>();
        let is_grpc = call.binding() == Some(Binding::Grpc);
        let asked = if is_grpc { call::grpc_timeout(request.headers()) } else { None };
        let origin = match self.config.recovery {
            Some(_) => Origin::of(&call, &request).map(Box::new),
            None => None,
        };
        // A POST that no `CallLayer` read.
        let unread = request.method() == Method::POST && call.began().is_none();
        #[cfg(feature = "tracing")]
        let span = match self.config.observer.listens() {
            true => request.extensions().get::<crate::observability::CallSpan>().cloned(),
            false => None,
        };
        let mut flight = Flight::new(Arc::clone(&self.config), call, target, overrides, asked, origin, unread);
        #[cfg(feature = "tracing")]
        {
            flight.span = span;
        }
        if is_grpc
            && self.config.send_grpc_timeout
            && let Ok(left) = HeaderValue::try_from(format_timeout(flight.left()))
        {
            request.headers_mut().insert("grpc-timeout", left);
        }
        match self.readiness.failed.take() {
            None if self.config.catch_panics => match contain(|| self.inner.call(request)) {
                Ok(future) => TerminalStateFuture::called(future, Timed::boxed(flight)),
                Err(panicked) => {
                    let error = flight.panicked(panicked);
                    flight.fail(&error);
                    TerminalStateFuture::failed(error)
                }
            },
            None => TerminalStateFuture::called(self.inner.call(request), Timed::boxed(flight)),
            Some(failed) => {
                let error = failed.into_error(&flight);
                flight.fail(&error);
                TerminalStateFuture::failed(error)
            }
        }
    }
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
    fn into_error<O>(self, flight: &Flight<O>) -> CallError
    where
        O: Observe,
    {
        match self {
            Self::Timeout(bound) => {
                let mut failure = flight.failure(OutcomeKind::Timeout, Class::Ready, "the client below was not ready");
                failure.bound = Some(bound);
                failure.never_sent = true;
                CallError::new(failure)
            }
            Self::Error(error) => flight.lost(error, true),
            Self::Panicked(panicked) => flight.panicked_unsent(panicked),
        }
    }
}
