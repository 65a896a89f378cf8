//! How calls fail: one error type for the whole crate, with everything that an operator or a retry policy needs.
//!
//! ```
//! use a2a_guard::{CallError, CallLayer, Class, OutcomeKind, Retry, TerminalStateLayer};
//! # use a2a_guard::CallBody;
//! # use bytes::Bytes;
//! # use http_body_util::Full;
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let client = tower::service_fn(|_: http::Request<CallBody<Full<Bytes>>>| async {
//! #     let busy = http::Response::builder().status(503).header("retry-after", "7");
//! #     Ok::<_, std::convert::Infallible>(busy.body(Full::<Bytes>::from("busy")).unwrap())
//! # });
//! // An agent that is busy.
//! let agent = ServiceBuilder::new().layer(CallLayer::new()).layer(TerminalStateLayer::new()).service(client);
//! let call = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}"#;
//! let request = http::Request::post("https://agent.example.com/a2a").body(Full::from(call))?;
//! let error: CallError = agent.oneshot(request).await.unwrap_err();
//!
//! // What happened, and what can be done about it.
//! assert_eq!((error.outcome(), error.class()), (OutcomeKind::Refused, Class::Unavailable));
//! assert_eq!((error.retry(), error.retry_after().map(|after| after.as_secs())), (Retry::After, Some(7)));
//! assert_eq!((error.task_id(), error.shape().to_string()), (Some("t-1"), "GetTask over JSONRPC 1.0".to_owned()));
//! // One line for an operator.
//! assert!(error.to_string().starts_with("refused/unavailable: "));
//! # Ok(())
//! # }
//! ```

mod card;
mod display;
mod failure;
mod foreign;
mod kinds;
mod place;
mod recognise;
mod response;
mod retry;
mod stale;

pub use self::{
    card::CardFailure,
    kinds::{
        AgentCardResolutionError, CapabilityTimeout, Refusal, StaleAgentCardError, TransportError,
        UntypedRuntimeFailure,
    },
    response::PeerResponse,
    retry::Retry,
};
pub(crate) use self::{
    failure::{Failure, Seen, Told},
    foreign::{broke_off, lost, turned_away},
    place::without_secrets,
    recognise::{call_error_in, chain, recognise},
};

use std::{error::Error as StdError, fmt, sync::Arc, time::Duration};

use http::StatusCode;

use crate::{
    call::{Call, Capability, Operation, Shape},
    outcome::{Class, OutcomeKind},
    wire::{A2aError, PeerError, TaskState, Tolerated},
};

/// Any error that fits into a service stack.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// Why a call failed. Every variant names capability, shape, target, elapsed time and cause.
///
/// It is a pointer and a tag, cheap to clone: the facts are shared. It is recognised when it arrives boxed through
/// foreign middleware, and never wrapped twice.
#[derive(Clone)]
#[non_exhaustive]
pub enum CallError {
    /// The peer said no in a defined way.
    Refused(Refusal),
    /// The peer failed in a way that no protocol types; typed here.
    Untyped(UntypedRuntimeFailure),
    /// A bound was reached.
    Timeout(CapabilityTimeout),
    /// Refused before it was sent, because of what the target's card says or lacks.
    Card(AgentCardResolutionError),
    /// A routing signal: what the agent's card says about this place is stale.
    Stale(StaleAgentCardError),
    /// The connection failed.
    Transport(TransportError),
}

/// What all failures of a promised capability have in common: the capability, the shape in which it was asked for, and
/// the cause.
pub trait CapabilityNegotiationError: StdError {
    /// The capability that the operation needs, if it needs one.
    fn capability(&self) -> Option<Capability>;
    /// What exactly was asked.
    fn shape(&self) -> Shape;
    /// The cause: what stood in the way.
    fn class(&self) -> Class;
}

impl CallError {
    pub(crate) fn new(mut failure: Failure) -> Self {
        if stale::is_of_skill(&failure) {
            (failure.kind, failure.class) = (OutcomeKind::Stale, Class::SkillUnavailable);
        }
        let kind = failure.kind;
        let failure = Arc::new(failure);
        match kind {
            OutcomeKind::Refused => Self::Refused(Refusal(failure)),
            OutcomeKind::Timeout => Self::Timeout(CapabilityTimeout(failure)),
            OutcomeKind::Card => Self::Card(AgentCardResolutionError(failure)),
            OutcomeKind::Stale => Self::Stale(StaleAgentCardError(failure)),
            OutcomeKind::Transport => Self::Transport(TransportError(failure)),
            _ => Self::Untyped(UntypedRuntimeFailure(failure)),
        }
    }

    pub(crate) fn failure(&self) -> &Failure {
        match self {
            Self::Refused(Refusal(failure))
            | Self::Untyped(UntypedRuntimeFailure(failure))
            | Self::Timeout(CapabilityTimeout(failure))
            | Self::Card(AgentCardResolutionError(failure))
            | Self::Stale(StaleAgentCardError(failure))
            | Self::Transport(TransportError(failure)) => failure,
        }
    }

    fn peer(&self) -> Option<&PeerError> {
        self.failure().peer.as_deref()
    }

    /// How the call ended.
    #[must_use]
    pub fn outcome(&self) -> OutcomeKind {
        self.failure().kind
    }

    /// What exactly happened.
    #[must_use]
    pub fn class(&self) -> Class {
        self.failure().class
    }

    /// The call that failed.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.failure().call
    }

    /// The capability that the operation needs, if it needs one.
    #[must_use]
    pub fn capability(&self) -> Option<Capability> {
        self.call().capability()
    }

    /// What exactly was asked.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.call().shape()
    }

    /// How long the call took to fail, from [`CallLayer`](crate::CallLayer) on.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.failure().elapsed
    }

    /// The status of the response head, if one came; never the number inside an error object.
    #[must_use]
    pub fn http_status(&self) -> Option<StatusCode> {
        self.failure().seen.status
    }

    /// The JSON-RPC code, if the peer gave one.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        self.peer().and_then(|peer| peer.code)
    }

    /// `ErrorInfo.reason` under the specification's domain (§9.5, §11.6).
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.peer().and_then(|peer| peer.reason.as_deref())
    }

    /// The message of the peer's error object, as it came: escape it before it reaches a log.
    #[must_use]
    pub fn peer_message(&self) -> Option<&str> {
        self.peer().and_then(|peer| peer.message.as_deref())
    }

    /// The error of the specification (§3.3.2, §5.4), normalised over the bindings: by reason, then code, then status,
    /// and never guessed when errors share a status. `InvalidAgentResponse` for everything with outcome `broken`.
    #[must_use]
    pub fn a2a_error(&self) -> Option<A2aError> {
        match self.outcome() {
            OutcomeKind::Broken => Some(A2aError::InvalidAgentResponse),
            OutcomeKind::Refused | OutcomeKind::Stale => {
                let status = self.http_status().map(|status| status.as_u16());
                self.peer().and_then(|peer| peer.kind(status))
            }
            OutcomeKind::Card => self.failure().card.as_deref().and_then(CardFailure::a2a_error),
            _ => None,
        }
    }

    /// The gRPC status code, if the peer gave one: over HTTP+JSON, by the name in its `google.rpc.Status` (§11.6).
    #[must_use]
    pub fn grpc_code(&self) -> Option<i32> {
        self.peer().and_then(|peer| peer.status.as_deref()).and_then(crate::wire::grpc::code::code_of_name)
    }

    /// Whether the request may be sent again.
    #[must_use]
    pub fn retry(&self) -> Retry {
        retry::of(self.failure())
    }

    /// How long the peer asked to wait (`Retry-After`, or a `RetryInfo` detail). If a card could not be had: at least
    /// as long as that failure is remembered.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let of_card = self.failure().card.as_ref().and_then(|card| card.retry_after());
        let of_head = self.failure().seen.retry_after.max(of_card);
        of_head.or_else(|| self.peer().and_then(|peer| peer.retry_after))
    }

    /// Whether the agent may have begun to work. False only if the request cannot have reached it, or was refused
    /// before any work.
    #[must_use]
    pub fn work_may_have_started(&self) -> bool {
        retry::work_may_have_started(self.failure())
    }

    /// The task, if the answer or the request named one.
    #[must_use]
    pub fn task_id(&self) -> Option<&str> {
        self.failure().seen.task_id.as_deref().or_else(|| self.call().task_id())
    }

    /// The last state of the task that was seen.
    #[must_use]
    pub fn task_state(&self) -> Option<TaskState> {
        self.failure().seen.task_state
    }

    /// How many events of a stream were good before it failed.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.failure().seen.events
    }

    /// Where the peer was slightly wrong before it failed, but was understood all the same.
    #[must_use]
    pub fn tolerated(&self) -> Tolerated {
        self.failure().seen.tolerated
    }

    /// The `WWW-Authenticate` header of the peer's answer; over gRPC it may stand in the trailers.
    #[must_use]
    pub fn www_authenticate(&self) -> Option<&str> {
        let of_card = || self.failure().card.as_ref().and_then(|card| card.www_authenticate());
        let trailers = || self.response().and_then(|response| response.trailers.as_ref());
        let of_trailers = || trailers()?.get(http::header::WWW_AUTHENTICATE)?.to_str().ok();
        self.header(http::header::WWW_AUTHENTICATE).or_else(of_trailers).or_else(of_card)
    }

    /// The `Location` header of the peer's answer, as it came. Redirects are not followed.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        self.header(http::header::LOCATION)
    }

    /// The region that lacks the skill, as the peer says (-32004 with a region).
    #[must_use]
    pub fn region(&self) -> Option<&str> {
        self.peer().and_then(|peer| peer.region.as_deref())
    }

    /// The skills that are there instead, as the peer says (-32004 with available skills).
    #[must_use]
    pub fn available_skills(&self) -> Option<&[String]> {
        self.peer().and_then(|peer| peer.available_skills.as_deref())
    }

    /// The peer's own answer to a call that it refused, kept so that it can be replayed unchanged.
    #[must_use]
    pub fn response(&self) -> Option<&PeerResponse> {
        self.failure().response.as_ref()
    }

    /// The bound that was reached.
    #[must_use]
    pub fn bound(&self) -> Option<Duration> {
        self.failure().bound
    }

    /// The operations that tell what became of the work, in the order to try them.
    #[must_use]
    pub fn next_operations(&self) -> &'static [Operation] {
        retry::next_operations(self)
    }

    /// Whether this says "not here": the card or availability entry is stale; re-fetch and re-route, do not escalate.
    #[must_use]
    pub fn is_routing_signal(&self) -> bool {
        self.outcome() == OutcomeKind::Stale
            || self.class() == Class::EndpointNotFound
            || self.region().is_some()
            || self.available_skills().is_some()
    }

    fn header(&self, name: http::HeaderName) -> Option<&str> {
        self.response()?.headers.get(name)?.to_str().ok()
    }
}

impl CapabilityNegotiationError for CallError {
    fn capability(&self) -> Option<Capability> {
        Self::capability(self)
    }

    fn shape(&self) -> Shape {
        Self::shape(self)
    }

    fn class(&self) -> Class {
        Self::class(self)
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::line(self.failure(), self, f)
    }
}

impl fmt::Debug for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallError").field(&format_args!("{self}")).finish()
    }
}

impl StdError for CallError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.failure().source_of(|| self.clone())
    }
}
