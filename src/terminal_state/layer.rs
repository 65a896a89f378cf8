use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use tower_layer::Layer;

use super::{Recovery, TerminalStateService};
use crate::{
    call::{Binding, Call, Operation, Order},
    limits::{Bounds, LimitOverrides, Limits, Totals},
    outcome::Observe,
    wire::KnownAnswers,
};

/// Makes every call end: in success, a typed refusal, or a typed timeout.
///
/// `Ok(response)` says that the peer succeeded. For a stream it says that the first event is in hand; the body tells
/// the rest, with the same [`CallError`](crate::CallError). Everything else is an `Err`.
///
/// It belongs directly above the client, or above a decompression layer if there is one. It goes by what a
/// [`CallLayer`](crate::CallLayer) above read off the request, or by the caller's own [`Call`]; without either, by path
/// and headers, which say enough for HTTP+JSON and gRPC but not for JSON-RPC. Calls that nobody can name get bounds and
/// caps only: their status and body pass.
///
/// A layer remembers how unary answers of four kinds were written that it found valid, at most 1 KiB of each: what is
/// like one of them, but for ids, times and texts, need not be read to be judged.
///
/// ```
/// use std::time::Duration;
/// use a2a_guard::{LimitOverrides, Limits, Operation, TerminalStateLayer};
///
/// let layer = TerminalStateLayer::builder()
///     .limits(Limits::default().idle(Duration::from_secs(60)))
///     .operation_limits(Operation::GetTask, LimitOverrides::default().head(Duration::from_secs(3)))
///     .observe(|outcome: &a2a_guard::Outcome<'_>| println!("{} {}", outcome.kind(), outcome.class()))
///     .build()?;
/// # Ok::<(), a2a_guard::ConfigError>(())
/// ```
pub struct TerminalStateLayer<O = ()> {
    config: Arc<Config<O>>,
}

/// What one layer is set to. Shared by its services and their calls.
pub(super) struct Config<O> {
    bounds: Bounds,
    per_operation: [Option<Box<Bounds>>; Operation::COUNT],
    pub(super) strict: bool,
    pub(super) adapt_downgrade: bool,
    send_grpc_timeout: bool,
    pub(super) catch_panics: bool,
    pub(super) observer: O,
    pub(super) recovery: Option<Recovery>,
    pub(super) order: Arc<Order>,
    /// What the answers to its calls look like.
    pub(super) known: Mutex<KnownAnswers>,
}

impl<O> Config<O> {
    pub(super) fn bounds(&self, call: &Call) -> &Bounds {
        call.operation().and_then(|o| self.per_operation[o.index()].as_deref()).unwrap_or(&self.bounds)
    }

    /// Whether the agent is told of the time that the call has left.
    #[inline]
    pub(super) fn sends_timeout_of(&self, call: &Call) -> bool {
        self.send_grpc_timeout && call.binding() == Some(Binding::Grpc)
    }

    /// The bound on readiness, which no call is known for yet.
    pub(super) fn ready(&self) -> std::time::Duration {
        self.bounds.ready
    }
}

impl TerminalStateLayer {
    /// With the default bounds; tolerant of slight faults; observed by nobody.
    #[must_use]
    pub fn new() -> Self {
        Self::observed(())
    }

    /// Sets bounds and options.
    pub fn builder() -> TerminalStateBuilder {
        TerminalStateBuilder {
            limits: Limits::default(),
            overrides: Vec::new(),
            strict: false,
            adapt_downgrade: false,
            send_grpc_timeout: false,
            catch_panics: false,
            observer: (),
            recovery: None,
        }
    }
}

impl<O> TerminalStateLayer<O> {
    /// The totals of calls, by operation.
    pub(crate) fn totals(&self) -> Totals {
        let bounds = |operation: Operation| {
            self.config.per_operation[operation.index()].as_deref().unwrap_or(&self.config.bounds)
        };
        let mut of = [Duration::ZERO; Operation::COUNT];
        for operation in Operation::ALL {
            of[operation.index()] = bounds(operation).total_of(operation.is_streaming());
        }
        Totals { of }
    }

