//! The observer is told of each call's end, and of each once.

use a2a_guard::{
    Call, CallError, Guard, Limits, ProbeCacheLayer,
    guard::{GuardCards, GuardProbes},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tokio::time::timeout;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};

use crate::{
    Agent, Host, agent, call, cards,
    mock::{Answer, BoxError, Dialect, MockBody, Notes, s},
};

use Dialect::V1;

const NOT_FOUND: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Task not found"}}"#;

/// A client for probes that answers after this many seconds: that A2A is spoken, or with a page.
fn prober(
    seconds: u64,
    spoken: bool,
) -> impl Service<Request<Full<Bytes>>, Response = Response<Full<Bytes>>, Error = BoxError, Future: Send> + Clone + Send
{
    service_fn(move |_: Request<Full<Bytes>>| async move {
        tokio::time::sleep(s(seconds)).await;
        let (media, body) = if spoken { ("application/json", NOT_FOUND) } else { ("text/html", "<html>") };
        Ok(Response::builder().header("content-type", media).body(Full::from(body))?)
    })
}

/// A host of cards that takes as long.
fn slow_cards(
    seconds: u64,
) -> impl Service<Request<Full<Bytes>>, Response = Response<Full<Bytes>>, Error = BoxError, Future: Send> + Clone + Send
{
    service_fn(move |request: Request<Full<Bytes>>| async move {
        tokio::time::sleep(s(seconds)).await;
        let mut host: Host = cards();
        host.ready().await?.call(request).await
    })
}

type Whole = Guard<Notes, GuardCards<Notes>, GuardProbes<Notes>>;

/// All layers; cards and probes take so many seconds.
fn whole(card: u64, probe: u64, spoken: bool) -> (Whole, Notes) {
    let notes = Notes::default();
    let guard = Guard::builder()
        .limits(Limits::default().ready(s(60)))
        .cards(slow_cards(card))
        .availability(ProbeCacheLayer::builder(prober(probe, spoken)).build().unwrap())
        .observe(notes.clone());
    (guard.build().unwrap(), notes)
}

fn done() -> Answer {
    Answer::json(V1.result(&V1.task("COMPLETED")))
}

#[tokio::test(start_paused = true)]
async fn of_every_end_once() {
    let skilled = || {
        let mut request = V1.send();
        request.extensions_mut().insert(Call::new().with_skill("translate"));
        request
    };
    let rows = [
        (true, V1.send(), done(), "success/success"),
        (true, V1.send(), Answer::json(V1.error(-32603)), "refused/peer_error"),
        (true, V1.send(), Answer::new(500, "text/html", MockBody::new()), "broken/http_status"),
        (true, V1.get(), Answer::never(), "timeout/head"),
        (true, V1.send(), Answer::lost(std::io::ErrorKind::ConnectionReset), "transport/connection_lost"),
        (true, V1.stream(), done(), "card/capability_missing"),
        (true, skilled(), Answer::json(V1.error(-32004)), "stale/skill_unavailable"),
        (false, V1.send(), done(), "stale/endpoint_not_conforming"),
    ];
    for (spoken, request, answer, due) in rows {
        let (guard, notes) = whole(1, 1, spoken);
        let ended = call(&mut guard.layer(agent([answer])), request).await;
        assert_eq!((ended.word().as_str(), notes.words()), (due, vec![due.to_owned()]));
        assert_eq!(notes.one().error, !due.starts_with("success"));
    }
}

#[tokio::test(start_paused = true)]
async fn of_a_call_that_is_dropped_wherever_it_waits() {
    // For its card, for a probe, for its turn again behind each, and for its head.
    let rows: [(u64, u64, Agent, u64); 5] = [
        (5, 0, agent([Answer::never()]), 2),
        (1, 4, agent([Answer::never()]), 3),
        (0, 0, agent([Answer::never()]), 3),
        (1, 0, agent([Answer::never()]).ready_after(s(5)), 7),
        (1, 1, agent([Answer::never()]).ready_after(s(5)), 13),
    ];
    for (card, probe, agent, wait) in rows {
        let (guard, notes) = whole(card, probe, true);
        let mut service = guard.layer(agent);
        let future = service.ready().await.unwrap().call(V1.send());
        assert!(timeout(s(wait), future).await.is_err());
        assert_eq!(notes.words(), ["abandoned/abandoned"], "a card in {card} s, a probe in {probe} s, after {wait} s");
    }
}

