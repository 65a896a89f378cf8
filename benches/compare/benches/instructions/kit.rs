//! Makes rows of stacks: a peer, what is asked of it, and the layers in between.

use std::{fmt::Debug, rc::Rc};

use a2a_guard_compare::peer::Peer;
use bytes::Bytes;
use http::Response;
use http_body::Body;
use tokio::runtime::Runtime;
use tower::Service;

use crate::{agent::Asked, batch, row::Row};

/// What all rows share.
pub(crate) struct Kit {
    runtime: Rc<Runtime>,
}

impl Kit {
    pub(crate) fn new() -> Self {
        Self { runtime: Rc::new(batch::runtime()) }
    }

    /// So many calls, all answered by this peer.
    pub(crate) fn calls<S, B>(
        &self,
        name: impl Into<String>,
        calls: usize,
        peer: Peer,
        asked: impl Fn() -> Asked + 'static,
        stack: impl Fn(Peer) -> S + 'static,
    ) -> Row
    where
        S: Service<Asked, Response = Response<B>, Error: Debug, Future: Send> + Send + 'static,
        B: Body<Data = Bytes, Error: Debug> + Send + 'static,
    {
        let runtime = Rc::clone(&self.runtime);
        Row::new(name, "call", calls, move |calls| {
            batch::calls(&runtime, stack(peer.clone()), (0..calls).map(|_| asked()).collect());
        })
    }

    /// One call, answered by a peer that sends as many of the unit as are wanted.
    pub(crate) fn answer<S, B>(
        &self,
        name: impl Into<String>,
        (unit, units): (&'static str, usize),
        peer: impl Fn(usize) -> Peer + 'static,
        asked: impl Fn() -> Asked + 'static,
        stack: impl Fn(Peer) -> S + 'static,
    ) -> Row
    where
        S: Service<Asked, Response = Response<B>, Error: Debug, Future: Send> + Send + 'static,
        B: Body<Data = Bytes, Error: Debug> + Send + 'static,
    {
        let runtime = Rc::clone(&self.runtime);
        Row::new(name, unit, units, move |units| {
            batch::calls(&runtime, stack(peer(units)), vec![asked()]);
        })
    }
}