    /// The default bounds, tolerant.
    pub(crate) fn observed(observer: O) -> Self
    where
        O: Observe,
    {
        // The defaults do not contradict each other; a test says so.
        TerminalStateLayer::builder().observe(observer).layer_of(Default::default())
    }
}

impl Default for TerminalStateLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<O> Clone for TerminalStateLayer<O> {
    fn clone(&self) -> Self {
        Self { config: Arc::clone(&self.config) }
    }
}

impl<O> fmt::Debug for TerminalStateLayer<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalStateLayer").field("limits", &*self.config.bounds).finish_non_exhaustive()
    }
}

impl<S, O> Layer<S> for TerminalStateLayer<O> {
    type Service = TerminalStateService<S, O>;

    fn layer(&self, inner: S) -> Self::Service {
        TerminalStateService::new(inner, Arc::clone(&self.config))
    }
}

/// Builds a [`TerminalStateLayer`].
#[derive(Clone)]
#[must_use = "a builder does nothing before `build`"]
pub struct TerminalStateBuilder<O = ()> {
    limits: Limits,
    overrides: Vec<(Operation, LimitOverrides)>,
    strict: bool,
    adapt_downgrade: bool,
    send_grpc_timeout: bool,
    catch_panics: bool,
    observer: O,
    recovery: Option<Recovery>,
}

impl<O> TerminalStateBuilder<O> {
    /// The bounds of all calls. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Other bounds for one operation, on top of [`limits`](Self::limits). `ready` cannot be among them: the client is
    /// waited for before the call is known.
    pub fn operation_limits(mut self, operation: Operation, overrides: LimitOverrides) -> Self {
        self.overrides.push((operation, overrides));
        self
    }

    /// Refuses, as `broken/protocol_violation`, answers that are slightly wrong, though a lenient reader understands
    /// them (see [`Outcome::tolerated`](crate::Outcome::tolerated)). Default: off.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Turns a single JSON result that answers a streaming call into a stream of one event, instead of refusing it as
    /// `broken/silent_downgrade`. Default: off.
    pub fn adapt_downgrade(mut self, adapt: bool) -> Self {
        self.adapt_downgrade = adapt;
        self
    }

    /// Tells gRPC agents, by `grpc-timeout`, how much time is left of the call's total. That replaces the caller's own
    /// `grpc-timeout`, which the total takes into account already. Default: off, and the caller's own passes as it is.
    ///
    /// An agent that keeps to it ends the call itself, with `DEADLINE_EXCEEDED` or, if it is written with tonic, with
    /// `CANCELLED` and "Timeout expired". That is a [`Refusal`](crate::Refusal) if it comes sooner than this layer's
    /// own [`CapabilityTimeout`](crate::CapabilityTimeout) of class `total`. A tonic client below keeps to it too,
    /// up to the response head; its error is then that same timeout, with tonic's as source.
    pub fn send_grpc_timeout(mut self, send: bool) -> Self {
        self.send_grpc_timeout = send;
        self
    }

    /// Catches panics of the service below, for a service that is not a client but an agent's own router: in
    /// `poll_ready` and `call`, in the future, and in the response's body. Default: off, and a panic unwinds
    /// through the layer.
    ///
    /// A panic before the response head is `broken/http_status`, like the 500 that a server would make of it, except
    /// that [`http_status`](crate::CallError::http_status) is `None`; after the head it is `broken/truncated`. What
    /// the panic said is the error's source, for the operator's log, and is not rendered to callers. The panic hook
    /// runs as always. Under `panic = "abort"` nothing is caught.
    ///
    /// A future or body that panics is dropped at once and never polled again. If dropping it panics too, that is
    /// caught as well, and so is a panic in any other drop of it. (Two destructors that panic in one drop abort the
    /// process, as they do everywhere.) The service stays and is called again, in whatever state the panic left it;
    /// an `axum::Router` has none.
    pub fn catch_panics(mut self, catch: bool) -> Self {
        self.catch_panics = catch;
        self
    }

    /// Is told of each call's end. Default: nobody.
    pub fn observe<P>(self, observer: P) -> TerminalStateBuilder<P>
    where
        P: Observe,
    {
        let Self { limits, overrides, strict, adapt_downgrade, send_grpc_timeout, catch_panics, observer: _, recovery } =
            self;
        TerminalStateBuilder {
            limits,
            overrides,
            strict,
            adapt_downgrade,
            send_grpc_timeout,
            catch_panics,
            observer,
            recovery,
        }
    }

