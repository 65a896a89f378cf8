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

mod observe;
mod words;

use std::time::Duration;

use http::{Extensions, StatusCode, Uri};
use tokio::time::Instant;

use crate::{
    call::Call,
    error::CallError,
    wire::{TaskState, Tolerated},
};

pub(crate) use self::observe::tell;
pub use self::{
    observe::Observe,
    words::{Class, OutcomeKind},
};

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