#[tokio::test(start_paused = true)]
async fn of_a_stream_that_is_dropped() {
    let notes = Notes::default();
    let working = format!("data: {}\n\n", V1.result(&V1.task("WORKING")));
    let guard = Guard::builder().observe(notes.clone()).build().unwrap();
    let mut service = guard.layer(agent([Answer::sse(MockBody::new().data(working).hang())]));
    let mut body = service.ready().await.unwrap().call(V1.stream()).await.unwrap().into_body();
    body.frame().await.unwrap().unwrap();
    assert!(notes.words().is_empty());
    drop(body);
    assert_eq!(notes.words(), ["abandoned/abandoned"]);
}

/// What is shed by a layer in the slot for one never comes down.
#[tokio::test(start_paused = true)]
async fn of_a_call_that_a_layer_in_between_fails() {
    let notes = Notes::default();
    let shedding = ServiceBuilder::new().load_shed().concurrency_limit(1).into_inner();
    let guard = Guard::builder().observe(notes.clone()).retry(shedding).build().unwrap();
    let service = guard.layer(agent([done().after(s(3)), done()]));
    let (one, other) = tokio::join!(service.clone().oneshot(V1.send()), service.clone().oneshot(V1.send()));
    assert!(one.is_ok() && other.as_ref().err().is_some_and(|error| !error.is::<CallError>()));
    let shed =
        if cfg!(feature = "tower") { &["refused/unavailable", "success/success"][..] } else { &["success/success"] };
    assert_eq!(notes.words(), shed);
}

#[tokio::test(start_paused = true)]
async fn of_a_call_that_a_timer_in_between_ends() {
    let notes = Notes::default();
    let timer = tower::timeout::TimeoutLayer::new(s(2));
    let guard = Guard::builder().observe(notes.clone()).retry(timer).build().unwrap();
    assert!(guard.layer(agent([Answer::never()])).oneshot(V1.send()).await.is_err());
    assert_eq!(notes.words(), ["abandoned/abandoned"]);
}

/// Its head is what is known of it then.
#[tokio::test(start_paused = true)]
async fn of_a_call_whose_request_never_came() {
    let notes = Notes::default();
    let guard = Guard::builder().observe(notes.clone()).build().unwrap();
    let peer: crate::mock::Peer<a2a_guard::CallBody<MockBody>> = crate::mock::Peer::new([done()]).ready_after(s(5));
    let request = |body| Request::post("https://agent.example.com/a2a").body(body).unwrap();
    // While it is read, and while the agent's turn is waited for again behind it.
    let part = MockBody::new().data(r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","#).hang();
    assert!(timeout(s(7), guard.layer(peer.clone()).oneshot(request(part))).await.is_err());
    let late = MockBody::new().wait(s(1)).data(r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}"#);
    assert!(timeout(s(8), guard.layer(peer).oneshot(request(late))).await.is_err());
    assert_eq!(notes.words(), ["abandoned/abandoned"; 2]);
}

/// The layers of a guard share its store: a card's authority knows of the probe.
#[tokio::test(start_paused = true)]
async fn cards_are_told_whether_the_probe_passed() {
    use a2a_guard::card_consistency::{AuthorityCondition, CardKeyRef, CardStore};
    for (spoken, word) in [(true, "success/success"), (false, "stale/endpoint_not_conforming")] {
        let store = CardStore::builder(cards()).build().unwrap();
        let answer = if spoken { NOT_FOUND.replace("\"id\":1", "\"id\":\"a2a-guard-probe\"") } else { "<html>".into() };
        let client = service_fn(move |_: Request<Full<Bytes>>| {
            let media = if spoken { "application/json" } else { "text/html" };
            let response = Response::builder().header("content-type", media).body(Full::from(answer.clone()));
            std::future::ready(response.map_err(BoxError::from))
        });
        let probes = ProbeCacheLayer::builder(client).build().unwrap();
        let guard = Guard::builder().card_store(store.clone()).availability(probes).build().unwrap();
        let request = V1.send();
        let (target, headers) = (request.uri().clone(), request.headers().clone());
        assert_eq!(call(&mut guard.layer(agent([done()])), request).await.word(), word);
        let card = store.peek(&CardKeyRef::new(&target, &headers)).unwrap();
        let authority = card.authority(&target, None, tokio::time::Instant::now());
        assert_eq!(authority.holds(AuthorityCondition::Probe), spoken, "{authority}");
    }
}
