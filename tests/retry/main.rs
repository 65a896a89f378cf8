//! `RetryPolicy` in tower's `Retry`, on paused time: a call is sent again where that is safe, may help, fits into its
//! total and its budget; and at no other time.
#![cfg(feature = "retry")]

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;

mod bounds;
mod harm;
mod requests;
mod streams;
mod waits;

use std::time::Duration;

use a2a_guard::{CallBody, CallError, CallLayer, Limits, TerminalStateLayer, retry::RetryPolicy};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use tokio::time::Instant;
use tower::{Layer, ServiceExt, retry::RetryLayer};

use mock::{Answer, Dialect, MockBody, Notes, Peer};

/// How a call ended, and what it took.
struct Tried {
    result: Result<Bytes, CallError>,
    elapsed: Duration,
    /// `outcome/class` of each attempt.
    attempts: Vec<String>,
    /// What the peer was sent.
    requests: Vec<Request<CallBody<Full<Bytes>>>>,
}

impl Tried {
    /// `outcome/class` of the call, and after how long.
    fn fate(&self) -> (String, Duration) {
        let word = match &self.result {
            Ok(_) => "success/success".into(),
            Err(error) => format!("{}/{}", error.outcome(), error.class()),
        };
        (word, self.elapsed)
    }

    #[track_caller]
    fn assert_within(&self, from: Duration, to: Duration) {
        assert!((from..=to).contains(&self.elapsed), "{:?} is not within {from:?} to {to:?}", self.elapsed);
    }
}

/// Makes a call to a peer that gives these answers, one an attempt.
async fn attempt(
    policy: RetryPolicy,
    request: Request<Full<Bytes>>,
    answers: impl IntoIterator<Item = Answer>,
) -> Tried {
    within(Limits::default(), policy, request, answers).await
}

async fn within(
    limits: Limits,
    policy: RetryPolicy,
    request: Request<Full<Bytes>>,
    answers: impl IntoIterator<Item = Answer>,
) -> Tried {
    let (peer, notes) = (Peer::new(answers), Notes::default());
    let ending = TerminalStateLayer::builder().limits(limits.clone()).observe(notes.clone()).build().unwrap();
    let retrying = RetryLayer::new(policy.limits(limits)).layer(ending.layer(peer.clone()));
    let started = Instant::now();
    let result = match CallLayer::new().layer(retrying).oneshot(request).await {
        Ok(response) => response.into_body().collect().await.map(|body| body.to_bytes()),
        Err(error) => Err(error),
    };
    Tried { result, elapsed: started.elapsed(), attempts: notes.words(), requests: peer.requests() }
}

/// The answer to `GetTask`, or to a send.
fn done(dialect: Dialect, request: &str) -> Answer {
    Answer::json(match request {
        "get" => dialect.result(&dialect.bare_task("COMPLETED")),
        _ => dialect.result(&dialect.task("COMPLETED")),
    })
}

fn refused() -> Answer {
    Answer::lost(std::io::ErrorKind::ConnectionRefused)
}

fn lost() -> Answer {
    Answer::lost(std::io::ErrorKind::ConnectionReset)
}

fn status(status: u16) -> Answer {
    Answer::new(status, "text/plain", MockBody::new().data("no"))
}
