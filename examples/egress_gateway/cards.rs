//! Cards on their way through: their interfaces are to be called by way of the gateway too.

use std::{
    convert::Infallible,
    future::{Future, Ready, ready as at_once},
    pin::Pin,
    task::{Context, Poll, ready},
};

use a2a_guard::{Binding, BoxError, Call, Operation, ProtocolVersion};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Request, Response, StatusCode,
    header::{
        ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_MATCH, IF_MODIFIED_SINCE,
        IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, LAST_MODIFIED, RANGE,
    },
    response::Parts,
};
use http_body::Body;
use http_body_util::{BodyExt, Collected, Either, Full, LengthLimitError, Limited, combinators::WithTrailers};
use pin_project_lite::pin_project;
use tower::{Layer, Service};

use crate::{
    door::{Door, Kind},
    grpc_card::{self, Layout},
};

/// The largest card that is shown, in bytes.
const MAX_CARD: usize = 256 << 10;

/// Where an agent shows its card, now and before 0.3.
const WELL_KNOWN: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

/// Shows cards as the gateway's own. Below `CallLayer`, which knows an extended card by its operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShowCardsLayer;

impl<S> Layer<S> for ShowCardsLayer {
    type Service = ShowCards<S>;

    fn layer(&self, inner: S) -> ShowCards<S> {
        ShowCards { inner }
    }
}

/// The service of [`ShowCardsLayer`].
#[derive(Clone, Debug)]
pub(crate) struct ShowCards<S> {
    inner: S,
}

/// What came, or a card as it is shown here.
type Shown<R> = Either<R, Whole>;

/// A body that is here, over gRPC with its trailers.
type Whole = Either<Full<Bytes>, WithTrailers<Full<Bytes>, Ready<Option<Result<HeaderMap, Infallible>>>>>;

impl<S, B, R> Service<Request<B>> for ShowCards<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<Shown<R>>;
    type Error = BoxError;
    type Future = Showing<S::Future, R>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let Some((door, form)) = asked(&request) else {
            return Showing::Other { future: self.inner.call(request) };
        };
        let conditions = ours(&mut request);
        let future = self.inner.call(request);
        Showing::Card {
            future: Box::pin(async move {
                let (head, body) = future.await.map_err(Into::into)?.into_parts();
                let collected = Limited::new(body, MAX_CARD).collect().await;
                Ok(match (collected, form) {
                    (Ok(whole), Form::Json(kind)) => shown(&door, kind, head, whole.to_bytes(), &conditions)
                        .map(|body| Either::Right(Either::Left(body))),
                    (Ok(whole), Form::Grpc(layout)) => shown_as_message(&door, layout, head, whole),
                    (Err(error), _) if !error.is::<LengthLimitError>() => return Err(error),
                    (Err(_), Form::Json(_)) => {
                        bad_gateway("the agent's card is too large\n").map(|body| Either::Right(Either::Left(body)))
                    }
                    (Err(_), Form::Grpc(_)) => internal("the agent's card is too large"),
                })
            }),
        }
    }
}

/// How a card is asked for.
#[derive(Clone, Copy, Debug)]
enum Form {
    Json(Kind),
    Grpc(Layout),
}

/// Whether a card is asked for, and by which way.
fn asked<B>(request: &Request<B>) -> Option<(Door, Form)> {
    let call = request.extensions().get::<Call>();
    let extended = call.filter(|call| call.operation() == Some(Operation::GetExtendedAgentCard));
    let form = match extended.and_then(Call::binding) {
        Some(Binding::JsonRpc) => Form::Json(Kind::Result),
        Some(Binding::HttpJson) => Form::Json(Kind::Card),
        Some(Binding::Grpc) => Form::Grpc(match extended.and_then(Call::version) {
            Some(version) if version < ProtocolVersion::V1_0 => Layout::V03,
            _ => Layout::V1,
        }),
        _ => {
            let reads = matches!(*request.method(), Method::GET | Method::HEAD);
            let path = request.uri().path();
            (reads && WELL_KNOWN.iter().any(|known| path.ends_with(known))).then_some(Form::Json(Kind::Card))?
        }
    };
    Some((request.extensions().get::<Door>()?.clone(), form))
}

