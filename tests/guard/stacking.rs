//! What stands where.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use a2a_guard::{
    Call, CallBody, Guard, LimitOverrides, Limits, ProbeCacheLayer,
    card_consistency::{Resolution, Resolve},
};
use bytes::Bytes;
use http::{Request, Version, request::Parts};
use http_body_util::{BodyExt, Full};
use tower::{Layer, Service, ServiceExt};

use crate::{
    agent, call, cards,
    mock::{Answer, Dialect, Notes, ms},
};

use Dialect::{Rest, V1};

fn done() -> Answer {
    Answer::json(V1.result(&V1.task("COMPLETED")))
}

#[tokio::test(start_paused = true)]
async fn alone_it_ends_calls() {
    let agent = agent([done(), Answer::never()]);
    let mut service = Guard::new().layer(agent.clone());
    let ended = call(&mut service, V1.send()).await;
    assert_eq!(
        (ended.word().as_str(), ended.bytes()),
        ("success/success", V1.result(&V1.task("COMPLETED")).into_bytes())
    );
    let ended = call(&mut service, V1.get()).await;
    assert_eq!((ended.word().as_str(), ended.elapsed.as_secs()), ("timeout/head", 30));
    assert_eq!(ended.error().task_id(), Some("task-1"), "it was named");
    assert_eq!(agent.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn with_nothing_but_a_client_for_cards_it_holds_calls_against_them() {
    let notes = Notes::default();
    let agent = agent([done()]);
    let guard = Guard::builder().observe(notes.clone()).cards(cards()).build().unwrap();
    let mut service = guard.layer(agent.clone());
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
    assert_eq!(call(&mut service, V1.stream()).await.word(), "card/capability_missing");
    // The observer is told of both, once each.
    assert_eq!(notes.words(), ["success/success", "card/capability_missing"]);
    assert_eq!(agent.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn rendered_it_cannot_fail() {
    let notes = Notes::default();
    let guard = Guard::builder().observe(notes.clone()).cards(cards()).build().unwrap().rendered();
    let mut service = guard.layer(agent([]));
    let Ok::<_, Infallible>(ready) = service.ready().await;
    let Ok(response) = ready.call(V1.stream()).await;
    let body: serde_json::Value =
        serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap();
    assert_eq!((&body["id"], &body["error"]["code"]), (&1.into(), &(-32004).into()));
    assert_eq!(notes.words(), ["card/capability_missing"]);
}

#[tokio::test(start_paused = true)]
async fn a_relative_uri_is_completed_before_anyone_looks_at_it() {
    let agent = agent([done(), done()]);
    let guard = Guard::builder().origin("https://agent.example.com".parse().unwrap()).cards(cards()).build().unwrap();
    let mut service = guard.layer(agent.clone());
    let relative = |path: &str| {
        let mut request = V1.send();
        *request.uri_mut() = path.parse().unwrap();
        request.headers_mut().insert("host", "gateway.example.net".parse().unwrap());
        request
    };
    assert_eq!(call(&mut service, relative("/a2a")).await.word(), "success/success");
    let seen = agent.requests().pop().unwrap();
    assert!(!seen.headers().contains_key("host"), "the gateway's");
    assert_eq!(seen.uri(), "https://agent.example.com/a2a");
    assert_eq!(seen.extensions().get::<Call>().unwrap().target().unwrap(), seen.uri());
    // One that says where it goes goes there.
    let other = call(&mut service, relative("https://other.example.com/a2a")).await;
    assert_eq!(other.word(), "card/url_mismatch");
}

/// A request that came over HTTP/2, or in absolute form, names a place as the caller likes.
#[tokio::test(start_paused = true)]
async fn behind_a_server_no_caller_chooses_where_a_call_goes() {
    let agent = agent([done(), done(), done()]);
    let guard = Guard::builder().upstream("https://agent.example.com".parse().unwrap()).cards(cards()).build().unwrap();
    let mut service = guard.layer(agent.clone());
    for uri in ["/a2a?b=c", "https://169.254.169.254/a2a?b=c", "http://user@gateway.example.net:8080/a2a?b=c"] {
        let mut request = V1.send();
        *request.uri_mut() = uri.parse().unwrap();
        *request.version_mut() = Version::HTTP_2;
        request.headers_mut().insert("host", "gateway.example.net".parse().unwrap());
        assert_eq!(call(&mut service, request).await.word(), "success/success", "{uri}");
        let seen = agent.requests().pop().unwrap();
        assert_eq!(
            (seen.uri().to_string().as_str(), seen.version()),
            ("https://agent.example.com/a2a?b=c", Version::HTTP_11)
        );
        assert_eq!(seen.extensions().get::<Call>().unwrap().target().unwrap(), seen.uri());
        assert!(!seen.headers().contains_key("host"), "the gateway's");
    }
}

/// RFC 9110 §7.6.1: what concerns the caller's connection alone would close, or change, the one to the agent.
#[tokio::test(start_paused = true)]
async fn behind_a_server_the_callers_connection_is_its_own() {
    let agent = agent([done(), done()]);
    let guard = Guard::builder().upstream("https://agent.example.com".parse().unwrap()).build().unwrap();
    let mut service = guard.layer(agent.clone());
    let mut request = V1.send();
    for (name, value) in [
        ("connection", "close, X-Hop"),
        ("connection", "Upgrade, HTTP2-Settings"),
        ("x-hop", "1"),
        ("keep-alive", "timeout=5"),
        ("proxy-connection", "keep-alive"),
        ("te", "gzip, Trailers"),
        ("upgrade", "h2c"),
        ("http2-settings", "AAMAAABkAAQAoAAAAAIAAAAA"),
        ("x-end-to-end", "1"),
    ] {
        request.headers_mut().append(name, value.parse().unwrap());
    }
    assert_eq!(call(&mut service, request).await.word(), "success/success");
    let seen = agent.requests().pop().unwrap();
    let mut names: Vec<_> = seen.headers().keys().map(|name| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["content-type", "te", "x-end-to-end"]);
    assert_eq!(seen.headers()["te"], "trailers", "which gRPC asks for");
}

#[tokio::test(start_paused = true)]
async fn a_resolver_sends_calls_on() {
    struct Elsewhere;
    impl Resolve for Elsewhere {
        fn resolve(&self, _: &Parts, _: &Call) -> Resolution {
            Resolution::To("https://agent.example.com/a2a".parse().unwrap())
        }
    }
    let agent = agent([done()]);
    let guard = Guard::builder().cards(cards()).resolver(Elsewhere).build().unwrap();
    let mut request = V1.send();
    *request.uri_mut() = "https://mesh.example.com/logical".parse().unwrap();
    assert_eq!(call(&mut guard.layer(agent.clone()), request).await.word(), "success/success");
    assert_eq!(agent.requests()[0].uri(), "https://agent.example.com/a2a");
}

#[tokio::test(start_paused = true)]
async fn strictness_is_of_answers_and_of_cards() {
    // The card has no skills, which a lenient reader understands.
    let guard = Guard::builder().cards(cards()).strict(true).build().unwrap();
    assert_eq!(call(&mut guard.layer(agent([])), V1.send()).await.word(), "card/missing_field");
    let guard = Guard::builder().strict(true).build().unwrap();
    let slip = V1.result(&V1.task("COMPLETED")).replacen("\"id\":1", "\"id\":\"1\"", 1);
    assert_eq!(
        call(&mut guard.layer(agent([Answer::json(slip)])), V1.send()).await.word(),
        "broken/protocol_violation"
    );
}

/// Sends everything twice, if its body can be sent twice; notes what it saw of it.
#[derive(Clone)]
struct Twice<S> {
    inner: S,
    seen: Arc<Mutex<Vec<Bytes>>>,
}

impl<S> Service<Request<CallBody<Full<Bytes>>>> for Twice<S>
where
    S: Service<Request<CallBody<Full<Bytes>>>> + Clone + Send + 'static,
    S::Future: Send,
    S::Response: Send,
    S::Error: Send,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<CallBody<Full<Bytes>>>) -> Self::Future {
        let bytes = request.body().as_bytes().expect("a whole body").clone();
        self.seen.lock().unwrap().push(bytes.clone());
        let (head, body) = request.into_parts();
        let again = Request::from_parts(head.clone(), CallBody::from(bytes));
        let fresh = self.inner.clone();
        let mut ready = std::mem::replace(&mut self.inner, fresh);
        Box::pin(async move {
            if let Ok(response) = ready.call(Request::from_parts(head, body)).await {
                return Ok(response);
            }
            ready.ready().await?.call(again).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_layer_sees_a_body_that_can_be_sent_again() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let layer = {
        let seen = Arc::clone(&seen);
        tower::layer::layer_fn(move |inner| Twice { inner, seen: Arc::clone(&seen) })
    };
    let notes = Notes::default();
    let agent = agent([Answer::lost(std::io::ErrorKind::ConnectionRefused), done()]);
    let guard = Guard::builder().observe(notes.clone()).cards(cards()).retry(layer).build().unwrap();
    let ended = call(&mut guard.layer(agent.clone()), V1.send()).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(seen.lock().unwrap().len(), 1);
    // Each attempt has an end of its own.
    assert_eq!(notes.words(), ["transport/connect", "success/success"]);
    assert_eq!(agent.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_availability_layer_stands_below_the_cards() {
    let probes = ProbeCacheLayer::without_probes().build().unwrap();
    let handle = probes.availability().clone();
    let notes = Notes::default();
    let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"no"}}"#;
    let agent = agent([done(), Answer::json(refusal)]);
    let guard = Guard::builder().observe(notes.clone()).cards(cards()).availability(probes).build().unwrap();
    let mut service = guard.layer(agent);
    let request = || {
        let mut request = V1.send();
        request.extensions_mut().insert(Call::new().with_skill("translate"));
        request
    };
    assert_eq!(call(&mut service, request()).await.word(), "success/success");
    assert_eq!(handle.snapshot().len(), 1);
    assert_eq!(call(&mut service, request()).await.word(), "stale/skill_unavailable");
    assert_eq!(notes.words(), ["success/success", "stale/skill_unavailable"]);
}

/// Reading a request takes no longer than the call may.
#[tokio::test(start_paused = true)]
async fn the_total_holds_for_reading_too() {
    let limits = Limits::within(ms(2_000));
    let guard = Guard::builder().limits(limits).build().unwrap();
    let body = crate::mock::MockBody::new().data("{").hang();
    let request = Request::post("https://agent.example.com/a2a").body(body).unwrap();
    let never: crate::mock::Peer<CallBody<crate::mock::MockBody>> = crate::mock::Peer::new([Answer::never()]);
    let began = tokio::time::Instant::now();
    let error = guard.layer(never).oneshot(request).await.map(|_| ()).unwrap_err();
    assert_eq!(error.outcome().as_str(), "timeout");
    assert!(began.elapsed() <= ms(2_100), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn http_json_too() {
    let agent = agent([Answer::json(Rest.task("COMPLETED"))]);
    let guard = Guard::builder().cards(cards()).build().unwrap();
    assert_eq!(call(&mut guard.layer(agent), Rest.send()).await.word(), "success/success");
}

/// A client that has no answer, ever.
fn silent() -> tower::util::ServiceFn<Ignoring> {
    tower::service_fn(|_| std::future::pending())
}

type Ignoring = fn(Request<Full<Bytes>>) -> std::future::Pending<Silence>;

type Silence = Result<http::Response<Full<Bytes>>, crate::mock::BoxError>;

/// So does waiting for a card.
#[tokio::test(start_paused = true)]
async fn the_total_holds_for_the_card_too() {
    let guard = Guard::builder().limits(Limits::within(ms(2_000))).cards(silent()).build().unwrap();
    let ended = call(&mut guard.layer(agent([])), V1.send()).await;
    assert_eq!(ended.fate(), ("card/fetch_timeout".into(), ms(2_000)));
}

/// And so does waiting for a probe.
#[tokio::test(start_paused = true)]
async fn the_total_holds_for_a_probe_too() {
    let probes = ProbeCacheLayer::builder(silent()).build().unwrap();
    let guard = Guard::builder().limits(Limits::within(ms(2_000))).availability(probes).build().unwrap();
    let ended = call(&mut guard.layer(agent([Answer::never()])), V1.send()).await;
    assert_eq!(ended.fate(), ("timeout/total".into(), ms(2_000)));
}

/// The one that a call's own overrides set is that of its kind: what they say of the other kind is not its matter.
#[tokio::test(start_paused = true)]
async fn the_total_of_the_other_kind_of_call_is_not_a_calls_own() {
    let limits = || Limits::within(ms(2_000)).total_stream(ms(4_000));
    let cards = || Guard::builder().limits(limits()).cards(silent()).build().unwrap();
    let probes = || {
        let probes = ProbeCacheLayer::builder(silent()).build().unwrap();
        Guard::builder().limits(limits()).availability(probes).build().unwrap()
    };
    let own = |mut request: Request<Full<Bytes>>, overrides: LimitOverrides| {
        request.extensions_mut().insert(overrides);
        request
    };
    let of_stream = |total| LimitOverrides::default().total_stream(ms(total));
    let of_unary = |total| LimitOverrides::default().total_unary(ms(total));
    for (request, expected) in [
        (own(V1.send(), of_stream(60_000)), 2_000),
        (own(V1.send(), of_stream(500)), 2_000),
        (own(V1.send(), of_unary(1_000)), 1_000),
        (own(V1.stream(), of_unary(500)), 4_000),
        (own(V1.stream(), of_unary(60_000)), 4_000),
        (own(V1.stream(), of_stream(1_000)), 1_000),
    ] {
        let again = request.clone();
        let ended = call(&mut cards().layer(agent([])), request).await;
        assert_eq!(ended.fate(), ("card/fetch_timeout".into(), ms(expected)));
        let ended = call(&mut probes().layer(agent([Answer::never()])), again).await;
        assert_eq!(ended.fate(), ("timeout/total".into(), ms(expected)));
    }
}

/// A call that waited for its card until its time was over waits for the client's readiness once more, and not once for
/// each layer.
#[tokio::test(start_paused = true)]
async fn readiness_is_waited_for_once_behind_the_total() {
    let slow = tower::service_fn(|request: Request<Full<Bytes>>| async {
        tokio::time::sleep(ms(9_900)).await;
        crate::card(request).await
    });
    let probes = ProbeCacheLayer::builder(silent()).build().unwrap();
    let limits = Limits::within(ms(10_000)).ready(ms(1_000));
    let guard = Guard::builder().limits(limits).cards(slow).availability(probes).build().unwrap();
    let ended = call(&mut guard.layer(agent([Answer::never()]).ready_after(ms(950))), V1.send()).await;
    // The first time is before the call.
    assert_eq!(ended.fate(), ("timeout/total".into(), ms(950 + 9_900 + 950)));
}

/// Wherever it was.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_on_its_way_down_is_told_of_too() {
    let slow = || {
        let body = crate::mock::MockBody::new().data("{").hang();
        Request::post("https://agent.example.com/a2a").body(body).unwrap()
    };
    let notes = Notes::default();
    let guard = Guard::builder().observe(notes.clone()).build().unwrap();
    let peer: crate::mock::Peer<CallBody<crate::mock::MockBody>> = crate::mock::Peer::new([]);
    drop(tokio::time::timeout(ms(500), guard.layer(peer).oneshot(slow())).await);
    assert_eq!(notes.words(), ["abandoned/abandoned"], "while its request is read");

    let notes = Notes::default();
    let guard = Guard::builder().observe(notes.clone()).cards(silent()).build().unwrap();
    drop(tokio::time::timeout(ms(500), guard.layer(agent([])).oneshot(V1.send())).await);
    assert_eq!(notes.words(), ["abandoned/abandoned"], "while it waits for its card");

    let notes = Notes::default();
    let probes = ProbeCacheLayer::builder(silent()).build().unwrap();
    let guard = Guard::builder().observe(notes.clone()).availability(probes).build().unwrap();
    drop(tokio::time::timeout(ms(500), guard.layer(agent([])).oneshot(V1.send())).await);
    assert_eq!(notes.words(), ["abandoned/abandoned"], "while it waits for a probe");
}
