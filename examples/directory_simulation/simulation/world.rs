//! The peers: scripted, each well most of the time, and failing in its own way for the rest.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use tokio::time::{Instant, sleep};
use tower::Service;

use super::Plan;

/// A step through all numbers below 1,000 that comes to each once.
const STRIDE: usize = 387;

/// All peers, as one client reaches them.
#[derive(Clone)]
pub(crate) struct World {
    inner: Arc<Inner>,
}

struct Inner {
    plan: Plan,
    begun: Instant,
    sent: AtomicUsize,
    sent_to_failing: AtomicUsize,
    course: AtomicU64,
}

/// How a peer fails.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Nobody listens, for cards neither.
    Down,
    /// At once, with an opaque 500.
    Crash,
    /// Never a head.
    Hang,
    /// It has not got the skill that its card lists.
    Overclaim,
    /// A page, and a 200.
    Page,
    /// At once, with a 503.
    Overloaded,
}

impl World {
    pub(crate) fn new(plan: Plan) -> Self {
        let inner = Inner {
            plan,
            begun: Instant::now(),
            sent: AtomicUsize::new(0),
            sent_to_failing: AtomicUsize::new(0),
            course: AtomicU64::new(0),
        };
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn sent(&self) -> (usize, usize, u64) {
        let Inner { sent, sent_to_failing, course, .. } = &*self.inner;
        (sent.load(Relaxed), sent_to_failing.load(Relaxed), course.load(Relaxed))
    }
}

/// Where the peer with this number is.
pub(crate) fn base(peer: usize) -> String {
    format!("https://p{peer:04}.example.com/a2a")
}

/// Peers take turns at skills, in the order in which they register.
pub(crate) fn skill(peer: usize, plan: &Plan) -> String {
    format!("skill-{:02}", peer % plan.skills)
}

fn card(peer: usize, plan: &Plan) -> String {
    let (url, skill) = (base(peer), skill(peer, plan));
    format!(
        r#"{{"name":"peer {peer}","description":"one of many","version":"1","capabilities":{{}},
            "supportedInterfaces":[{{"url":"{url}","protocolBinding":"JSONRPC","protocolVersion":"1.0"}}],
            "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
            "skills":[{{"id":"{skill}","name":"{skill}","description":"does it","tags":["simulated"]}}]}}"#
    )
}

impl Inner {
    /// How the peer fails just now, if it does. It is another part's turn after each window.
    fn fault(&self, peer: usize) -> Option<Fault> {
        let Plan { peers, failing, window, .. } = self.plan;
        let windows = (self.begun.elapsed().as_nanos() / window.as_nanos()) as usize;
        let place = (peer * STRIDE + peers - windows * failing % peers) % peers;
        let faults = [Fault::Down, Fault::Crash, Fault::Hang, Fault::Overclaim, Fault::Page, Fault::Overloaded];
        (place < failing).then(|| faults[(peer + peer / self.plan.skills) % faults.len()])
    }

    /// Each has its own pace, from 20 to 219 ms.
    fn latency(&self, peer: usize) -> Duration {
        Duration::from_millis(20 + (peer * 7919 % 200) as u64)
    }

    async fn answer(&self, method: Method, host: &str) -> io::Result<Response<Full<Bytes>>> {
        let peer = host.get(1..5).and_then(|number| number.parse().ok()).filter(|peer| *peer < self.plan.peers);
        let peer: usize = peer.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, host.to_owned()))?;
        let fault = self.fault(peer);
        if method == Method::GET {
            return match fault {
                Some(Fault::Down) => Err(io::ErrorKind::ConnectionRefused.into()),
                _ => Ok(json(card(peer, &self.plan))),
            };
        }
        self.sent.fetch_add(1, Relaxed);
        self.sent_to_failing.fetch_add(usize::from(fault.is_some()), Relaxed);
        let course = self.course.load(Relaxed);
        self.course.store((course ^ peer as u64).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(7), Relaxed);
        let at_once = Duration::from_millis(1);
        match fault {
            None => {
                sleep(self.latency(peer)).await;
                let task = r#"{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}"#;
                Ok(json(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"task":{task}}}}}"#)))
            }
            Some(Fault::Down) => Err(io::ErrorKind::ConnectionRefused.into()),
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::Crash) => {
                sleep(at_once).await;
                Ok(page(500, "oops"))
            }
            Some(Fault::Overloaded) => {
                sleep(at_once).await;
                Ok(page(503, "later"))
            }
            Some(Fault::Page) => {
                sleep(at_once).await;
                Ok(page(200, "<h1>Sign in</h1>"))
            }
            Some(Fault::Overclaim) => {
                sleep(at_once).await;
                let data = r#"{"region":"eu","availableSkills":[]}"#;
                let error = format!(r#"{{"code":-32004,"message":"not here","data":{data}}}"#);
                Ok(json(format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#)))
            }
        }
    }
}

fn json(body: String) -> Response<Full<Bytes>> {
    let response = Response::new(Full::from(body));
    with(response, 200, "application/json")
}

fn page(status: u16, text: &'static str) -> Response<Full<Bytes>> {
    with(Response::new(Full::from(text)), status, "text/html")
}

fn with(mut response: Response<Full<Bytes>>, status: u16, media: &'static str) -> Response<Full<Bytes>> {
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static(media));
    headers.insert(http::header::CACHE_CONTROL, http::HeaderValue::from_static("max-age=86400"));
    response
}

impl<B> Service<Request<B>> for World {
    type Response = Response<Full<Bytes>>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Response<Full<Bytes>>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (world, method) = (self.clone(), request.method().clone());
        let host = request.uri().host().unwrap_or_default().to_owned();
        Box::pin(async move { world.inner.answer(method, &host).await })
    }
}
