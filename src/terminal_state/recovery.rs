use std::{fmt, future::Future, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use tokio::{sync::Semaphore, task::coop};
use tower_service::Service;

use super::{
    flight::Rescue,
    rescue::{Answer, Origin},
};
use crate::{
    client::{AnyBody, Client, erase},
    error::BoxError,
};

/// How much of an answer to a request of the layer's own is read at most, if the caps of the call allow as much.
const MAX_ANSWER: usize = 8 << 20;

/// What to do about the task that a failed or abandoned call leaves behind.
///
/// The layer's own requests, `CancelTask` and `GetTask`, go through a client of their own: a clone of the same one is
/// the usual choice. They carry the headers of the call that caused them. At most
/// [`max_in_flight`](Self::max_in_flight) run at once and each for at most [`timeout`](Self::timeout); beyond that they
/// are not sent.
///
/// ```
/// # use std::convert::Infallible;
/// # use bytes::Bytes;
/// # use http_body_util::Full;
/// # let client = tower::service_fn(|_: http::Request<Full<Bytes>>| async {
/// #     Ok::<_, Infallible>(http::Response::new(Full::<Bytes>::default()))
/// # });
/// use a2a_guard::{Recovery, TerminalStateLayer};
///
/// let layer = TerminalStateLayer::builder()
///     .recovery(Recovery::new(client).reconcile().cancel_on_drop())
///     .build()?;
/// # Ok::<(), a2a_guard::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Recovery {
    client: Arc<dyn Client>,
    cancel_on_failure: bool,
    cancel_on_drop: bool,
    reconcile: bool,
    timeout: Duration,
    max_in_flight: usize,
    permits: Arc<Semaphore>,
}

impl Recovery {
    /// Nothing is done yet; requests will go through `service`. Default bounds: 16 in flight, 5 s each.
    #[must_use]
    pub fn new<S, B, R>(service: S) -> Self
    where
        S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: From<Bytes> + Send + 'static,
        R: Body + Send + 'static,
        R::Data: Send,
        R::Error: Into<BoxError>,
    {
        Self {
            client: Arc::new(erase(service)),
            cancel_on_failure: false,
            cancel_on_drop: false,
            reconcile: false,
            timeout: Duration::from_secs(5),
            max_in_flight: 16,
            permits: Arc::new(Semaphore::new(16)),
        }
    }

    /// Sends `CancelTask` for a send that failed: after a timeout, a truncation or a lost connection, if the task's id
    /// is known (and, with [`reconcile`](Self::reconcile), if the task turned out not to have finished).
    #[must_use]
    pub fn cancel_on_failure(mut self) -> Self {
        self.cancel_on_failure = true;
        self
    }

    /// Sends `CancelTask` when the caller drops a send before its end, if the task's id is known. Needs a tokio
    /// runtime where it is dropped; without one nothing is sent.
    #[must_use]
    pub fn cancel_on_drop(mut self) -> Self {
        self.cancel_on_drop = true;
        self
    }

    /// Asks `GetTask` once after a timeout or a truncation, if the task's id is known. (After a connection that was
    /// lost before any answer it asks only for a subscription: a message may have been lost with the connection.) A
    /// task that did finish becomes the call's success: a stream's last event, or a unary answer. The outcome lists
    /// it as tolerated (`reconciled`). The call may end up to [`timeout`](Self::timeout) later because of this,
    /// also beyond its total. An answer above 8 MiB, or above the call's own cap for a body (for a stream: an
    /// event), is not taken.
    #[must_use]
    pub fn reconcile(mut self) -> Self {
        self.reconcile = true;
        self
    }

    /// How long a request of the layer's own may take. Default: 5 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many requests of the layer's own may run at once. Default: 16.
    #[must_use]
    pub fn max_in_flight(mut self, max: usize) -> Self {
        self.max_in_flight = max;
        self.permits = Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)));
        self
    }

    /// Why no request would ever be sent, if that is so.
    pub(super) fn does_nothing(&self) -> Option<&'static str> {
        if !(self.cancel_on_failure || self.cancel_on_drop || self.reconcile) {
            Some("does nothing: choose cancel_on_failure, cancel_on_drop or reconcile")
        } else if self.timeout.is_zero() {
            Some("does nothing: its timeout is zero")
        } else if self.max_in_flight == 0 {
            Some("does nothing: its max_in_flight is zero")
        } else {
            None
        }
    }

    pub(super) fn reconciles(&self) -> bool {
        self.reconcile
    }

    pub(super) fn cancels_on_drop(&self) -> bool {
        self.cancel_on_drop
    }

    pub(super) fn cancels_on_failure(&self) -> bool {
        self.cancel_on_failure
    }

    /// Asks for the task once, in a task of the runtime's: however its caller is polled, it takes no longer than it
    /// may.
    pub(super) fn ask(&self, origin: &Origin, task_id: &str, max: usize) -> Option<Rescue> {
        let runtime = tokio::runtime::Handle::try_current().ok()?;
        let permit = Arc::clone(&self.permits).try_acquire_owned().ok()?;
        let request = origin.get_task(task_id)?;
        let reading = origin.reader(task_id);
        let answer = read(self.client.send(request), max.min(MAX_ANSWER));
        let bound = self.timeout;
        let asked = runtime.spawn(async move {
            let _permit = permit;
            let answer = tokio::time::timeout(bound, answer).await.ok()?.ok()?;
            reading.finished_task(&answer)
        });
        Some(Box::pin(async move { asked.await.ok().flatten() }))
    }

    /// Cancels the task, in a task of the runtime's.
    pub(super) fn cancel(&self, origin: &Origin, task_id: &str) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else { return };
        let Some(request) = origin.cancel_task(task_id) else { return };
        let answer = pass(self.client.send(request));
        let bound = self.timeout;
        runtime.spawn(async move {
            let _permit = permit;
            // Whatever comes of it: there is nobody left to tell.
            let _ = tokio::time::timeout(bound, answer).await;
        });
    }
}

impl fmt::Debug for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recovery")
            .field("cancel_on_failure", &self.cancel_on_failure)
            .field("cancel_on_drop", &self.cancel_on_drop)
            .field("reconcile", &self.reconcile)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// The answer to a request of the layer's own, read whole.
async fn read<A>(answer: A, max: usize) -> Result<Answer, BoxError>
where
    A: Future<Output = Result<Response<AnyBody>, BoxError>>,
{
    let (head, mut body) = answer.await?.into_parts();
    let mut whole = BytesMut::new();
    let mut trailers = None;
    while let Some(frame) = body.frame().await {
        // A body that is always ready must leave its timeout a turn.
        coop::consume_budget().await;
        let data = match frame?.into_data() {
            Ok(data) => data,
            Err(frame) => {
                trailers = frame.into_trailers().ok();
                continue;
            }
        };
        if whole.len() + data.len() > max {
            return Err("the answer is too large".into());
        }
        whole.extend_from_slice(&data);
    }
    Ok(Answer { head, body: whole.freeze(), trailers })
}

/// An answer that nobody asks about: it is read so that its connection can be used again, and nothing of it is kept.
async fn pass<A>(answer: A) -> Result<(), BoxError>
where
    A: Future<Output = Result<Response<AnyBody>, BoxError>>,
{
    let mut body = answer.await?.into_body();
    let mut passed = 0;
    while let Some(frame) = body.frame().await {
        coop::consume_budget().await;
        passed += frame?.data_ref().map_or(0, Bytes::len);
        if passed > MAX_ANSWER {
            return Err("the answer is too large".into());
        }
    }
    Ok(())
}
