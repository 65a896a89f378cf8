//! What the types promise: they can be sent, shared, moved and cloned where their parts can, and are small.

use std::{
    cell::Cell,
    future::Ready,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use a2a_guard::{
    CallBody, CallError, CallFuture, CallLayer, CallService, Outcome, Recovery, TerminalStateBody, TerminalStateFuture,
    TerminalStateLayer, TerminalStateService,
};
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::Full;
use tower::{Layer, Service};

use crate::mock::{BoxError, MockBody, Notes, Peer};

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
#[derive(Clone, Debug)]
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
fn sync<T: Sync>() {}
fn unpin<T: Unpin>() {}
fn clone<T: Clone>() {}
fn debug<T: std::fmt::Debug>() {}
fn owned<T: 'static>() {}

type Ended<S> = TerminalStateService<S, Notes>;
type Answer = Ready<Result<Response<NotSync>, BoxError>>;

#[test]
fn services_and_layers_can_be_cloned_sent_and_shared() {
    fn all<T: Clone + Send + Sync + std::fmt::Debug + 'static>() {}
    all::<TerminalStateLayer>();
    all::<TerminalStateLayer<Notes>>();
    all::<CallLayer>();
    all::<Recovery>();
    all::<Ended<Peer<Full<Bytes>>>>();
    all::<CallService<Ended<Peer<CallBody<Full<Bytes>>>>>>();
    clone::<Ended<Client>>();
    send::<Ended<Client>>();
    sync::<Ended<Client>>();
}

#[test]
fn futures_can_be_sent_also_with_bodies_that_cannot_be_shared() {
    send::<TerminalStateFuture<Answer, NotSync, Notes>>();
    send::<CallFuture<Ended<Client>, NotSync>>();
    send::<<Ended<Client> as Service<Request<NotSync>>>::Future>();
    owned::<<Ended<Client> as Service<Request<NotSync>>>::Future>();
}

#[test]
fn bodies_can_be_sent_and_moved() {
    send::<TerminalStateBody<NotSync, Notes>>();
    unpin::<TerminalStateBody<NotSync, Notes>>();
    send::<TerminalStateBody<MockBody, Notes>>();
    unpin::<TerminalStateBody<MockBody, Notes>>();
    send::<CallBody<NotSync>>();
    unpin::<CallBody<NotSync>>();
    send::<CallBody<Full<Bytes>>>();
    sync::<CallBody<Full<Bytes>>>();
}

#[test]
fn everything_can_be_printed() {
    debug::<TerminalStateBody<NotSync, Notes>>();
    debug::<TerminalStateFuture<Answer, NotSync, Notes>>();
    debug::<CallFuture<Ended<Client>, NotSync>>();
    debug::<CallBody<NotSync>>();
    debug::<Outcome<'_>>();
}

#[test]
fn errors_can_be_cloned_sent_shared_and_boxed() {
    clone::<CallError>();
    send::<CallError>();
    sync::<CallError>();
    unpin::<CallError>();
    let _: fn(CallError) -> BoxError = |error| error.into();
    assert!(size_of::<CallError>() <= 2 * size_of::<usize>(), "a pointer and a tag");
}

/// A service without an observer, the way that most have it.
#[test]
fn the_sizes_of_futures_and_bodies_are_guarded() {
    let sizes = [
        ("TerminalStateFuture", size_of::<TerminalStateFuture<Answer, NotSync>>(), 136),
        ("CallFuture", size_of::<CallFuture<TerminalStateService<Client>, NotSync>>(), 384),
        ("TerminalStateBody", size_of::<TerminalStateBody<NotSync>>(), 80),
        ("TerminalStateService", size_of::<TerminalStateService<Client>>(), 64),
        ("CallBody", size_of::<CallBody<NotSync>>(), 112),
    ];
    for (name, size, bound) in sizes {
        println!("{name}: {size} bytes, at most {bound}");
        assert!(size <= bound, "{name} has grown to {size} bytes");
    }
}

#[test]
fn what_they_are_can_be_printed() {
    let builder = TerminalStateLayer::builder();
    let recovery = Recovery::new(Peer::<Full<Bytes>>::new([])).reconcile();
    assert!(format!("{recovery:?}").contains("reconcile: true"), "{recovery:?}");
    assert!(format!("{builder:?}").contains("strict: false"), "{builder:?}");
    let layer = builder.build().unwrap();
    assert!(format!("{layer:?}").starts_with("TerminalStateLayer { limits: "), "{layer:?}");
    let service = layer.layer(Client);
    assert!(format!("{service:?}").starts_with("TerminalStateService { inner: Client"), "{service:?}");
}
