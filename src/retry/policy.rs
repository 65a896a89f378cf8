use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http::Request;
use http_body::Body;
use tokio::time::Sleep;
use tower::retry::{
    Policy,
    budget::{Budget, TpsBudget},
};

use super::{pause::Pause, transient::is_transient};
use crate::{
    call::{self, Binding, Call, CallBody, Operation},
    error::{CallError, Retry, call_error_in},
    limits::{LimitOverrides, Limits},
};

/// Sends a call again if that is safe and may help.
///
/// It is for tower's `RetryLayer`, directly below [`CallLayer`](crate::CallLayer), which reads the request and starts
/// the clock of `total`: all attempts and pauses together are held to it. The layers below see each attempt as a call
/// of its own, with the extensions of the first.
///
/// The request is kept for a retry, its body shared, until the call has its answer.
///
/// ```
/// use a2a_guard::{CallLayer, Limits, TerminalStateLayer, retry::RetryPolicy};
/// use std::time::Duration;
/// use tower::{ServiceBuilder, retry::RetryLayer};
///
/// let limits = Limits::within(Duration::from_secs(60)).head(Duration::from_secs(15));
/// let layers = ServiceBuilder::new()
///     .layer(CallLayer::new())
///     .layer(RetryLayer::new(RetryPolicy::new().limits(limits.clone())))
///     .layer(TerminalStateLayer::builder().limits(limits).build()?);
/// # let _ = layers;
/// # Ok::<(), a2a_guard::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct RetryPolicy {
    config: Arc<Config>,
    /// Of this call, so far.
    retries: u32,
}

#[derive(Clone)]
struct Config {
    attempts: u32,
    limits: Limits,
    operations: Vec<(Operation, LimitOverrides)>,
    pause: Pause,
    max_wait: Duration,
    budget: Arc<dyn Budget + Send + Sync>,
}

impl RetryPolicy {
    /// Three attempts; pauses from 100 ms, doubling up to 10 s; the default [`Limits`]; and a budget, over 10 s, of one
    /// retry for every five successes and 10 more a second.
    #[must_use]
    pub fn new() -> Self {
        let config = Config {
            attempts: 3,
            limits: Limits::default(),
            operations: Vec::new(),
            pause: Pause { first: Duration::from_millis(100), most: Duration::from_secs(10) },
            max_wait: Duration::MAX,
            budget: Arc::new(TpsBudget::default()),
        };
        Self { config: Arc::new(config), retries: 0 }
    }

    fn set(mut self, set: impl FnOnce(&mut Config)) -> Self {
        set(Arc::make_mut(&mut self.config));
        self
    }

    /// How often a call is sent at most, including the first time. 1 means no retry; 0 counts as 1. Default: 3.
    #[must_use]
    pub fn attempts(self, attempts: u32) -> Self {
        self.set(|config| config.attempts = attempts)
    }

