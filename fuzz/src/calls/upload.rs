//! The body of a request, as its caller sends it.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

/// How a caller sends its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upload {
    /// All of it is there.
    AtOnce,
    /// In two halves, the second after so long.
    InHalves(Duration),
    /// The second half never comes.
    Stuck,
    /// The caller's own source of it fails behind the first half.
    Lost,
}

impl Upload {
    /// Whether all of it comes, soon enough to be read.
    #[must_use]
    pub fn is_whole(self) -> bool {
        matches!(self, Self::AtOnce | Self::InHalves(_))
    }

    pub(super) fn body(self, mut bytes: Bytes) -> Uploaded {
        let first = match self {
            Self::AtOnce => std::mem::take(&mut bytes),
            _ => bytes.split_to(bytes.len() / 2),
        };
        Uploaded { upload: self, first, second: bytes, sleep: None }
    }
}

/// See [`Upload`].
#[derive(Debug)]
pub struct Uploaded {
    upload: Upload,
    first: Bytes,
    second: Bytes,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Body for Uploaded {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if !self.first.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.first)))));
        }
        if self.second.is_empty() {
            return Poll::Ready(None);
        }
        match self.upload {
            Upload::AtOnce => {}
            Upload::InHalves(time) => {
                let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
                ready!(sleep.as_mut().poll(cx));
                self.sleep = None;
            }
            Upload::Stuck => return Poll::Pending,
            Upload::Lost => {
                self.second = Bytes::new();
                return Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())));
            }
        }
        Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.second)))))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_empty() && self.second.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact((self.first.len() + self.second.len()) as u64)
    }
}
