//! The client below: ready when it is told, and answering what it is told.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use tokio::time::Sleep;
use tower::Service;

use super::{
    body::Scripted,
    plan::{Coding, End, Head, Plan, Readiness, Trailers},
};

/// A client of the peer that a [`Plan`] is about.
#[derive(Debug)]
pub struct Peer {
    plan: Arc<Plan>,
    calls: Arc<AtomicUsize>,
    sleep: Option<Pin<Box<Sleep>>>,
    ready: bool,
}

impl Peer {
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        Self { plan: Arc::new(plan), calls: Arc::default(), sleep: None, ready: false }
    }

    /// How often it was called so far.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.load(Relaxed)
    }
}

impl Clone for Peer {
    /// Another handle, which was not polled yet.
    fn clone(&self) -> Self {
        Self { plan: Arc::clone(&self.plan), calls: Arc::clone(&self.calls), sleep: None, ready: false }
    }
}

impl<B> Service<Request<B>> for Peer {
    type Response = Response<Scripted>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Response<Scripted>>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.plan.readiness {
            _ if self.ready => {}
            Readiness::Now => {}
            Readiness::Never => return Poll::Pending,
            Readiness::Fails => return Poll::Ready(Err(io::ErrorKind::ConnectionRefused.into())),
            Readiness::Later => {
                let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(Duration::from_millis(700))));
                ready!(sleep.as_mut().poll(cx));
                self.sleep = None;
            }
        }
        self.ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<B>) -> Self::Future {
        assert!(std::mem::take(&mut self.ready), "called without having been polled ready");
        self.calls.fetch_add(1, Relaxed);
        let plan = Arc::clone(&self.plan);
        Box::pin(async move { answer(&plan).await })
    }
}

async fn answer(plan: &Plan) -> io::Result<Response<Scripted>> {
    let Head::Comes { after, status, media, coding, length } = plan.head else {
        if plan.head == Head::Lost {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        return std::future::pending().await;
    };
    if !after.is_zero() {
        tokio::time::sleep(after).await;
    }
    // Who ends without end has no length.
    let is_finite = matches!(plan.end, End::Clean | End::Reset | End::Hang);
    let whole = plan.body().len() as u64;
    let length = length.filter(|_| is_finite).map(|off| whole.saturating_add_signed(off.into()));
    let mut response = Response::new(Scripted::new(plan, length.filter(|length| *length == whole)));
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    let headers: &mut HeaderMap = response.headers_mut();
    if let Some(media) = media {
        headers.insert("content-type", HeaderValue::from_static(media));
    }
    let coding_name = if plan.dialect.is_grpc() { "grpc-encoding" } else { "content-encoding" };
    match coding {
        Coding::None => {}
        Coding::Identity => {
            headers.insert(coding_name, HeaderValue::from_static("identity"));
        }
        Coding::Gzip => {
            headers.insert(coding_name, HeaderValue::from_static("gzip"));
        }
    }
    if let Some(length) = length {
        headers.insert("content-length", length.into());
    }
    if let Trailers::InHead(code) = plan.trailers {
        headers.insert("grpc-status", HeaderValue::from_static(code));
    }
    Ok(response)
}
