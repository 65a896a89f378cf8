//! What the types promise: they can be sent, shared, moved and cloned where their parts can.

use std::{
    cell::Cell,
    future::Ready,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use a2a_guard::{
    CallBody, CallService,
    card_consistency::{
        Admission, CardConsistencyBody, CardConsistencyFuture, CardConsistencyLayer, CardConsistencyService, CardStore,
        Direct, HeldCard, Resolution, Route,
    },
};
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::Full;
use tower::Service;

use crate::{
    mock::{BoxError, MockBody, Peer},
    support::Guarded,
};

/// A body that can be sent but not shared, as hyper's and axum's boxed ones are.
struct NotSync(PhantomData<Cell<()>>);

impl Body for NotSync {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Poll::Ready(None)
    }
}

/// A client with such bodies.
#[derive(Clone)]
struct Client;

impl<B> Service<Request<B>> for Client {
    type Response = Response<NotSync>;
    type Error = BoxError;
    type Future = Ready<Result<Response<NotSync>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<B>) -> Self::Future {
        std::future::ready(Ok(Response::new(NotSync(PhantomData))))
    }
}

fn send<T: Send>() {}
fn unpin<T: Unpin>() {}
fn owned<T: 'static>() {}
fn debug<T: std::fmt::Debug>() {}

#[test]
fn services_and_layers_can_be_cloned_sent_and_shared() {
    fn all<T: Clone + Send + Sync + std::fmt::Debug + 'static>() {}
    all::<CardConsistencyLayer>();
    all::<CardConsistencyLayer<Route>>();
    all::<CardStore>();
    all::<Admission>();
    all::<Direct>();
    all::<Guarded>();
    all::<Guarded<Route>>();
    all::<CallService<CardConsistencyService<Peer<CallBody<Full<Bytes>>>>>>();
}

#[test]
fn futures_can_be_sent_also_with_bodies_that_cannot_be_shared() {
    type Guarded = CardConsistencyService<Client, Route>;
    send::<<Guarded as Service<Request<CallBody<NotSync>>>>::Future>();
    owned::<<Guarded as Service<Request<CallBody<NotSync>>>>::Future>();
    send::<CardConsistencyFuture<Client, NotSync>>();
    send::<Resolution>();
}

#[test]
fn bodies_can_be_sent_and_moved() {
    send::<CardConsistencyBody<NotSync>>();
    unpin::<CardConsistencyBody<NotSync>>();
    send::<CardConsistencyBody<MockBody>>();
    unpin::<CardConsistencyBody<MockBody>>();
}

#[test]
fn everything_can_be_printed() {
    debug::<CardConsistencyBody<MockBody>>();
    debug::<CardConsistencyFuture<Client, NotSync>>();
    debug::<HeldCard>();
    debug::<Resolution>();
}

#[test]
fn the_sizes_of_futures_and_bodies_are_guarded() {
    let sizes = [
        ("CardConsistencyFuture", size_of::<CardConsistencyFuture<Client, NotSync>>(), 640),
        ("CardConsistencyBody", size_of::<CardConsistencyBody<NotSync>>(), 64),
        ("CardConsistencyService", size_of::<CardConsistencyService<Client>>(), 40),
    ];
    for (name, size, bound) in sizes {
        println!("{name}: {size} bytes, at most {bound}");
        assert!(size <= bound, "{name} has grown to {size} bytes");
    }
}
