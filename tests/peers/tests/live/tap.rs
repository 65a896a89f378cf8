//! Keeps a copy of every byte that comes from the socket, below the layer, and of the head of each request.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use http_body_util::combinators::MapFrame;
use tower::{Layer, Service};

/// What passed so far: the bytes of the responses, the heads of the requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tap(Arc<Mutex<(Vec<u8>, Vec<Parts>)>>);

impl Tap {
    pub(crate) fn bytes(&self) -> Bytes {
        self.0.lock().unwrap().0.clone().into()
    }

    pub(crate) fn requests(&self) -> Vec<Parts> {
        self.0.lock().unwrap().1.clone()
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

/// A body that is copied as it passes.
pub(crate) type FromSocket = MapFrame<hyper::body::Incoming, Copying>;

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
        let tap = self.tap.clone();
        let (parts, body) = request.into_parts();
        tap.0.lock().unwrap().1.push(parts.clone());
        let response = self.inner.call(Request::from_parts(parts, body));
        Box::pin(async move {
            let copying: Copying = Box::new(move |frame| {
                if let Some(data) = frame.data_ref() {
                    tap.0.lock().unwrap().0.extend_from_slice(data);
                }
                frame
            });
            Ok(response.await?.map(|body| body.map_frame(copying)))
        })
    }
}