    /// What to do about a task that a failed or abandoned call leaves behind. Default: nothing.
    pub fn recovery(mut self, recovery: Recovery) -> Self {
        self.recovery = Some(recovery);
        self
    }

    /// The layer.
    ///
    /// # Errors
    ///
    /// If the bounds contradict each other, are zero or so long that they bound nothing, or if the recovery does
    /// nothing. The error names the setting and the fix.
    pub fn build(self) -> Result<TerminalStateLayer<O>, ConfigError> {
        let limits = &self.limits;
        check(limits, None)?;
        if let Some(why) = self.recovery.as_ref().and_then(Recovery::does_nothing) {
            return Err(ConfigError { setting: "recovery", operation: None, why: why.into() });
        }
        let mut per_operation: [Option<Box<Bounds>>; Operation::COUNT] = Default::default();
        for (operation, by) in &self.overrides {
            let slot = &mut per_operation[operation.index()];
            let changed = slot.as_deref().map_or(limits, |bounds| bounds).overridden(by);
            check(&changed, Some(*operation))?;
            *slot = Some(Box::new(Bounds::new(changed)));
        }
        Ok(self.layer_of(per_operation))
    }

    fn layer_of(self, per_operation: [Option<Box<Bounds>>; Operation::COUNT]) -> TerminalStateLayer<O> {
        let Self { limits, overrides: _, strict, adapt_downgrade, send_grpc_timeout, catch_panics, observer, recovery } =
            self;
        let config = Config {
            bounds: Bounds::new(limits),
            per_operation,
            strict,
            adapt_downgrade,
            send_grpc_timeout,
            catch_panics,
            observer,
            recovery,
            order: Arc::default(),
            known: Mutex::default(),
        };
        TerminalStateLayer { config: Arc::new(config) }
    }
}

fn check(limits: &Limits, operation: Option<Operation>) -> Result<(), ConfigError> {
    match limits.contradiction(operation) {
        Some((setting, why)) => Err(ConfigError { setting, operation, why }),
        None => Ok(()),
    }
}

impl<O> fmt::Debug for TerminalStateBuilder<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalStateBuilder")
            .field("limits", &self.limits)
            .field("overrides", &self.overrides)
            .field("strict", &self.strict)
            .field("adapt_downgrade", &self.adapt_downgrade)
            .field("send_grpc_timeout", &self.send_grpc_timeout)
            .field("catch_panics", &self.catch_panics)
            .finish_non_exhaustive()
    }
}

/// A configuration that contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting}{} {why}", .operation.map(|o| format!(" of {o}")).unwrap_or_default())]
pub struct ConfigError {
    setting: &'static str,
    operation: Option<Operation>,
    why: String,
}

impl ConfigError {
    pub(crate) fn new(setting: &'static str, why: impl Into<String>) -> Self {
        Self { setting, operation: None, why: why.into() }
    }

    /// The setting that is wrong.
    #[must_use]
    pub fn setting(&self) -> &'static str {
        self.setting
    }

    /// The operation that it is set for, if it is not set for all.
    #[must_use]
    pub fn operation(&self) -> Option<Operation> {
        self.operation
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_contradiction_is_refused_when_built() {
        let error =
            TerminalStateLayer::builder().limits(Limits::default().total(Duration::from_secs(10))).build().unwrap_err();
        assert_eq!(
            error.to_string(),
            "head (30s) is above total_unary (10s): it could never be reached; lower it, or raise total_unary; \
             or begin with Limits::within, which cuts every bound to the total"
        );
    }

    #[test]
    fn so_is_one_of_a_single_operation() {
        let error = TerminalStateLayer::builder()
            .operation_limits(Operation::GetTask, LimitOverrides::default().idle(Duration::from_secs(601)))
            .build()
            .unwrap_err();
        assert_eq!((error.setting(), error.operation()), ("idle", Some(Operation::GetTask)));
        assert_eq!(
            error.to_string(),
            "idle of GetTask (601s) is above total_unary (600s): it could never be reached; lower it, or raise total_unary"
        );
    }
}
