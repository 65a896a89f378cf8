//! The test call: the message probe, to see whether a peer does what it says before much depends on it.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout};
use tower_service::Service;

use super::attempt::Letter;
use crate::{
    call::{Call, CallBody},
    directory::Report,
    error::{BoxError, CallError, lost},
    probe_cache::{Probe, Verdict, of_message_probe},
};

/// How a test call that did not go well ended, and what that says of the peer.
pub(super) struct Failed {
    pub(super) why: Box<str>,
    pub(super) report: Report,
}

/// The probe, where the request would go, with the same credentials.
pub(super) struct Test {
    probe: Probe,
    request: Request<Bytes>,
}

impl Test {
    /// `None`: it cannot be written for this binding.
    pub(super) fn of(letter: &Letter, credentials: &[HeaderName]) -> Option<Self> {
        let probe = letter.probe(credentials)?;
        let request = probe.message_request()?;
        Some(Self { probe, request })
    }

    /// Sends it, and says what came of it within that time. What it began is cancelled, also if that is told late.
    pub(super) async fn run<S, B, P>(self, service: S, patience: Duration) -> Result<(), Failed>
    where
        S: Service<Request<CallBody<B>>, Response = Response<P>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Send,
        P: Body<Data = Bytes> + Send + 'static,
        P::Error: Into<BoxError>,
    {
        let Self { probe, request } = self;
        let began = Instant::now();
        let mut answer = Box::pin(exchange(service.clone(), request));
        let Ok(ended) = timeout(patience, &mut answer).await else {
            tokio::spawn(async move {
                if let Ok(ended) = timeout(patience, answer).await {
                    cancel(&probe, service, &ended, patience).await;
                }
            });
            return Err(Failed { why: "no answer in time".into(), report: Report::failure(began.elapsed()) });
        };
        let (verdict, card_is_stale) = of_message_probe(ended.as_ref().map(drop), 0);
        let failed = match (verdict, &ended) {
            (Verdict::Proved, _) if !card_is_stale => None,
            (_, Err(error)) => {
                let why = format!("{}/{}", error.outcome(), error.class()).into();
                Some(Failed { why, report: Report::of_error(error, began.elapsed()) })
            }
            (_, Ok(_)) => Some(Failed { why: "its answer proves nothing".into(), report: Report::neutral() }),
        };
        // Nobody waits for that.
        tokio::spawn(async move { cancel(&probe, service, &ended, patience).await });
        failed.map_or(Ok(()), Err)
    }
}

/// Cancels the task that an answer tells of, if there is one. Whatever comes of it: there is nobody left to tell.
async fn cancel<S, B, P>(probe: &Probe, service: S, ended: &Result<Bytes, CallError>, patience: Duration)
where
    S: Service<Request<CallBody<B>>, Response = Response<P>>,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes>,
    P: Body<Data = Bytes>,
    P::Error: Into<BoxError>,
{
    let task = match ended {
        Ok(body) => probe.unfinished_task(body),
        Err(error) => error.task_id().map(Into::into),
    };
    if let Some(request) = task.as_deref().and_then(|task| probe.cancel_request(task)) {
        drop(timeout(patience, exchange(service, request)).await);
    }
}

/// One request, and its whole answer as it is judged.
async fn exchange<S, B, P>(mut service: S, request: Request<Bytes>) -> Result<Bytes, CallError>
where
    S: Service<Request<CallBody<B>>, Response = Response<P>>,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes>,
    P: Body<Data = Bytes>,
    P::Error: Into<BoxError>,
{
    let call = request.extensions().get::<Call>().cloned().unwrap_or_default();
    let fail = |error: BoxError, before: bool| lost(error, &call, before);
    std::future::poll_fn(|cx| service.poll_ready(cx).map_err(|error| fail(error.into(), true))).await?;
    let sent = service.call(request.map(CallBody::from));
    let response = sent.await.map_err(|error| fail(error.into(), false))?;
    let body = std::pin::pin!(response.into_body()).collect().await.map_err(|error| fail(error.into(), false))?;
    Ok(body.to_bytes())
}
