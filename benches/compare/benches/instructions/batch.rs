//! A batch of calls on a runtime, counted from the first to the end of the last.

use std::{
    fmt::Debug,
    future::{Future, poll_fn},
    hint::black_box,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tokio::runtime::{Builder, Runtime};
use tower::Service;

use crate::callgrind::callgrind_part_ends_here as part_ends;

/// Sooner than every bound in use, and longer than a batch takes below callgrind.
const EARLIER: Duration = Duration::from_secs(20);

/// One thread and timers, and no visit to the operating system in the middle of a batch.
pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().event_interval(1 << 20).build().expect("a runtime of one thread")
}

/// Sends the requests one after another, and reads each answer to its end.
pub(crate) fn calls<S, A, B>(runtime: &Runtime, mut service: S, requests: Vec<Request<A>>)
where
    S: Service<Request<A>, Response = Response<B>, Error: Debug, Future: Send> + Send + 'static,
    A: Send + 'static,
    B: Body<Data = Bytes, Error: Debug> + Send + 'static,
{
    let calls = async move {
        // The driver is woken for each timer that becomes its earliest one: in a program with traffic there is one.
        let mut earlier = pin!(tokio::time::sleep(EARLIER));
        poll_fn(|cx| {
            let _ = earlier.as_mut().poll(cx);
            Poll::Ready(())
        })
        .await;
        tokio::task::yield_now().await;

        part_ends();
        for request in requests {
            poll_fn(|cx| service.poll_ready(cx)).await.expect("a service that is ready");
            let response = service.call(request).await.expect("a call that succeeds");
            let mut body = pin!(response.into_body());
            while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
                black_box(frame.expect("a body without fault"));
            }
        }
        part_ends();
    };
    // In a task of its own: waking the future of `block_on` costs a system call, waking a task does not.
    runtime.block_on(async { tokio::spawn(calls).await }).expect("a batch that does not panic");
}

/// The same with calls that are done when they are polled once, and whose answers have no body to speak of.
pub(crate) fn polled_once<S, A, B>(mut service: S, requests: Vec<Request<A>>)
where
    S: Service<Request<A>, Response = Response<B>, Error: Debug>,
{
    let mut cx = Context::from_waker(Waker::noop());
    part_ends();
    for request in requests {
        assert!(service.poll_ready(&mut cx).is_ready());
        let answered = Pin::as_mut(&mut pin!(service.call(request))).poll(&mut cx);
        let Poll::Ready(Ok(response)) = answered else { panic!("a call that waits, or is refused") };
        black_box(response);
    }
    part_ends();
}
