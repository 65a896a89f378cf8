//! What is called, how, and by how many at once.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use tokio::task::LocalSet;

use crate::{
    agent::{Agent, EVENTS},
    caller::{Caller, Kind},
    cpu,
    figures::Batch,
};

#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) http2: bool,
    pub(crate) connections: usize,
    pub(crate) streams: bool,
}

pub(crate) const LOADS: [Load; 8] = {
    const fn load(http2: bool, connections: usize, streams: bool) -> Load {
        Load { http2, connections, streams }
    }
    [
        load(false, 1, false),
        load(false, 16, false),
        load(true, 1, false),
        load(true, 16, false),
        load(false, 1, true),
        load(false, 16, true),
        load(true, 1, true),
        load(true, 16, true),
    ]
};

impl Load {
    pub(crate) fn name(self) -> String {
        let http = if self.http2 { "HTTP/2" } else { "HTTP/1.1" };
        let what = if self.streams { "streams" } else { "unary" };
        let plural = if self.connections == 1 { "" } else { "s" };
        format!("{what}, {http}, {} connection{plural}", self.connections)
    }

    /// Callers that have called already, one for each connection; none where that client cannot do it.
    pub(crate) async fn callers(self, kind: Kind, agent: SocketAddr) -> Option<Vec<Caller>> {
        let mut callers = Vec::new();
        for _ in 0..self.connections {
            let mut caller = Caller::new(kind, agent, self.http2)?;
            // Connections stand, cards and probes are there.
            self.call(&mut caller).await;
            callers.push(caller);
        }
        Some(callers)
    }

    async fn call(self, caller: &mut Caller) {
        match self.streams {
            true => caller.stream().await,
            false => caller.unary().await,
        }
    }

    /// As many calls as go within this time.
    pub(crate) async fn batch(self, callers: &mut Vec<Caller>, agent: &Agent, time: Duration) -> Batch {
        let (own, theirs) = (cpu::of(std::process::id()), cpu::of(agent.process()));
        let began = Instant::now();
        let local = LocalSet::new();
        let running: Vec<_> = callers
            .drain(..)
            .map(|mut caller| {
                local.spawn_local(async move {
                    let mut took = Vec::with_capacity(1 << 14);
                    while began.elapsed() < time {
                        let start = Instant::now();
                        self.call(&mut caller).await;
                        took.push(start.elapsed());
                    }
                    (caller, took)
                })
            })
            .collect();
        local.await;
        let elapsed = began.elapsed();
        let since = |before: Option<Duration>, process| Some(cpu::of(process)? - before?);
        let (own, theirs) = (since(own, std::process::id()), since(theirs, agent.process()));

        let mut all = Vec::new();
        for one in running {
            let (caller, took) = one.await.expect("calls that succeed");
            callers.push(caller);
            all.extend(took);
        }
        let each = if self.streams { EVENTS as f64 } else { 1.0 };
        Batch::of(all, each, elapsed, own, theirs)
    }
}
