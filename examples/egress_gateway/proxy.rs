//! One request on its way through.

use std::{convert::Infallible, future::Future, pin::Pin, sync::Arc};

use a2a_guard::{BoxError, card::Origin};
use bytes::Bytes;
use http::{
    HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version,
    header::{ALT_SVC, EXPECT, HOST, LOCATION, VIA},
    request::Parts,
    uri::{Authority, PathAndQuery},
};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use tower::{Service, ServiceExt};

use crate::{
    args::Args,
    door::Door,
    guard::{Answer, Stack},
    handles::Handles,
    headers::remove_hop_by_hop,
    tenants,
};

/// What a connection hands its requests to.
#[derive(Clone, Debug)]
pub(crate) struct Proxy {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    stack: Handles<Stack>,
    upstream: Uri,
    origin: Arc<Origin>,
    tenant_header: Option<HeaderName>,
}

impl Proxy {
    /// # Errors
    ///
    /// If the agent's address is none.
    pub(crate) fn new(args: &Args, stack: Stack) -> Result<Self, BoxError> {
        let shared = Shared {
            stack: Handles::new(stack),
            upstream: args.upstream.clone(),
            origin: Arc::new(Origin::of(&args.upstream)?),
            tenant_header: args.tenant_header.clone(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    async fn send(self, request: Request<Incoming>) -> Response<Answer> {
        let (mut head, body) = request.into_parts();
        let door = match self.shared.turn(&mut head) {
            Ok(door) => door,
            Err((status, why)) => return plain(status, why),
        };
        head.extensions.insert(door.clone());
        let mut stack = self.shared.stack.take();
        let Ok(ready) = stack.ready().await;
        let answering = ready.call(Request::from_parts(head, body));
        self.shared.stack.give_back(stack);
        let Ok(mut response) = answering.await;
        *response.version_mut() = Version::default();
        let headers = response.headers_mut();
        remove_hop_by_hop(headers);
        // Other ways to the agent are not the caller's.
        headers.remove(ALT_SVC);
        if let Some(location) = headers.get(LOCATION).and_then(|location| located(&door, location)) {
            headers.insert(LOCATION, location);
        }
        response
    }
}

impl Shared {
    /// Makes a request to the gateway one to the agent; says how the caller got here, or why it gets nowhere.
    fn turn(&self, head: &mut Parts) -> Result<Door, (StatusCode, &'static str)> {
        if head.method == Method::CONNECT {
            return Err((StatusCode::METHOD_NOT_ALLOWED, "this is no tunnel\n"));
        }
        let authority = authority_of(head).ok_or((StatusCode::BAD_REQUEST, "the request names no host\n"))?;
        remove_hop_by_hop(&mut head.headers);
        let prefix = match &self.tenant_header {
            None => String::new(),
            Some(header) => tenants::enter(head, header)
                .ok_or((StatusCode::NOT_FOUND, "tenants are served under /tenants/{tenant}\n"))?,
        };
        // The client names the agent's host itself, and the server has told the caller to go on.
        head.headers.remove(HOST);
        head.headers.remove(EXPECT);
        head.headers.append(VIA, via(head.version));
        let path = head.uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        let mut parts = self.upstream.clone().into_parts();
        parts.path_and_query = Some(path);
        head.uri =
            Uri::from_parts(parts).map_err(|_| (StatusCode::BAD_REQUEST, "the request's target is no path\n"))?;
        Ok(Door { upstream: Arc::clone(&self.origin), authority, prefix })
    }
}

impl hyper::service::Service<Request<Incoming>> for Proxy {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Answer>, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move { Ok(this.send(request).await) })
    }
}

/// How the caller names the gateway: by `:authority` over HTTP/2, by `Host` over HTTP/1.1.
fn authority_of(head: &Parts) -> Option<String> {
    let authority = match head.uri.authority() {
        Some(authority) => authority.clone(),
        None => head.headers.get(HOST)?.to_str().ok()?.parse::<Authority>().ok()?,
    };
    Some(authority.to_string()).filter(|authority| !authority.contains('@'))
}

/// RFC 9110 §7.6.3: by which version the request came.
fn via(version: Version) -> HeaderValue {
    HeaderValue::from_static(match version {
        Version::HTTP_2 => "2 a2a-guard",
        Version::HTTP_10 => "1.0 a2a-guard",
        _ => "1.1 a2a-guard",
    })
}

/// Where a redirect to the agent leads by way of the gateway.
fn located(door: &Door, location: &HeaderValue) -> Option<HeaderValue> {
    let location = location.to_str().ok()?;
    let is_path = location.starts_with('/') && !location.starts_with("//");
    let here = if is_path { Some(format!("{}{location}", door.prefix)) } else { door.inward(location) };
    HeaderValue::try_from(here?).ok()
}

fn plain(status: StatusCode, text: &'static str) -> Response<Answer> {
    let body = Full::from(Bytes::from_static(text.as_bytes()));
    let mut response = Response::new(body.map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    response
}
