//! The calls that are made, and the stack they are made through.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use a2a_guard::{CallBody, CallError, CallLayer, Class, Limits, Outcome, OutcomeKind, TerminalStateLayer};
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tokio::time::Instant;
use tower::{Service, ServiceBuilder, ServiceExt};

use crate::{h2_peer::framed, loopback::Loopback, messages};

/// What a test asks of the peer, in version 1.0.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask {
    Send,
    Stream,
    /// of `task-1`
    Subscribe,
    /// of `task-1`
    Get,
}

impl Ask {
    /// The request, addressed to the agent; the connector knows where that is.
    fn request(self) -> Request<Full<Bytes>> {
        let (operation, message) = match self {
            Self::Send => ("SendMessage", messages::send("hello")),
            Self::Stream => ("SendStreamingMessage", messages::send("hello")),
            Self::Subscribe => ("SubscribeToTask", messages::of_task()),
            Self::Get => ("GetTask", messages::of_task()),
        };
        Request::post(format!("https://agent.example.com/lf.a2a.v1.A2AService/{operation}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .header("a2a-version", "1.0")
            .body(Full::from(framed(message)))
            .expect("a well-formed request")
    }
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The head that the caller got, if it got one.
    pub(crate) status: Option<StatusCode>,
    pub(crate) headers: HeaderMap,
    /// What of the body it got.
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) error: Option<CallError>,
    pub(crate) started: Instant,
    /// From the call to the end of the body.
    pub(crate) elapsed: Duration,
    /// What the observer was told.
    pub(crate) outcomes: Vec<(OutcomeKind, Class, u64)>,
}

impl Ended {
    /// `broken/truncated`
    pub(crate) fn word(&self) -> String {
        match &self.error {
            Some(error) => format!("{}/{}", error.outcome(), error.class()),
            None => "success/success".to_owned(),
        }
    }

    /// The status of the trailers, or of a head that is its own trailers.
    pub(crate) fn grpc_status(&self) -> Option<&str> {
        let headers = self.trailers.as_ref().unwrap_or(&self.headers);
        headers.get("grpc-status")?.to_str().ok()
    }
}

/// Makes a call through the whole stack and reads its body to the end.
pub(crate) async fn call(ask: Ask, limits: Limits, addr: SocketAddr) -> Ended {
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&outcomes);
    let ending = TerminalStateLayer::builder()
        .limits(limits)
        .observe(move |outcome: &Outcome<'_>| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push((outcome.kind(), outcome.class(), outcome.events()));
        })
        .build()
        .expect("limits without contradictions");
    let client =
        Client::builder(TokioExecutor::new()).http2_only(true).build::<_, CallBody<Full<Bytes>>>(Loopback(addr));
    let stack = ServiceBuilder::new().layer(CallLayer::new()).layer(ending).service(client);

    let mut ended = Ended {
        status: None,
        headers: HeaderMap::new(),
        body: Vec::new(),
        trailers: None,
        error: None,
        started: Instant::now(),
        elapsed: Duration::ZERO,
        outcomes: Vec::new(),
    };
    let request = ask.request();
    ended.started = Instant::now();
    ended.error = exchange(stack, request, &mut ended).await.err();
    ended.elapsed = ended.started.elapsed();
    ended.outcomes = std::mem::take(&mut outcomes.lock().unwrap_or_else(PoisonError::into_inner));
    ended
}

async fn exchange<S, B>(mut stack: S, request: Request<Full<Bytes>>, ended: &mut Ended) -> Result<(), CallError>
where
    S: Service<Request<Full<Bytes>>, Response = http::Response<B>, Error = CallError>,
    B: http_body::Body<Data = Bytes, Error = CallError> + Unpin,
{
    let (head, mut body) = stack.ready().await?.call(request).await?.into_parts();
    ended.status = Some(head.status);
    ended.headers = head.headers;
    while let Some(frame) = body.frame().await {
        match frame?.into_data() {
            Ok(data) => ended.body.extend_from_slice(&data),
            Err(frame) => ended.trailers = frame.into_trailers().ok(),
        }
    }
    Ok(())
}
