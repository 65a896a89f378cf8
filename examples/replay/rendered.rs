//! The same cases with `RefusalResponseLayer` in the stack: what a client that knows nothing of all this gets of each
//! failure. It must be an answer of its binding, say the same as the error, and end a stream in a whole event.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use a2a_guard::{
    Binding, CallBody, CallError, CallLayer, Outcome, OutcomeKind, ProtocolVersion, RefusalResponseLayer,
    TerminalStateLayer,
    card_consistency::{CardConsistencyLayer, CardStore},
    wire::{
        A2aError, Envelope, Expected, GrpcStatus, JsonRpcId, Judge, MediaType, Payload, PeerError, StepKind,
        StreamJudge, Verdict, Wrapping, sse::event_data,
    },
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, Response, header::CONTENT_TYPE, response::Parts};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tokio::time::timeout;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};

use crate::{
    case::{BoxError, Case, REGION_HEADER, SKILL_HEADER},
    loopback::Loopback,
    peer::Peer,
    run::{Agent, Line},
};

/// A case that has not ended this long after its last bound never will.
const GRACE: Duration = Duration::from_secs(3);

/// What the caller got, and the failure behind it, if there is one.
struct Got {
    head: Parts,
    body: Bytes,
    trailers: Option<HeaderMap>,
    error: Option<CallError>,
}

/// Runs a case, if it is of a call.
pub(crate) async fn run(case: &Case) -> Line {
    let skipped = if case.is_of_card() { Some("no call is made") } else { case.skipped() };
    if let Some(reason) = skipped {
        return Line::brief(case.id.clone(), None, vec![reason.to_owned()]);
    }
    let checked = match play(case).await {
        Ok(got) => check(case, &got).await,
        Err(error) => Err(error),
    };
    let complaints: Vec<_> = checked.err().map(|complaint| complaint.to_string()).into_iter().collect();
    Line::brief(case.id.clone(), Some(complaints.is_empty()), complaints)
}

fn naming() -> CallLayer {
    CallLayer::new()
        .skill_header(HeaderName::from_static(SKILL_HEADER))
        .region_header(HeaderName::from_static(REGION_HEADER))
}

/// Serves the case's response, and sends its request through the layers.
async fn play(case: &Case) -> Result<Got, BoxError> {
    let peer = Agent::serve(case).await?;
    let failed = Arc::new(Mutex::new(None));
    let observer = Arc::clone(&failed);
    let ending = TerminalStateLayer::builder()
        .limits(case.limits())
        .observe(move |outcome: &Outcome<'_>| {
            *observer.lock().unwrap_or_else(PoisonError::into_inner) = outcome.error().cloned();
        })
        .build()?;
    let client = Client::builder(TokioExecutor::new())
        .http2_only(case.is_grpc())
        .build::<_, CallBody<Full<Bytes>>>(Loopback(peer.addr()));
    let judged = ServiceBuilder::new().layer(ending).service(client);
    let outside = ServiceBuilder::new().layer(naming()).layer(RefusalResponseLayer::new());
    let request = case.request()?.map(Full::new);
    let bound = case.total() + GRACE;
    let shown = match case.card() {
        Some(card) => Some(Peer::serve([card]).await?),
        None => None,
    };
    let (head, body, trailers) = match &shown {
        None => timeout(bound, exchange(outside.service(judged), request)).await,
        Some(shown) => {
            let cards = Client::builder(TokioExecutor::new()).build::<_, Full<Bytes>>(Loopback(shown.addr()));
            let matching = CardConsistencyLayer::new(CardStore::builder(cards).build()?);
            timeout(bound, exchange(outside.service(matching.layer(judged)), request)).await
        }
    }
    .map_err(|_| "the call did not end")??;
    let observed = failed.lock().unwrap_or_else(PoisonError::into_inner).take();
    let error = head.extensions.get().cloned().or(observed);
    Ok(Got { head, body, trailers, error })
}

type Received = (Parts, Bytes, Option<HeaderMap>);

/// One call, which cannot fail, and its body, which must not.
async fn exchange<S, B>(mut stack: S, request: Request<Full<Bytes>>) -> Result<Received, BoxError>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible>,
    B: Body<Data = Bytes, Error = CallError>,
{
    let Ok(ready) = stack.ready().await;
    let Ok(response) = ready.call(request).await;
    let (head, body) = response.into_parts();
    let body = body.collect().await.map_err(|error| format!("the body failed: {error}"))?;
    let trailers = body.trailers().cloned();
    Ok((head, body.to_bytes(), trailers))
}

