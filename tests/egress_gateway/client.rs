//! A client that knows HTTP and nothing else.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::Value;
use tokio::time::Instant;

use crate::asks::Binding;

/// By which version a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Http {
    One,
    Two,
}

#[derive(Clone)]
pub(crate) struct Caller {
    client: Client<HttpConnector, Full<Bytes>>,
    at: SocketAddr,
}

/// What a caller has in the end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
    /// The body broke off.
    pub(crate) broke_off: bool,
}

impl Caller {
    pub(crate) fn new(at: SocketAddr, http: Http) -> Self {
        let mut builder = Client::builder(TokioExecutor::new());
        if http == Http::Two {
            builder.http2_only(true);
        }
        Self { client: builder.build_http(), at }
    }

    /// The version that this binding needs.
    pub(crate) fn of(binding: Binding, at: SocketAddr) -> Self {
        Self::new(at, if binding == Binding::Grpc { Http::Two } else { Http::One })
    }

    /// The head of the answer, and a body that is still to come.
    pub(crate) async fn open(&self, mut request: Request<Full<Bytes>>) -> Response<Incoming> {
        let path = request.uri().path_and_query().unwrap();
        *request.uri_mut() = format!("http://{}{path}", self.at).parse::<Uri>().unwrap();
        self.client.request(request).await.unwrap()
    }

    pub(crate) async fn call(&self, request: Request<Full<Bytes>>) -> Answer {
        let (head, mut body) = self.open(request).await.into_parts();
        let (mut bytes, mut trailers, mut broke_off) = (Vec::new(), None, false);
        while let Some(frame) = body.frame().await {
            match frame.map(http_body::Frame::into_data) {
                Ok(Ok(data)) => bytes.extend_from_slice(&data),
                Ok(Err(frame)) => trailers = frame.into_trailers().ok(),
                Err(_) => {
                    broke_off = true;
                    break;
                }
            }
        }
        Answer { status: head.status, headers: head.headers, body: bytes.into(), trailers, broke_off }
    }

    /// The same, and how long it took.
    pub(crate) async fn timed(&self, request: Request<Full<Bytes>>) -> (Answer, Duration) {
        let began = Instant::now();
        let answer = self.call(request).await;
        (answer, began.elapsed())
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    /// The data of each event, and the name of each that has one.
    pub(crate) fn events(&self) -> Vec<(Option<&str>, Value)> {
        let events = self.text().split("\n\n").filter(|event| event.lines().any(|line| line.starts_with("data:")));
        events
            .map(|event| {
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                (field("event"), serde_json::from_str(field("data").unwrap()).unwrap())
            })
            .collect()
    }

    /// `outcome/class` of a refusal that the gateway made, wherever its binding has it.
    pub(crate) fn refusal(&self) -> String {
        let last = if self.header("content-type").is_some_and(|media| media.starts_with("text/event-stream")) {
            self.events().pop().expect("an event").1
        } else {
            self.json()
        };
        let error = &last["error"];
        let details = [&error["data"], &error["details"]].into_iter().find_map(Value::as_array).expect("details");
        let metadata = details.iter().find_map(|detail| detail.get("metadata")).expect("an ErrorInfo");
        format!("{}/{}", metadata["outcome"].as_str().unwrap(), metadata["class"].as_str().unwrap())
    }

    /// The status of a gRPC call, in the trailers or in a head that is its own.
    pub(crate) fn grpc_status(&self) -> Option<&str> {
        let status = |headers: &HeaderMap| headers.get("grpc-status").cloned();
        let found = self.trailers.as_ref().and_then(status).is_some();
        let from = if found { self.trailers.as_ref().unwrap() } else { &self.headers };
        from.get("grpc-status").map(|value| value.to_str().unwrap())
    }
}
