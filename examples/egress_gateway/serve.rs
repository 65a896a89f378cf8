//! Callers' connections: HTTP/1.1, and HTTP/2 by prior knowledge.

use std::{convert::Infallible, future::Future, pin::pin, time::Duration};

use a2a_guard::BoxError;
use bytes::Bytes;
use http::{Request, Response};
use hyper::{body::Incoming, service::Service};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use tokio::net::TcpListener;

// Beside this file, wherever this one is included.
#[path = "begins.rs"]
mod begins;

use begins::Begins;

/// How long a caller may take over the head of a request, and leave a connection idle.
const HEAD: Duration = Duration::from_secs(30);

/// How often a caller over HTTP/2 is asked whether it is still there.
const STILL_THERE: Duration = Duration::from_secs(20);

/// Serves until `end`, and then only what is in flight, for `drain` at most. Says whether all of that came to its end.
pub(crate) async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    end: impl Future<Output = ()>,
    drain: Duration,
) -> bool
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http1().timer(TokioTimer::new()).header_read_timeout(HEAD);
    server.http2().timer(TokioTimer::new()).keep_alive_interval(STILL_THERE);
    let connections = GracefulShutdown::new();
    let mut end = pin!(end);
    loop {
        let socket = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => socket,
                // A lack of file descriptors, say: it passes, but not at once.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut end => break,
        };
        let _ = socket.set_nodelay(true);
        let connection = server.serve_connection(TokioIo::new(Begins::new(socket, HEAD)), service.clone());
        let connection = connections.watch(connection.into_owned());
        tokio::spawn(async move {
            // How a caller's connection ends is the caller's affair.
            let _ = connection.await;
        });
    }
    drop(listener);
    tokio::time::timeout(drain, connections.shutdown()).await.is_ok()
}
