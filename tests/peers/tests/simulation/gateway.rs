//! The gateway: in front of `agent-c`, with a guard whose failures are rendered.

use std::{convert::Infallible, time::Duration};

use a2a_guard::{CallBody, Guard, Limits};
use http::{Request, Uri, header::HOST};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tower::{Layer, ServiceExt};

use crate::{
    agent::{card, json_answer},
    network::{self, Answer, Http},
};

/// Less than its callers have, so that they get its word.
const TOTAL: Duration = Duration::from_secs(3);

pub(crate) async fn serve() -> turmoil::Result {
    let limits = Limits::within(TOTAL).ready(Duration::from_secs(1)).head(Duration::from_millis(1500));
    let guard = Guard::builder().limits(limits.idle(Duration::from_secs(1))).build()?.rendered();
    let client: Http<CallBody<Incoming>> = network::client(false);
    network::serve(move |request: Request<Incoming>| {
        let agent = guard.clone().layer(client.clone());
        async move { answer(agent, request).await }
    })
    .await
}

async fn answer<S, B>(agent: S, mut request: Request<Incoming>) -> Answer
where
    S: tower::Service<Request<Incoming>, Response = http::Response<B>, Error = Infallible>,
    B: http_body::Body<Data = bytes::Bytes, Error = a2a_guard::CallError> + Send + 'static,
{
    if request.uri().path().contains("/.well-known/") {
        return json_answer(200, card("http://gateway/a2a"));
    }
    *request.uri_mut() = Uri::from_static("http://agent-c/a2a");
    request.headers_mut().remove(HOST);
    let Ok(response) = agent.oneshot(request).await;
    response.map(|body| body.map_err(Into::into).boxed_unsync())
}
