//! Calls that name a need: who gets them, what goes along, and what is never done twice.

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

/// Nobody gets what was not meant for it, whatever it registered.
#[tokio::test(start_paused = true)]
async fn credentials_go_to_the_peer_they_are_for_and_to_no_other() {
    let mesh = mesh(&["a", "b"], |builder| builder).await;
    mesh.set("a", Does::Status(401, vec![])).set("b", Does::Work(Duration::ZERO));
    let with_secrets = || {
        let mut request = request(SEND);
        for (name, value) in [
            ("authorization", "Bearer caller"),
            ("proxy-authorization", "Basic caller"),
            ("cookie", "session=caller"),
            ("x-api-key", "caller"),
            ("x-tenant-token", "caller"),
            ("host", "orders.internal"),
            ("x-caller", "somebody-else"),
            ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ] {
            request.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        let mut hidden = HeaderValue::from_static("caller");
        hidden.set_sensitive(true);
        request.headers_mut().insert("x-request-id", hidden);
        request
    };
    let layer = DelegateLayer::new(mesh.directory.clone());
    good(mesh.call_with(layer.clone(), with_secrets()).await);
    for got in mesh.agents.got() {
        let names: Vec<_> = got.headers.keys().map(|name| name.as_str()).collect();
        assert_eq!(names, ["content-type", "a2a-version", "traceparent"], "{}", got.uri);
    }

    let asked = |ask: CredentialsAsk| async move {
        assert_eq!(ask.caller.unwrap().as_str(), "orders");
        assert_eq!(ask.origin.to_string(), ask.peer.as_str());
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, format!("Bearer for {}", ask.origin).parse()?);
        Ok::<_, BoxError>(headers)
    };
    let layer = layer
        .credentials(asked)
        .keep_headers([header::COOKIE])
        .caller_header(header::HeaderName::from_static("x-caller"));
    // The one that failed is not the best any more.
    mesh.set("b", Does::Status(401, vec![])).set("a", Does::Work(Duration::ZERO));
    good(mesh.call_with(layer, with_secrets()).await);
    let got = mesh.agents.got();
    assert_eq!(got.len(), 2);
    for got in got {
        let expected = format!("Bearer for {}", got.uri.trim_end_matches('/'));
        assert_eq!(got.headers["authorization"], expected);
        assert!(got.headers["authorization"].is_sensitive());
        assert_eq!(got.headers["cookie"], "session=caller");
        assert_eq!(got.headers["x-caller"], "orders");
        assert!(!got.headers.contains_key("x-api-key") && !got.headers.contains_key("host"));
    }
}

/// A peer that registers the name of another's, or points at it, gets neither its work nor what is meant for it.
#[tokio::test(start_paused = true)]
async fn a_poisoned_registration_gains_nothing() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    let bank = "https://bank.example/a2a";
    host.serve(bank, plain_card(bank, &["pay"]));
    directory.vouch(&directory.publish(&uri(bank), "bank").await.unwrap(), "ops", true);
    // Another's host: the card says that its interface is the bank's, or its own beside the bank's.
    let (evil, other) = ("https://evil.example", "https://evil.example/other");
    host.serve(evil, plain_card(bank, &["pay"]));
    assert!(directory.publish(&uri(evil), "mallory").await.is_err());
    host.serve(
        other,
        card(&[interface(bank, "JSONRPC", "1.0"), interface(other, "JSONRPC", "1.0")], &["pay: pay pay pay"]),
    );
    let mallory = directory.publish(&uri(other), "mallory").await.unwrap();
    // Another's registration: it has an owner.
    assert!(directory.publish(&uri(bank), "mallory").await.is_err());
    assert!(directory.withdraw(&peer(bank), "mallory").is_err());
    let mesh = Mesh { agents: Agents::default(), directory, log };
    mesh.agents.set("bank.example", Does::Fail(ErrorKind::ConnectionRefused, Duration::ZERO));
    mesh.agents.set("evil.example", Does::Work(Duration::ZERO));
    let pay = || {
        let mut pay = request(SEND);
        pay.extensions_mut().insert(Need::skill("pay").text("pay"));
        pay
    };
    let credentials = |ask: CredentialsAsk| async move {
        let mut headers = HeaderMap::new();
        if ask.origin.to_string() == "https://bank.example" {
            headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer bank"));
        }
        Ok::<_, BoxError>(headers)
    };
    let layer = DelegateLayer::new(mesh.directory.clone()).credentials(credentials);
    // Another's skill: it is on probation, and the bank is down.
    mesh.call_with(layer.clone(), pay()).await.unwrap_err();
    assert_eq!(mesh.agents.asked(), ["bank.example"]);
    let decision = mesh.log.decisions().pop().unwrap();
    assert_eq!(decision.candidates[1].excluded, Some(Exclusion::Probation));
    // Another's credentials: even vouched for, it is called at its own place, with what is for its own origin.
    mesh.directory.vouch(&mallory, "ops", true);
    good(mesh.call_with(layer, pay()).await);
    let got = mesh.agents.got();
    let last = got.last().unwrap();
    assert_eq!(last.uri, other);
    assert!(!last.headers.contains_key("authorization"));
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
async fn permission_is_asked_again_right_before() {
    let second_thoughts = |ask: &PermissionAsk<'_>| match (ask.stage, ask.peer.as_str()) {
        (Stage::Dispatch, "https://a.example") => Permit::Deny("second thoughts".into()),
        _ => Permit::Allow,
    };
    let mesh = mesh(&["a", "b"], |builder| builder.permission(second_thoughts)).await;
    mesh.set("a", Does::Work(Duration::ZERO)).set("b", Does::Work(Duration::ZERO));
    good(mesh.call(request(SEND)).await);
    assert_eq!(mesh.agents.asked(), ["b.example"]);
    assert_eq!(attempts(&mesh.decision())[0], "https://a.example not asked: denied: second thoughts");
}

