use std::{
    collections::VecDeque,
    future::Future,
    io,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::time::{Instant, Sleep};

use super::BoxError;

/// So often a body without end is asked before it takes its reader for one that never ends.
const PATIENCE: u32 = 20_000;

/// One thing that a [`MockBody`] does.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Data(Bytes),
    Trailers(HeaderMap),
    Wait(Duration),
    /// What follows is there this long after the body was made, whether anyone asks for it or not.
    At(Duration),
    /// Nothing yet, but at once.
    Yield,
    /// The connection is reset.
    Reset,
    Hang,
    /// Always ready, with the same frame; making one takes this long.
    Forever(Result<Bytes, HeaderMap>, Duration),
    /// The same, until tokio's budget for one poll of a task is spent.
    Metered(Bytes, Duration),
    /// Spends that budget, and this long, and has nothing to show for it.
    Busy(Duration),
    /// So long nobody's turn ends: what follows comes in the same poll.
    Stall(Duration),
}

/// A body that does one step after the other and then ends.
#[derive(Debug)]
pub(crate) struct MockBody {
    made: Instant,
    steps: VecDeque<Step>,
    sleep: Option<Pin<Box<Sleep>>>,
    asked: u32,
}

impl MockBody {
    pub(crate) fn new() -> Self {
        Self { made: Instant::now(), steps: VecDeque::new(), sleep: None, asked: 0 }
    }

    pub(crate) fn of(frames: impl IntoIterator<Item = Bytes>) -> Self {
        frames.into_iter().fold(Self::new(), Self::data)
    }

    pub(crate) fn then(mut self, step: Step) -> Self {
        self.steps.push_back(step);
        self
    }

    pub(crate) fn data(self, data: impl Into<Bytes>) -> Self {
        self.then(Step::Data(data.into()))
    }

    pub(crate) fn wait(self, time: Duration) -> Self {
        self.then(Step::Wait(time))
    }

    pub(crate) fn at(self, time: Duration) -> Self {
        self.then(Step::At(time))
    }

    /// So many times: waits, then gives the data.
    pub(crate) fn every(self, time: Duration, data: &'static str, times: usize) -> Self {
        (0..times).fold(self, |body, _| body.wait(time).data(data))
    }

    pub(crate) fn hang(self) -> Self {
        self.then(Step::Hang)
    }

    pub(crate) fn reset(self) -> Self {
        self.then(Step::Reset)
    }

    pub(crate) fn trailers(self, name: &'static str, value: &'static str) -> Self {
        self.then(Step::Trailers(trailers(name, value)))
    }

    pub(crate) fn forever(self, data: impl Into<Bytes>, each: Duration) -> Self {
        self.then(Step::Forever(Ok(data.into()), each))
    }

    pub(crate) fn trailers_forever(self, each: Duration) -> Self {
        self.then(Step::Forever(Err(trailers("x-part", "one")), each))
    }

    pub(crate) fn metered(self, data: impl Into<Bytes>, each: Duration) -> Self {
        self.then(Step::Metered(data.into(), each))
    }

    pub(crate) fn busy(self, each: Duration) -> Self {
        self.then(Step::Busy(each))
    }

    pub(crate) fn stall(self, time: Duration) -> Self {
        self.then(Step::Stall(time))
    }
}

fn trailers(name: &'static str, value: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(value))])
}

impl Body for MockBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.asked += 1;
        assert!(self.asked < PATIENCE, "asked without end");
        loop {
            let Some(step) = self.steps.front().cloned() else {
                return Poll::Ready(None);
            };
            match step {
                Step::Wait(time) => {
                    let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
                    ready!(sleep.as_mut().poll(cx));
                    self.sleep = None;
                    self.steps.pop_front();
                }
                Step::At(time) => {
                    let due = self.made + time;
                    if Instant::now() < due {
                        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
                        ready!(sleep.as_mut().poll(cx));
                    }
                    self.sleep = None;
                    self.steps.pop_front();
                }
                Step::Yield => {
                    self.steps.pop_front();
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Step::Hang => return Poll::Pending,
                Step::Forever(frame, each) => {
                    tick(each, cx);
                    let frame = frame.map_or_else(Frame::trailers, Frame::data);
                    return Poll::Ready(Some(Ok(frame)));
                }
                Step::Metered(data, each) => {
                    tick(each, cx);
                    ready!(pin!(tokio::task::consume_budget()).poll(cx));
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                }
                Step::Busy(each) => {
                    tick(each, cx);
                    spend_budget(cx);
                    return Poll::Pending;
                }
                Step::Stall(time) => {
                    tick(time, cx);
                    self.steps.pop_front();
                }
                Step::Data(data) => {
                    self.steps.pop_front();
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                }
                Step::Trailers(trailers) => {
                    self.steps.pop_front();
                    return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
                }
                Step::Reset => {
                    self.steps.pop_front();
                    return Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::ConnectionReset).into())));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.steps.is_empty()
    }

    /// Exact where the body is nothing but data and trailers.
    fn size_hint(&self) -> SizeHint {
        let mut length = 0;
        for step in &self.steps {
            match step {
                Step::Data(data) => length += data.len() as u64,
                Step::Trailers(_) => {}
                _ => return SizeHint::default(),
            }
        }
        SizeHint::with_exact(length)
    }
}

/// Moves the paused clock on, within a poll.
pub(crate) fn tick(time: Duration, cx: &mut Context<'_>) {
    if !time.is_zero() {
        let _ = pin!(tokio::time::advance(time)).poll(cx);
    }
}

/// Uses something that is always ready until tokio makes the task yield.
pub(crate) fn spend_budget(cx: &mut Context<'_>) {
    for _ in 0..10_000 {
        if pin!(tokio::task::consume_budget()).poll(cx).is_pending() {
            return;
        }
    }
    panic!("no budget, and none that ends");
}

/// The frames of a body that ends well, its trailers behind them.
pub(crate) async fn frames_of<B>(body: B) -> (Vec<Bytes>, Option<HeaderMap>)
where
    B: Body<Data = Bytes>,
    B::Error: std::fmt::Debug,
{
    let mut body = Box::pin(body);
    let (mut frames, mut trailers) = (Vec::new(), None);
    while let Some(frame) = body.frame().await {
        match frame.unwrap().into_data() {
            Ok(data) => frames.push(data),
            Err(frame) => trailers = frame.into_trailers().ok(),
        }
    }
    (frames, trailers)
}