/// Takes the caller's conditions out: they are about the card as it is shown here, of which the agent knows nothing.
/// What is asked of the agent is the whole card; to a HEAD the server above answers without it.
fn ours<B>(request: &mut Request<B>) -> Vec<HeaderValue> {
    if request.method() == Method::HEAD {
        *request.method_mut() = Method::GET;
    }
    let headers = request.headers_mut();
    let conditions = headers.get_all(IF_NONE_MATCH).iter().cloned().collect();
    for name in [IF_NONE_MATCH, IF_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE, IF_RANGE, RANGE] {
        headers.remove(name);
    }
    conditions
}

/// The card as it is shown here, or the answer as it came where there is no card in it.
fn shown(door: &Door, kind: Kind, mut head: Parts, body: Bytes, conditions: &[HeaderValue]) -> Response<Full<Bytes>> {
    if head.status != StatusCode::OK {
        return Response::from_parts(head, Full::from(body));
    }
    if is_coded(&head.headers) {
        return bad_gateway("the agent's card is in a coding that nobody asked for\n");
    }
    let Some(card) = door.shown(kind, &body) else { return Response::from_parts(head, Full::from(body)) };
    // Of these bytes: what was said of the agent's is no longer so.
    let of_the_agents = ["content-md5", "digest", "content-digest", "repr-digest", "signature", "signature-input"];
    for name in of_the_agents {
        head.headers.remove(name);
    }
    for name in [LAST_MODIFIED, CONTENT_LENGTH, ACCEPT_RANGES] {
        head.headers.remove(name);
    }
    let Ok(etag) = HeaderValue::try_from(&card.etag) else { return Response::from_parts(head, Full::from(card.bytes)) };
    head.headers.insert(ETAG, etag);
    if kind == Kind::Card && conditions.iter().any(|condition| names(condition, &card.etag)) {
        head.status = StatusCode::NOT_MODIFIED;
        return Response::from_parts(head, Full::default());
    }
    Response::from_parts(head, Full::from(card.bytes))
}

fn is_coded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Whether `If-None-Match` names this card (RFC 9110 §13.1.2, weak comparison).
fn names(condition: &HeaderValue, etag: &str) -> bool {
    let Ok(condition) = condition.to_str() else { return false };
    condition.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == etag)
}

fn bad_gateway(text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}

/// The same over gRPC; or the refusal as it came.
fn shown_as_message<R>(door: &Door, layout: Layout, mut head: Parts, whole: Collected<Bytes>) -> Response<Shown<R>> {
    let trailers = whole.trailers().cloned();
    let mut body = whole.to_bytes();
    let is_ok = trailers.as_ref().and_then(|trailers| trailers.get("grpc-status")).is_some_and(|status| status == "0");
    if is_ok {
        let Some(card) = grpc_card::shown(door, layout, &body) else {
            return internal("the agent's card cannot be read");
        };
        head.headers.remove(CONTENT_LENGTH);
        body = card.into();
    }
    let trailers = at_once(trailers.map(Ok));
    Response::from_parts(head, Either::Right(Either::Right(Full::from(body).with_trailers(trailers))))
}

/// A refusal of the gateway's own, over gRPC: a head that is its own trailers.
fn internal<R>(text: &'static str) -> Response<Shown<R>> {
    let mut response = Response::new(Either::Right(Either::Left(Full::default())));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert("grpc-status", HeaderValue::from_static("13"));
    headers.insert("grpc-message", HeaderValue::from_static(text));
    response
}

type Card<R> = Pin<Box<dyn Future<Output = Result<Response<Shown<R>>, BoxError>> + Send>>;

pin_project! {
    /// The future of [`ShowCards`].
    #[project = ShowingProj]
    pub(crate) enum Showing<F, R> {
        /// It is no card that was asked for.
        Other { #[pin] future: F },
        Card { future: Card<R> },
    }
}

impl<F, R, E> Future for Showing<F, R>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<Shown<R>>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            ShowingProj::Other { future } => {
                let response = ready!(future.poll(cx)).map_err(Into::into)?;
                Poll::Ready(Ok(response.map(Either::Left)))
            }
            ShowingProj::Card { future } => future.as_mut().poll(cx),
        }
    }
}
