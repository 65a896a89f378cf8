//! Makes one call, and notes all that can be seen of how it ended.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use a2a_guard::{
    CallError, CallLayer, Class, Limits, Observe, Outcome, OutcomeKind, TerminalStateBuilder, TerminalStateLayer,
};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use http_body::Body;
use http_body_util::BodyExt;
use tokio::{
    runtime::{Builder, Runtime},
    time::Instant,
};
use tower::{Layer, Service, ServiceExt};

use super::{
    peer::Peer,
    plan::{Caps, Plan},
    poll::Polls,
    upload::{Upload, Uploaded},
};

/// A runtime whose time stands still unless everybody waits.
#[must_use]
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime")
}

/// The small caps. What is sent without end is soon above them.
pub const SMALL: usize = 300;
/// The large ones are above every planned body, and not so large that a flood takes its time.
pub const LARGE: usize = 64 << 10;

/// What the observer was told.
#[derive(Clone, Debug, PartialEq)]
pub struct Noted {
    pub kind: OutcomeKind,
    pub class: Class,
    pub tolerated: Vec<&'static str>,
    pub task_id: Option<String>,
    pub events: u64,
    pub has_error: bool,
    pub elapsed: Duration,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Arc<Mutex<Vec<Noted>>>);

impl Notes {
    /// What was told since the last time.
    pub(super) fn take(&self) -> Vec<Noted> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observe for Notes {
    fn observe(&self, outcome: &Outcome<'_>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Noted {
            kind: outcome.kind(),
            class: outcome.class(),
            tolerated: outcome.tolerated().iter().collect(),
            task_id: outcome.task_id().map(Into::into),
            events: outcome.events(),
            has_error: outcome.error().is_some(),
            elapsed: outcome.elapsed(),
        });
    }
}

/// How a call ended.
#[derive(Debug, Default)]
pub struct Seen {
    /// The head that came, if one did.
    pub status: Option<StatusCode>,
    pub headers: HeaderMap,
    /// What of the body.
    pub bytes: Vec<u8>,
    pub trailers: Option<HeaderMap>,
    pub error: Option<CallError>,
    /// From the call to its end, and how much of that the caller took itself.
    pub elapsed: Duration,
    pub paused: Duration,
    /// The caller read to the end.
    pub is_over: bool,
    /// The stack was called.
    pub made: bool,
    /// How often the client below was called.
    pub calls: usize,
    pub noted: Vec<Noted>,
    /// How often the call was polled, who could still wake it after it was dropped, and what tasks were left.
    pub polls: u32,
    pub wakers: usize,
    pub tasks: usize,
    /// How the same call went through the same stack once more, behind one that was dropped.
    pub again: Option<Box<Self>>,
}

/// The bounds that a plan asks for.
pub(super) fn limits(plan: &Plan) -> Limits {
    let max = match plan.caps {
        Caps::Large => LARGE,
        Caps::Small => SMALL,
    };
    Limits::default().max_unary_body(max).max_event(max).max_refusal(max.min(1024))
}

fn layer(plan: &Plan) -> TerminalStateBuilder {
    TerminalStateLayer::builder().limits(limits(plan)).strict(plan.strict).adapt_downgrade(plan.adapt)
}

/// Makes the call of a plan.
#[must_use]
pub fn run(runtime: &Runtime, plan: &Plan) -> Seen {
    let notes = Notes::default();
    let peer = Peer::new(plan.clone());
    let guard = layer(plan).observe(notes.clone()).build().expect("bounds without contradictions");
    let stack = CallLayer::new().layer(guard.layer(peer.clone()));
    let seen = drive(runtime, plan, Upload::AtOnce, stack, Duration::ZERO);
    Seen { calls: peer.calls(), noted: notes.take(), ..seen }
}

/// Makes the call through `stack`. What goes on by itself may do so for as long as `patience`.
pub(super) fn drive<S, B>(runtime: &Runtime, plan: &Plan, upload: Upload, stack: S, patience: Duration) -> Seen
where
    S: Service<http::Request<Uploaded>, Response = http::Response<B>, Error = CallError>,
    B: Body<Data = Bytes, Error = CallError> + Unpin,
{
    let seen = Arc::new(Mutex::new(Seen::default()));
    let polls = Polls::default();
    runtime.block_on(async {
        let call = call(stack, plan.clone(), upload, Arc::clone(&seen));
        let _over = polls.limit(call, plan.caller.drops).await;
        // Whoever was left behind gets his turn.
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
        if !patience.is_zero() {
            tokio::time::sleep(patience).await;
        }
    });
    let mut seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    seen.polls = polls.count();
    seen.wakers = polls.wakers();
    seen.tasks = runtime.metrics().num_alive_tasks();
    seen
}

async fn call<S, B>(mut stack: S, plan: Plan, upload: Upload, seen: Arc<Mutex<Seen>>)
where
    S: Service<http::Request<Uploaded>, Response = http::Response<B>, Error = CallError>,
    B: Body<Data = Bytes, Error = CallError> + Unpin,
{
    let note = |change: &dyn Fn(&mut Seen)| change(&mut seen.lock().unwrap_or_else(PoisonError::into_inner));
    let began = Instant::now();
    let request = plan.ask.request(plan.dialect).map(|bytes| upload.body(bytes));
    let response = match stack.ready().await {
        Ok(ready) => {
            let response = ready.call(request);
            note(&|seen| seen.made = true);
            response.await
        }
        Err(error) => Err(error),
    };
    let ended = |error: Option<CallError>| {
        note(&|seen| {
            seen.error.clone_from(&error);
            seen.elapsed = began.elapsed();
            seen.is_over = true;
        });
    };
    let (head, mut body) = match response {
        Ok(response) => response.into_parts(),
        Err(error) => return ended(Some(error)),
    };
    note(&|seen| {
        seen.status = Some(head.status);
        seen.headers = head.headers.clone();
    });
    loop {
        if !plan.caller.pause.is_zero() {
            tokio::time::sleep(plan.caller.pause).await;
            note(&|seen| seen.paused += plan.caller.pause);
        }
        let frame = if plan.caller.restless { restless(&mut body).await } else { body.frame().await };
        match frame {
            None => return ended(None),
            Some(Err(error)) => {
                // An error is the end of a body.
                ended(Some(error));
                if let Some(Ok(frame)) = body.frame().await {
                    panic!("{frame:?} behind an error");
                }
                return;
            }
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => note(&|seen| seen.bytes.extend_from_slice(&data)),
                Err(frame) => note(&|seen| seen.trailers = frame.trailers_ref().cloned()),
            },
        }
    }
}

/// Polls when nobody woke it, too.
async fn restless<B>(body: &mut B) -> Option<Result<http_body::Frame<Bytes>, CallError>>
where
    B: Body<Data = Bytes, Error = CallError> + Unpin,
{
    for _ in 0..3 {
        let next = body.frame();
        tokio::pin!(next);
        let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(next.as_mut().poll(cx))).await;
        if let std::task::Poll::Ready(frame) = polled {
            return frame;
        }
    }
    body.frame().await
}
