//! A ready service is called on a hit, and given back wherever a call waits or is refused.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use tower::{Layer, Service, ServiceExt, limit::ConcurrencyLimitLayer};

use crate::{
    mock::{Dialect, Peer, ms, s},
    support::{Agent, begun, builder, does, html, is_ready, no_task, unread},
};

/// Counts how often it is cloned.
struct Counting<S> {
    inner: S,
    clones: Arc<AtomicUsize>,
}

impl<S: Clone> Clone for Counting<S> {
    fn clone(&self) -> Self {
        self.clones.fetch_add(1, Relaxed);
        Self { inner: self.inner.clone(), clones: Arc::clone(&self.clones) }
    }
}

impl<S: Service<R>, R> Service<R> for Counting<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> S::Future {
        self.inner.call(request)
    }
}

fn slow() -> Agent {
    Agent::new(|asked| if asked.is_probe() { no_task(asked).after(s(1)) } else { does(asked) })
}

#[tokio::test(start_paused = true)]
async fn on_a_hit_the_ready_service_is_called_and_not_cloned() {
    let agent = slow();
    let clones = Arc::new(AtomicUsize::new(0));
    let counting = Counting { inner: agent.clone(), clones: Arc::clone(&clones) };
    let mut service = builder(&agent).build().unwrap().layer(counting);
    let request = || unread(Dialect::Rest.get());
    begun(&mut service, request()).await.await.unwrap();
    let after_the_miss = clones.load(Relaxed);
    assert!(after_the_miss > 0, "readiness that is given back takes a clone");
    for _ in 0..2 {
        begun(&mut service, request()).await.await.unwrap();
    }
    assert_eq!(clones.load(Relaxed), after_the_miss);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_probe_holds_no_place() {
    let agent = slow();
    let mut service = builder(&agent).build().unwrap().layer(ConcurrencyLimitLayer::new(1).layer(agent.clone()));
    let mut other = service.clone();
    let request = unread(Dialect::Rest.get());
    let waiting = begun(&mut service, request).await;
    let like = unread(Dialect::Rest.get());
    let ready = is_ready(&mut other, &like);
    assert!(tokio::time::timeout(ms(1), ready).await.is_ok(), "the place is held while the call waits");
    drop(other);
    waiting.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_refused_holds_no_place() {
    let agent = Agent::probed(|| html(200));
    let mut service = builder(&agent).build().unwrap().layer(ConcurrencyLimitLayer::new(1).layer(agent.clone()));
    let relative = || {
        let mut request = Dialect::Rest.get();
        *request.uri_mut() = "/tasks/task-1".parse().unwrap();
        unread(request)
    };
    let plain = || unread(Dialect::Rest.get());
    // After a probe, by what it left, and for the request alone.
    for request in [plain(), plain(), relative()] {
        let mut other = service.clone();
        begun(&mut service, request).await.await.unwrap_err();
        let like = plain();
        let ready = is_ready(&mut other, &like);
        assert!(tokio::time::timeout(s(60), ready).await.is_ok(), "the place is held by a handle that nobody calls");
    }
    assert_eq!(agent.counts(), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_readiness_again_after_its_probe() {
    let agent = slow();
    let peer: Peer<_> = Peer::new([crate::mock::Answer::json(Dialect::Rest.bare_task("COMPLETED"))]).ready_after(s(2));
    let service = builder(&agent).build().unwrap().layer(peer.clone());
    let started = tokio::time::Instant::now();
    service.oneshot(unread(Dialect::Rest.get())).await.unwrap();
    // Ready, then the probe, then ready again.
    assert_eq!((started.elapsed(), peer.requests().len()), (s(2 + 1 + 2), 1));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_fails_to_be_ready_is_a_typed_error() {
    let agent = slow();
    let failing: Peer<_> = Peer::new([]).fails_to_be_ready(std::io::ErrorKind::ConnectionRefused);
    let error = builder(&agent).build().unwrap().layer(failing).oneshot(unread(Dialect::Rest.get())).await.unwrap_err();
    assert_eq!((error.outcome().as_str(), error.class().as_str()), ("transport", "connect"));
    assert_eq!(error.retry().as_str(), "safe");
}
