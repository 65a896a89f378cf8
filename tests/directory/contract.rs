//! What tower asks of a service, and what its caller may do at any moment: let go.

use std::{
    io,
    task::{Context, Poll},
    time::Duration,
};

use a2a_guard::{
    BoxError, CallLayer, Guard, Limits,
    directory::{AttemptEnd, CredentialsAsk, DelegateLayer, Need, PermissionRules},
};
use http::{HeaderMap, Request};
use http_body_util::Full;
use tokio::time::timeout;
use tower::{Layer, Service, ServiceBuilder, ServiceExt};

use crate::{
    agents::Does,
    delegate::{Mesh, SECOND, SEND, good, mesh, read, request},
    host::peer,
};

/// A service that is called only after it said that it is ready, once for each time, and whose clones are not ready.
struct Strict<S> {
    inner: S,
    is_ready: bool,
}

impl<S> Strict<S> {
    fn new(inner: S) -> Self {
        Self { inner, is_ready: false }
    }
}

impl<S: Clone> Clone for Strict<S> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone())
    }
}

impl<S, R> Service<R> for Strict<S>
where
    S: Service<R>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        let polled = self.inner.poll_ready(cx);
        self.is_ready = matches!(polled, Poll::Ready(Ok(())));
        polled
    }

    fn call(&mut self, request: R) -> S::Future {
        assert!(std::mem::take(&mut self.is_ready), "it was not ready");
        self.inner.call(request)
    }
}

const MS: Duration = Duration::from_millis(1);

fn valuable() -> Request<Full<bytes::Bytes>> {
    let mut request = request(SEND);
    request.extensions_mut().insert(Need::skill("x").high_value());
    request
}

async fn busy_mesh() -> Mesh {
    let mesh = mesh(&["a", "b", "c"], |builder| builder.permission(PermissionRules::new().test_high_value())).await;
    mesh.set("a", Does::Fail(io::ErrorKind::ConnectionRefused, 7 * MS)).set("b", Does::Work(7 * MS));
    mesh.agents.set_probed("a.example", Does::Work(5 * MS));
    mesh.agents.set_probed("b.example", Does::Work(5 * MS));
    mesh
}

/// To whom the work was sent, tests and what cancels them apart.
fn sent(mesh: &Mesh) -> Vec<String> {
    let got = mesh.agents.got().into_iter().filter(|got| !got.is_probe() && got.method() == "SendMessage");
    got.map(|got| got.uri.parse::<http::Uri>().unwrap().host().unwrap().to_owned()).collect()
}

async fn slow_credentials(_: CredentialsAsk) -> Result<HeaderMap, BoxError> {
    tokio::time::sleep(3 * MS).await;
    Ok(HeaderMap::new())
}

#[tokio::test(start_paused = true)]
async fn whoever_is_called_was_ready() {
    for (has_credentials, request) in
        [(false, request(SEND)), (true, request(SEND)), (false, valuable()), (true, valuable())]
    {
        let mesh = busy_mesh().await;
        let layer = DelegateLayer::new(mesh.directory.clone());
        let layer = if has_credentials { layer.credentials(slow_credentials) } else { layer };
        let guard = Guard::new().layer(Strict::new(mesh.agents.clone()));
        let service = ServiceBuilder::new().layer(CallLayer::new()).layer(layer).service(Strict::new(guard));
        good(read(service.oneshot(request).await).await);
        assert_eq!(sent(&mesh).into_iter().filter(|host| host == "b.example").count(), 1);
    }
    let mesh = mesh(&[], |builder| builder).await;
    mesh.set("home", Does::Work(Duration::ZERO));
    let fallback = ServiceBuilder::new()
        .map_request(|mut request: Request<_>| {
            *request.uri_mut() = "https://home.example/".parse().unwrap();
            request
        })
        .service(Guard::new().layer(mesh.agents.clone()));
    good(
        mesh.call_with(DelegateLayer::new(mesh.directory.clone()).fallback(Strict::new(fallback)), request(SEND)).await,
    );
}

/// At whatever moment the caller lets go: one record, which says how far it came, and nothing that counts.
#[tokio::test(start_paused = true)]
async fn whenever_it_is_let_go_of_it_is_told_of_once() {
    let mut ends = Vec::new();
    for moment in 0..40 {
        let mesh = busy_mesh().await;
        let layer = DelegateLayer::new(mesh.directory.clone()).credentials(slow_credentials);
        let answer = timeout(moment * MS, mesh.call_with(layer, valuable())).await;
        let decision = mesh.decision();
        let last = decision.attempts.last().unwrap();
        let sent = sent(&mesh).len();
        let abandoned = match &last.ended {
            AttemptEnd::Abandoned { sent } => Some(*sent),
            _ => None,
        };
        assert_eq!(abandoned.is_none(), answer.is_ok(), "{moment}: {decision}");
        // Of those that it was sent to, one had failed, or has it still.
        let failed = decision.attempts.iter().filter(|one| matches!(one.ended, AttemptEnd::Failed { .. })).count();
        assert_eq!(sent, failed + usize::from(abandoned.is_none_or(|sent| sent)), "{moment}: {decision}");
        let calls = |name: &str| mesh.directory.evidence().standing(&peer(name), true).calls;
        assert_eq!(calls("https://a.example"), failed as u64, "{moment}");
        assert_eq!(calls("https://b.example"), u64::from(answer.is_ok()), "{moment}");
        ends.push((decision.attempts.len(), abandoned));
    }
    ends.dedup();
    assert_eq!(
        ends,
        [(1, Some(false)), (1, Some(true)), (2, Some(false)), (2, Some(true)), (2, None)],
        "each moment was met"
    );
}

/// The fallback is held to the call's own total as well.
#[tokio::test(start_paused = true)]
async fn a_fallback_that_hangs_is_not_waited_for() {
    let mesh = mesh(&[], |builder| builder).await;
    mesh.set("home", Does::Hang);
    let fallback = ServiceBuilder::new()
        .map_request(|mut request: Request<_>| {
            *request.uri_mut() = "https://home.example/".parse().unwrap();
            request
        })
        .service(Guard::builder().limits(Limits::within(1000 * SECOND)).build().unwrap().layer(mesh.agents.clone()));
    let began = tokio::time::Instant::now();
    let error =
        mesh.call_with(DelegateLayer::new(mesh.directory.clone()).fallback(fallback), request(SEND)).await.unwrap_err();
    assert_eq!(began.elapsed(), 10 * SECOND);
    assert!(error.call_error().work_may_have_started(), "{error}");
    assert!(mesh.decision().fell_back);
}
