//! A JSON-RPC client as anyone writes it, which knows HTTP and JSON-RPC and nothing else, and a gateway that it calls:
//! the guarded client of the other scenarios, with its failures rendered.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};

use a2a_guard::{CallBody, RefusalResponseLayer};
use bytes::Bytes;
use http::{Request, Response, Uri, header::HOST};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use tokio::net::TcpListener;
use tower::{Layer, Service, ServiceBuilder};

use crate::client::{BoxError, hyper_client};

/// What the client has in the end: the results of its call, and the error object that ended it, if one did.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) results: usize,
    pub(crate) error: Option<Value>,
}

/// Calls the peer through a gateway of `layers`.
pub(crate) async fn call<N, L, S, B>(
    naming: N,
    layers: L,
    peer: SocketAddr,
    request: Request<Full<Bytes>>,
) -> Result<Answer, BoxError>
where
    N: Layer<a2a_guard::RefusalResponseService<S>>,
    N::Service: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    <N::Service as Service<Request<Incoming>>>::Future: Send,
    L: Layer<
            hyper_util::client::legacy::Client<hyper_util::client::legacy::connect::HttpConnector, CallBody<Incoming>>,
            Service = S,
        >,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let onward = move |mut request: Request<Incoming>| {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        if let Ok(uri) = format!("http://{peer}{path}").parse::<Uri>() {
            *request.uri_mut() = uri;
        }
        request.headers_mut().remove(HOST);
        request
    };
    let stack = ServiceBuilder::new()
        .map_request(onward)
        .layer(naming)
        .layer(RefusalResponseLayer::new())
        .layer(layers)
        .service(hyper_client());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let gateway = listener.local_addr()?;
    let serving = async move {
        let (socket, _) = listener.accept().await?;
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(socket), TowerToHyperService::new(stack));
        connection.await.map_err(BoxError::from)
    };
    let calling = async move {
        let (mut head, body) = request.into_parts();
        head.uri = format!("http://{gateway}{}", head.uri.path()).parse()?;
        let response = hyper_client().request(Request::from_parts(head, body)).await?;
        let media = response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let events = media.starts_with("text/event-stream");
        let body = response.into_body().collect().await?.to_bytes();
        read(std::str::from_utf8(&body)?, events)
    };
    tokio::select! {
        answer = calling => answer,
        Err(error) = serving => Err(error),
    }
}

/// A JSON-RPC response, or one in each event.
fn read(body: &str, events: bool) -> Result<Answer, BoxError> {
    let documents: Vec<String> = match events {
        false => vec![body.to_owned()],
        true => body
            .split("\n\n")
            .map(|event| event.lines().filter_map(|line| line.strip_prefix("data: ")).collect())
            .filter(|data: &String| !data.is_empty())
            .collect(),
    };
    let mut answer = Answer::default();
    for document in documents {
        let response: Value = serde_json::from_str(&document)?;
        match (response.get("result"), response.get("error")) {
            (Some(_), _) => answer.results += 1,
            (None, Some(error)) => answer.error = Some(error.clone()),
            (None, None) => return Err("no JSON-RPC response".into()),
        }
    }
    Ok(answer)
}
