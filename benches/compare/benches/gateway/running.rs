//! A gateway at work, on a thread of its own.

use std::{net::SocketAddr, sync::mpsc, time::Duration};

use a2a_guard::CallBody;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use rustix::time::{ClockId, clock_gettime};
use tokio::{net::TcpListener, runtime::Handle};
use tower::{Service, service_fn, util::BoxCloneSyncService};

use crate::{
    args::Args,
    guard::{self, Stack},
    proxy::Proxy,
    serve::serve,
    upstream::Upstream,
};

pub(crate) struct Running {
    pub(crate) addr: SocketAddr,
    handle: Handle,
}

impl Running {
    /// In front of this agent, with the layers or without them. It runs as long as the process does.
    pub(crate) fn start(agent: SocketAddr, guarded: bool) -> Self {
        let (tell, told) = mpsc::channel();
        let name = if guarded { "guarded" } else { "bare" };
        let thread = std::thread::Builder::new().name(name.to_owned());
        let run = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let words = ["--listen", "127.0.0.1:0", "--upstream", &format!("http://{agent}")];
                let args = Args::parse(words.map(str::to_owned)).expect("words that can be");
                let stack = if guarded { guard::stack(&args).expect("a stack").0 } else { bare() };
                let listener = TcpListener::bind(args.listen).await.expect("a port");
                let addr = listener.local_addr().expect("an address");
                tell.send(Self { addr, handle: Handle::current() }).expect("someone who asked");
                let proxy = Proxy::new(&args, stack).expect("a proxy");
                serve(listener, proxy, std::future::pending(), args.drain).await;
            });
        };
        thread.spawn(run).expect("a thread");
        told.recv().expect("a gateway")
    }

    /// The CPU time that its thread took so far.
    pub(crate) async fn cpu(&self) -> Duration {
        self.handle.spawn(async { read(ClockId::ThreadCPUTime) }).await.expect("a time")
    }
}

/// The CPU time that this process took so far: callers, gateways and agent.
pub(crate) fn cpu_of_all() -> Duration {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// The way to the agent and nothing around it.
fn bare() -> Stack {
    let upstream = Upstream::new();
    BoxCloneSyncService::new(service_fn(move |request: Request<Incoming>| {
        let answering = upstream.clone().call(request.map(CallBody::unread));
        async move {
            Ok(match answering.await {
                Ok(response) => response.map(|body| body.map_err(Into::into).boxed_unsync()),
                Err(error) => {
                    let body = Full::<Bytes>::from(format!("{error:?}")).map_err(|never| match never {});
                    let mut response = Response::new(body.boxed_unsync());
                    *response.status_mut() = StatusCode::BAD_GATEWAY;
                    response
                }
            })
        }
    }))
}
