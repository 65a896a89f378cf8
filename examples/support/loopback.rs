//! A connector that dials one loopback address, whatever the request's URI says.
//!
//! Requests keep the URI of the agent they are meant for (`https://agent.example.com/…`): that is
//! what the layers judge by, and what stands in errors. Only the last step goes elsewhere.

use std::{
    future::Future,
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
};

use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::Service;

/// Plain TCP to this address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loopback(pub(crate) SocketAddr);

impl Service<Uri> for Loopback {
    type Response = TokioIo<TcpStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let Self(addr) = *self;
        Box::pin(async move {
            let socket = TcpStream::connect(addr).await?;
            socket.set_nodelay(true)?;
            Ok(TokioIo::new(socket))
        })
    }
}
