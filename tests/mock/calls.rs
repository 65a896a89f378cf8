use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use a2a_guard::{
    CallBody, CallError, CallLayer, CallService, Class, Observe, Outcome, OutcomeKind, TerminalStateBody,
    TerminalStateBuilder, TerminalStateService,
};
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use tokio::time::Instant;
use tower::{Layer, Service, ServiceExt};

use super::{Answer, MockBody, Peer};

/// What the observer was told of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Noted {
    pub(crate) kind: OutcomeKind,
    pub(crate) class: Class,
    pub(crate) status: Option<StatusCode>,
    pub(crate) task_id: Option<String>,
    pub(crate) state: Option<&'static str>,
    pub(crate) events: u64,
    pub(crate) tolerated: Vec<&'static str>,
    pub(crate) elapsed: Duration,
    pub(crate) first_event: Option<Duration>,
    /// Whether it was given the error that the caller got.
    pub(crate) error: bool,
}

impl Noted {
    /// `broken/truncated`
    pub(crate) fn word(&self) -> String {
        format!("{}/{}", self.kind, self.class)
    }
}

/// An observer that writes everything down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<Noted>>>);

impl Notes {
    pub(crate) fn all(&self) -> Vec<Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// `outcome/class` of each call so far.
    pub(crate) fn words(&self) -> Vec<String> {
        self.all().iter().map(Noted::word).collect()
    }

    /// What was told of the one call there was.
    pub(crate) fn one(&self) -> Noted {
        let mut all = self.all();
        assert_eq!(all.len(), 1, "not exactly one outcome: {all:?}");
        all.remove(0)
    }
}

impl Observe for Notes {
    fn observe(&self, outcome: &Outcome<'_>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Noted {
            kind: outcome.kind(),
            class: outcome.class(),
            status: outcome.http_status(),
            task_id: outcome.task_id().map(Into::into),
            state: outcome.task_state().map(|state| state.as_str()),
            events: outcome.events(),
            tolerated: outcome.tolerated().iter().collect(),
            elapsed: outcome.elapsed(),
            first_event: outcome.first_event(),
            error: outcome.error().is_some(),
        });
    }
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The head that the caller got, if it got one.
    pub(crate) status: Option<StatusCode>,
    pub(crate) headers: HeaderMap,
    /// What of the body it got.
    pub(crate) frames: Vec<Bytes>,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) error: Option<CallError>,
    /// From the call to the end of the body.
    pub(crate) elapsed: Duration,
    pub(crate) notes: Notes,
}

impl Ended {
    /// `broken/truncated`
    pub(crate) fn word(&self) -> String {
        match &self.error {
            Some(error) => format!("{}/{}", error.outcome(), error.class()),
            None => "success/success".into(),
        }
    }

    /// What became of the call, and when.
    pub(crate) fn fate(&self) -> (String, Duration) {
        (self.word(), self.elapsed)
    }

    pub(crate) fn error(&self) -> &CallError {
        self.error.as_ref().expect("a call that fails")
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.frames.concat()
    }
}

/// `CallLayer` and `TerminalStateLayer` around a [`Peer`].
pub(crate) type Stack = CallService<TerminalStateService<Peer<CallBody<Full<Bytes>>>, Notes>>;

pub(crate) fn stack(builder: TerminalStateBuilder, peer: Peer<CallBody<Full<Bytes>>>) -> (Stack, Notes) {
    let notes = Notes::default();
    let ending = builder.observe(notes.clone()).build().expect("a configuration without contradictions");
    (CallLayer::new().layer(ending.layer(peer)), notes)
}

/// Makes one call and reads its body to the end.
pub(crate) async fn call(builder: TerminalStateBuilder, request: Request<Full<Bytes>>, answer: Answer) -> Ended {
    let (mut stack, notes) = stack(builder, Peer::new([answer]));
    let started = Instant::now();
    let response: Result<Response<TerminalStateBody<MockBody, Notes>>, CallError> = match stack.ready().await {
        Ok(ready) => ready.call(request).await,
        Err(error) => Err(error),
    };
    read(started, response, notes).await
}

/// Reads a response to the end of its body.
pub(crate) async fn read<B>(started: Instant, response: Result<Response<B>, CallError>, notes: Notes) -> Ended
where
    B: Body<Data = Bytes, Error = CallError> + Unpin,
{
    let mut ended = Ended {
        status: None,
        headers: HeaderMap::new(),
        frames: Vec::new(),
        trailers: None,
        error: None,
        elapsed: Duration::ZERO,
        notes,
    };
    match response {
        Err(error) => ended.error = Some(error),
        Ok(response) => {
            let (head, mut body) = response.into_parts();
            ended.status = Some(head.status);
            ended.headers = head.headers;
            while let Some(frame) = body.frame().await {
                match frame.map(http_body::Frame::into_data) {
                    Ok(Ok(data)) => ended.frames.push(data),
                    Ok(Err(frame)) => ended.trailers = frame.into_trailers().ok(),
                    Err(error) => {
                        ended.error = Some(error);
                        break;
                    }
                }
            }
        }
    }
    ended.elapsed = started.elapsed();
    ended
}