/// Revoked, withdrawn or expired between the choice and the call: while its credentials are fetched, say.
#[tokio::test(start_paused = true)]
async fn what_changes_while_something_is_waited_for_counts() {
    let mesh = mesh(&["a", "b", "c"], |builder| builder).await;
    for name in ["a", "b", "c"] {
        mesh.set(name, Does::Work(Duration::ZERO));
    }
    let directory = mesh.directory.clone();
    let revoking = move |ask: CredentialsAsk| {
        let directory = directory.clone();
        async move {
            match ask.peer.as_str() {
                "https://a.example" => directory.revoke(&ask.peer, "now"),
                "https://b.example" => directory.withdraw(&ask.peer, "o")?,
                _ => {}
            }
            Ok::<_, BoxError>(HeaderMap::new())
        }
    };
    let layer = DelegateLayer::new(mesh.directory.clone()).credentials(revoking);
    good(mesh.call_with(layer, request(SEND)).await);
    assert_eq!(mesh.agents.asked(), ["c.example"]);
    assert_eq!(
        attempts(&mesh.decision())[..2],
        ["https://a.example not asked: gone", "https://b.example not asked: gone"]
    );
    let refusing = |_: CredentialsAsk| async { Err::<HeaderMap, BoxError>("the vault\nis closed".into()) };
    let layer = DelegateLayer::new(mesh.directory.clone()).credentials(refusing);
    let error = mesh.call_with(layer, request(SEND)).await.unwrap_err();
    assert!(error.to_string().contains("no_credentials: the vault\\nis closed"), "{error}");
    assert_eq!(mesh.agents.asked(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn work_of_high_value_goes_to_who_passed_a_test() {
    let mesh = mesh(&["a", "b"], |builder| builder.permission(PermissionRules::new().test_high_value())).await;
    mesh.set("a", Does::Work(Duration::ZERO)).set("b", Does::Work(Duration::ZERO));
    mesh.agents.set_probed("a.example", Does::Refuse(json!({"code": -32004, "message": "no"})));
    let valuable = || {
        let mut request = request(SEND);
        request.extensions_mut().insert(Need::skill("x").high_value());
        request
    };
    good(mesh.call(valuable()).await);
    tokio::time::sleep(SECOND).await;
    let got = mesh.agents.got();
    let told: Vec<_> = got.iter().map(|got| (&*got.uri, got.method(), got.is_probe())).collect();
    assert_eq!(
        told,
        [
            ("https://a.example/", "SendMessage", true),
            ("https://b.example/", "SendMessage", true),
            ("https://b.example/", "SendMessage", false),
            ("https://b.example/", "CancelTask", false),
        ]
    );
    let decision = mesh.decision();
    assert!(attempts(&decision)[0].starts_with("https://a.example not asked: test_failed: "), "{decision}");
    // Tested once, until it says something else.
    good(mesh.call(valuable()).await);
    assert_eq!(mesh.agents.got().len(), 1);
    // A test takes no longer than it may.
    mesh.agents.set_probed("a.example", Does::Hang);
    mesh.directory.revoke(&peer("https://b.example"), "gone");
    let began = Instant::now();
    let layer = DelegateLayer::new(mesh.directory.clone()).test_timeout(2 * SECOND);
    let error = mesh.call_with(layer, valuable()).await.unwrap_err();
    assert_eq!(began.elapsed(), 2 * SECOND);
    assert!(error.to_string().contains("test_failed: no answer in time"), "{error}");
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
async fn how_a_stream_ends_is_what_counts() {
    const GOOD: &str = concat!(
        r#"data: {"jsonrpc":"2.0","id":7,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}"#,
        "\n\n",
        r#"data: {"jsonrpc":"2.0","id":7,"result":{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}}"#,
        "\n\n"
    );
    const CUT: &str = concat!(
        r#"data: {"jsonrpc":"2.0","id":7,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}"#,
        "\n\n"
    );
    for (events, good) in [(GOOD, true), (CUT, false)] {
        let mesh = mesh(&["a", "b"], |builder| builder).await;
        mesh.set("a", Does::Stream(events)).set("b", Does::Work(Duration::ZERO));
        let (_, body) = mesh.call(request(STREAM)).await.unwrap();
        assert_eq!(body.is_ok(), good);
        let standing = mesh.directory.evidence().standing(&peer("https://a.example"), false);
        assert_eq!((standing.calls, standing.trust), (1, if good { 1.0 } else { 0.0 }), "{events}");
        assert_eq!(mesh.agents.asked(), ["a.example"]);
    }
}

/// A body that does not end after what it has.
struct Open(Full<Bytes>);

impl http_body::Body for Open {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        match std::pin::Pin::new(&mut self.0).poll_frame(cx) {
            std::task::Poll::Ready(None) => std::task::Poll::Pending,
            frame => frame,
        }
    }
}

/// Whoever has what it asked for stops reading: that is no less of a success.
#[tokio::test(start_paused = true)]
async fn a_stream_counts_from_its_last_event_on() {
    let event = |state: &str| {
        let task = json!({"task": {"id": "t", "contextId": "c", "status": {"state": state}}});
        format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": 7, "result": task}))
    };
    let with_tenant = json!({"url": "https://a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0",
        "tenant": "acme"})
    .to_string();
    for (state, calls) in [
        ("TASK_STATE_COMPLETED", 1),
        ("TASK_STATE_FAILED", 1),
        ("TASK_STATE_INPUT_REQUIRED", 1),
        ("TASK_STATE_WORKING", 0),
    ] {
        let host = Host::default();
        let (directory, _) = host.directory(|builder| builder);
        let base = "https://a.example";
        host.serve(base, card(std::slice::from_ref(&with_tenant), &["x"]));
        directory.vouch(&directory.publish(&uri(base), "o").await.unwrap(), "ops", true);
        let agents = Agents::default();
        agents.set("a.example", Does::Stream(event(state).leak()));
        // With the cards in the guard, which name the tenant in the call.
        let service = ServiceBuilder::new()
            .layer(CallLayer::new())
            .layer(DelegateLayer::new(directory.clone()))
            .layer(Guard::builder().cards(host.clone()).build().unwrap())
            .map_response(|response: Response<Full<Bytes>>| response.map(Open))
            .service(agents);
        let mut body = Box::pin(service.oneshot(request(STREAM)).await.unwrap().into_body());
        body.frame().await.unwrap().unwrap();
        drop(body);
        let standing = directory.evidence().standing(&peer(base), false);
        assert_eq!((standing.calls, standing.trust), (calls, if calls == 1 { 1.0 } else { 0.5 }), "{state}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_request_goes_to_the_chosen_interface_with_its_tenant_and_version() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    let base = "https://a.example/agent";
    let with_tenant = |url: &str, binding: &str| {
        json!({"url": url, "protocolBinding": binding, "protocolVersion": "1.0", "tenant": "acme"}).to_string()
    };
    let interfaces = [
        interface("https://a.example/old", "JSONRPC", "0.3"),
        with_tenant("https://a.example/rpc", "JSONRPC"),
        with_tenant("https://a.example/rest", "HTTP+JSON"),
        interface("https://a.example/rest3", "HTTP+JSON", "0.3"),
    ];
    host.serve(base, card(&interfaces, &["x"]));
    directory.vouch(&directory.publish(&uri(base), "o").await.unwrap(), "ops", true);
    let mesh = Mesh { agents: Agents::default(), directory, log };
    mesh.set("a", Does::Work(Duration::ZERO));

    let mut rpc = request(SEND);
    rpc.headers_mut().remove("a2a-version");
    let (parts, body) = mesh.call(rpc).await.unwrap();
    let delegated = parts.extensions.get::<Delegated>().unwrap();
    body.unwrap();
    let got = mesh.agents.got().remove(0);
    assert_eq!((&*got.uri, &got.body["params"]["tenant"]), ("https://a.example/rpc", &json!("acme")));
    assert_eq!((delegated.written.to_string(), delegated.tenant.as_deref()), ("JSONRPC 1.0".into(), Some("acme")));
    assert_eq!(got.headers["a2a-version"], "1.0");

    let rest = Request::post("http://nobody.invalid/message:send?historyLength=1")
        .header("content-type", "application/json")
        .extension(Need::skill("x"))
        .body(Full::from(r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#))
        .unwrap();
    good(mesh.call(rest).await);
    let got = mesh.agents.got().remove(0);
    assert_eq!(got.uri, "https://a.example/rest/acme/message:send?historyLength=1");
    assert_eq!(got.headers["a2a-version"], "1.0");

    let old = r#"{"jsonrpc":"2.0","id":7,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}}"#;
    let mut old = request(old);
    old.headers_mut().remove("a2a-version");
    good(mesh.call(old).await);
    let got = mesh.agents.got().remove(0);
    assert_eq!((&*got.uri, got.headers.get("a2a-version")), ("https://a.example/old", None));

    // For another tenant, and in another version, nobody is there; what both speak is told.
    let tenant = SEND.replace(r#""params":{"#, r#""params":{"tenant":"other","#);
    let error = mesh.call(request(Box::leak(tenant.into_boxed_str()))).await.unwrap_err();
    assert!(error.to_string().contains("version: no interface for this tenant: we write JSONRPC 1.0"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn over_grpc_the_operation_goes_to_the_interfaces_authority() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    let base = "https://g.example/agent";
    host.serve(base, card(&[interface("https://g.example", "GRPC", "1.0")], &["x"]));
    directory.vouch(&directory.publish(&uri(base), "o").await.unwrap(), "ops", true);
    let mesh = Mesh { agents: Agents::default(), directory, log };
    mesh.set("g", Does::Work(Duration::ZERO));
    let call = Request::post("http://nobody.invalid/prefix/lf.a2a.v1.A2AService/SendMessage")
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("grpc-timeout", "2S")
        .version(Version::HTTP_2)
        .extension(Need::skill("x"))
        .body(Full::from(&b"\0\0\0\0\0"[..]))
        .unwrap();
    // What it answers is no gRPC, and that is said.
    let error = mesh.call(call).await.unwrap_err();
    assert_eq!(error.call_error().outcome(), OutcomeKind::Broken);
    let got = mesh.agents.got().remove(0);
    assert_eq!(got.uri, "https://g.example:443/lf.a2a.v1.A2AService/SendMessage");
    assert_eq!(got.version, Version::HTTP_2);
    assert_eq!(
        (&got.headers["te"], &got.headers["content-type"]),
        (&"trailers".parse().unwrap(), &"application/grpc".parse().unwrap())
    );
}

/// By which version of HTTP a peer is called the client below knows; that of the caller's connection says nothing of it. gRPC
/// has one alone.
#[tokio::test(start_paused = true)]
async fn the_version_of_the_callers_connection_ends_there() {
    let mesh = mesh(&["a"], |builder| builder).await;
    mesh.set("a", Does::Work(Duration::ZERO));
    let mut call = request(SEND);
    *call.version_mut() = Version::HTTP_2;
    good(mesh.call(call).await);
    assert_eq!(mesh.agents.got()[0].version, Version::default());
}

/// Who can write a request in several ways reaches who speaks but one of them.
#[tokio::test(start_paused = true)]
async fn of_several_ways_to_write_it_the_highest_common_version_is_taken() {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    let base = "https://a.example";
    host.serve(base, card(&[interface(base, "JSONRPC", "0.3")], &["x"]));
    directory.vouch(&directory.publish(&uri(base), "o").await.unwrap(), "ops", true);
    let mesh = Mesh { agents: Agents::default(), directory, log };
    mesh.set("a", Does::Work(Duration::ZERO));
    let error = mesh.call(request(SEND)).await.unwrap_err();
    assert!(error.to_string().contains("no common version: we write JSONRPC 1.0; it speaks JSONRPC 0.3"), "{error}");
    let old = r#"{"jsonrpc":"2.0","id":"other","method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}}"#;
    let mut both = request(SEND);
    both.extensions_mut().insert(Alternatives::new().or(Binding::JsonRpc, ProtocolVersion::V0_3, "/", old));
    let (parts, body) = mesh.call(both).await.unwrap();
    assert!(std::str::from_utf8(&body.unwrap()).unwrap().contains(r#""id":"other""#));
    let written = parts.extensions.get::<Delegated>().unwrap().written;
    assert_eq!((written.binding, written.version), (Binding::JsonRpc, ProtocolVersion::V0_3));
    let got = mesh.agents.got().remove(0);
    assert_eq!((got.method(), got.headers.get("a2a-version")), ("message/send", None));
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
