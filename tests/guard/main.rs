//! `Guard`: the whole stack as one layer, in the right order, and what does not go together refused when it is built.

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;

mod building;
mod observing;
mod order;
mod panics;
mod stacking;

use a2a_guard::{CallBody, CallError};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use tokio::time::Instant;
use tower::{Service, ServiceExt};

use mock::{Answer, BoxError, Ended, Notes, Peer, read};

type Agent = Peer<CallBody<Full<Bytes>>>;

fn agent(answers: impl IntoIterator<Item = Answer>) -> Agent {
    Peer::new(answers)
}

/// Makes one call, and reads its body to the end.
async fn call<S, B>(service: &mut S, request: Request<Full<Bytes>>) -> Ended
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

/// A host of cards: one that says nothing of streaming, for every place.
fn cards() -> Host {
    tower::service_fn(card)
}

type Host = tower::util::ServiceFn<fn(Request<Full<Bytes>>) -> Answering>;

type Answering = std::future::Ready<Result<Response<Full<Bytes>>, BoxError>>;

fn card(_: Request<Full<Bytes>>) -> Answering {
    let interface = |binding: &str, path: &str| {
        format!(r#"{{"url":"https://agent.example.com{path}","protocolBinding":"{binding}","protocolVersion":"1.0"}}"#)
    };
    let card = format!(
        r#"{{"name":"a","description":"d","version":"1","capabilities":{{}},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[],"supportedInterfaces":[{},{}]}}"#,
        interface("JSONRPC", "/a2a"),
        interface("HTTP+JSON", ""),
    );
    let response = Response::builder().header("content-type", "application/json").body(Full::from(card));
    std::future::ready(response.map_err(BoxError::from))
}
