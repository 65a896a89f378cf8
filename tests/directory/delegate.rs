//! Calls that name a need: who gets them, what goes along, and what is never done twice.

mod permitted;
mod streams;
mod tested;
mod written;

use std::{io::ErrorKind, sync::Arc, time::Duration};

use a2a_guard::{
    Binding, BoxError, Call, CallError, CallLayer, Class, Guard, LimitOverrides, Limits, OutcomeKind, ProbeCacheLayer,
    ProtocolVersion, RefusalResponseLayer, TerminalStateLayer,
    directory::{
        Alternatives, AttemptEnd, CredentialsAsk, Decision, DelegateError, DelegateLayer, Delegated, Directory,
        DirectoryBuilder, Exclusion, Need, PermissionAsk, PermissionRules, Permit, Report, Stage,
    },
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, Version, header};
use http_body_util::{BodyExt, Full};
use serde_json::json;
use tokio::time::Instant;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, limit::ConcurrencyLimitLayer};

use crate::{
    agents::{Agents, Does},
    host::{Host, Log, card, interface, peer, plain_card, uri},
};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const SEND: &str = r#"{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}}"#;
pub(crate) const STREAM: &str = r#"{"jsonrpc":"2.0","id":7,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}}"#;

/// Agents that all have the skill `x`, in the order of their names, each vouched for.
pub(crate) struct Mesh {
    pub(crate) agents: Agents,
    pub(crate) directory: Directory,
    pub(crate) log: Log,
}

pub(crate) async fn mesh(names: &[&str], set: impl FnOnce(DirectoryBuilder) -> DirectoryBuilder) -> Mesh {
    let host = Host::default();
    let (directory, log) = host.directory(set);
    for name in names {
        let base = format!("https://{name}.example");
        host.serve_for(&base, plain_card(&base, &["x", "pay"]), 300, Duration::ZERO);
        directory.vouch(&directory.publish(&uri(&base), "o").await.unwrap(), "ops", true);
    }
    Mesh { agents: Agents::default(), directory, log }
}

pub(crate) fn request(body: &'static str) -> Request<Full<Bytes>> {
    Request::post("/")
        .header("content-type", "application/json")
        .header("a2a-version", "1.0")
        .extension(Need::skill("x").caller("orders"))
        .body(Full::from(body))
        .unwrap()
}

pub(crate) type Answer = Result<(http::response::Parts, Result<Bytes, CallError>), DelegateError>;

impl Mesh {
    pub(crate) fn set(&self, name: &str, does: Does) -> &Self {
        self.agents.set(&format!("{name}.example"), does);
        self
    }

    pub(crate) async fn call(&self, request: Request<Full<Bytes>>) -> Answer {
        self.call_with(DelegateLayer::new(self.directory.clone()), request).await
    }

    pub(crate) async fn call_with<F>(&self, layer: DelegateLayer<F>, request: Request<Full<Bytes>>) -> Answer
    where
        F: a2a_guard::directory::Fallback<Full<Bytes>, a2a_guard::TerminalStateBody<Full<Bytes>, Arc<()>>>,
        DelegateLayer<F>: Clone,
    {
        let guard = Guard::builder().limits(Limits::within(10 * SECOND)).build().unwrap();
        let service = ServiceBuilder::new()
            .layer(CallLayer::new())
            .layer(layer.limits(Limits::within(10 * SECOND)))
            .layer(guard)
            .service(self.agents.clone());
        read(service.oneshot(request).await).await
    }

    pub(crate) fn decision(&self) -> Decision {
        let mut decisions = self.log.decisions();
        assert_eq!(decisions.len(), 1, "each call is told of once");
        decisions.remove(0)
    }
}

pub(crate) async fn read<P>(answer: Result<Response<P>, DelegateError>) -> Answer
where
    P: http_body::Body<Data = Bytes, Error = CallError>,
{
    let (parts, body) = answer?.into_parts();
    Ok((parts, Box::pin(body).collect().await.map(|body| body.to_bytes())))
}

/// It was answered, and its body came whole.
pub(crate) fn good(answer: Answer) {
    answer.unwrap().1.unwrap();
}

