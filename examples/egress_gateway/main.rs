//! A gateway in front of one agent: any A2A client in any language points its base URL here, and every call that it
//! makes ends in success, a typed refusal, or a typed timeout.
//!
//! ```sh
//! cargo run --release --features hyper,tower --example egress_gateway -- \
//!     --listen 127.0.0.1:0 --upstream http://127.0.0.1:9000
//! ```
//!
//! Paths are kept, HTTP/1.1 and HTTP/2 without TLS are spoken on both sides, all three bindings go through, and streams
//! are flushed event by event. Cards are shown with the gateway's own address in them. Over gRPC an extended card passes
//! as it is.

mod admin;
mod args;
mod cards;
mod guard;
mod in_flight;
mod proxy;
mod tenants;
mod upstream;

use std::{convert::Infallible, error::Error, future::Future, pin::pin, process::ExitCode, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use tokio::net::TcpListener;
use tower::{Service, service_fn};

/// How long calls in flight may take to finish once the gateway is to end.
const GRACE: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> ExitCode {
    let args = match args::Args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(error) => {
            eprintln!("{error}\n\n{}", args::USAGE);
            return ExitCode::from(2);
        }
    };
    match run(args).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: args::Args) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (guarded, seen) = guard::stack(&args)?;
    let listener = TcpListener::bind(args.listen).await?;
    println!("listening on http://{}", listener.local_addr()?);
    if let Some(address) = args.admin {
        let admin = TcpListener::bind(address).await?;
        println!("admin on http://{}", admin.local_addr()?);
        let look = service_fn(move |request: Request<Incoming>| {
            let answer = seen.answer(&request);
            async move { Ok::<_, Infallible>(answer) }
        });
        tokio::spawn(serve(admin, look, std::future::pending()));
    }
    serve(listener, proxy::Proxy::new(&args, guarded), terminated()?).await;
    Ok(())
}

/// Serves until `end`, and then only what is in flight, for so long.
async fn serve<S, B>(listener: TcpListener, service: S, end: impl Future<Output = ()>)
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http1().timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(30));
    server.http2().timer(TokioTimer::new());
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
        let connection = server.serve_connection(TokioIo::new(socket), TowerToHyperService::new(service.clone()));
        let connection = connections.watch(connection.into_owned());
        tokio::spawn(async move {
            // How a caller's connection ends is the caller's affair.
            let _ = connection.await;
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, connections.shutdown()).await;
}

/// When the gateway is told to end.
#[cfg(unix)]
fn terminated() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn terminated() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
