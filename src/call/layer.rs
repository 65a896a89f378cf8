use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::HeaderName;
use tower_layer::Layer;

use super::{CallService, Order};
use crate::{outcome::Observe, wire::KnownRequests};

/// Names each call: reads operation, binding, version, JSON-RPC id, tenant and task id off the request and puts them,
/// as a [`Call`](crate::Call), into its extensions.
///
/// Not a byte of the request changes. The body of a POST is read for this, up to [`max_body`](Self::max_body) and for
/// at most [`read_timeout`](Self::read_timeout). The call is named from what was read, and what comes later passes on
/// behind it. A body that fails is passed on as that failing body. A request whose `Call` already names operation and
/// binding (the caller's, or another `CallLayer`'s) passes as it is; a `Call` that says less is completed.
///
/// gRPC calls are recognised by their media type and named by their path, whatever client made the request: the package
/// gives the version, the method the operation. If middleware rewrote the path, so that it names no operation, then
/// with feature `tonic` the `GrpcMethod` does, which tonic's generated clients put into the extensions. Such calls are
/// never probed, nor are their tasks asked for or cancelled: no other operation's path is known. Tenant, task and
/// context are read from the request's message, and `grpc-timeout` bounds the reading as well. Once that message is
/// whole, the end of the body is not waited for.
///
/// A layer remembers how requests of four kinds were written, at most 1 KiB of each: what is like one of them, but for
/// ids and texts that name nothing, need not be scanned.
///
/// It is the outermost of the layers. The client below sees the body as [`CallBody`](crate::CallBody).
#[derive(Clone)]
pub struct CallLayer<O = ()> {
    config: Arc<Config>,
    observer: O,
}

#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) max_body: usize,
    pub(super) read_timeout: Duration,
    pub(super) total: Option<Duration>,
    pub(super) skill_metadata: Option<Box<str>>,
    pub(super) region_metadata: Option<Box<str>>,
    pub(super) skill_header: Option<HeaderName>,
    pub(super) region_header: Option<HeaderName>,
    pub(super) base_path: Option<Box<str>>,
    pub(super) order: Arc<Order>,
    pub(super) known: Known,
}

/// What the requests look like that this layer named. Of another layer, whose keys may be others, nothing is known.
#[derive(Debug, Default)]
pub(super) struct Known(pub(super) Mutex<KnownRequests>);

impl Clone for Known {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_body: 32 << 20,
            read_timeout: Duration::from_secs(30),
            total: None,
            skill_metadata: None,
            region_metadata: None,
            skill_header: None,
            region_header: None,
            base_path: None,
            order: Arc::default(),
            known: Known::default(),
        }
    }
}

impl Default for CallLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl CallLayer {
    /// Reads at most 32 MiB for at most 30 s; skill and region are what the caller's own `Call` says.
    #[must_use]
    pub fn new() -> Self {
        Self { config: Arc::default(), observer: () }
    }
}

impl<O> CallLayer<O> {
    fn set(mut self, set: impl FnOnce(&mut Config)) -> Self {
        let config = Arc::make_mut(&mut self.config);
        set(config);
        config.known = Known::default();
        self
    }

    /// How many bytes of a request body are read at most to name the call. Default: 32 MiB.
    #[must_use]
    pub fn max_body(self, bytes: usize) -> Self {
        self.set(|config| config.max_body = bytes)
    }

    /// How long a request body is read at most to name the call. Default: 30 s.
    ///
    /// It is no bound of the call: what has not come by then passes on with the request, where the bounds of
    /// [`TerminalStateLayer`](crate::TerminalStateLayer) hold.
    #[must_use]
    pub fn read_timeout(self, timeout: Duration) -> Self {
        self.set(|config| config.read_timeout = timeout)
    }

    /// The total of calls, as `TerminalStateLayer` below has it: reading a request takes no longer than that. A
    /// total that [`LimitOverrides`](crate::LimitOverrides) in the request's extensions set counts in its place. Default:
    /// none, so only `read_timeout` holds.
    #[must_use]
    pub fn total(self, total: Duration) -> Self {
        self.set(|config| config.total = Some(total))
    }

    /// Is told of each call that is dropped while its request is still being read, or while it waits for its turn after
    /// that: such a call reaches no other layer. Default: nobody.
    #[must_use]
    pub fn observe<P>(self, observer: P) -> CallLayer<P>
    where
        P: Observe + Clone,
    {
        CallLayer { config: self.config, observer }
    }

    /// Takes the skill from this key of the request's `metadata`, or of its message's. A key is found up to a length of
    /// 128 bytes over JSON, and of 1 KiB over gRPC. Default: none.
    #[must_use]
    pub fn skill_metadata(self, key: impl Into<Box<str>>) -> Self {
        self.set(|config| config.skill_metadata = Some(key.into()))
    }

    /// Takes the region from this key of the request's `metadata`, or of its message's. A key is found up to a length of
    /// 128 bytes over JSON, and of 1 KiB over gRPC. Default: none.
    #[must_use]
    pub fn region_metadata(self, key: impl Into<Box<str>>) -> Self {
        self.set(|config| config.region_metadata = Some(key.into()))
    }

    /// Takes the skill from this request header; it wins over metadata. Default: none.
    #[must_use]
    pub fn skill_header(self, name: HeaderName) -> Self {
        self.set(|config| config.skill_header = Some(name))
    }

    /// Takes the region from this request header; it wins over metadata. Default: none.
    #[must_use]
    pub fn region_header(self, name: HeaderName) -> Self {
        self.set(|config| config.region_header = Some(name))
    }

    /// The path of the agent's HTTP+JSON interface, so that the segment between it and the operation is known to be the
    /// tenant (§8.3.2). Default: none, and a path's first segment is nobody's tenant.
    #[must_use]
    pub fn base_path(self, path: impl Into<Box<str>>) -> Self {
        let path = path.into();
        // Every path begins with a slash; one without would be no request's.
        let path = if path.is_empty() || path.starts_with('/') { path } else { format!("/{path}").into() };
        self.set(|config| config.base_path = Some(path))
    }
}

impl<O> fmt::Debug for CallLayer<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallLayer").field("config", &self.config).finish_non_exhaustive()
    }
}

impl<S, O> Layer<S> for CallLayer<O>
where
    O: Clone,
{
    type Service = CallService<S, O>;

    fn layer(&self, inner: S) -> Self::Service {
        CallService::new(inner, Arc::clone(&self.config), self.observer.clone())
    }
}
