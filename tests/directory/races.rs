//! What happens while something else is under way.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use a2a_guard::{
    BoxError, CallLayer, Guard, Limits,
    directory::{AttemptEnd, CredentialsAsk, DelegateLayer, Need, PermissionRules, StaleReason},
};
use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::Full;
use tokio::sync::Notify;
use tower::{Service, ServiceBuilder, ServiceExt};

use crate::{
    agents::{Agents, Does},
    delegate::{SECOND, SEND, attempts, good, mesh, read, request},
    host::{Host, peer, plain_card, uri},
};

const A: &str = "https://a.example";

/// A client whose clones are ready once somebody opens the gate; the first one is ready at once.
#[derive(Clone)]
struct Gated<S> {
    inner: S,
    gate: Arc<Gate>,
}

#[derive(Default)]
struct Gate {
    open: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
}

impl Gate {
    fn open(&self) {
        self.open.store(true, Ordering::SeqCst);
        self.wakers.lock().unwrap().drain(..).for_each(Waker::wake);
    }
}

impl<S, R> Service<R> for Gated<S>
where
    S: Service<R>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.gate.wakers.lock().unwrap().push(cx.waker().clone());
        match self.gate.open.load(Ordering::SeqCst) {
            true => self.inner.poll_ready(cx),
            false => Poll::Pending,
        }
    }

    fn call(&mut self, request: R) -> S::Future {
        self.inner.call(request)
    }
}

/// A client that is busy for a while is waited for. Whoever is revoked meanwhile is not called.
#[tokio::test(start_paused = true)]
async fn who_is_revoked_while_the_client_is_not_ready_is_not_called() {
    let mesh = mesh(&["a", "b"], |builder| builder).await;
    mesh.set("a", Does::Work(Duration::ZERO)).set("b", Does::Work(Duration::ZERO));
    let gate = Arc::new(Gate::default());
    gate.open();
    let guard = Guard::builder().limits(Limits::within(10 * SECOND)).build().unwrap();
    // Credentials are waited for, so that the readiness that the caller has seen is given back.
    let closing = Arc::clone(&gate);
    let credentials = move |_: CredentialsAsk| {
        closing.open.store(false, Ordering::SeqCst);
        async { Ok::<_, BoxError>(HeaderMap::new()) }
    };
    let layer = DelegateLayer::new(mesh.directory.clone()).credentials(credentials);
    let gated = Gated { inner: mesh.agents.clone(), gate: Arc::clone(&gate) };
    let service = ServiceBuilder::new().layer(CallLayer::new()).layer(layer).layer(guard).service(gated);
    let calling = tokio::spawn(async move { read(service.oneshot(request(SEND)).await).await });
    tokio::time::sleep(SECOND).await;
    mesh.directory.revoke(&peer(A), "now");
    gate.open();
    tokio::time::sleep(SECOND).await;
    gate.open();
    good(calling.await.unwrap());
    assert_eq!(mesh.agents.asked(), ["b.example"]);
    assert_eq!(attempts(&mesh.decision())[0], "https://a.example not asked: gone");
}

/// Of calls that come together, one tests; the others wait for what it finds.
#[tokio::test(start_paused = true)]
async fn a_peer_is_tested_once_for_all_that_come_together() {
    for (probed, probes) in
        [(Does::Work(SECOND), 1), (Does::Fail(io::ErrorKind::ConnectionReset, SECOND), 1), (Does::Hang, 1)]
    {
        let mesh = mesh(&["a"], |builder| builder.permission(PermissionRules::new().test_high_value())).await;
        mesh.set("a", Does::Work(Duration::ZERO));
        mesh.agents.set_probed("a.example", probed.clone());
        let valuable = || {
            let mut request = request(SEND);
            request.extensions_mut().insert(Need::skill("x").high_value());
            request
        };
        let layer = || DelegateLayer::new(mesh.directory.clone()).test_timeout(2 * SECOND);
        let calls = (0..8).map(|_| mesh.call_with(layer(), valuable()));
        let answers = futures_join(calls).await;
        let is_good = matches!(probed, Does::Work(_));
        assert!(answers.iter().all(|answer| answer.is_ok() == is_good), "{probed:?}");
        let got = mesh.agents.got();
        assert_eq!(got.iter().filter(|got| got.is_probe()).count(), probes, "{probed:?}");
        let work = got.iter().filter(|got| !got.is_probe() && got.method() == "SendMessage").count();
        assert_eq!(work, if is_good { 8 } else { 0 }, "{probed:?}");
    }
}

