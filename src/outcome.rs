//! How calls end, in a closed vocabulary. The words are stable: use them as metric labels.
//!
//! ```
//! use a2a_guard::{CallLayer, Outcome, TerminalStateLayer};
//! # use a2a_guard::CallBody;
//! # use bytes::Bytes;
//! # use http_body_util::Full;
//! use std::sync::{Arc, Mutex};
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let client = tower::service_fn(|_: http::Request<CallBody<Full<Bytes>>>| async {
//! #     let page = http::Response::builder().header("content-type", "text/html");
//! #     Ok::<_, std::convert::Infallible>(page.body(Full::<Bytes>::from("<html>")).unwrap())
//! # });
//! let words = Arc::new(Mutex::new(Vec::new()));
//! let observer = {
//!     let words = Arc::clone(&words);
//!     move |outcome: &Outcome<'_>| words.lock().unwrap().push(format!("{}/{}", outcome.kind(), outcome.class()))
//! };
//! // An agent behind a sign-in page.
//! let agent = ServiceBuilder::new()
//!     .layer(CallLayer::new())
//!     .layer(TerminalStateLayer::builder().observe(observer).build()?)
//!     .service(client);
//! let call = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}"#;
//! let request = http::Request::post("https://agent.example.com/a2a").body(Full::from(call))?;
//! assert!(agent.oneshot(request).await.is_err());
//! assert_eq!(*words.lock().unwrap(), ["broken/wrong_media_type"]);
//! # Ok(())
//! # }
//! ```

use std::{fmt, sync::Arc, time::Duration};

use http::{Extensions, StatusCode, Uri};
use tokio::time::Instant;

use crate::{
    call::Call,
    error::{CallError, Told},
    wire::{TaskState, Tolerated},
};

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OutcomeKind {
    /// The peer did what was asked. A task that failed is a successful call.
    Success,
    /// The peer said no in a defined way.
    Refused,
    /// The peer failed in a way that no protocol types; typed here.
    Broken,
    /// A bound was reached.
    Timeout,
    /// Refused before it was sent, because of what the agent's card says or lacks.
    Card,
    /// A routing signal: the card or availability entry is stale; re-fetch and re-route.
    Stale,
    /// The connection failed.
    Transport,
    /// The caller dropped the call before it ended.
    Abandoned,
}

impl OutcomeKind {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Refused => "refused",
            Self::Broken => "broken",
            Self::Timeout => "timeout",
            Self::Card => "card",
            Self::Stale => "stale",
            Self::Transport => "transport",
            Self::Abandoned => "abandoned",
        }
    }

    /// Every outcome there is.
    pub const ALL: &'static [Self] = &[
        Self::Success,
        Self::Refused,
        Self::Broken,
        Self::Timeout,
        Self::Card,
        Self::Stale,
        Self::Transport,
        Self::Abandoned,
    ];
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// The class of an outcome: what exactly happened.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Class {
            $($(#[$doc])* $name,)*
        }

        impl Class {
            /// The stable word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// Every class there is.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

classes! {
    /// Success.
    Success = "success",
    /// Refused: a JSON-RPC error, a `google.rpc.Status`, problem details, a `grpc-status`.
    PeerError = "peer_error",
    /// Refused: 401, 403, 407; gRPC `UNAUTHENTICATED` and `PERMISSION_DENIED`.
    Auth = "auth",
    /// Refused: 429; gRPC `RESOURCE_EXHAUSTED` with a `RetryInfo`.
    RateLimited = "rate_limited",
    /// Refused: 503; gRPC `UNAVAILABLE`.
    Unavailable = "unavailable",
    /// Refused: 404, 405 or 410 without a body that says more: a missing route, not a missing task.
    EndpointNotFound = "endpoint_not_found",
    /// Refused: 3xx. Redirects are not followed.
    Redirected = "redirected",
    /// Refused: 415.
    UnsupportedMedia = "unsupported_media",
    /// Refused: 413. Broken: a body or an event over its cap. Card: a card over its cap.
    TooLarge = "too_large",
    /// Broken: any other status without a typed error. Card: the card's.
    HttpStatus = "http_status",
    /// Broken: a success of a media type that cannot be one.
    WrongMediaType = "wrong_media_type",
    /// Broken: not JSON, JSON cut short, or garbage after it; not a gRPC message.
    Malformed = "malformed",
    /// Broken: JSON that is no valid envelope or result, or the answer to another call.
    ProtocolViolation = "protocol_violation",
    /// Broken: a clean end with nothing in it.
    Empty = "empty",
    /// Broken: ended before the task came to rest, or without a `grpc-status`.
    Truncated = "truncated",
    /// Broken: one result where a stream was asked for.
    SilentDowngrade = "silent_downgrade",
    /// Broken: a content coding that nobody decoded.
    ContentEncoding = "content_encoding",
    /// Timeout: the client below did not become ready.
    Ready = "ready",
    /// Timeout: no response head.
    Head = "head",
    /// Timeout: a head, but no event.
    FirstEvent = "first_event",
    /// Timeout: no bytes.
    Idle = "idle",
    /// Timeout: bytes, but no event.
    EventGap = "event_gap",
    /// Timeout: the whole call.
    Total = "total",
    /// Card: none at any location.
    NotFound = "not_found",
    /// Card: 401 or 403.
    Unauthorized = "unauthorized",
    /// Card: not JSON.
    NotJson = "not_json",
    /// Card: not fetched in time.
    FetchTimeout = "fetch_timeout",
    /// Card: a required field is missing.
    MissingField = "missing_field",
    /// Card: a URL that cannot be called.
    UnusableUrl = "unusable_url",
    /// Card: no interface of the card is the target.
    UrlMismatch = "url_mismatch",
    /// Card: the request carries another tenant.
    TenantMismatch = "tenant_mismatch",
    /// Card: no interface that the client speaks.
    NoCompatibleInterface = "no_compatible_interface",
    /// Card: a binding that the client speaks, but in none of the client's versions.
    UnsupportedVersion = "unsupported_version",
    /// Card: the capability that the operation needs is not declared.
    CapabilityMissing = "capability_missing",
    /// Card: a required extension is missing.
    ExtensionMissing = "extension_missing",
    /// Card: a shape that the capability does not admit.
    ShapeNotAdmitted = "shape_not_admitted",
    /// Card: no valid signature.
    Signature = "signature",
    /// Stale: the skill is not available here.
    SkillUnavailable = "skill_unavailable",
    /// Stale: a probe found something other than A2A at the endpoint.
    EndpointNotConforming = "endpoint_not_conforming",
    /// Transport: no connection.
    Connect = "connect",
    /// Transport: the connection was lost before a response head came.
    ConnectionLost = "connection_lost",
    /// Transport: no secure connection.
    Tls = "tls",
    /// Abandoned by the caller.
    Abandoned = "abandoned",
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How one call ended, as an [`Observe`]r sees it. There is exactly one for each call.
#[derive(Debug)]
pub struct Outcome<'a> {
    pub(crate) kind: OutcomeKind,
    pub(crate) class: Class,
    pub(crate) call: &'a Call,
    pub(crate) target: Option<&'a Uri>,
    pub(crate) error: Option<&'a CallError>,
    pub(crate) status: Option<StatusCode>,
    pub(crate) grpc_code: Option<u8>,
    pub(crate) task_id: Option<&'a str>,
    pub(crate) task_state: Option<TaskState>,
    pub(crate) events: u64,
    pub(crate) tolerated: Tolerated,
    pub(crate) began: Instant,
    pub(crate) first_event: Option<Instant>,
    pub(crate) bytes: u64,
    #[cfg(feature = "tracing")]
    pub(crate) span: Option<&'a crate::observability::CallSpan>,
}

impl<'a> Outcome<'a> {
    /// That of a call which did not come down to where its end is judged.
    pub(crate) fn of_error(error: &'a CallError) -> Self {
        let call = error.call();
        Self {
            kind: error.outcome(),
            class: error.class(),
            call,
            target: call.target(),
            error: Some(error),
            status: error.http_status(),
            grpc_code: None,
            task_id: error.task_id(),
            task_state: error.task_state(),
            events: error.events(),
            tolerated: error.tolerated(),
            began: call.began().unwrap_or_else(Instant::now),
            first_event: None,
            bytes: 0,
            #[cfg(feature = "tracing")]
            span: None,
        }
    }

    /// That of a call whose caller let go of it before it came down there.
    pub(crate) fn of_abandoned(call: &'a Call) -> Self {
        Self {
            kind: OutcomeKind::Abandoned,
            class: Class::Abandoned,
            call,
            target: call.target(),
            error: None,
            status: None,
            grpc_code: None,
            task_id: call.task_id(),
            task_state: None,
            events: 0,
            tolerated: Tolerated::default(),
            began: call.began().unwrap_or_else(Instant::now),
            first_event: None,
            bytes: 0,
            #[cfg(feature = "tracing")]
            span: None,
        }
    }

    /// The same of a call whose request has these, for who fills its span.
    pub(crate) fn within(self, extensions: &'a Extensions) -> Self {
        #[cfg(feature = "tracing")]
        let outcome = Self { span: extensions.get(), ..self };
        #[cfg(not(feature = "tracing"))]
        let (outcome, _) = (self, extensions);
        outcome
    }

    /// The outcome.
    #[must_use]
    pub fn kind(&self) -> OutcomeKind {
        self.kind
    }

    /// Its class.
    #[must_use]
    pub fn class(&self) -> Class {
        self.class
    }

    /// The call that ended.
    #[must_use]
    pub fn call(&self) -> &'a Call {
        self.call
    }

    /// The URI that the request was sent to.
    #[must_use]
    pub fn target(&self) -> Option<&'a Uri> {
        self.target
    }

    /// The error that the caller gets, if it gets one.
    #[must_use]
    pub fn error(&self) -> Option<&'a CallError> {
        self.error
    }

    /// The status of the response head, if one came.
    #[must_use]
    pub fn http_status(&self) -> Option<StatusCode> {
        self.status
    }

    /// The gRPC status code of a call that was refused with one, also if its answer passed as it was.
    #[must_use]
    pub fn grpc_code(&self) -> Option<i32> {
        self.grpc_code.map(i32::from).or_else(|| self.error.and_then(CallError::grpc_code))
    }

    /// The task, if the answer named one.
    #[must_use]
    pub fn task_id(&self) -> Option<&'a str> {
        self.task_id
    }

    /// The last state of the task, spelled as on the wire.
    ///
    /// It tells whether a blocking send has finished its task, or ended with the task still working.
    #[must_use]
    pub fn task_state(&self) -> Option<TaskState> {
        self.task_state
    }

    /// How many events of a stream were judged and found good.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Where the peer was slightly wrong but was understood all the same.
    #[must_use]
    pub fn tolerated(&self) -> Tolerated {
        self.tolerated
    }

    /// From the call's beginning to the first event of its stream, if one came.
    #[must_use]
    pub fn first_event(&self) -> Option<Duration> {
        self.first_event.map(|at| at.saturating_duration_since(self.began))
    }

    /// How many bytes of the answer's body came before the call ended, as the layer saw them: decoded if a
    /// decompression layer is below it.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Time since the call began (in [`CallLayer`](crate::CallLayer), if there is one). Reads the clock.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

