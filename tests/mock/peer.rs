use std::{
    collections::VecDeque,
    fmt,
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use http::{Request, Response, StatusCode};
use tokio::time::Sleep;
use tower::Service;

use super::{BoxError, MockBody};

type Future_ = Pin<Box<dyn Future<Output = Result<Response<MockBody>, BoxError>> + Send>>;

/// What a [`Peer`] answers.
pub(crate) struct Answer(Future_);

impl Answer {
    pub(crate) fn of(future: impl Future<Output = Result<Response<MockBody>, BoxError>> + Send + 'static) -> Self {
        Self(Box::pin(future))
    }

    pub(crate) fn response(response: Response<MockBody>) -> Self {
        Self::of(async { Ok(response) })
    }

    pub(crate) fn new(status: u16, media: &str, body: MockBody) -> Self {
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        response.headers_mut().insert("content-type", media.parse().unwrap());
        Self::response(response)
    }

    /// A JSON document under a 200.
    pub(crate) fn json(body: impl Into<bytes::Bytes>) -> Self {
        Self::new(200, "application/json", MockBody::new().data(body))
    }

    /// An event stream under a 200.
    pub(crate) fn sse(body: MockBody) -> Self {
        Self::new(200, "text/event-stream", body)
    }

    /// No head, ever.
    pub(crate) fn never() -> Self {
        Self::of(std::future::pending())
    }

    /// The connection breaks off before a head came.
    pub(crate) fn lost(kind: io::ErrorKind) -> Self {
        Self::fails(io::Error::from(kind))
    }

    pub(crate) fn fails(error: impl Into<BoxError>) -> Self {
        let error = error.into();
        Self::of(async { Err(error) })
    }

    /// What it comes to.
    pub(crate) async fn into_response(self) -> Result<Response<MockBody>, BoxError> {
        self.0.await
    }

    /// The same, so much later.
    pub(crate) fn after(self, time: Duration) -> Self {
        Self::of(async move {
            tokio::time::sleep(time).await;
            self.0.await
        })
    }

    /// The same, with one more header.
    pub(crate) fn header(self, name: &'static str, value: &'static str) -> Self {
        Self::of(async move {
            let mut response = self.0.await?;
            response.headers_mut().insert(name, value.parse()?);
            Ok(response)
        })
    }
}

/// When a handle of a [`Peer`] is ready to be called.
#[derive(Clone, Debug)]
enum Readiness {
    Now,
    After(Duration),
    Never,
    Fails(io::ErrorKind),
}

/// A client service that answers as it is told, and notes what it is asked.
///
/// It panics when it is called without having been polled ready.
pub(crate) struct Peer<B> {
    shared: Arc<Shared<B>>,
    readiness: Readiness,
    sleep: Option<Pin<Box<Sleep>>>,
    ready: bool,
}

struct Shared<B> {
    answers: Mutex<VecDeque<Answer>>,
    requests: Mutex<Vec<Request<B>>>,
}

impl<B> Peer<B> {
    /// A peer that gives these answers, one a call.
    pub(crate) fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers = Mutex::new(answers.into_iter().collect());
        let shared = Arc::new(Shared { answers, requests: Mutex::default() });
        Self { shared, readiness: Readiness::Now, sleep: None, ready: false }
    }

    /// Each of its handles becomes ready only after this time.
    pub(crate) fn ready_after(self, time: Duration) -> Self {
        Self { readiness: Readiness::After(time), ..self }
    }

    pub(crate) fn never_ready(self) -> Self {
        Self { readiness: Readiness::Never, ..self }
    }

    pub(crate) fn fails_to_be_ready(self, kind: io::ErrorKind) -> Self {
        Self { readiness: Readiness::Fails(kind), ..self }
    }

    /// What it was asked so far; takes it.
    pub(crate) fn requests(&self) -> Vec<Request<B>> {
        std::mem::take(&mut lock(&self.shared.requests))
    }
}

impl<B> Clone for Peer<B> {
    /// Another handle, which was not polled yet.
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), readiness: self.readiness.clone(), sleep: None, ready: false }
    }
}

impl<B> fmt::Debug for Peer<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("ready", &self.ready).finish_non_exhaustive()
    }
}

impl<B> Service<Request<B>> for Peer<B> {
    type Response = Response<MockBody>;
    type Error = BoxError;
    type Future = Future_;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match self.readiness {
            _ if self.ready => {}
            Readiness::Now => self.ready = true,
            Readiness::Never => return Poll::Pending,
            Readiness::Fails(kind) => return Poll::Ready(Err(io::Error::from(kind).into())),
            Readiness::After(time) => {
                let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
                std::task::ready!(sleep.as_mut().poll(cx));
                self.sleep = None;
                self.ready = true;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Future_ {
        assert!(std::mem::take(&mut self.ready), "called without having been polled ready");
        lock(&self.shared.requests).push(request);
        lock(&self.shared.answers).pop_front().expect("one call too many").0
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
