//! Notes what passes below the layers: the requests that were sent, and each answer's head and bytes.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http::{Request, Response, request, response};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use http_body_util::combinators::MapFrame;
use tower::{Layer, Service};

/// Everything that passed so far, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tap(Arc<Mutex<Vec<Exchange>>>);

/// A request that was sent, and as much of its answer as came.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) request: request::Parts,
    pub(crate) head: Option<response::Parts>,
    pub(crate) body: Vec<u8>,
    /// When anything last happened: it was sent, its head came, bytes came.
    pub(crate) last: Instant,
}

impl Tap {
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.0.lock().unwrap().clone()
    }
}

impl Tap {
    fn note(&self, number: usize, what: impl FnOnce(&mut Exchange)) {
        let exchange = &mut self.0.lock().unwrap()[number];
        exchange.last = Instant::now();
        what(exchange);
    }
}

impl<S> Layer<S> for Tap {
    type Service = Tapped<S>;

    fn layer(&self, inner: S) -> Tapped<S> {
        Tapped { inner, tap: self.clone() }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Tapped<S> {
    inner: S,
    tap: Tap,
}

type Copying = Box<dyn FnMut(Frame<Bytes>) -> Frame<Bytes> + Send>;

impl<S, Q, P> Service<Request<Q>> for Tapped<S>
where
    S: Service<Request<Q>, Response = Response<P>, Future: Send + 'static>,
    P: Body<Data = Bytes>,
{
    type Response = Response<MapFrame<P, Copying>>;
    type Error = S::Error;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let number = {
            let mut exchanges = self.tap.0.lock().unwrap();
            exchanges.push(Exchange { request: parts.clone(), head: None, body: Vec::new(), last: Instant::now() });
            exchanges.len() - 1
        };
        let tap = self.tap.clone();
        let response = self.inner.call(Request::from_parts(parts, body));
        Box::pin(async move {
            let (head, body) = response.await?.into_parts();
            tap.note(number, |exchange| exchange.head = Some(head.clone()));
            let copying: Copying = Box::new(move |frame| {
                if let Some(data) = frame.data_ref() {
                    tap.note(number, |exchange| exchange.body.extend_from_slice(data));
                }
                frame
            });
            Ok(Response::from_parts(head, body.map_frame(copying)))
        })
    }
}