/// Holds what the caller got against the failure behind it.
async fn check(case: &Case, got: &Got) -> Result<(), BoxError> {
    let Some(error) = &got.error else { return Ok(()) };
    let media = MediaType::of(got.head.headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes));
    let own = matches!(error.outcome(), OutcomeKind::Refused | OutcomeKind::Stale);
    if own && error.response().is_some_and(|response| response.truncated) {
        // Half an answer is none: what is left of it is written anew.
        return judged_again(case, got, error, false).await;
    }
    if case.is_grpc() {
        // What the peer wrote passes as it wrote it.
        if media == MediaType::Grpc && !own {
            messages(&got.body)?;
        }
        let status = got.trailers.as_ref().and_then(GrpcStatus::of).or_else(|| GrpcStatus::of(&got.head.headers));
        match status {
            Some(status) if own => {
                let said = i32::from(status.code());
                if error.grpc_code() != Some(said) {
                    return Err(format!("the status is {said}, not {:?}", error.grpc_code()).into());
                }
            }
            Some(status) => has_documented_words(&status.to_error(), Some(status.code()), error)?,
            None if own => {}
            None => return Err("no grpc-status".into()),
        }
        return judged_again(case, got, error, own).await;
    }
    // Under an error status it is no stream, however it is framed.
    let is_stream = media == MediaType::EventStream && got.head.status.is_success();
    let document = if is_stream { last_event(&got.body, error)? } else { got.body.to_vec() };
    let read = PeerError::parse(&document, if is_stream { MediaType::Json } else { media });
    if own {
        // What the peer wrote is read as the peer's, however it wrote it.
        let said = read.as_ref().map(|read| (read.code, read.reason.as_deref()));
        let due = (error.code(), error.reason());
        if said.unwrap_or_default() != due {
            return Err(format!("reads as {said:?}, not {due:?}").into());
        }
    } else {
        says_the_same(&document, read.as_ref(), error)?;
    }
    judged_again(case, got, error, own).await
}

/// A rendered error: valid in its binding, with the documented code and reason, and the failure's own words.
fn says_the_same(document: &[u8], read: Option<&PeerError>, error: &CallError) -> Result<(), BoxError> {
    let call = error.call();
    let mut judge = Judge::new(expected(error));
    judge.feed(document);
    match judge.finish(call.id().unwrap_or(&JsonRpcId::Other)) {
        Verdict::Error => {}
        other => return Err(format!("judged as {other:?}").into()),
    }
    let read = read.ok_or("no error can be read")?;
    has_documented_words(read, None, error)
}

/// The documented code and reason, and the failure's own words.
fn has_documented_words(read: &PeerError, grpc: Option<u8>, error: &CallError) -> Result<(), BoxError> {
    let is_old = error.call().version().is_some_and(|version| version < ProtocolVersion::V1_0);
    let (code, due, reason) = match error.outcome() {
        OutcomeKind::Broken => (-32006, 13, "INVALID_AGENT_RESPONSE"),
        OutcomeKind::Timeout => (-32603, 4, "CAPABILITY_TIMEOUT"),
        OutcomeKind::Transport => (-32603, 14, "AGENT_UNREACHABLE"),
        _ => match error.a2a_error() {
            // As servers of 0.3 say it over gRPC.
            Some(error @ (A2aError::UnsupportedOperation | A2aError::PushNotificationNotSupported)) if is_old => {
                (error.code(), 12, error.reason())
            }
            Some(error) => (error.code(), error.grpc_code(), error.reason()),
            None => (-32603, 9, "AGENT_CARD_RESOLUTION"),
        },
    };
    let own = |name: &str| read.metadata.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let found = read.reason.as_deref().or_else(|| own("reason"));
    let json_rpc = error.call().binding() == Some(Binding::JsonRpc);
    if found != Some(reason) || (json_rpc && read.code != Some(code)) || grpc.is_some_and(|grpc| grpc != due) {
        return Err(format!("reads as {:?} {grpc:?} {found:?}, not {code} {due} {reason}", read.code).into());
    }
    let words = (own("outcome"), own("class"));
    let due = (Some(error.outcome().as_str()), Some(error.class().as_str()));
    match words == due {
        true => Ok(()),
        false => Err(format!("the metadata say {words:?}, not {due:?}").into()),
    }
}