/// Tells an observer of a call that failed before it came down to where its end is judged, unless one was told of it.
pub(crate) fn tell<O>(observer: &O, outcome: &Outcome<'_>)
where
    O: Observe,
{
    let told = outcome.error.map(|error| &error.failure().told);
    if !observer.listens() || told.is_some_and(Told::is_set) {
        return;
    }
    if let Some(told) = told {
        told.set();
    }
    observer.observe(outcome);
}

#[cfg(test)]
impl<'a> Outcome<'a> {
    pub(crate) fn of_nothing(call: &'a Call) -> Self {
        Self {
            kind: OutcomeKind::Success,
            class: Class::Success,
            call,
            target: None,
            error: None,
            status: None,
            grpc_code: None,
            task_id: None,
            task_state: None,
            events: 0,
            tolerated: Tolerated::default(),
            began: Instant::now(),
            first_event: None,
            bytes: 0,
            #[cfg(feature = "tracing")]
            span: None,
        }
    }
}

/// Told of each call's end.
///
/// A closure over `&Outcome<'_>` is one; so is a pair of observers ([`and`](Self::and)), an `Option` and an `Arc` of one.
/// `()`, the default, observes nothing and costs nothing. An observer is called where the call ends, on a path that others
/// wait for (even in a `Drop`): count, do not block.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
/// use a2a_guard::{Observe, Outcome, OutcomeKind, TerminalStateLayer};
///
/// /// How the agent does, apart from what it is asked.
/// #[derive(Default)]
/// struct Health {
///     good: AtomicU64,
///     bad: AtomicU64,
/// }
///
/// impl Observe for Health {
///     fn observe(&self, outcome: &Outcome<'_>) {
///         match outcome.kind() {
///             OutcomeKind::Success | OutcomeKind::Refused => self.good.fetch_add(1, Ordering::Relaxed),
///             OutcomeKind::Broken | OutcomeKind::Timeout | OutcomeKind::Transport => {
///                 self.bad.fetch_add(1, Ordering::Relaxed)
///             }
///             // Never sent, or nobody waited for the end.
///             _ => 0,
///         };
///     }
/// }
///
/// let slow = |outcome: &Outcome<'_>| {
///     if outcome.elapsed().as_secs() > 10 {
///         eprintln!("{}: {}/{}", outcome.call().shape(), outcome.kind(), outcome.class());
///     }
/// };
/// let health = Arc::new(Health::default());
/// let layer = TerminalStateLayer::builder().observe(Arc::clone(&health).and(slow)).build()?;
/// # let _ = layer;
/// # Ok::<(), a2a_guard::ConfigError>(())
/// ```
pub trait Observe {
    /// Whether anybody listens: if not, no outcome is put together.
    #[doc(hidden)]
    fn listens(&self) -> bool {
        true
    }

    /// Takes note of an outcome.
    fn observe(&self, outcome: &Outcome<'_>);

    /// This observer, and then another one.
    fn and<O>(self, other: O) -> (Self, O)
    where
        Self: Sized,
        O: Observe,
    {
        (self, other)
    }
}

impl Observe for () {
    fn listens(&self) -> bool {
        false
    }

    fn observe(&self, _: &Outcome<'_>) {}
}

/// Both, in this order.
impl<A, B> Observe for (A, B)
where
    A: Observe,
    B: Observe,
{
    fn listens(&self) -> bool {
        self.0.listens() || self.1.listens()
    }

    fn observe(&self, outcome: &Outcome<'_>) {
        self.0.observe(outcome);
        self.1.observe(outcome);
    }
}

/// Chosen at run time: `None` observes nothing.
impl<O> Observe for Option<O>
where
    O: Observe,
{
    fn listens(&self) -> bool {
        self.as_ref().is_some_and(Observe::listens)
    }

    fn observe(&self, outcome: &Outcome<'_>) {
        if let Some(observer) = self {
            observer.observe(outcome);
        }
    }
}

/// Shared between layers, or with whoever reads it.
impl<O> Observe for Arc<O>
where
    O: Observe + ?Sized,
{
    fn listens(&self) -> bool {
        (**self).listens()
    }

    fn observe(&self, outcome: &Outcome<'_>) {
        (**self).observe(outcome);
    }
}

impl<F> Observe for F
where
    F: Fn(&Outcome<'_>),
{
    fn observe(&self, outcome: &Outcome<'_>) {
        self(outcome);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn an_observer_may_be_chosen_at_run_time() {
        let observers: [&dyn Observe; 2] = [&(), &|_: &Outcome<'_>| {}];
        assert_eq!(observers.map(Observe::listens), [false, true]);
    }

    #[test]
    fn observers_are_told_in_order_and_listen_if_one_does() {
        let told = Mutex::new(Vec::new());
        let note = |name: &'static str| {
            let told = &told;
            move |_: &Outcome<'_>| told.lock().unwrap().push(name)
        };
        let shared: Arc<dyn Observe + '_> = Arc::new(note("third"));
        let all = note("first").and(Some(note("second"))).and(shared).and(());
        assert!(all.listens());
        all.observe(&Outcome::of_nothing(&Call::new()));
        assert_eq!(*told.lock().unwrap(), ["first", "second", "third"]);
        assert!(!().and(None::<fn(&Outcome<'_>)>).and(Arc::new(())).listens());
    }

    #[test]
    fn the_words_are_stable_and_distinct() {
        let words: std::collections::BTreeSet<_> = Class::ALL.iter().map(|class| class.as_str()).collect();
        assert_eq!(words.len(), Class::ALL.len());
        assert!(words.iter().all(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
        assert_eq!(OutcomeKind::Abandoned.to_string(), "abandoned");
    }
}
