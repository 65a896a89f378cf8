//! A gateway in front of one agent: any A2A client in any language points its base URL here, and every call that it
//! makes ends in success, a typed refusal, or a typed timeout.
//!
//! ```sh
//! cargo run --release --features hyper,tower --example egress_gateway -- \
//!     --listen 127.0.0.1:0 --upstream http://127.0.0.1:9000
//! ```
//!
//! Paths are kept, HTTP/1.1 and HTTP/2 without TLS are spoken on both sides, all three bindings go through, and streams
//! are flushed event by event. Cards are shown with the gateway's own address in them.

mod admin;
mod args;
mod cards;
mod door;
mod grpc_card;
mod guard;
mod handles;
mod headers;
mod held;
mod in_flight;
mod proxy;
mod serve;
mod tenants;
mod upstream;

use std::{convert::Infallible, error::Error, future::Future, io::Write, process::ExitCode};

use http::Request;
use hyper::service::service_fn;
use tokio::net::TcpListener;

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
    let (stack, seen) = guard::stack(&args)?;
    let end = terminated()?;
    let listener = TcpListener::bind(args.listen).await?;
    let admin = match args.admin {
        Some(address) => Some(TcpListener::bind(address).await?),
        None => None,
    };
    say(&format!("listening on http://{}", listener.local_addr()?));
    if let Some(admin) = admin {
        say(&format!("admin on http://{}", admin.local_addr()?));
        let look = service_fn(move |request: Request<hyper::body::Incoming>| {
            let answer = seen.answer(&request);
            async move { Ok::<_, Infallible>(answer) }
        });
        tokio::spawn(serve::serve(admin, look, std::future::pending(), args.drain));
    }
    if !serve::serve(listener, proxy::Proxy::new(&args, stack)?, end, args.drain).await {
        eprintln!("calls that were still in flight after {:?} were cut off", args.drain);
    }
    Ok(())
}

/// A line on standard output, at once. Nobody need be reading.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
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
