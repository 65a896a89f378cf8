//! One request on its way through.

use std::{convert::Infallible, future::Future, pin::Pin};

use a2a_guard::{BoxError, Call, CallLayer, RefusalResponseLayer};
use bytes::Bytes;
use http::{HeaderName, Request, Response, StatusCode, Uri, header::HOST, uri::PathAndQuery};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, util::BoxCloneSyncService};

use crate::{
    args::Args,
    cards::{Answer, Door, ShowCardsLayer},
    guard::Guarded,
    in_flight::InFlightLayer,
    tenants::{self, Place},
    upstream::remove_hop_by_hop,
};

/// What a connection hands its requests to.
#[derive(Clone)]
pub(crate) struct Proxy {
    stack: BoxCloneSyncService<Request<Incoming>, Response<Answer>, Infallible>,
    upstream: Uri,
    tenant_header: Option<HeaderName>,
    /// What is known of every call.
    call: Option<Call>,
}

impl Proxy {
    pub(crate) fn new(args: &Args, guarded: Guarded) -> Self {
        let mut naming = CallLayer::new();
        if let Some(total) = args.total {
            naming = naming.total(total);
        }
        if let Some(name) = &args.skill_header {
            naming = naming.skill_header(name.clone());
        }
        let stack = ServiceBuilder::new()
            .layer(naming)
            .layer(ShowCardsLayer)
            .layer(RefusalResponseLayer::new())
            .layer(InFlightLayer::new(args.max_in_flight))
            .service(guarded);
        Self {
            stack: BoxCloneSyncService::new(stack),
            upstream: args.upstream.clone(),
            tenant_header: args.tenant_header.clone(),
            call: args.region.as_deref().map(|region| Call::new().with_region(region)),
        }
    }

    async fn send(self, request: Request<Incoming>) -> Response<Answer> {
        let (mut head, body) = request.into_parts();
        let Some(authority) = authority_of(&head) else {
            return plain(StatusCode::BAD_REQUEST, "the request names no host\n");
        };
        let prefix = match &self.tenant_header {
            None => String::new(),
            Some(header) => match tenants::enter(&mut head, header) {
                Place::Tenant { prefix } => prefix,
                Place::Nowhere => return plain(StatusCode::NOT_FOUND, "tenants are served under /tenants/{tenant}\n"),
            },
        };
        remove_hop_by_hop(&mut head.headers);
        // The client names the agent's host itself.
        head.headers.remove(HOST);
        let path = head.uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        let mut parts = self.upstream.clone().into_parts();
        parts.path_and_query = Some(path);
        let Ok(uri) = Uri::from_parts(parts) else {
            return plain(StatusCode::BAD_REQUEST, "the request's target is no path\n");
        };
        head.uri = uri;
        head.extensions.insert(Door { upstream: self.upstream, authority, prefix });
        if let Some(call) = self.call {
            head.extensions.insert(call);
        }
        let Ok(mut response) = self.stack.oneshot(Request::from_parts(head, body)).await;
        remove_hop_by_hop(response.headers_mut());
        response
    }
}

impl Service<Request<Incoming>> for Proxy {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Answer>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move { Ok(this.send(request).await) })
    }
}

/// How the caller names the gateway: by `:authority` over HTTP/2, by `Host` over HTTP/1.1.
fn authority_of(head: &http::request::Parts) -> Option<String> {
    if let Some(authority) = head.uri.authority() {
        return Some(authority.to_string());
    }
    let host = head.headers.get(HOST)?.to_str().ok()?;
    host.parse::<http::uri::Authority>().ok().map(|authority| authority.to_string())
}

pub(crate) fn plain(status: StatusCode, text: &'static str) -> Response<Answer> {
    let body = Full::from(Bytes::from_static(text.as_bytes()));
    let mut response = Response::new(body.map_err(|never| -> BoxError { match never {} }).boxed_unsync());
    *response.status_mut() = status;
    response
}
