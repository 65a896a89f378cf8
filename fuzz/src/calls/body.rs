//! A response body that does as it is told.

use std::{
    collections::VecDeque,
    future::Future,
    io,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

use super::plan::{End, Pause, Plan, Trailers};

/// So often a body without end is asked before its reader is taken for one that never ends.
const PATIENCE: u32 = 200_000;

/// The body of a [`Plan`].
#[derive(Debug)]
pub struct Scripted {
    chunks: VecDeque<(Pause, Bytes)>,
    trailers: Option<HeaderMap>,
    end: End,
    exact: Option<u64>,
    sleep: Option<Pin<Box<Sleep>>>,
    asked: u32,
    over: bool,
}

impl Scripted {
    /// `exact` is the length that it says it has, if it says one.
    #[must_use]
    pub fn new(plan: &Plan, exact: Option<u64>) -> Self {
        let mut trailers = HeaderMap::new();
        let mut append = |name: &'static str, value: &str| trailers.append(name, value.parse().expect("a value"));
        match plan.trailers {
            Trailers::None | Trailers::InHead(_) => {}
            Trailers::Other => {
                append("x-checksum", "c0ffee");
            }
            Trailers::Status(code) => {
                append("grpc-status", code);
            }
            Trailers::Statuses(one, other) => {
                append("grpc-status", one);
                append("grpc-status", other);
            }
        }
        Self {
            chunks: plan.chunks.iter().cloned().collect(),
            trailers: (!trailers.is_empty()).then_some(trailers),
            end: plan.end,
            exact,
            sleep: None,
            asked: 0,
            over: false,
        }
    }

    fn poll_sleep(&mut self, time: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
        ready!(sleep.as_mut().poll(cx));
        self.sleep = None;
        Poll::Ready(())
    }

    /// The piece behind the last.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self.end {
            End::Clean => match self.trailers.take() {
                Some(trailers) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
                None => {
                    self.over = true;
                    Poll::Ready(None)
                }
            },
            End::Reset => {
                self.over = true;
                Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())))
            }
            End::Hang => Poll::Pending,
            End::Endless(text, each) => {
                if each.is_zero() {
                    // Not at once, but with no time in between.
                    tick(Duration::from_micros(50), cx);
                }
                ready!(self.poll_sleep(each, cx));
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(text.as_bytes())))))
            }
            End::Flood(text, each) => {
                tick(each, cx);
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(text.as_bytes())))))
            }
            End::Trailers(each) => {
                tick(each, cx);
                let mut trailers = HeaderMap::new();
                trailers.insert("x-part", http::HeaderValue::from_static("one"));
                Poll::Ready(Some(Ok(Frame::trailers(trailers))))
            }
        }
    }
}

/// Moves the paused clock on, within a poll.
fn tick(time: Duration, cx: &mut Context<'_>) {
    let _ = pin!(tokio::time::advance(time)).poll(cx);
}

impl Body for Scripted {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.asked += 1;
        assert!(self.asked < PATIENCE, "asked without end");
        assert!(!self.over, "asked behind its end");
        let Some((pause, _)) = self.chunks.front() else { return self.poll_end(cx) };
        match *pause {
            Pause::None => {}
            Pause::Yield => {
                self.chunks[0].0 = Pause::None;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Pause::For(time) => ready!(self.poll_sleep(time, cx)),
        }
        let chunk = self.chunks.pop_front().map(|(_, chunk)| chunk).unwrap_or_default();
        if let Some(left) = &mut self.exact {
            *left = left.saturating_sub(chunk.len() as u64);
        }
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.chunks.is_empty() && self.end == End::Clean && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.exact.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
