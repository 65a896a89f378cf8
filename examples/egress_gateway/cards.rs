//! Cards on their way through: their interfaces are to be called by way of the gateway too.

use std::{
    future::Future,
    hash::{DefaultHasher, Hash, Hasher},
    pin::Pin,
    task::{Context, Poll},
};

use a2a_guard::{BoxError, Call, Operation, wire::MediaType};
use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode, Uri,
    header::{
        ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
    },
    response::Parts,
};
use http_body::Body;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, combinators::UnsyncBoxBody};
use serde_json::{Map, Value};
use tower::{Layer, Service};

/// The largest card that is shown, in bytes.
const MAX_CARD: usize = 256 << 10;

/// Where an agent shows its card, now and before 0.3.
const WELL_KNOWN: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

pub(crate) type Answer = UnsyncBoxBody<Bytes, BoxError>;

/// Whether the request is for a card that needs no operation to be read.
pub(crate) fn asks_for_card(method: &Method, path: &str) -> bool {
    method == Method::GET && WELL_KNOWN.iter().any(|known| path.ends_with(known))
}

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

impl<S, B, R> Service<Request<B>> for ShowCards<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<Answer>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Answer>, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let extended = request.extensions().get::<Call>().and_then(Call::operation) == Some(Operation::GetExtendedAgentCard);
        let door = request.extensions().get::<Door>().cloned();
        let Some(door) = door.filter(|_| extended || asks_for_card(request.method(), request.uri().path())) else {
            let future = self.inner.call(request);
            return Box::pin(async move { Ok(future.await?.map(|body| body.map_err(Into::into).boxed_unsync())) });
        };
        // The caller's conditions are about the card as it is shown here, of which the agent knows nothing.
        let headers = request.headers_mut();
        let condition = headers.remove(IF_NONE_MATCH);
        for name in [IF_MATCH, IF_MODIFIED_SINCE, ACCEPT_ENCODING] {
            headers.remove(name);
        }
        let future = self.inner.call(request);
        Box::pin(async move {
            let (head, body) = future.await?.into_parts();
            Ok(match Limited::new(body, MAX_CARD).collect().await {
                Ok(whole) => door.shown(head, whole.to_bytes(), condition.as_ref()),
                Err(error) if error.is::<LengthLimitError>() => too_large(),
                Err(error) => Response::from_parts(head, Broken(Some(error)).boxed_unsync()),
            })
        })
    }
}

/// The agent, and how the caller gets to it through the gateway.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    /// The agent's origin.
    pub(crate) upstream: Uri,
    /// The gateway's authority, as the caller wrote it.
    pub(crate) authority: String,
    /// What stands in front of the agent's paths here: `/tenants/x`, or nothing.
    pub(crate) prefix: String,
}

impl Door {
    /// The card as it is shown here, or the answer as it came where there is no card in it.
    fn shown(&self, mut head: Parts, body: Bytes, condition: Option<&HeaderValue>) -> Response<Answer> {
        let media = MediaType::of(head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes));
        let is_json = head.status == StatusCode::OK && media.is_json();
        let Some(Value::Object(mut answer)) = is_json.then(|| serde_json::from_slice(&body).ok()).flatten() else {
            return Response::from_parts(head, full(body));
        };
        // Over JSON-RPC the card is the result.
        match answer.get_mut("result") {
            Some(Value::Object(card)) => self.rewrite(card),
            _ => self.rewrite(&mut answer),
        }
        let bytes = Value::Object(answer).to_string();
        let etag = etag_of(&bytes);
        head.headers.remove(LAST_MODIFIED);
        head.headers.remove(CONTENT_LENGTH);
        head.headers.insert(ETAG, etag.clone());
        if condition.is_some_and(|condition| names(condition, &etag)) {
            head.status = StatusCode::NOT_MODIFIED;
            return Response::from_parts(head, full(Bytes::new()));
        }
        Response::from_parts(head, full(bytes.into()))
    }

    /// Every URL of the agent's own becomes the gateway's; what leads elsewhere is not ours to change. A signature is of
    /// the card as it was.
    fn rewrite(&self, card: &mut Map<String, Value>) {
        card.remove("signatures");
        let binding = card.get("preferredTransport").and_then(Value::as_str).map(str::to_owned);
        if let Some(Value::String(url)) = card.get_mut("url") {
            *url = self.url(url, binding.as_deref());
        }
        for list in ["supportedInterfaces", "additionalInterfaces"] {
            let Some(Value::Array(interfaces)) = card.get_mut(list) else { continue };
            for interface in interfaces.iter_mut().filter_map(Value::as_object_mut) {
                let binding = ["protocolBinding", "transport"].iter().find_map(|name| interface.get(*name)?.as_str());
                let binding = binding.map(str::to_owned);
                if let Some(Value::String(url)) = interface.get_mut("url") {
                    *url = self.url(url, binding.as_deref());
                }
            }
        }
    }

    fn url(&self, url: &str, binding: Option<&str>) -> String {
        let upstream = self.upstream.authority().map(|authority| authority.as_str()).unwrap_or_default();
        // Over gRPC an interface may be host and port alone, and its path says nothing (A2A 1.0, a2a.proto).
        if binding.is_some_and(|binding| binding.eq_ignore_ascii_case("GRPC")) {
            let place = url.split_once("://").map_or(url, |(_, rest)| rest);
            return match place.split('/').next() == Some(upstream) {
                true => url.replacen(upstream, &self.authority, 1),
                false => url.to_owned(),
            };
        }
        match url.strip_prefix("http://").and_then(|rest| rest.strip_prefix(upstream)) {
            Some(path) if path.is_empty() || path.starts_with(['/', '?']) => {
                format!("http://{}{}{path}", self.authority, self.prefix)
            }
            _ => url.to_owned(),
        }
    }
}

/// Of the bytes that are shown here (RFC 9110 §8.8.3).
fn etag_of(bytes: &str) -> HeaderValue {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    HeaderValue::try_from(format!("\"{:016x}\"", hasher.finish())).unwrap_or(HeaderValue::from_static("\"0\""))
}

/// Whether `If-None-Match` names this card (RFC 9110 §13.1.2, weak comparison).
fn names(condition: &HeaderValue, etag: &HeaderValue) -> bool {
    let (Ok(condition), Ok(etag)) = (condition.to_str(), etag.to_str()) else { return false };
    condition.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == etag)
}

fn full(bytes: Bytes) -> Answer {
    Full::from(bytes).map_err(|never| match never {}).boxed_unsync()
}

fn too_large() -> Response<Answer> {
    let mut response = Response::new(full(Bytes::from_static(b"the agent's card is too large\n")));
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}

/// A body that breaks off where the agent's did.
struct Broken(Option<BoxError>);

impl Body for Broken {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<http_body::Frame<Bytes>, BoxError>>> {
        Poll::Ready(self.0.take().map(Err))
    }
}
