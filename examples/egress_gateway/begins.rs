//! A caller's connection, on which something must be said in time.
//!
//! The server below bounds how long the head of a request may take once it knows by which version it is spoken to. To
//! know that, it waits for as long as what came could still become HTTP/2's preface: for ever, of a caller that says
//! nothing.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// RFC 9113 §3.4.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(crate) struct Begins<T> {
    io: T,
    /// Until the version is plain: how much of the preface has come, and when that is over.
    opening: Option<(usize, Pin<Box<Sleep>>)>,
}

impl<T> Begins<T> {
    /// Reading fails if it is not plain `within` that time by which version the caller speaks.
    pub(crate) fn new(io: T, within: Duration) -> Self {
        Self { io, opening: Some((0, Box::pin(sleep(within)))) }
    }
}

impl<T> AsyncRead for Begins<T>
where
    T: AsyncRead + Unpin,
{
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buf.filled().len();
        let read = Pin::new(&mut this.io).poll_read(cx, buf);
        let Some((come, over)) = &mut this.opening else { return read };
        if read.is_pending() {
            ready!(over.as_mut().poll(cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let new = buf.filled().get(before..).unwrap_or_default();
        let rest = PREFACE.get(*come..).unwrap_or_default();
        *come += new.len();
        if new.is_empty() || new.len() >= rest.len() || !rest.starts_with(new) {
            this.opening = None;
        }
        read
    }
}

impl<T> AsyncWrite for Begins<T>
where
    T: AsyncWrite + Unpin,
{
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
