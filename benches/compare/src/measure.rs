//! One batch of calls on a runtime, and what it took.

use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::hint::black_box;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::sleep;
use tower::Service;

use crate::alloc::{Allocations, so_far};

/// Sooner than every bound in use here, and far longer than a batch.
const EARLIER: Duration = Duration::from_secs(1);

/// The CPU time that this thread has used.
pub fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// What a batch took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Thread CPU time.
    pub time: Duration,
    /// Memory asked for.
    pub allocations: Allocations,
}

/// Runs `work` on this thread and says what it took.
pub fn cost_of<T>(work: impl FnOnce() -> T) -> Cost {
    let memory = so_far();
    let start = thread_time();
    black_box(work());
    Cost { time: thread_time() - start, allocations: so_far() - memory }
}

/// The runtime of all batches: one thread, timers, and a visit to the operating system only where a batch asks for it,
/// so that its cost falls on no call by chance.
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().event_interval(1 << 20).build().expect("a runtime of one thread")
}

/// How a caller consumes a body.
pub trait Consume<B>: Copy + Send + Sync + 'static {
    /// Reads all of it; the number of frames or events.
    fn consume(self, body: B) -> impl Future<Output = usize> + Send;
}

/// Frame after frame, to the end.
#[derive(Clone, Copy, Debug)]
pub struct Drain;

impl<B> Consume<B> for Drain
where
    B: Body<Data = Bytes, Error: Debug> + Send,
{
    async fn consume(self, body: B) -> usize {
        let mut body = pin!(body);
        let mut frames = 0;
        while let Some(frame) = body.frame().await {
            black_box(frame.expect("a body without fault"));
            frames += 1;
        }
        frames
    }
}

/// Sends `requests` one after another through `service` and consumes each response. Making the requests is not part of
/// the cost, dropping them is.
pub fn batch<S, ReqBody, ResBody, C>(
    runtime: &Runtime,
    mut service: S,
    requests: Vec<Request<ReqBody>>,
    consume: C,
) -> Cost
where
    S: Service<Request<ReqBody>, Response = Response<ResBody>, Error: Debug, Future: Send> + Send + 'static,
    ReqBody: Send + 'static,
    ResBody: Send + 'static,
    C: Consume<ResBody>,
{
    let calls = async move {
        // The driver is woken for each timer that becomes its earliest one. In a program with some traffic there is
        // always an earlier one; here it is this, and the yield lets the driver see it.
        let mut earlier = pin!(sleep(EARLIER));
        poll_fn(|cx| {
            let _ = earlier.as_mut().poll(cx);
            std::task::Poll::Ready(())
        })
        .await;
        yield_now().await;

        let memory = so_far();
        let start = thread_time();
        for request in requests {
            poll_fn(|cx| service.poll_ready(cx)).await.expect("a service that is ready");
            let response = service.call(request).await.expect("a call that succeeds");
            black_box(consume.consume(response.into_body()).await);
        }
        Cost { time: thread_time() - start, allocations: so_far() - memory }
    };
    // In a task of its own: waking the future of `block_on` costs a system call, waking a task does not.
    runtime.block_on(async { tokio::spawn(calls).await }).expect("a batch that does not panic")
}
