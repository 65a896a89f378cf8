//! HTTP over simulated sockets: a connector for clients, and a server's accept loop.

use std::{
    convert::Infallible,
    future::Future,
    io,
    net::Ipv4Addr,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use a2a_guard::{
    BoxError, CallBody,
    card_consistency::{CardStore, NegativeTtl},
};
use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::{Full, combinators::UnsyncBoxBody};
use hyper::{
    body::Incoming,
    rt::{Read, ReadBufCursor, Write},
};
use hyper_util::{
    client::legacy::{
        Client,
        connect::{Connected, Connection},
    },
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use tower::Service;
use turmoil::net::{TcpListener, TcpStream};

use crate::world::World;

/// What a server answers.
pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, BoxError>>;

/// The client below.
pub(crate) type Http<B = CallBody<Full<Bytes>>> = Client<Connector, B>;

pub(crate) fn client<B>(http2: bool) -> Http<B>
where
    B: http_body::Body + Send + Unpin,
    B::Data: Send,
{
    let mut builder = Client::builder(TokioExecutor::new());
    builder.timer(TokioTimer::new()).pool_timer(TokioTimer::new()).http2_only(http2);
    // A connection of which nothing comes any more is given up, or all streams to come would be lost with it.
    builder.http2_keep_alive_interval(Duration::from_millis(500)).http2_keep_alive_timeout(Duration::from_secs(1));
    builder.build(Connector)
}

/// Cards, from the host of all of them.
pub(crate) fn cards() -> Result<CardStore, Box<dyn std::error::Error>> {
    let soon = Duration::from_millis(300);
    let store = CardStore::builder(client::<CallBody<Full<Bytes>>>(false))
        .location_template("http://cards/{host}/agent-card.json")
        .legacy_location(false)
        .fetch_timeout(Duration::from_secs(1))
        .negative_ttl(NegativeTtl::default().failed(soon).failed_max(soon))
        .build()?;
    Ok(store)
}

/// Dials the host that a URI names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connector;

impl Service<Uri> for Connector {
    type Response = Socket;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Socket>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let host = uri.host().unwrap_or_default().to_owned();
        Box::pin(async move { Ok(Socket(TokioIo::new(TcpStream::connect((host, 80)).await?))) })
    }
}

/// A simulated socket, as hyper wants one.
pub(crate) struct Socket(TokioIo<TcpStream>);

impl Connection for Socket {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl Write for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Serves HTTP/1.1 and HTTP/2 on port 80, until its host crashes.
pub(crate) async fn serve<F>(
    world: World,
    name: &'static str,
    answer: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static,
) -> turmoil::Result
where
    F: Future<Output = Answer> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 80)).await?;
    let reset = world.reset(name);
    loop {
        let (socket, _) = listener.accept().await?;
        let (answer, reset) = (answer.clone(), reset.clone());
        let service = hyper::service::service_fn(move |request| {
            let answer = answer(request);
            async move { Ok::<_, Infallible>(answer.await) }
        });
        tokio::spawn(async move {
            let mut builder = Builder::new(TokioExecutor::new());
            builder.http1().timer(TokioTimer::new());
            builder.http2().timer(TokioTimer::new());
            tokio::select! {
                // However it ends: its caller may be gone.
                _ = builder.serve_connection(TokioIo::new(socket), service) => {}
                () = reset.notified() => {}
            }
        });
    }
}
