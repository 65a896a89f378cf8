use std::{
    fmt,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{
    Request, Uri,
    uri::{Authority, Scheme},
};
use http_body::Body;
use tonic::body::Body as ChannelBody;
use tower_layer::Layer;
use tower_service::Service;

use crate::{
    call::{CallBody, CallLayer, CallService},
    error::BoxError,
    terminal_state::{ConfigError, TerminalStateLayer, TerminalStateService},
};

/// A channel behind [`CallLayer`] and [`TerminalStateLayer`], as a generated client takes it. Cheap to clone where the
/// channel is.
pub type GuardedChannel<S> = WithOrigin<CallService<TerminalStateService<TonicBody<S>>>>;

/// Puts [`CallLayer`] and [`TerminalStateLayer`], with the default bounds, between a generated client and `channel`: a
/// tonic `Channel`, or any other service of requests with tonic's body.
///
/// `origin` is what the channel is connected to, `https://agent.example.com` say: tonic's clients know only paths, but
/// errors, observers and cards need the place.
///
/// # Errors
///
/// If `origin` is not a scheme and an authority and nothing else.
pub fn channel<S, U>(channel: S, origin: U) -> Result<GuardedChannel<S>, ConfigError>
where
    U: TryInto<Uri>,
{
    channel_with(channel, origin, (CallLayer::new(), TerminalStateLayer::new()))
}

/// The same with layers of your choice, the outermost first: a tuple of two, or what `tower::ServiceBuilder` makes of
/// more.
///
/// ```
/// use std::time::Duration;
/// use a2a_guard::{CallLayer, Limits, TerminalStateLayer};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let channel = tonic::transport::Endpoint::from_static("http://127.0.0.1:50051").connect_lazy();
/// let ending = TerminalStateLayer::builder().limits(Limits::within(Duration::from_secs(60))).build()?;
/// let layers = (CallLayer::new(), ending);
/// let guarded = a2a_guard::tonic::channel_with(channel, "http://127.0.0.1:50051", layers)?;
/// # let _ = guarded; Ok(()) }
/// ```
///
/// With cards, which travel over HTTP whatever the binding:
///
/// ```
/// use a2a_guard::{CallLayer, TerminalStateLayer, card_consistency::{CardConsistencyLayer, CardStore}};
/// use bytes::Bytes;
/// use http_body_util::Full;
/// use hyper_util::{client::legacy::Client, rt::TokioExecutor};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[derive(Clone)] struct AgentClient<T>(T);
/// # impl<T> AgentClient<T> where T: tonic::client::GrpcService<tonic::body::Body> { fn new(channel: T) -> Self { Self(channel) } }
/// let channel = tonic::transport::Endpoint::from_static("http://127.0.0.1:50051").connect_lazy();
/// let cards = CardStore::builder(Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>()).build()?;
/// let layers = tower::ServiceBuilder::new()
///     .layer(CallLayer::new())
///     .layer(CardConsistencyLayer::new(cards))
///     .layer(TerminalStateLayer::new());
/// let client = AgentClient::new(a2a_guard::tonic::channel_with(channel, "http://127.0.0.1:50051", layers)?);
/// # let _ = client; Ok(()) }
/// ```
///
/// # Errors
///
/// If `origin` is not a scheme and an authority and nothing else.
pub fn channel_with<S, U, L>(channel: S, origin: U, layers: L) -> Result<WithOrigin<L::Service>, ConfigError>
where
    U: TryInto<Uri>,
    L: Layer<TonicBody<S>>,
{
    let origin = origin.try_into().map_err(|_| ConfigError::new("origin", "is no URI"))?;
    WithOrigin::new(layers.layer(TonicBody::new(channel)), origin)
}

/// Completes the relative URIs of tonic's clients with the place that they go to. Absolute ones stay as they are.
#[derive(Clone)]
pub struct WithOrigin<S> {
    inner: S,
    scheme: Scheme,
    authority: Authority,
}

impl<S> WithOrigin<S> {
    fn new(inner: S, origin: Uri) -> Result<Self, ConfigError> {
        let parts = origin.into_parts();
        let no_path = parts.path_and_query.as_ref().is_none_or(|path| path == "/");
        match (parts.scheme, parts.authority) {
            (Some(scheme), Some(authority)) if no_path => Ok(Self { inner, scheme, authority }),
            (Some(_), Some(_)) => {
                Err(ConfigError::new("origin", "has a path, and gRPC has none in front of a service"))
            }
            _ => Err(ConfigError::new("origin", "is no absolute URI: write https://agent.example.com")),
        }
    }
}

impl<S, B> Service<Request<B>> for WithOrigin<S>
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
        if request.uri().authority().is_none() {
            let mut parts = std::mem::take(request.uri_mut()).into_parts();
            parts.scheme = Some(self.scheme.clone());
            parts.authority = Some(self.authority.clone());
            // Scheme, authority and path make a URI, whatever each of them is.
            *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
        }
        self.inner.call(request)
    }
}

impl<S> fmt::Debug for WithOrigin<S>
where
    S: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithOrigin")
            .field("inner", &self.inner)
            .field("scheme", &self.scheme)
            .field("authority", &self.authority)
            .finish()
    }
}

/// Hands requests to a service of tonic's as it wants them: with their [`CallBody`] as a `tonic::body::Body`.
#[derive(Clone, Debug)]
pub struct TonicBody<S> {
    channel: S,
}

impl<S> TonicBody<S> {
    /// Around this service.
    pub fn new(channel: S) -> Self {
        Self { channel }
    }
}

impl<S, B> Service<Request<CallBody<B>>> for TonicBody<S>
where
    S: Service<Request<ChannelBody>>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError> + Send,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.channel.poll_ready(cx)
    }

    fn call(&mut self, request: Request<CallBody<B>>) -> S::Future {
        self.channel.call(request.map(ChannelBody::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_scheme_and_an_authority() {
        let refused = |origin: &str| channel((), origin).unwrap_err().to_string();
        assert!(channel((), "http://127.0.0.1:50051").is_ok());
        assert!(channel((), "https://agent.example.com/").is_ok());
        assert_eq!(refused("agent.example.com:443"), "origin is no absolute URI: write https://agent.example.com");
        assert_eq!(refused("/a2a"), "origin is no absolute URI: write https://agent.example.com");
        assert_eq!(refused("https://a.example/b"), "origin has a path, and gRPC has none in front of a service");
        assert_eq!(refused("http://a b"), "origin is no URI");
    }
}
