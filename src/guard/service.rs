use std::{
    fmt,
    task::{Context, Poll},
};

use http::{
    Request, Uri,
    header::HOST,
    uri::{Authority, PathAndQuery, Scheme},
};
use tower_service::Service;

use super::GuardError;

/// The service of a [`Guard`](super::Guard) or a [`RenderedGuard`](super::RenderedGuard).
#[derive(Clone)]
pub struct GuardService<S> {
    inner: S,
    origin: Option<Origin>,
}

/// What completes a relative URI.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    scheme: Scheme,
    authority: Authority,
}

impl Origin {
    pub(super) fn of(uri: Uri) -> Result<Self, GuardError> {
        let parts = uri.into_parts();
        let path = parts.path_and_query.as_ref().map_or("/", PathAndQuery::as_str);
        match (parts.scheme, parts.authority) {
            (Some(scheme), Some(authority)) if path == "/" => Ok(Self { scheme, authority }),
            (Some(_), Some(_)) => Err(GuardError::new(
                "origin",
                "has a path: give scheme and authority alone, the path is each request's",
            )),
            _ => Err(GuardError::new(
                "origin",
                "is relative itself: give scheme and authority, as in https://agent.example.com",
            )),
        }
    }

    /// The same request at this origin, if its URI has none. The server that a `Host` field names is the one that took the
    /// request in, not the one that it goes to: the client below names that (RFC 9112 §3.2).
    fn complete<B>(&self, request: &mut Request<B>) {
        let uri = request.uri_mut();
        if uri.scheme().is_some() && uri.authority().is_some() {
            return;
        }
        let mut parts = std::mem::take(uri).into_parts();
        let path = parts.path_and_query.take().unwrap_or_else(|| PathAndQuery::from_static("/"));
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(path);
        // Only `*`, of OPTIONS, is a path that no URI has; nothing of A2A is asked so.
        *uri = Uri::from_parts(parts).unwrap_or_default();
        request.headers_mut().remove(HOST);
    }
}

impl<S> GuardService<S> {
    pub(super) fn new(inner: S, origin: Option<Origin>) -> Self {
        Self { inner, origin }
    }
}

impl<S> fmt::Debug for GuardService<S>
where
    S: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, B> Service<Request<B>> for GuardService<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        if let Some(origin) = &self.origin {
            origin.complete(&mut request);
        }
        self.inner.call(request)
    }
}
