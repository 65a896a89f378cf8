//! The gateway: in front of `agent-c`, with a guard whose failures are rendered.

use std::{convert::Infallible, time::Duration};

use a2a_guard::{Call, CallBody, CallError, Guard, Limits, Outcome};
use http::{Request, Uri, header::HOST};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tower::{Layer, Service, ServiceExt};

use crate::{
    network::{self, Answer, Http},
    world::World,
};

/// Less than its callers have, so that they get its word.
const TOTAL: Duration = Duration::from_secs(3);
const READY: Duration = Duration::from_secs(1);
/// What it begins, it ends by then.
pub(crate) const BOUND: Duration = Duration::from_millis(4_000 + 50);

pub(crate) async fn serve(world: World) -> turmoil::Result {
    let limits = Limits::within(TOTAL).ready(READY).head(Duration::from_millis(1500)).idle(Duration::from_secs(1));
    let seen = world.clone();
    let guard = Guard::builder()
        .limits(limits)
        .card_store(network::cards()?)
        .observe(move |outcome: &Outcome<'_>| seen.outcome(outcome))
        .build()?
        .rendered();
    let clients: [Http<CallBody<Incoming>>; 2] = [false, true].map(network::client);
    network::serve(world.clone(), "gateway", move |request: Request<Incoming>| {
        let is_grpc = request.uri().path().contains("A2AService");
        let agent = guard.clone().layer(clients[usize::from(is_grpc)].clone());
        answer(agent, request, world.clone())
    })
    .await
}

async fn answer<S, B>(mut agent: S, mut request: Request<Incoming>, world: World) -> Answer
where
    S: Service<Request<Incoming>, Response = http::Response<B>, Error = Infallible>,
    B: http_body::Body<Data = bytes::Bytes, Error = CallError> + Send + 'static,
{
    let behind = format!("http://agent-c{}", request.uri().path());
    *request.uri_mut() = Uri::try_from(behind).expect("a path is a path");
    request.headers_mut().remove(HOST);
    let Ok(ready) = agent.ready().await;
    // From here on there is a call.
    request.extensions_mut().insert(Call::new().with_region(world.passes_on()));
    let Ok(response) = ready.call(request).await;
    response.map(|body| body.map_err(Into::into).boxed_unsync())
}
