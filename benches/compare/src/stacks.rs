//! Rows of service stacks: other layers over the same peer, on the same runtime, with the same requests.

use std::cell::RefCell;
use std::fmt::{self, Debug};
use std::rc::Rc;

use a2a_guard::Operation;
use bytes::Bytes;
use http::{Method, Request, Response, header};
use http_body::Body;
use http_body_util::Full;
use tokio::runtime::Runtime;
use tower::Service;

use crate::group::Row;
use crate::measure::{Consume, Drain, batch, runtime};
use crate::ours;
use crate::peer::Peer;

/// A request as it enters a stack.
pub(crate) type Call = Request<Full<Bytes>>;

/// A call over JSON-RPC, as a client makes it.
pub(crate) fn plain(body: &Bytes) -> Call {
    Request::builder()
        .method(Method::POST)
        .uri("http://127.0.0.1:4110/rpc")
        .header(header::CONTENT_TYPE, "application/json")
        .header("a2a-version", "1.0")
        .body(Full::new(body.clone()))
        .expect("a request of constants")
}

/// The same with what `CallLayer` would find out. The bare service gets it too, so that all rows carry the same.
pub(crate) fn named(body: &Bytes, operation: Operation) -> Call {
    let mut request = plain(body);
    request.extensions_mut().insert(ours::call(operation));
    request
}

/// What the rows of a group have in common.
pub(crate) struct Stacks {
    runtime: Rc<Runtime>,
    peer: Rc<dyn Fn(usize) -> Peer>,
    calls: Rc<dyn Fn(usize) -> Vec<Call>>,
}

impl Stacks {
    /// For a batch of so many units, `peer` makes what answers them and `calls` what is sent.
    pub(crate) fn new(peer: impl Fn(usize) -> Peer + 'static, calls: impl Fn(usize) -> Vec<Call> + 'static) -> Self {
        // All rows read the same bytes at the same place: where they lie tells in nanoseconds.
        let made: RefCell<Vec<(usize, Peer)>> = RefCell::default();
        let peer = move |units| {
            let known = made.borrow().iter().find(|(of, _)| *of == units).map(|(_, peer)| peer.clone());
            known.unwrap_or_else(|| {
                let fresh = peer(units);
                made.borrow_mut().push((units, fresh.clone()));
                fresh
            })
        };
        Self { runtime: Rc::new(runtime()), peer: Rc::new(peer), calls: Rc::new(calls) }
    }

    /// The bare peer, with its answer drained.
    pub(crate) fn bare(&self, name: &'static str) -> Row {
        self.row(name, |peer| peer)
    }

    /// A stack around it, with its answer drained.
    pub(crate) fn row<S, P>(&self, name: &'static str, stack: impl Fn(Peer) -> S + 'static) -> Row
    where
        S: Service<Call, Response = Response<P>, Error: Debug, Future: Send> + Clone + Send + 'static,
        P: Body<Data = Bytes, Error: Debug> + Send + 'static,
    {
        self.consumed(name, stack, Drain)
    }

    /// A stack around it, with its answer consumed in another way.
    pub(crate) fn consumed<S, P>(
        &self,
        name: &'static str,
        stack: impl Fn(Peer) -> S + 'static,
        consume: impl Consume<P>,
    ) -> Row
    where
        S: Service<Call, Response = Response<P>, Error: Debug, Future: Send> + Clone + Send + 'static,
        P: Send + 'static,
    {
        let (runtime, peer, calls) = (Rc::clone(&self.runtime), Rc::clone(&self.peer), Rc::clone(&self.calls));
        // One for each number of units that is asked for: to make them before each batch would cool the caches.
        let mut made: Vec<(usize, S)> = Vec::new();
        Row::new(name, move |units| {
            let known = made.iter().find(|(of, _)| *of == units).map(|(_, stack)| stack.clone());
            let stack = known.unwrap_or_else(|| {
                let fresh = stack(peer(units));
                made.push((units, fresh.clone()));
                fresh
            });
            batch(&runtime, stack, calls(units), consume)
        })
    }
}

impl fmt::Debug for Stacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stacks").finish_non_exhaustive()
    }
}