async fn futures_join<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(move |cx| {
        let mut waits = false;
        for (future, output) in &mut all {
            if output.is_none() {
                match future.as_mut().poll(cx) {
                    Poll::Ready(done) => *output = Some(done),
                    Poll::Pending => waits = true,
                }
            }
        }
        if waits {
            return Poll::Pending;
        }
        Poll::Ready(all.drain(..).filter_map(|(_, output)| output).collect())
    })
    .await
}

/// Who waits for a test does not need the one that wanted it first.
#[tokio::test(start_paused = true)]
async fn a_test_whose_caller_is_let_go_of_is_not_made_again() {
    let mesh = mesh(&["a"], |builder| builder.permission(PermissionRules::new().test_high_value())).await;
    mesh.set("a", Does::Work(Duration::ZERO));
    mesh.agents.set_probed("a.example", Does::Work(2 * SECOND));
    let valuable = || {
        let mut request = request(SEND);
        request.extensions_mut().insert(Need::skill("x").high_value());
        request
    };
    let mut first = Box::pin(mesh.call(valuable()));
    assert!(tokio::time::timeout(SECOND, &mut first).await.is_err());
    let mut second = Box::pin(mesh.call(valuable()));
    assert!(tokio::time::timeout(SECOND / 2, &mut second).await.is_err());
    drop(first);
    good(second.await);
    assert_eq!(mesh.agents.got().iter().filter(|got| got.is_probe() && got.method() == "SendMessage").count(), 1);
}

/// A test says something of what was tested, and not of what the peer says since.
#[tokio::test(start_paused = true)]
async fn a_test_of_an_older_card_proves_nothing_of_the_newer() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder.permission(PermissionRules::new().test_high_value()));
    host.serve(A, plain_card(A, &["x"]));
    directory.vouch(&directory.publish(&uri(A), "o").await.unwrap(), "ops", true);
    let mesh = crate::delegate::Mesh { agents: Agents::default(), directory, log };
    mesh.set("a", Does::Work(Duration::ZERO));
    mesh.agents.set_probed("a.example", Does::Work(2 * SECOND));
    let need = Need::skill("x").high_value();
    let mut valuable = request(SEND);
    valuable.extensions_mut().insert(need.clone());
    let calling = mesh.call(valuable);
    let changing = async {
        tokio::time::sleep(SECOND).await;
        host.serve(A, plain_card(A, &["x: and more"]));
        tokio::time::sleep(Duration::from_millis(100)).await;
        mesh.directory.refresh_due(100 * SECOND).await;
    };
    let (_, ()) = tokio::join!(calling, changing);
    let decision = mesh.directory.find(&need);
    assert!(decision.to_string().contains("to be tested"), "{decision}");
}

/// What changed while the credentials were fetched counts: the skill is not there any longer, or it is sensitive now.
#[tokio::test(start_paused = true)]
async fn a_card_that_changes_between_the_choice_and_the_call_counts() {
    for (now, why) in [
        (plain_card(A, &["y"]), "not asked: "),
        (plain_card(A, &["x:#sensitive"]), "not asked: denied: the skill is sensitive"),
        (plain_card("https://a.example/elsewhere", &["x"]), "not asked: "),
    ] {
        let mesh = mesh(&[], |builder| builder).await;
        let host = Host::default();
        let (directory, log) = host.directory(|builder| builder);
        host.serve(A, plain_card(A, &["x"]));
        directory.vouch(&directory.publish(&uri(A), "o").await.unwrap(), "ops", true);
        let mesh = crate::delegate::Mesh { directory, log, ..mesh };
        mesh.set("a", Does::Work(Duration::ZERO));
        host.serve(A, now);
        let directory = mesh.directory.clone();
        let credentials = move |_: CredentialsAsk| {
            let directory = directory.clone();
            async move {
                directory.refresh_due(100 * SECOND).await;
                Ok::<_, BoxError>(HeaderMap::new())
            }
        };
        let layer = DelegateLayer::new(mesh.directory.clone()).credentials(credentials);
        mesh.call_with(layer, request(SEND)).await.unwrap_err();
        assert_eq!(mesh.agents.asked(), Vec::<String>::new(), "{why}");
        let attempts = attempts(&mesh.decision());
        assert!(attempts[0].contains(why), "{attempts:?}");
    }
}

