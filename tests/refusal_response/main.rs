//! `RefusalResponseLayer`: whatever fails below it, the caller gets its binding's own error, and nothing that passes
//! is touched.

#[allow(dead_code, unused_imports, reason = "shared with tests that use more of it")]
#[path = "../mock/mod.rs"]
mod mock;

mod clients;
mod foreign;
mod grpc;
mod guessing;
mod judged_again;
mod literal;
mod own;
mod success;
mod unfinished;

use std::convert::Infallible;

use a2a_guard::{CallBody, CallError, CallLayer, RefusalResponseLayer, TerminalStateBuilder, TerminalStateLayer};
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tower::{Layer, Service, ServiceExt};

use mock::{Answer, Dialect, Peer};

/// What a caller above the layer got.
#[derive(Debug)]
struct Got {
    status: StatusCode,
    headers: HeaderMap,
    frames: Vec<Bytes>,
    trailers: Option<HeaderMap>,
    /// What the body failed with, where it could do nothing else.
    failed: Option<CallError>,
    /// What is told to whoever logs above.
    error: Option<CallError>,
}

impl Got {
    async fn of<B>(response: Response<B>) -> Self
    where
        B: Body<Data = Bytes, Error = CallError> + Unpin,
    {
        let (head, mut body) = response.into_parts();
        let (mut frames, mut trailers, mut failed) = (Vec::new(), None, None);
        while let Some(frame) = body.frame().await {
            match frame.map(http_body::Frame::into_data) {
                Ok(Ok(data)) => frames.push(data),
                Ok(Err(frame)) => trailers = frame.into_trailers().ok(),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        if failed.is_none() {
            assert!(body.is_end_stream());
            assert!(body.frame().await.is_none(), "polled again, it is still over");
        }
        let error = head.extensions.get().cloned();
        Self { status: head.status, headers: head.headers, frames, trailers, failed, error }
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn bytes(&self) -> Vec<u8> {
        assert!(self.failed.is_none(), "{:?}", self.failed);
        self.frames.concat()
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes()).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// `timeout/head`, as the metadata of the first detail has it.
    fn word(&self) -> String {
        let json = self.json();
        let at = |pointer: &str| json.pointer(pointer).and_then(|info| info.get("metadata"));
        let metadata = at("/error/data/0")
            .or_else(|| at("/error/details/0"))
            .or_else(|| at("/error/data/details/0"))
            .or_else(|| at("/data/details/0"));
        let metadata = metadata.unwrap_or_else(|| panic!("no metadata: {json}"));
        format!("{}/{}", metadata["outcome"].as_str().unwrap(), metadata["class"].as_str().unwrap())
    }
}

/// What comes out of a service that cannot fail.
async fn infallible<S, B>(mut service: S, request: Request<Full<Bytes>>) -> Got
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible>,
    B: Body<Data = Bytes, Error = CallError> + Unpin,
{
    let Ok(ready) = service.ready().await;
    let Ok(response) = ready.call(request).await;
    Got::of(response).await
}

/// One call through the whole stack.
async fn call(builder: TerminalStateBuilder, request: Request<Full<Bytes>>, answer: Answer) -> Got {
    let peer: Peer<CallBody<Full<Bytes>>> = Peer::new([answer]);
    let ending = builder.build().unwrap();
    infallible(CallLayer::new().layer(RefusalResponseLayer::new().layer(ending.layer(peer))), request).await
}

fn plain() -> TerminalStateBuilder {
    TerminalStateLayer::builder()
}

/// A request over HTTP+JSON that names no version, and so is one of 0.3 (§3.6).
fn rest_03(method: &str, path: &str) -> Request<Full<Bytes>> {
    let mut request = Dialect::Rest.request(method, path, String::new());
    request.headers_mut().remove("a2a-version");
    request
}

/// A gRPC request, with the frame of an empty message.
fn grpc(method: &str) -> Request<Full<Bytes>> {
    Request::post(format!("https://agent.example.com/lf.a2a.v1.A2AService/{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Full::from(&[0, 0, 0, 0, 0][..]))
        .unwrap()
}
