//! The test call: the message probe, to see whether a peer does what it says before much depends on it.

use bytes::Bytes;
use http::{HeaderName, Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use tower_service::Service;

use super::attempt::Letter;
use crate::{
    call::{Call, CallBody},
    error::{BoxError, CallError, lost},
    probe_cache::{Verdict, of_message_probe},
};

/// How a test call that did not go well ended.
pub(super) struct Failed {
    pub(super) why: Box<str>,
    pub(super) error: Option<CallError>,
}

/// Sends the probe where the request would go, with the same credentials. What it began is cancelled, whoever waits.
pub(super) async fn test<S, B, P>(service: S, letter: &Letter, credentials: &[HeaderName]) -> Result<(), Failed>
where
    S: Service<Request<CallBody<B>>, Response = Response<P>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Send,
    P: Body<Data = Bytes> + Send + 'static,
    P::Error: Into<BoxError>,
{
    let sent = letter.probe(credentials).and_then(|probe| Some((probe.message_request()?, probe)));
    let Some((request, probe)) = sent else {
        return Err(Failed { why: "a test cannot be written for this binding".into(), error: None });
    };
    let ended = exchange(service.clone(), request).await;
    let (verdict, card_is_stale) = of_message_probe(ended.as_ref().map(drop), 0);
    let task = match &ended {
        Ok(body) => probe.unfinished_task(body),
        Err(error) => error.task_id().map(Into::into),
    };
    if let Some(request) = task.as_deref().and_then(|task| probe.cancel_request(task)) {
        // Whatever comes of it: there is nobody left to tell.
        tokio::spawn(async move { drop(exchange(service, request).await) });
    }
    match (verdict, ended) {
        (Verdict::Proved, _) if !card_is_stale => Ok(()),
        (_, Err(error)) => {
            let why = format!("{}/{}", error.outcome(), error.class()).into();
            Err(Failed { why, error: Some(error) })
        }
        (_, Ok(_)) => Err(Failed { why: "its answer proves nothing".into(), error: None }),
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
