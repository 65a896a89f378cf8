//! The calls: how they are written, through what they go, and how they are read to their end.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use a2a_guard::{
    CallBody, CallError, Guard, GuardError, Limits, Observe, ProbeCacheLayer,
    card_consistency::{CardStore, NegativeTtl},
};
use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};
use tokio::time::Instant;
use tower::{Layer, Service, ServiceExt};

use crate::{
    BoxError,
    loopback::Loopback,
    messages,
    ways::{Wire, framed},
};

/// The client below, over HTTP/1.1 or HTTP/2.
pub(crate) type Http = Client<Loopback, CallBody<Full<Bytes>>>;

pub(crate) fn client(addr: SocketAddr, http2: bool) -> Http {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new()).http2_only(http2);
    builder.http2_initial_max_send_streams(20_000).http2_max_concurrent_reset_streams(20_000);
    builder.build(Loopback(addr))
}

/// The whole stack: card, probe and all.
pub(crate) fn guard<O>(client: Http, limits: Limits, observer: O) -> Result<impl Caller, BoxError>
where
    O: Observe + Send + Sync + 'static,
{
    // A peer that was away is asked for its card again at once: it is back when it is back.
    let soon = Duration::from_millis(200);
    let cards = CardStore::builder(client.clone()).negative_ttl(NegativeTtl::default().failed(soon).failed_max(soon));
    let probes = ProbeCacheLayer::builder(client.clone()).back_off(soon, soon).build()?;
    let guard = Guard::builder()
        .limits(limits)
        .card_store(cards.build()?)
        .availability(probes)
        .observe(Arc::new(observer))
        .build()
        .map_err(|error: GuardError| error.to_string())?;
    Ok(guard.layer(client))
}

/// Whatever calls go through.
pub(crate) trait Caller: Clone + Send + 'static {
    /// Makes a call, and reads its answer to the end.
    fn make(self, request: Request<Full<Bytes>>, keep: bool) -> impl Future<Output = Ended> + Send;
}

impl<S, B> Caller for S
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = CallError, Future: Send> + Clone + Send + 'static,
    B: Body<Data = Bytes, Error = CallError> + Send + Unpin,
{
    async fn make(self, request: Request<Full<Bytes>>, keep: bool) -> Ended {
        let mut ended = Ended::new();
        let failed = match self.oneshot(request).await {
            Ok(response) => {
                ended.head = Some(Instant::now());
                read(response.into_body(), keep, &mut ended).await.err()
            }
            Err(error) => Some(error),
        };
        ended.end = Instant::now();
        ended.word = match &failed {
            Some(error) => format!("{}/{}", error.outcome(), error.class()),
            None => "success/success".to_owned(),
        };
        ended.error = failed;
        ended
    }
}

async fn read<B>(mut body: B, keep: bool, ended: &mut Ended) -> Result<(), B::Error>
where
    B: Body<Data = Bytes> + Unpin,
{
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        ended.first_frame.get_or_insert_with(Instant::now);
        if keep {
            ended.body.extend_from_slice(&data);
        }
    }
    Ok(())
}

/// How a call ended.
pub(crate) struct Ended {
    pub(crate) word: String,
    pub(crate) error: Option<CallError>,
    pub(crate) body: Vec<u8>,
    pub(crate) start: Instant,
    pub(crate) head: Option<Instant>,
    pub(crate) first_frame: Option<Instant>,
    pub(crate) end: Instant,
}

impl Ended {
    fn new() -> Self {
        let start = Instant::now();
        Self { word: String::new(), error: None, body: Vec::new(), start, head: None, first_frame: None, end: start }
    }
}

/// A send that is answered by a stream, to this host; the peer does with it what `way` says.
pub(crate) fn streaming(wire: Wire, host: usize, way: &str) -> Request<Full<Bytes>> {
    let message = r#""message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hello"}]}"#;
    match wire {
        Wire::JsonRpc => json_rpc(host, way, "SendStreamingMessage", message),
        Wire::HttpJson => http_json(host, way, "POST", "/message:stream", format!("{{{message}}}")),
        Wire::Grpc => grpc(host, way, "SendStreamingMessage", &messages::send("hello")),
    }
}

pub(crate) fn json_rpc(host: usize, way: &str, method: &str, params: &str) -> Request<Full<Bytes>> {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#);
    request(host, way, "POST", "/a2a", "application/json", body.into())
}

pub(crate) fn http_json(host: usize, way: &str, method: &str, path: &str, body: String) -> Request<Full<Bytes>> {
    request(host, way, method, path, "application/json", body.into())
}

pub(crate) fn grpc(host: usize, way: &str, method: &str, message: &[u8]) -> Request<Full<Bytes>> {
    let path = format!("/lf.a2a.v1.A2AService/{method}");
    let mut request = request(host, way, "POST", &path, "application/grpc", framed(message));
    request.headers_mut().insert("te", HeaderValue::from_static("trailers"));
    request
}

fn request(host: usize, way: &str, method: &str, path: &str, media: &str, body: Bytes) -> Request<Full<Bytes>> {
    Request::builder()
        .method(method)
        .uri(format!("http://agent-{host}.example.com{path}"))
        .header("content-type", media)
        .header("a2a-version", "1.0")
        .header("x-way", way)
        .body(Full::from(body))
        .expect("a well-formed request")
}