/// Whole messages and nothing else.
fn messages(mut body: &[u8]) -> Result<(), BoxError> {
    while let Some(([_, len @ ..], rest)) = body.split_first_chunk::<5>() {
        body = rest.get(u32::from_be_bytes(*len) as usize..).ok_or("half a message")?;
    }
    if body.is_empty() { Ok(()) } else { Err("half a message's prefix".into()) }
}

/// What answers and events of the call are.
fn expected(error: &CallError) -> Expected {
    let call = error.call();
    let older_than = |this| call.version().is_some_and(|version| version < this);
    let (envelope, wrapping) = match call.binding() {
        Some(Binding::JsonRpc) if older_than(ProtocolVersion::V0_3) => (Envelope::JsonRpc, Wrapping::Legacy),
        Some(Binding::JsonRpc) if older_than(ProtocolVersion::V1_0) => (Envelope::JsonRpc, Wrapping::Kind),
        Some(Binding::JsonRpc) => (Envelope::JsonRpc, Wrapping::Member),
        _ => (Envelope::Bare, Wrapping::Member),
    };
    Expected { envelope, wrapping, payload: Payload::StreamEvent }
}

/// The document in a stream's last event, which is whole, and an error.
fn last_event(stream: &[u8], error: &CallError) -> Result<Vec<u8>, BoxError> {
    let id = error.call().id().unwrap_or(&JsonRpcId::Other);
    let mut judge = StreamJudge::new(expected(error), usize::MAX, false);
    let (mut at, mut events) = (0, 0);
    while at < stream.len() {
        let step = judge.step(&stream[at..], id);
        let event = &stream[at..at + step.consumed];
        at += step.consumed;
        match step.kind {
            StepKind::Event => events += 1,
            StepKind::Boundary => {}
            StepKind::Error if at < stream.len() => return Err("something stands behind the error event".into()),
            StepKind::Error if events != error.events() => {
                return Err(format!("{events} events before the error, not {}", error.events()).into());
            }
            StepKind::Error => return Ok(event_data(event)),
            StepKind::Held | StepKind::Flawed(_) => {
                return Err(format!("a stream that is {:?} at byte {at}", step.kind).into());
            }
        }
    }
    Err("a stream without its error".into())
}

/// A guarded client makes a refusal of it, with the same code and reason: the same one, where it is the peer's own.
async fn judged_again(case: &Case, got: &Got, error: &CallError, own: bool) -> Result<(), BoxError> {
    let Got { head: Parts { status, headers, .. }, body, trailers, .. } = got;
    let (status, headers, body, trailers) = (*status, headers.clone(), body.clone(), trailers.clone());
    let answering = service_fn(move |_: Request<CallBody<Full<Bytes>>>| {
        let trailers = trailers.clone().map(Ok);
        let mut response = Response::new(Full::new(body.clone()).with_trailers(std::future::ready(trailers)));
        *response.status_mut() = status;
        *response.headers_mut() = headers.clone();
        async { Ok::<_, Infallible>(response) }
    });
    // The case's caps are for what the peer sent, and this may be longer.
    let limits = case.limits().max_unary_body(1 << 20).max_event(1 << 20);
    let ending = TerminalStateLayer::builder().limits(limits).build()?;
    let mut stack = naming().layer(ending.layer(answering));
    let again = match stack.ready().await?.call(case.request()?.map(Full::new)).await {
        Err(again) => again,
        Ok(response) => match response.into_body().collect().await {
            Err(again) => again,
            // Nobody could name the call: its answer passes, whatever it is.
            Ok(_) if error.call().operation().is_none() => return Ok(()),
            Ok(_) => return Err("a guarded client takes it for a success".into()),
        },
    };
    if own && (again.outcome(), again.class()) != (error.outcome(), error.class()) {
        return Err(format!("a guarded client makes of it: {again}").into());
    }
    if own && (again.code(), again.reason()) != (error.code(), error.reason()) {
        return Err(format!("a guarded client reads {:?} {:?}", again.code(), again.reason()).into());
    }
    match again.outcome() {
        OutcomeKind::Refused | OutcomeKind::Stale => Ok(()),
        _ => Err(format!("a guarded client makes of it: {again}").into()),
    }
}
