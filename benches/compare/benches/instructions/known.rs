//! An agent whose card is held, and whose endpoint and skill are known.

use std::{
    convert::Infallible,
    future::{Future, Ready, ready},
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
};

use a2a_guard::{
    Binding, Call, CallBody,
    card_consistency::{CardConsistencyLayer, CardStore},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Empty, Full};
use tower::Service;

use crate::{agent, guard};

pub(crate) type Asked = Request<CallBody<Full<Bytes>>>;

/// The call named, and for a skill, as `CallLayer` hands it down; it does not wait for its task.
pub(crate) fn asked() -> Asked {
    let mut asked = agent::named(Binding::JsonRpc, false);
    let call = asked.extensions_mut().remove::<Call>().expect("a call with a name");
    asked.extensions_mut().insert(call.with_skill("translate").with_region("eu-west-1").with_blocking(false));
    asked.map(|body| {
        let read = pin!(body.collect()).poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(Ok(read)) = read else { panic!("a body in memory") };
        CallBody::from(read.to_bytes())
    })
}

/// The layer, with that agent's card in its store.
pub(crate) fn cards() -> CardConsistencyLayer {
    let store = CardStore::builder(Answers).build().expect("a store");
    {
        let target = asked().uri().clone();
        let put = pin!(store.put(&target, guard::card().into()));
        let put = put.poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(put, Poll::Ready(Ok(()))), "{put:?}");
    }
    CardConsistencyLayer::new(store)
}

/// Ready at once, and done at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answers;

impl Service<Asked> for Answers {
    type Response = Response<Empty<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, asked: Asked) -> Self::Future {
        drop(black_box(asked));
        ready(Ok(Response::new(Empty::new())))
    }
}