    /// The bounds of calls, as [`TerminalStateLayer`](crate::TerminalStateLayer) below has them: a pause has to fit
    /// into what is left of the total. A [`LimitOverrides`] in a request's extensions and a `grpc-timeout` count as
    /// they do there. Default: [`Limits::default`].
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.set(|config| config.limits = limits)
    }

    /// Other bounds for one operation, as `TerminalStateLayer` below has them. Default: none.
    #[must_use]
    pub fn operation_limits(self, operation: Operation, overrides: LimitOverrides) -> Self {
        self.set(|config| config.operations.push((operation, overrides)))
    }

    /// The pause before the first retry, and the longest pause; it doubles in between, and each is drawn at random from
    /// its upper half. What the peer asks for comes on top. Default: 100 ms, 10 s.
    #[must_use]
    pub fn pause(self, first: Duration, most: Duration) -> Self {
        self.set(|config| config.pause = Pause { first, most })
    }

    /// The longest pause that a peer may ask for (`Retry-After`, `RetryInfo`); a peer that asks for a longer one is not
    /// called again. Default: none, so only the total bounds it.
    #[must_use]
    pub fn max_wait(self, wait: Duration) -> Self {
        self.set(|config| config.max_wait = wait)
    }

    /// What all calls through this policy and its clones may spend on retries: each success is a deposit, each retry a
    /// withdrawal. Default: [`TpsBudget::default`].
    #[must_use]
    pub fn budget(self, budget: impl Budget + Send + Sync + 'static) -> Self {
        self.set(|config| config.budget = Arc::new(budget))
    }

    /// Whether the attempt under way, or about to begin, is the last.
    fn is_last(&self) -> bool {
        self.retries.saturating_add(1) >= self.config.attempts
    }

    /// The total of a call, as the layer below reckons it.
    fn total_of<B>(&self, call: &Call, request: &Request<B>) -> Duration {
        let Config { limits, operations, .. } = &*self.config;
        let of_operation = operations.iter().filter(|(operation, _)| call.operation() == Some(*operation));
        let overrides = of_operation.map(|(_, by)| by).chain(request.extensions().get());
        let limits = overrides.fold(limits.clone(), |limits, by| limits.overridden(by));
        let is_grpc = call.binding() == Some(Binding::Grpc);
        let asked = if is_grpc { call::grpc_timeout(request.headers()) } else { None };
        asked.into_iter().fold(limits.total_of(call.is_streaming()), Duration::min)
    }

    /// How long to wait before the next attempt, if there is to be one.
    fn next<B>(&self, error: &CallError, request: &Request<B>) -> Option<Duration> {
        let Config { pause, max_wait, budget, .. } = &*self.config;
        // What came of a stream before it failed came of work that began.
        if self.is_last() || error.events() > 0 || !is_transient(error) {
            return None;
        }
        let pause = pause.before(self.retries);
        let wait = match (error.retry(), error.retry_after()) {
            (Retry::Safe | Retry::After, Some(asked)) if asked > *max_wait => return None,
            // Those who were all told the same time do not come back together.
            (Retry::Safe | Retry::After, Some(asked)) => asked.saturating_add(pause),
            (Retry::Safe | Retry::After, None) => pause,
            (Retry::Unsafe | Retry::AfterCredentials, _) => return None,
        };
        // What would begin when the call is over helps nobody.
        let left = self.total_of(error.call(), request).saturating_sub(error.elapsed());
        (wait < left && budget.withdraw()).then_some(wait)
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RetryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { attempts, limits, operations, pause, max_wait, .. } = &*self.config;
        f.debug_struct("RetryPolicy")
            .field("attempts", attempts)
            .field("limits", limits)
            .field("operations", operations)
            .field("pause", pause)
            .field("max_wait", max_wait)
            .finish_non_exhaustive()
    }
}

impl<B, R, E> Policy<Request<CallBody<B>>, R, E> for RetryPolicy
where
    B: Body<Data = Bytes>,
    E: 'static,
{
    type Future = Sleep;

    fn retry(&mut self, request: &mut Request<CallBody<B>>, result: &mut Result<R, E>) -> Option<Sleep> {
        match result {
            Ok(_) => {
                self.config.budget.deposit();
                None
            }
            Err(error) => {
                let error = call_error_in(error)?;
                let wait = self.next(&error, request)?;
                self.retries += 1;
                Some(tokio::time::sleep(wait))
            }
        }
    }

    fn clone_request(&mut self, request: &Request<CallBody<B>>) -> Option<Request<CallBody<B>>> {
        if self.is_last() {
            return None;
        }
        let mut again = Request::new(request.body().try_clone()?);
        *again.method_mut() = request.method().clone();
        *again.uri_mut() = request.uri().clone();
        *again.version_mut() = request.version();
        *again.headers_mut() = request.headers().clone();
        *again.extensions_mut() = request.extensions().clone();
        Some(again)
    }
}
