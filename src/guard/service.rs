use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use http::{
    Request, Uri, Version,
    header::HOST,
    uri::{Authority, PathAndQuery, Scheme},
};
use tower_service::Service;

use super::GuardError;
use crate::hop;

/// The service of a [`Guard`](super::Guard) or a [`RenderedGuard`](super::RenderedGuard).
#[derive(Clone)]
pub struct GuardService<S> {
    inner: S,
    origin: Option<Arc<Origin>>,
}

/// Where requests go that do not say it themselves, or all of them.
#[derive(Debug)]
pub(super) struct Origin {
    scheme: Scheme,
    authority: Authority,
    /// Whatever their URIs say.
    of_all: bool,
}

impl Origin {
    /// Of relative requests.
    pub(super) fn of(uri: Uri) -> Result<Self, GuardError> {
        Self::read("origin", uri, false)
    }

    /// Of all requests.
    pub(super) fn of_all(uri: Uri) -> Result<Self, GuardError> {
        Self::read("upstream", uri, true)
    }

    fn read(setting: &'static str, uri: Uri, of_all: bool) -> Result<Self, GuardError> {
        let parts = uri.into_parts();
        let path = parts.path_and_query.as_ref().map_or("/", PathAndQuery::as_str);
        match (parts.scheme, parts.authority) {
            (Some(scheme), Some(authority)) if path == "/" => Ok(Self { scheme, authority, of_all }),
            (Some(_), Some(_)) => {
                Err(GuardError::new(setting, "has a path: give scheme and authority alone, the path is each request's"))
            }
            _ => Err(GuardError::new(
                setting,
                "is relative itself: give scheme and authority, as in https://agent.example.com",
            )),
        }
    }

    /// The same request at this origin, if that is where it goes. The server that a `Host` field names is the one that
    /// took the request in, not the one that it goes to: the client below names that (RFC 9112 §3.2).
    fn send<B>(&self, request: &mut Request<B>) {
        let uri = request.uri_mut();
        if !self.of_all && uri.scheme().is_some() && uri.authority().is_some() {
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
        if self.of_all {
            // So does all that concerns the connection by which the request came. By which version of HTTP it goes on,
            // the client below knows, and some refuse to be told otherwise.
            hop::remove_of_request(request.headers_mut());
            *request.version_mut() = Version::default();
        }
    }
}

impl<S> GuardService<S> {
    pub(super) fn new(inner: S, origin: Option<Arc<Origin>>) -> Self {
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
            origin.send(&mut request);
        }
        self.inner.call(request)
    }
}
