//! An agent in two parts: the host of its card, and the peer that takes its calls.

mod card;
mod cards;

pub(crate) use self::{
    card::Card,
    cards::{AGENT, Asked, Cards, Page, ROOT},
};

use a2a_guard::{
    CallBody, CallError, CallLayer, CallService, CardFailure, TerminalStateLayer, TerminalStateService,
    card_consistency::{CardConsistencyLayer, CardConsistencyService, Direct, Resolve},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use tokio::time::Instant;
use tower::{Layer, Service, ServiceExt};

use crate::mock::{Answer, Dialect, Ended, Notes, Peer, read};

/// What is called in the end.
pub(crate) type Agent = Peer<CallBody<Full<Bytes>>>;

/// All the layers around it.
pub(crate) type Guarded<R = Direct, O = ()> =
    CallService<CardConsistencyService<TerminalStateService<Agent, Notes>, R, O>>;

/// An agent that answers so.
pub(crate) fn agent(answers: impl IntoIterator<Item = Answer>) -> Agent {
    Peer::new(answers)
}

/// An agent that does what is asked over JSON-RPC 1.0, so many times.
pub(crate) fn willing(times: usize) -> Agent {
    agent((0..times).map(|_| done()))
}

/// The answer to a send over JSON-RPC 1.0.
pub(crate) fn done() -> Answer {
    Answer::json(Dialect::V1.result(&Dialect::V1.task("COMPLETED")))
}

/// The same over HTTP+JSON.
pub(crate) fn rest_done() -> Answer {
    Answer::json(Dialect::Rest.task("COMPLETED"))
}

/// A stream over JSON-RPC 1.0 that ends well.
pub(crate) fn streamed() -> Answer {
    let body = [Dialect::V1.task_event("WORKING"), Dialect::V1.update_event("COMPLETED")];
    Answer::sse(crate::mock::MockBody::of(body))
}

/// The whole stack around an agent.
pub(crate) fn guard<R, O>(layer: CardConsistencyLayer<R, O>, agent: &Agent) -> Guarded<R, O> {
    let ending = TerminalStateLayer::builder().observe(Notes::default()).build().unwrap();
    CallLayer::new().layer(layer.layer(ending.layer(agent.clone())))
}

/// The usual layer over these cards.
pub(crate) fn layer(cards: &Cards) -> CardConsistencyLayer {
    CardConsistencyLayer::new(cards.store())
}

/// Makes one call, and reads its body to the end.
pub(crate) async fn call<S, B>(service: &mut S, request: Request<Full<Bytes>>) -> Ended
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = CallError>,
    B: Body<Data = Bytes, Error = CallError> + Unpin,
{
    let started = Instant::now();
    let response = match service.ready().await {
        Ok(ready) => ready.call(request).await,
        Err(error) => Err(error),
    };
    read(started, response, Notes::default()).await
}

/// What came of one call to the usual agent with this card, and the request that it got, if it got one.
pub(crate) async fn once(
    card: impl Into<Page>,
    request: Request<Full<Bytes>>,
) -> (Ended, Option<Request<CallBody<Full<Bytes>>>>) {
    through(layer(&Cards::of(card)), request).await
}

/// The same through a layer of the test's own.
pub(crate) async fn through<R>(
    layer: CardConsistencyLayer<R>,
    request: Request<Full<Bytes>>,
) -> (Ended, Option<Request<CallBody<Full<Bytes>>>>)
where
    R: Resolve,
{
    let rest = request.uri().path() != "/a2a";
    let agent = agent([if rest { rest_done() } else { done() }]);
    let ended = call(&mut guard(layer, &agent), request).await;
    (ended, agent.requests().pop())
}

/// The bytes of a request that arrived.
pub(crate) async fn body_of(request: Request<CallBody<Full<Bytes>>>) -> String {
    let bytes = request.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What was wrong with the card.
pub(crate) fn failure(ended: &Ended) -> &CardFailure {
    match ended.error() {
        CallError::Card(error) => error.failure().expect("what is wrong with it"),
        other => panic!("no refusal for a card: {other}"),
    }
}
