use std::{fmt, sync::Arc, time::Duration};

use http::HeaderName;
use tower_layer::Layer;

use super::{Credentials, DelegateService, FallbackTo, NoFallback};
use crate::{directory::Directory, limits::Limits};

/// Delegates: the request names a [`Need`](crate::directory::Need), in its extensions, and this picks the peer, writes
/// the request to that peer's interface, and calls the guarded client below.
///
/// Directly below [`CallLayer`](crate::CallLayer), which reads the request, and above a [`Guard`](crate::Guard), which
/// sees to it that each attempt ends:
///
/// ```
/// # use std::convert::Infallible;
/// # use bytes::Bytes;
/// # use http_body_util::Full;
/// # type Whole = http::Response<Full<Bytes>>;
/// use a2a_guard::{CallLayer, Guard, card_consistency::CardStore, directory::{DelegateLayer, Directory}};
/// use tower::ServiceBuilder;
///
/// # let client = tower::service_fn(|_: http::Request<Full<Bytes>>| async { Ok::<Whole, Infallible>(Whole::default()) });
/// let directory = Directory::builder(CardStore::builder(client).build()?).build();
/// # use a2a_guard::CallBody;
/// # let client = tower::service_fn(|_: http::Request<CallBody<CallBody<Full<Bytes>>>>| async { Ok::<Whole, Infallible>(Whole::default()) });
/// let orchestrator = ServiceBuilder::new()
///     .layer(CallLayer::new())
///     .layer(DelegateLayer::new(directory))
///     .layer(Guard::new())
///     .service(client);
/// # fn is_service<S: tower::Service<http::Request<Full<Bytes>>>>(_: S) {}
/// # is_service(orchestrator);
/// # Ok::<(), a2a_guard::card_consistency::CardStoreError>(())
/// ```
///
/// # Who is asked
///
/// The best of those who may be, by [`Directory::find`]; right before, once more, whether it is still there, fresh and
/// permitted. The next one where this one's card, probe or routing signal says "not here", or where nothing can have
/// been done ([`Retry`](crate::Retry) is not `unsafe`, nor did the agent itself fail): at most
/// [`attempts`](Self::attempts) of them, within the call's own total. What may have been begun is never begun again
/// elsewhere, nor is a refusal of the request itself repeated.
///
/// Only a message that begins a task is delegated: whatever else is about one goes to who has it
/// ([`Delegated`](super::Delegated)). A request over HTTP+JSON that names no version is taken for one of 1.0.
///
/// # What goes along
///
/// The headers that say how the request is to be read, and those of its trace; of the query the same. All others stay
/// behind, `Authorization`, `Cookie` and keys among them: whoever registers a skill is nobody that the caller gave them
/// to. What a peer is to know of the caller is said by [`credentials`](Self::credentials), for that peer.
#[derive(Clone)]
pub struct DelegateLayer<F = NoFallback> {
    directory: Directory,
    config: Arc<Config>,
    fallback: F,
}

#[derive(Clone)]
pub(super) struct Config {
    pub(super) attempts: u32,
    pub(super) limits: Limits,
    pub(super) credentials: Option<Arc<dyn Credentials>>,
    pub(super) kept: Vec<HeaderName>,
    pub(super) caller_header: Option<HeaderName>,
    pub(super) test_timeout: Duration,
}

impl DelegateLayer {
    /// To the peers of this directory: three attempts, no credentials, no fallback.
    #[must_use]
    pub fn new(directory: Directory) -> Self {
        let config = Config {
            attempts: 3,
            limits: Limits::default(),
            credentials: None,
            kept: Vec::new(),
            caller_header: None,
            test_timeout: Duration::from_secs(10),
        };
        Self { directory, config: Arc::new(config), fallback: NoFallback }
    }
}

impl<F> DelegateLayer<F> {
    fn set(mut self, set: impl FnOnce(&mut Config)) -> Self {
        set(Arc::make_mut(&mut self.config));
        self
    }

    /// How many peers are asked at most, the first included. 0 is taken for 1. Default: 3.
    #[must_use]
    pub fn attempts(self, attempts: u32) -> Self {
        self.set(|config| config.attempts = attempts.max(1))
    }

    /// The bounds of calls, as [`TerminalStateLayer`](crate::TerminalStateLayer) below has them: all attempts together
    /// are held to the total. A [`LimitOverrides`](crate::LimitOverrides) in a request's extensions counts as it does
    /// there. Default: [`Limits::default`].
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.set(|config| config.limits = limits)
    }

    /// Gives the credentials for the peer that was chosen. Default: none.
    #[must_use]
    pub fn credentials(self, credentials: impl Credentials + 'static) -> Self {
        self.set(|config| config.credentials = Some(Arc::new(credentials)))
    }

    /// Headers of the caller's request that go to whichever peer is chosen. What is named here is known to all of them.
    /// Default: none.
    #[must_use]
    pub fn keep_headers(self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.set(|config| config.kept.extend(names))
    }

    /// Says in this header on whose behalf the call is made: the need's caller. What the request itself has there stays
    /// behind. Default: none; the layers below find the [`Caller`](crate::directory::Caller) in the extensions.
    #[must_use]
    pub fn caller_header(self, name: HeaderName) -> Self {
        self.set(|config| config.caller_header = Some(name))
    }

    /// How long a test call may take at most, where permission asks for one. It goes on without the call that wanted
    /// it, and an answer that comes within as long again still says what to cancel. Default: 10 s.
    #[must_use]
    pub fn test_timeout(self, timeout: Duration) -> Self {
        self.set(|config| config.test_timeout = timeout)
    }

    /// Answers what nobody may be asked for, in the stead of
    /// [`NoEligiblePeer`](super::DelegateError::NoEligiblePeer). It gets the request as the caller sent it.
    #[must_use]
    pub fn fallback<S>(self, service: S) -> DelegateLayer<FallbackTo<S>> {
        DelegateLayer { directory: self.directory, config: self.config, fallback: FallbackTo(service) }
    }
}

impl<F> fmt::Debug for DelegateLayer<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DelegateLayer")
            .field("directory", &self.directory)
            .field("attempts", &self.config.attempts)
            .field("kept", &self.config.kept)
            .finish_non_exhaustive()
    }
}

impl<S, F> Layer<S> for DelegateLayer<F>
where
    F: Clone,
{
    type Service = DelegateService<S, F>;

    fn layer(&self, inner: S) -> Self::Service {
        DelegateService::new(inner, self.directory.clone(), Arc::clone(&self.config), self.fallback.clone())
    }
}
