use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::Body;

use super::{CallBody, body::End, layer::Config, naming::Naming};
use crate::frames::Frames;

/// So many frames may come without a Pending before the time is looked at.
const FRAMES_UNCHECKED: u32 = 64;

/// A request body on its way into memory, and from there to the client.
pub(super) struct Reading<B>
where
    B: Body,
{
    first: Option<Bytes>,
    read: Frames,
    len: usize,
    max: usize,
    end: End<B::Error>,
    rest: Option<B>,
}

impl<B> Reading<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    pub(super) fn new(body: B, max: usize) -> Self {
        Self { first: None, read: Frames::default(), len: 0, max, end: End::Rest, rest: Some(body) }
    }

    /// Reads until the body ends or fails, the cap is reached, or the bytes can name no call. Pending also after many
    /// frames without a pause, so that the time can be looked at; its task is woken at once then.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, naming: &mut Naming, config: &Config) -> Poll<()> {
        let mut frames = 0;
        while let Some(body) = &mut self.rest {
            if frames == FRAMES_UNCHECKED {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            frames += 1;
            let frame = Pin::new(&mut *body).poll_frame(cx);
            if frame.is_pending() && naming.has_all() {
                return Poll::Ready(());
            }
            match ready!(frame) {
                None => self.rest = None,
                Some(Err(error)) => {
                    self.end = End::Failed(error);
                    self.rest = None;
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        let is_all = self.first.is_none() && body.is_end_stream();
                        naming.feed(config, &data, is_all);
                        self.keep(data);
                        if self.len >= self.max || !naming.wants_more() {
                            return Poll::Ready(());
                        }
                    }
                    Err(frame) => {
                        if let Ok(trailers) = frame.into_trailers() {
                            self.end = End::Trailers(Box::new(trailers));
                        }
                        self.rest = None;
                    }
                },
            }
        }
        Poll::Ready(())
    }

    /// What was read, the rest behind it.
    pub(super) fn into_body(self) -> CallBody<B> {
        CallBody::new(self.first, self.read.into_queue(), self.end, self.rest)
    }

    fn keep(&mut self, data: Bytes) {
        if data.is_empty() {
            return;
        }
        self.len = self.len.saturating_add(data.len());
        if self.first.is_none() {
            self.first = Some(data);
        } else {
            self.read.push(data);
        }
    }
}