/// Whoever looks at the record sees to whom a call had gone that was let go of.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_let_go_of_says_who_had_it() {
    let mesh = mesh(&["a", "b"], |builder| builder).await;
    mesh.set("b", Does::Hang);
    let call = tokio::time::timeout(SECOND, mesh.call(request(SEND))).await;
    assert!(call.is_err());
    let decision = mesh.decision();
    assert_eq!(attempts(&decision).len(), 2, "{decision}");
    assert_eq!(decision.attempts[1].peer, peer("https://b.example"));
    assert!(!matches!(decision.attempts[1].ended, AttemptEnd::NotAsked(_) | AttemptEnd::Success));
}

/// The list changes while it is read: what comes is not what there is.
#[tokio::test(start_paused = true)]
async fn a_list_that_changes_while_it_is_read_is_read_again() {
    let host = Host::default();
    let reads = Arc::new(Mutex::new(0));
    let (count, started) = (Arc::clone(&reads), Arc::new(Notify::new()));
    let starts = Arc::clone(&started);
    let (directory, log) = host.directory(|builder| {
        builder.list_tools(move |_| {
            let (count, starts) = (Arc::clone(&count), Arc::clone(&starts));
            async move {
                let n = {
                    let mut count = count.lock().unwrap();
                    *count += 1;
                    *count
                };
                starts.notify_one();
                tokio::time::sleep(2 * SECOND).await;
                Ok::<_, BoxError>(vec![Bytes::from(format!(r#"{{"tools":[{{"name":"list-{n}"}}]}}"#))])
            }
        })
    });
    let id = directory.publish_tools(&uri(A), "o", &[r#"{"tools":[{"name":"list-0"}]}"#]).unwrap();
    directory.vouch(&id, "ops", true);
    tokio::spawn(directory.keep_fresh(1000 * SECOND));
    directory.tools_changed(&id);
    started.notified().await;
    tokio::time::sleep(SECOND).await;
    directory.tools_changed(&id);
    tokio::time::sleep(SECOND + SECOND / 10).await;
    assert_eq!(directory.peer(&id).unwrap().tools, Some(Err(StaleReason::ListChanged)), "{:?}", log.audit());
    tokio::time::sleep(10 * SECOND).await;
    assert!(directory.find(&Need::skill("list-2")).best().is_some());
    assert_eq!(*reads.lock().unwrap(), 2);
}

/// A client that fails to be ready fails the attempt, and nothing was sent.
#[tokio::test(start_paused = true)]
async fn a_client_that_is_not_ready_in_the_end_costs_no_more_than_the_attempt() {
    #[derive(Clone)]
    struct Closed(bool);
    impl<R> Service<R> for Closed {
        type Response = http::Response<Full<Bytes>>;
        type Error = BoxError;
        type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;
        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            match self.0 {
                true => Poll::Ready(Err(io::Error::from(io::ErrorKind::ConnectionRefused).into())),
                false => Poll::Ready(Ok(())),
            }
        }
        fn call(&mut self, _: R) -> Self::Future {
            self.0 = true;
            Box::pin(async { Err(io::Error::from(io::ErrorKind::ConnectionRefused).into()) })
        }
    }
    let mesh = mesh(&["a", "b"], |builder| builder).await;
    let service = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(DelegateLayer::new(mesh.directory.clone()))
        .layer(Guard::new())
        .service(Closed(false));
    let request: Request<Full<Bytes>> = request(SEND);
    let error = service.oneshot(request).await.map(drop).unwrap_err();
    assert!(!error.call_error().work_may_have_started(), "{error}");
}
