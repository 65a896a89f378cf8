//! The same calls through all layers: with a host of cards, and an endpoint that is probed.

use std::{convert::Infallible, future::Future, io, time::Duration};

use a2a_guard::{CallBody, Guard, ProbeCacheLayer, Recovery, card::UrlPolicy, card_consistency::CardStore};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use tokio::runtime::Runtime;
use tower::{Layer, Service, service_fn};

use super::{
    peer::Peer,
    plan::Plan,
    run::{Notes, Seen, drive, limits},
    upload::Upload,
};

/// A plan, and what stands before it.
#[derive(Clone, Debug)]
pub struct Guarded {
    pub plan: Plan,
    pub cards: Host,
    pub probes: Host,
    /// Who is asked about a task that a call leaves behind, and told to cancel it. That it completed is nobody's
    /// answer.
    pub recovery: Option<Host>,
    pub upload: Upload,
}

/// Who is asked for a card, or probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    pub says: Says,
    pub after: Duration,
}

/// What is answered there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// A card that declares all, or what a peer says that speaks A2A.
    Good,
    /// A card that declares nothing, or what a peer says that does not.
    Bad,
    /// The status is 404.
    NotFound,
    /// Nothing that anybody could read.
    Junk,
    /// No head.
    Silent,
    /// A head, and a body that never ends.
    Hangs,
    /// The same, and ever more of it is there.
    Floods,
    /// The connection is lost.
    Lost,
}

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Longer than any fetch, any probe and any question about a task goes on.
const PATIENCE: Duration = Duration::from_secs(60);

impl Guarded {
    /// Card and probe say nothing against the call, and say so in time.
    #[must_use]
    pub fn is_well(&self) -> bool {
        let is_well = |host: Host| host.says == Says::Good && host.after < Duration::from_secs(1);
        is_well(self.cards) && is_well(self.probes) && self.upload.is_whole()
    }

    /// Makes the call, and then, once all is still, looks for what is left.
    ///
    /// # Panics
    /// A fetch is under way although nobody waits for it any more, and its time is over.
    #[must_use]
    pub fn run(&self, runtime: &Runtime) -> Seen {
        let notes = Notes::default();
        let peer = Peer::new(self.plan.clone());
        let _entered = runtime.enter();
        let store = CardStore::builder(host(self.cards, card)).build().expect("a store");
        let probes = ProbeCacheLayer::builder(host(self.probes, probed)).build().expect("a layer");
        let mut guard = Guard::builder()
            .limits(limits(&self.plan))
            .strict(self.plan.strict)
            .adapt_downgrade(self.plan.adapt)
            .observe(notes.clone())
            .card_store(store.clone())
            .urls(UrlPolicy::strict())
            .availability(probes);
        if let Some(client) = self.recovery {
            let recovery = Recovery::new(host(client, probed)).reconcile().cancel_on_failure().cancel_on_drop();
            guard = guard.recovery(recovery);
        }
        let stack = guard.build().expect("a guard").layer(peer.clone());
        let make = |plan: &Plan| {
            let seen = drive(runtime, plan, self.upload, stack.clone(), PATIENCE);
            assert_eq!(store.stats().in_flight, 0, "a fetch that goes on");
            Seen { calls: peer.calls(), noted: notes.take(), ..seen }
        };
        let mut seen = make(&self.plan);
        if self.plan.caller.drops.is_some() {
            // Whatever a dropped call left behind is in the way of the next one.
            seen.again = Some(Box::new(make(&self.undropped().plan)));
        }
        seen
    }

    /// The same, and its caller drops nothing.
    #[must_use]
    pub fn undropped(&self) -> Self {
        let mut same = self.clone();
        same.plan.caller.drops = None;
        same
    }
}

/// A service that answers as it is told.
fn host(
    Host { says, after }: Host,
    words: fn(&Request<CallBody<Full<Bytes>>>, Says) -> String,
) -> impl Service<Request<CallBody<Full<Bytes>>>, Response = Response<Body>, Error = io::Error, Future: Future + Send>
+ Clone
+ Send {
    service_fn(move |request: Request<CallBody<Full<Bytes>>>| async move {
        tokio::time::sleep(after).await;
        let whole = |text: String| Full::new(Bytes::from(text)).boxed_unsync();
        let media = if request.uri().path().contains("A2AService") { "application/grpc" } else { "application/json" };
        let response = Response::builder().header("content-type", media);
        let body = match says {
            Says::Silent => std::future::pending().await,
            Says::Lost => return Err(io::ErrorKind::ConnectionReset.into()),
            Says::Hangs => StreamBody::new(futures_util::stream::pending()).boxed_unsync(),
            Says::Floods => {
                let piece = || Ok(http_body::Frame::data(Bytes::from_static(&[b' '; 4096])));
                StreamBody::new(futures_util::stream::repeat_with(piece)).boxed_unsync()
            }
            Says::Junk => whole("<html>".to_owned()),
            Says::NotFound => {
                return Ok(response.status(404).body(whole(String::new())).expect("a response"));
            }
            Says::Good | Says::Bad => whole(words(&request, says)),
        };
        let response = match (says, media) {
            (Says::Good, "application/grpc") => response.header("grpc-status", "5"),
            (Says::Bad, "application/grpc") => response.header("grpc-status", "12"),
            _ => response,
        };
        Ok(response.body(body).expect("a response"))
    })
}

fn card(_: &Request<CallBody<Full<Bytes>>>, says: Says) -> String {
    let interface = |binding: &str, version: &str, path: &str| {
        format!(
            r#"{{"url":"https://agent.example.com{path}","protocolBinding":"{binding}","protocolVersion":"{version}"}}"#
        )
    };
    let interfaces = [
        interface("JSONRPC", "1.0", "/a2a"),
        interface("JSONRPC", "0.3", "/a2a"),
        interface("JSONRPC", "0.2", "/a2a"),
        interface("HTTP+JSON", "1.0", ""),
        interface("HTTP+JSON", "0.3", ""),
        interface("GRPC", "1.0", ""),
        interface("GRPC", "0.3", ""),
    ];
    let flags = match says {
        Says::Good => r#"{"streaming":true,"pushNotifications":true,"extendedAgentCard":true}"#,
        _ => "{}",
    };
    format!(
        r#"{{"name":"a","description":"d","version":"1","capabilities":{flags},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[],"supportedInterfaces":[{}]}}"#,
        interfaces.join(",")
    )
}

fn probed(request: &Request<CallBody<Full<Bytes>>>, says: Says) -> String {
    let is_rest = request.uri().path().contains("/tasks/");
    match (says, is_rest) {
        (Says::Good, true) => {
            r#"{"error":{"code":404,"status":"NOT_FOUND","message":"no","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}}"#.to_owned()
        }
        (Says::Good, false) => r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}"#.to_owned(),
        (_, true) => "{}".to_owned(),
        (_, false) => r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#.to_owned(),
    }
}
