//! What the types promise: they can be sent, shared, moved and cloned where their parts can.

use std::{
    cell::Cell,
    future::Ready,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use a2a_guard::{
    CallBody, ProbeCacheLayer,
    probe_cache::{
        Availability, Change, EndpointEntry, Link, ProbeCacheBody, ProbeCacheFuture, ProbeCacheService,
        SkillAvailability, SkillKey,
    },
};
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use tower::Service;

use crate::{
    mock::{BoxError, MockBody},
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
    all::<ProbeCacheLayer>();
    all::<SkillAvailability>();
    all::<SkillKey>();
    all::<Change>();
    all::<Availability>();
    all::<EndpointEntry>();
    all::<Guarded>();
}

#[test]
fn futures_can_be_sent_also_with_bodies_that_cannot_be_shared() {
    type Guarded = ProbeCacheService<Client>;
    send::<<Guarded as Service<Request<CallBody<NotSync>>>>::Future>();
    owned::<<Guarded as Service<Request<CallBody<NotSync>>>>::Future>();
    // Nor need anybody have read the request.
    send::<<Guarded as Service<Request<NotSync>>>::Future>();
    send::<ProbeCacheFuture<Client, NotSync>>();
    send::<Link>();
}

#[test]
fn bodies_can_be_sent_and_moved() {
    send::<ProbeCacheBody<NotSync>>();
    unpin::<ProbeCacheBody<NotSync>>();
    unpin::<ProbeCacheBody<MockBody>>();
}

#[test]
fn everything_can_be_printed() {
    debug::<ProbeCacheBody<MockBody>>();
    debug::<ProbeCacheFuture<Client, NotSync>>();
    debug::<Link>();
}

#[test]
fn the_sizes_of_futures_and_bodies_are_guarded() {
    let sizes = [
        ("ProbeCacheFuture", size_of::<ProbeCacheFuture<Client, NotSync>>(), 168),
        ("ProbeCacheBody", size_of::<ProbeCacheBody<NotSync>>(), 64),
        ("ProbeCacheService", size_of::<ProbeCacheService<Client>>(), 48),
    ];
    for (name, size, bound) in sizes {
        println!("{name}: {size} bytes, at most {bound}");
        assert!(size <= bound, "{name} has grown to {size} bytes");
    }
}