pub(crate) fn attempts(decision: &Decision) -> Vec<String> {
    decision.attempts.iter().map(|one| format!("{} {}", one.peer.as_str(), one.ended)).collect()
}

#[tokio::test(start_paused = true)]
async fn the_best_peer_gets_the_call_and_it_is_told_why() {
    let mesh = mesh(&["a", "b"], |builder| builder).await;
    mesh.set("a", Does::Work(SECOND)).set("b", Does::Work(SECOND));
    let (parts, body) = mesh.call(request(SEND)).await.unwrap();
    assert!(std::str::from_utf8(&body.unwrap()).unwrap().contains(r#""id":7"#));
    let delegated = parts.extensions.get::<Delegated>().unwrap();
    assert_eq!(
        (delegated.peer.as_str(), delegated.uri.to_string()),
        ("https://a.example", "https://a.example/".into())
    );
    let got = mesh.agents.got();
    assert_eq!((got.len(), &*got[0].uri, got[0].method()), (1, "https://a.example/", "SendMessage"));
    assert_eq!(got[0].headers["a2a-version"], "1.0");
    let decision = mesh.decision();
    assert_eq!(decision.chosen, Some(peer("https://a.example")));
    assert_eq!(decision.to_string(), delegated.decision.to_string());
    assert_eq!(attempts(&decision), ["https://a.example success"]);
    assert_eq!(decision.attempts[0].elapsed, SECOND);
    let standing = mesh.directory.evidence().standing(&peer("https://a.example"), false);
    assert_eq!((standing.calls, standing.trust, standing.latency), (1, 1.0, Some(SECOND)));
    assert_eq!(
        mesh.log.permissions(),
        [
            "discovery orders x https://a.example: allowed",
            "discovery orders x https://b.example: allowed",
            "dispatch orders x https://a.example: allowed"
        ]
    );
}

/// What says "not here", and what cannot have been begun: the next one is asked, at once.
#[tokio::test(start_paused = true)]
async fn the_next_is_asked_where_nothing_can_have_been_done() {
    let unavailable = json!({"code": -32004, "message": "no", "data": {"region": "eu", "availableSkills": ["y"]}});
    for (does, ended) in [
        (Does::Fail(ErrorKind::ConnectionRefused, Duration::ZERO), "transport/connect, nothing was done"),
        (Does::Refuse(unavailable), "stale/skill_unavailable, nothing was done"),
        (Does::Refuse(json!({"code": -32004, "message": "no"})), "stale/skill_unavailable, nothing was done"),
        (Does::Refuse(json!({"code": -32601, "message": "no"})), "refused/peer_error, nothing was done"),
        (Does::Refuse(json!({"code": -32009, "message": "no"})), "refused/peer_error, nothing was done"),
        (Does::Refuse(json!({"code": -32005, "message": "no"})), "refused/peer_error, nothing was done"),
        (Does::Status(404, vec![]), "refused/endpoint_not_found, nothing was done"),
        (Does::Status(401, vec![("www-authenticate", "Bearer")]), "refused/auth, nothing was done"),
        (Does::Status(429, vec![("retry-after", "60")]), "refused/rate_limited, nothing was done"),
        (Does::Status(503, vec![("retry-after", "60")]), "refused/unavailable, nothing was done"),
    ] {
        let mesh = mesh(&["a", "b"], |builder| builder).await;
        mesh.set("a", does.clone()).set("b", Does::Work(Duration::ZERO));
        let began = Instant::now();
        let (parts, _) = mesh.call(request(SEND)).await.unwrap();
        assert_eq!(parts.extensions.get::<Delegated>().unwrap().peer, peer("https://b.example"), "{does:?}");
        assert_eq!(
            attempts(&mesh.decision()),
            [format!("https://a.example {ended}"), "https://b.example success".into()]
        );
        assert_eq!((mesh.agents.begun(), began.elapsed()), (1, Duration::ZERO), "{does:?}");
    }
}

/// What may have been begun is not begun again elsewhere: the agents count.
#[tokio::test(start_paused = true)]
async fn no_work_is_done_twice() {
    for (does, outcome, class, begun) in [
        (Does::Fail(ErrorKind::ConnectionReset, SECOND), OutcomeKind::Transport, Class::ConnectionLost, 1),
        (Does::Hang, OutcomeKind::Timeout, Class::Total, 1),
        (Does::Status(500, vec![]), OutcomeKind::Broken, Class::HttpStatus, 0),
        (Does::Status(503, vec![]), OutcomeKind::Refused, Class::Unavailable, 0),
        (Does::Status(302, vec![("location", "https://b.example/")]), OutcomeKind::Refused, Class::Redirected, 0),
        (Does::Refuse(json!({"code": -32603, "message": "no"})), OutcomeKind::Refused, Class::PeerError, 0),
        // The request's own fault: nobody would take it.
        (Does::Refuse(json!({"code": -32602, "message": "no"})), OutcomeKind::Refused, Class::PeerError, 0),
        (Does::Refuse(json!({"code": -32700, "message": "no"})), OutcomeKind::Refused, Class::PeerError, 0),
    ] {
        let mesh = mesh(&["a", "b"], |builder| builder).await;
        mesh.set("a", does.clone()).set("b", Does::Work(Duration::ZERO));
        let error = mesh.call(request(SEND)).await.unwrap_err();
        assert!(matches!(&error, DelegateError::Call { .. }), "{does:?}");
        let told = error.decision().unwrap().to_string();
        assert_eq!((error.call_error().outcome(), error.call_error().class()), (outcome, class), "{does:?}");
        assert_eq!((mesh.agents.asked().len(), mesh.agents.begun()), (1, begun), "{does:?}");
        let decision = mesh.decision();
        assert!(
            matches!(decision.attempts[..], [ref one] if matches!(one.ended, AttemptEnd::Failed { may_go_on: false, .. }))
        );
        assert_eq!((decision.chosen.as_ref(), decision.to_string()), (None, told));
    }
}

#[tokio::test(start_paused = true)]
async fn so_many_are_asked_and_no_more() {
    let names = ["a", "b", "c", "d", "e"];
    let mesh = mesh(&names, |builder| builder).await;
    let error = mesh.call(request(SEND)).await.unwrap_err();
    assert_eq!(error.call_error().class(), Class::Connect);
    assert_eq!(mesh.agents.asked(), ["a.example", "b.example", "c.example"]);
    // Those who failed have less trust now than those who were not asked.
    let layer = DelegateLayer::new(mesh.directory.clone()).attempts(2);
    mesh.call_with(layer.clone(), request(SEND)).await.unwrap_err();
    assert_eq!(mesh.agents.asked(), ["d.example", "e.example"]);
    mesh.call_with(layer.attempts(0), request(SEND)).await.unwrap_err();
    assert_eq!(mesh.agents.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn all_attempts_together_are_held_to_the_calls_own_deadline() {
    let mesh = mesh(&["a", "b", "c"], |builder| builder).await;
    for name in ["a", "b", "c"] {
        mesh.set(name, Does::Fail(ErrorKind::ConnectionRefused, 4 * SECOND));
    }
    let began = Instant::now();
    let error = mesh.call(request(SEND)).await.unwrap_err();
    assert_eq!(began.elapsed(), 10 * SECOND);
    assert_eq!((error.call_error().outcome(), error.call_error().class()), (OutcomeKind::Timeout, Class::Total));
    assert_eq!(mesh.decision().attempts.len(), 3);

    let mut short = request(SEND);
    short.extensions_mut().insert(LimitOverrides::default().total_unary(5 * SECOND));
    let began = Instant::now();
    mesh.call(short).await.unwrap_err();
    assert_eq!(began.elapsed(), 5 * SECOND);
    assert_eq!(mesh.decision().attempts.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn nobody_eligible_is_a_typed_answer_with_the_reasons() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    let base = "https://a.example";
    host.serve(base, plain_card(base, &["x"]));
    directory.publish(&uri(base), "o").await.unwrap();
    let mesh = Mesh { agents: Agents::default(), directory, log };
    let error = mesh.call(request(SEND)).await.unwrap_err();
    assert_eq!(error.to_string(), "no eligible peer for skill x, for orders: https://a.example probation");
    let DelegateError::NoEligiblePeer(nobody) = &error else { panic!("{error}") };
    assert_eq!(nobody.decision().candidates[0].excluded, Some(Exclusion::Probation));
    let of_call = error.call_error();
    assert_eq!((of_call.outcome(), of_call.class()), (OutcomeKind::Stale, Class::SkillUnavailable));
    assert!(!of_call.work_may_have_started() && of_call.is_routing_signal());
    let decision = mesh.decision();
    assert!(decision.attempts.is_empty() && decision.chosen.is_none() && !decision.fell_back);

    let mut unheard = request(SEND);
    unheard.extensions_mut().insert(Need::skill("y\n"));
    let error = mesh.call(unheard).await.unwrap_err();
    assert_eq!(error.to_string(), "no eligible peer for skill y\\n: nobody registered fits");

    // To a client that knows nothing of all this.
    let service = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(RefusalResponseLayer::new())
        .layer(DelegateLayer::new(mesh.directory.clone()))
        .layer(Guard::new())
        .service(mesh.agents.clone());
    let response = service.oneshot(request(SEND)).await.unwrap();
    assert_eq!(response.status(), 200);
    let body: serde_json::Value =
        serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap();
    assert_eq!((&body["id"], &body["error"]["code"]), (&json!(7), &json!(-32004)));
    let text = body.to_string();
    assert!(text.contains("no peer may be asked") && text.contains("skill_unavailable"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_fallback_answers_what_nobody_may_be_asked_for() {
    let mesh = mesh(&[], |builder| builder).await;
    let own = Agents::default();
    own.set("fallback.example", Does::Work(Duration::ZERO));
    let at_home = tower::util::MapRequest::new(
        Guard::new().layer(own.clone()),
        |mut request: Request<a2a_guard::CallBody<Full<Bytes>>>| {
            *request.uri_mut() = uri("https://fallback.example/");
            request
        },
    );
    let layer = DelegateLayer::new(mesh.directory.clone()).fallback(at_home);
    let mut with_secret = request(SEND);
    with_secret.headers_mut().insert("authorization", HeaderValue::from_static("Bearer caller"));
    let (parts, body) = mesh.call_with(layer, with_secret).await.unwrap();
    assert!(body.is_ok() && parts.extensions.get::<Delegated>().is_none());
    assert_eq!(own.got()[0].headers["authorization"], "Bearer caller");
    assert!(mesh.decision().fell_back);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_cannot_be_had_twice_is_sent_once() {
    let mesh = mesh(&["a", "b"], |builder| builder).await;
    mesh.set("b", Does::Work(Duration::ZERO));
    let service = ServiceBuilder::new()
        .layer(CallLayer::new().max_body(8))
        .layer(DelegateLayer::new(mesh.directory.clone()))
        .layer(Guard::new())
        .service(mesh.agents.clone());
    let mut unread = request(SEND);
    let call = Call::new().with_operation(a2a_guard::Operation::SendMessage).with_binding(Binding::JsonRpc);
    unread.extensions_mut().insert(call.with_version(ProtocolVersion::V1_0));
    let error = service.oneshot(unread).await.map(drop).unwrap_err();
    assert_eq!(error.call_error().class(), Class::Connect);
    assert_eq!(mesh.agents.asked(), ["a.example"]);
}

#[tokio::test(start_paused = true)]
async fn what_belongs_to_somebody_already_is_not_delegated() {
    let mesh = mesh(&["a"], |builder| builder).await;
    mesh.set("a", Does::Work(Duration::ZERO));
    let get = r#"{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"t-1"}}"#;
    let more = r#"{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":{"taskId":"t-1","messageId":"m","role":"ROLE_USER","parts":[]}}}"#;
    for body in [get, more, "no call"] {
        let error = mesh.call(request(body)).await.unwrap_err();
        assert!(matches!(error, DelegateError::NotDelegable { .. }), "{body}: {error}");
    }
    let mut needless = request(SEND);
    needless.extensions_mut().remove::<Need>();
    assert!(mesh.call(needless).await.unwrap_err().to_string().contains("names no need"));
    assert_eq!(mesh.agents.asked(), Vec::<String>::new());
    // The skill in the call is a need as well.
    let mut by_call = request(SEND);
    by_call.extensions_mut().remove::<Need>();
    by_call.extensions_mut().insert(Call::new().with_skill("x"));
    good(mesh.call(by_call).await);
}

/// Three times it says that it has not got what its card says, and it is let alone; and traffic moves.
#[tokio::test(start_paused = true)]
async fn who_overclaims_is_demoted_then_quarantined_then_comes_back_slowly() {
    let mesh = mesh(&["a", "b"], |builder| builder).await;
    mesh.set("a", Does::Refuse(json!({"code": -32004, "message": "no"}))).set("b", Does::Work(Duration::ZERO));
    let mut asked = Vec::new();
    for _ in 0..10 {
        good(mesh.call(request(SEND)).await);
        tokio::time::advance(2 * SECOND).await;
        asked.extend(mesh.agents.asked());
    }
    let of_a = asked.iter().filter(|host| *host == "a.example").count();
    assert!((1..=3).contains(&of_a), "{of_a} of 10");
    assert_eq!(mesh.agents.begun(), 10);
    let standing = mesh.directory.evidence().standing(&peer("https://a.example"), true);
    assert!(standing.trust < 0.5, "{standing:?}");
    for _ in 0..2 {
        mesh.directory.evidence().record(&peer("https://a.example"), Some("x"), Report::overclaim(SECOND));
        tokio::time::advance(2 * SECOND).await;
    }
    mesh.log.decisions();
    good(mesh.call(request(SEND)).await);
    assert_eq!(mesh.decision().candidates[1].excluded, Some(Exclusion::Quarantined));
    let doubted = mesh.log.audit().into_iter().filter(|line| line.contains("doubted")).collect::<Vec<_>>();
    assert_eq!(doubted, ["https://a.example of o: card doubted: skill_unavailable"], "and once is enough");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_let_go_of_is_told_of_once() {
    let mesh = mesh(&["a"], |builder| builder).await;
    mesh.set("a", Does::Hang);
    let call = tokio::time::timeout(SECOND, mesh.call(request(SEND))).await;
    assert!(call.is_err());
    let decision = mesh.decision();
    assert!(decision.chosen.is_none());
    assert_eq!(attempts(&decision), ["https://a.example abandoned, sent"]);
    assert_eq!(mesh.directory.evidence().standing(&peer("https://a.example"), false).calls, 0);
}

/// Under a limit of one, with something to wait for before and a second attempt after.
#[tokio::test(start_paused = true)]
async fn nothing_is_held_that_the_next_attempt_needs() {
    let mesh = mesh(&["a", "b"], |builder| builder.permission(PermissionRules::new().test_high_value())).await;
    mesh.set("b", Does::Work(Duration::ZERO));
    let guard = Guard::builder().limits(Limits::within(10 * SECOND)).build().unwrap();
    let limited = ServiceBuilder::new().layer(guard).layer(ConcurrencyLimitLayer::new(1)).service(mesh.agents.clone());
    let own = limited.clone();
    // Credentials come from the same place, through the same limit.
    let credentials = move |_: CredentialsAsk| {
        let mut own = own.clone();
        async move {
            let call = Request::post("https://b.example/")
                .header("content-type", "application/json")
                .body(a2a_guard::CallBody::<Full<Bytes>>::from(Bytes::from_static(SEND.as_bytes())))?;
            let answer =
                ServiceExt::<Request<a2a_guard::CallBody<Full<Bytes>>>>::ready(&mut own).await?.call(call).await?;
            answer.into_body().collect().await?;
            Ok::<_, BoxError>(HeaderMap::new())
        }
    };
    let layer = DelegateLayer::new(mesh.directory.clone()).credentials(credentials).limits(Limits::within(10 * SECOND));
    let service = ServiceBuilder::new().layer(CallLayer::new()).layer(layer).service(limited);
    let mut valuable = request(SEND);
    valuable.extensions_mut().insert(Need::skill("x").high_value());
    let (parts, _) = read(service.oneshot(valuable).await).await.unwrap();
    assert_eq!(parts.extensions.get::<Delegated>().unwrap().peer, peer("https://b.example"));
}

/// With the cards in the guard as well: what an agent's own card does not cover any longer is not sent.
#[tokio::test(start_paused = true)]
async fn a_drifted_card_is_found_by_the_layers_and_the_next_is_asked() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    for base in ["https://a.example", "https://b.example"] {
        host.serve(base, plain_card(base, &["x"]));
        directory.vouch(&directory.publish(&uri(base), "o").await.unwrap(), "ops", true);
    }
    // Since then a has moved.
    host.serve("https://a.example", plain_card("https://a.example/v2", &["x"]));
    let agents = Agents::default();
    agents.set("a.example", Does::Work(Duration::ZERO));
    agents.set("b.example", Does::Work(Duration::ZERO));
    let guard = Guard::builder().cards(host.clone()).build().unwrap();
    let service = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(DelegateLayer::new(directory))
        .layer(guard)
        .service(agents.clone());
    let response = service.oneshot(request(SEND)).await.unwrap();
    assert_eq!(response.extensions().get::<Delegated>().unwrap().peer, peer("https://b.example"));
    assert_eq!(agents.asked(), ["b.example"]);
    assert!(log.audit().contains(&"https://a.example of o: card doubted: url_mismatch".to_owned()));
}

/// An endpoint that fails its probe gets no work; the next one is asked, and one that nobody could probe is no reason.
#[tokio::test(start_paused = true)]
async fn who_fails_the_probe_is_passed_over() {
    let mesh = mesh(&["a", "b"], |builder| builder).await;
    let not_found = Does::Refuse(json!({"code": -32001, "message": "no such task"}));
    mesh.set("a", Does::Work(Duration::ZERO)).set("b", Does::Work(Duration::ZERO));
    mesh.agents.set_got("a.example", Does::Refuse(json!({"code": -32601, "message": "what?"})));
    mesh.agents.set_got("b.example", not_found);
    let prober = TerminalStateLayer::new().layer(mesh.agents.clone());
    let probes = ProbeCacheLayer::builder::<_, Full<Bytes>, _>(prober).build().unwrap();
    let guard = Guard::builder().availability(probes).build().unwrap();
    let service = ServiceBuilder::new()
        .layer(CallLayer::new())
        .layer(DelegateLayer::new(mesh.directory.clone()))
        .layer(guard)
        .service(mesh.agents.clone());
    for n in 0..2 {
        let (parts, _) = read(service.clone().oneshot(request(SEND)).await).await.unwrap();
        let delegated = parts.extensions.get::<Delegated>().unwrap();
        assert_eq!(delegated.peer, peer("https://b.example"));
        let told: Vec<_> = mesh.agents.got().iter().map(|got| format!("{} {}", got.method(), got.uri)).collect();
        assert_eq!(told.last().unwrap(), "SendMessage https://b.example/");
        assert!(!told.contains(&"SendMessage https://a.example/".to_owned()), "{told:?}");
        if n == 0 {
            let ended = "https://a.example stale/endpoint_not_conforming, nothing was done";
            assert_eq!(attempts(&delegated.decision)[0], ended);
        }
    }
    // It counted once, however often it is remembered.
    assert_eq!(mesh.directory.evidence().standing(&peer("https://a.example"), true).calls, 1);
}

/// Services can be cloned, sent and shared as the others can.
#[test]
fn it_fits_where_services_go() {
    fn fits<T: Clone + Send + Sync + 'static>(_: &T) {}
    let directory = Directory::builder(Host::default().store()).build();
    fits(&directory);
    let layer = DelegateLayer::new(directory);
    fits(&layer);
    fits(&layer.layer(Guard::new().layer(Agents::default())));
    fits(&Arc::new(Need::skill("x")));
}
