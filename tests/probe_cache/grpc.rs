//! The same over gRPC.

use a2a_guard::wire::grpc::encode::Message;
use a2a_guard::{card_consistency::CardStore, probe_cache::EndpointState};
use http::{HeaderValue, Request, Version};
use http_body_util::Full;

use crate::{
    dialect::{self, COMPLETED, WORKING, answer, bare_task, details, error_info, framed, ok, trailers_only},
    mock::{Answer, MockBody, s},
    support::{Agent, Asked, Guarded, builder, call, for_skill, guard, stale, translate_lasts, usual},
};

fn not_found() -> Answer {
    trailers_only(&[("grpc-status", "5"), ("grpc-message", "no such task")])
}

fn does(asked: &Asked) -> Answer {
    match asked.uri.path().rsplit('/').next().unwrap() {
        "GetTask" => answer(ok(&[framed(&bare_task(COMPLETED))])),
        "SendMessage" => answer(ok(&[dialect::task(COMPLETED)])),
        "SendStreamingMessage" => answer(ok(&[dialect::task(WORKING), dialect::update(COMPLETED)])),
        other => panic!("nobody taught the agent {other}"),
    }
}

fn agent(probed: impl Fn() -> Answer + Send + Sync + 'static) -> Agent {
    Agent::new(move |asked| if asked.is_probe() { probed() } else { does(asked) })
}

fn unsupported(more: &str) -> Answer {
    let info = match more {
        "" => error_info(9, "UNSUPPORTED_OPERATION"),
        region => {
            let entry = |name: &str, value: &str| Message::new().text(1, name).text(2, value);
            let info = Message::new().text(1, "UNSUPPORTED_OPERATION").text(2, "a2a-protocol.org");
            let info = info.message(3, entry("region", region)).message(3, entry("availableSkills", "[\"summarize\"]"));
            details(9, [("google.rpc.ErrorInfo", info)])
        }
    };
    trailers_only(&[("grpc-status", "9"), ("grpc-message", "no"), ("grpc-status-details-bin", &info)])
}

fn skilled(request: Request<Full<bytes::Bytes>>) -> Request<Full<bytes::Bytes>> {
    for_skill(request, "translate", "eu")
}

#[tokio::test(start_paused = true)]
async fn one_endpoint_is_one_service() {
    let agent = agent(not_found);
    let (mut service, layer) = usual(&agent);
    for request in [dialect::send(), dialect::stream(), dialect::send()] {
        assert_eq!(call(&mut service, request).await.word(), "success/success");
    }
    assert_eq!(agent.counts(), (1, 3));
    assert_eq!(layer.endpoints()[0].url, "https://agent.example.com:443/lf.a2a.v1.A2AService");
    assert!(matches!(layer.endpoints()[0].state, EndpointState::Trusted { .. }));
    // For another tenant it is another one.
    assert_eq!(call(&mut service, dialect::get()).await.word(), "success/success");
    assert_eq!(agent.probes(), 2);
    let tenants: Vec<_> = layer.endpoints().into_iter().filter_map(|entry| entry.tenant).collect();
    assert_eq!(tenants, ["acme"]);
}

#[tokio::test(start_paused = true)]
async fn the_probe_is_a_grpc_call_as_the_other_is() {
    let agent = agent(not_found);
    let (mut service, _layer) = usual(&agent);
    let mut request = dialect::get();
    request.headers_mut().insert("grpc-timeout", HeaderValue::from_static("9S"));
    call(&mut service, request).await;
    let probe = agent.asked().remove(0);
    assert_eq!((probe.method.as_str(), probe.uri.path()), ("POST", "/lf.a2a.v1.A2AService/GetTask"));
    assert_eq!((probe.header("content-type"), probe.header("te")), (Some("application/grpc"), Some("trailers")));
    assert_eq!((probe.header("authorization"), probe.header("grpc-timeout")), (Some("Bearer t"), None));
    // Tenant and id.
    assert_eq!(probe.body[..5], [0, 0, 0, 0, 6 + 2 + 36]);
    assert_eq!(&probe.body[5..11], b"\x0a\x04acme");
    // In 0.3 a task is named by its resource.
    let mut request = dialect::send();
    *request.uri_mut() = "https://agent.example.com/a2a.v1.A2AService/SendMessage".parse().unwrap();
    call(&mut service, request).await;
    let probe = agent.asked().into_iter().rfind(Asked::is_probe).unwrap();
    assert_eq!(probe.uri.path(), "/a2a.v1.A2AService/GetTask");
    assert_eq!(&probe.body[5..13], b"\x0a\x2atasks/");
}

/// The card is the agent's, and stands in front of the service.
#[tokio::test(start_paused = true)]
async fn the_card_is_told_whether_the_probe_passed() {
    use a2a_guard::card_consistency::{AuthorityCondition, CardKeyRef, CardStore};
    const CARD: &str = r#"{"name":"A","description":"d","version":"1","supportedInterfaces":[{"url":"https://agent.example.com","protocolBinding":"GRPC","protocolVersion":"1.0"}],"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"s","tags":["t"]}]}"#;
    let rows: [(fn() -> Answer, bool); 2] = [(not_found, true), (|| trailers_only(&[("grpc-status", "12")]), false)];
    for (probed, passes) in rows {
        let agent = agent(probed);
        let store = CardStore::builder::<_, Full<bytes::Bytes>, _>(agent.clone()).build().unwrap();
        let target = http::Uri::from_static("https://agent.example.com");
        store.put(&target, CARD.into()).await.unwrap();
        let layer = builder(&agent).note_probes(store.clone()).build().unwrap();
        call(&mut guard(&layer, &agent), dialect::send()).await;
        let headers = http::HeaderMap::new();
        let card = store.peek(&CardKeyRef::new(&target, &headers)).unwrap();
        let authority = card.authority(&target, None, tokio::time::Instant::now());
        assert_eq!(authority.holds(AuthorityCondition::Probe), passes, "{authority}");
        let gap = if passes { None } else { Some("probe_failed") };
        assert!(gap.is_none_or(|gap| authority.to_string().contains(gap)), "{authority}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_answers_say() {
    let (good, bad) = ("success/success", "stale/endpoint_not_conforming");
    type Row = (&'static str, fn() -> Answer, &'static str);
    let rows: [Row; 12] = [
        ("NOT_FOUND", not_found, good),
        (
            "its reason",
            || trailers_only(&[("grpc-status", "9"), ("grpc-status-details-bin", &error_info(9, "TASK_NOT_FOUND"))]),
            good,
        ),
        ("a task after all", || answer(ok(&[framed(&bare_task(COMPLETED))])), good),
        ("UNIMPLEMENTED", || trailers_only(&[("grpc-status", "12")]), bad),
        ("-32004's reason", || unsupported(""), bad),
        ("HTML", || Answer::new(200, "text/html", MockBody::new().data("<html>")), bad),
        ("a bare 404", || Answer::new(404, "text/html", MockBody::new().data("<html>")), bad),
        ("UNAUTHENTICATED", || trailers_only(&[("grpc-status", "16")]), good),
        ("UNAVAILABLE", || trailers_only(&[("grpc-status", "14")]), good),
        ("INTERNAL", || trailers_only(&[("grpc-status", "13")]), good),
        ("FAILED_PRECONDITION alone", || trailers_only(&[("grpc-status", "9")]), good),
        ("nothing", Answer::never, good),
    ];
    for (what, probed, word) in rows {
        let agent = agent(probed);
        let (mut service, _layer) = usual(&agent);
        assert_eq!(call(&mut service, dialect::send()).await.word(), word, "{what}");
        assert_eq!(agent.probes(), 1, "{what}");
    }
    let agent = agent(|| trailers_only(&[("grpc-status", "12")]));
    let (mut service, _layer) = usual(&agent);
    assert_eq!(stale(&call(&mut service, dialect::send()).await).seen(), Some("HTTP 200 grpc-status UNIMPLEMENTED"));
}

/// A stack in which the usual skill is known to be available.
async fn known(agent: &Agent) -> (Guarded, a2a_guard::ProbeCacheLayer) {
    let (mut service, layer) = usual(agent);
    assert_eq!(call(&mut service, skilled(dialect::send())).await.word(), "success/success");
    assert_eq!(translate_lasts(layer.availability()), Some(s(60)));
    (service, layer)
}

#[tokio::test(start_paused = true)]
async fn a_refusal_for_a_new_task_drops_the_entry() {
    for more in ["", "eu"] {
        let agent = agent(not_found);
        let (mut service, layer) = known(&agent).await;
        agent.change(move |_| unsupported(more));
        let ended = call(&mut service, skilled(dialect::send())).await;
        assert_eq!(ended.word(), "stale/skill_unavailable");
        assert_eq!(translate_lasts(layer.availability()), None);
        let error = stale(&ended);
        assert_eq!((error.region(), error.available_skills().is_some()), (Some("eu"), !more.is_empty()));
        assert_eq!((ended.error().grpc_code(), ended.error().retry().as_str()), (Some(9), "safe"));
        assert!(error.response().is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_about_a_task_that_is_there_leaves_it() {
    let follow_up = {
        let message =
            Message::new().text(1, "m-1").text(3, "task-1").number(4, 1).message(5, Message::new().text(1, "x"));
        dialect::request("/lf.a2a.v1.A2AService/SendMessage", &Message::new().message(2, message))
    };
    for request in [follow_up, dialect::subscribe()] {
        let agent = agent(not_found);
        let (mut service, layer) = known(&agent).await;
        agent.change(|_| unsupported(""));
        let ended = call(&mut service, skilled(request)).await;
        assert_eq!(ended.word(), "refused/peer_error");
        assert_eq!(translate_lasts(layer.availability()), Some(s(60)));
    }
}

/// Work has begun: whoever sends it again does it twice.
#[tokio::test(start_paused = true)]
async fn a_refusal_in_the_middle_of_a_stream_is_stale() {
    let agent = agent(not_found);
    let (mut service, layer) = known(&agent).await;
    agent.change(|_| {
        let info = error_info(9, "UNSUPPORTED_OPERATION");
        let trailers = [("grpc-status", "9"), ("grpc-status-details-bin", info.as_str())];
        answer(dialect::ended(MockBody::of([dialect::task(WORKING)]), &trailers))
    });
    let ended = call(&mut service, skilled(dialect::stream())).await;
    assert_eq!((ended.word().as_str(), ended.error().events()), ("stale/skill_unavailable", 1));
    assert_eq!((ended.error().retry().as_str(), ended.error().task_id()), ("unsafe", Some("task-1")));
    assert_eq!(translate_lasts(layer.availability()), None);
}

#[tokio::test(start_paused = true)]
async fn the_message_probe() {
    let agent = Agent::new(|asked| match asked.uri.path().rsplit('/').next() {
        Some("CancelTask") => answer(ok(&[framed(&bare_task(dialect::CANCELED))])),
        _ => answer(ok(&[dialect::task(WORKING)])),
    });
    let layer = builder(&agent).message_probe().build().unwrap();
    let mut service = guard(&layer, &agent);
    assert_eq!(call(&mut service, dialect::send()).await.word(), "success/success");
    tokio::time::sleep(s(1)).await;
    let asked = agent.asked();
    let methods: Vec<_> = asked.iter().map(|asked| asked.uri.path().rsplit('/').next().unwrap()).collect();
    assert!(methods.contains(&"CancelTask"), "{methods:?}");
    let holds = |asked: &Asked, part: &[u8]| asked.body.windows(part.len()).any(|window| window == part);
    assert!(holds(&asked[0], b"__probe__") && holds(&asked[0], b"a2a_probe"));
    // Its configuration says that it does not wait: field 3, whose field 4 is set.
    assert!(holds(&asked[0], b"\x1a\x02\x20\x01"));
    assert_eq!(asked[0].headers.get("te").unwrap(), "trailers");
    assert!(asked.iter().any(|asked| holds(asked, b"\x12\x06task-1")));
}

/// What tonic's generated clients send.
#[tokio::test(start_paused = true)]
async fn a_relative_uri_needs_an_origin() {
    let relative = || {
        let mut request = dialect::send();
        *request.uri_mut() = "/lf.a2a.v1.A2AService/SendMessage".parse().unwrap();
        *request.version_mut() = Version::HTTP_2;
        request
    };
    let agent = agent(not_found);
    let (mut service, _layer) = usual(&agent);
    assert_eq!(call(&mut service, relative()).await.word(), "card/unusable_url");
    let layer = builder(&agent).origin("https://agent.example.com".parse().unwrap()).build().unwrap();
    assert_eq!(call(&mut guard(&layer, &agent), relative()).await.word(), "success/success");
    assert_eq!(agent.counts(), (1, 1));
}

/// Middleware may have written the path anew. Then tonic says beside it what the call is: its skill counts, and where
/// no other operation's path can be told from this one, nobody is asked anything.
#[tokio::test(start_paused = true)]
async fn what_tonic_says_beside_the_path_counts_where_that_says_nothing() {
    let request = |path: &str| {
        let mut request = skilled(dialect::send());
        *request.uri_mut() = format!("https://agent.example.com{path}").parse().unwrap();
        request.extensions_mut().insert(tonic::GrpcMethod::new("lf.a2a.v1.A2AService", "SendMessage"));
        request
    };
    let named = cfg!(feature = "tonic");
    for (path, probes) in [("/route-42", 0), ("/lf.a2a.v1.A2AService/Send", usize::from(named))] {
        let agent = agent_at(path);
        let (mut service, layer) = usual(&agent);
        for _ in 0..2 {
            assert_eq!(call(&mut service, request(path)).await.word(), "success/success", "{path}");
        }
        assert_eq!(agent.counts(), (probes, 2), "{path}");
        assert_eq!(translate_lasts(layer.availability()).is_some(), named, "{path}");

        // The same without a `CallLayer`.
        let agent = agent_at(path);
        let layer = builder(&agent).build().unwrap();
        let mut alone = tower::Layer::layer(&layer, agent.clone());
        let mut request = request(path);
        request.extensions_mut().remove::<a2a_guard::Call>();
        assert_eq!(call(&mut alone, request).await.word(), "success/success", "{path}");
        assert_eq!((agent.counts(), layer.endpoints().len()), ((probes, 1), usize::from(named)), "{path}");
    }
}

/// An agent whose sends go to this path.
fn agent_at(path: &'static str) -> Agent {
    Agent::new(move |asked| match asked.uri.path() {
        "/lf.a2a.v1.A2AService/GetTask" => not_found(),
        called => {
            assert_eq!(called, path);
            answer(ok(&[dialect::task(COMPLETED)]))
        }
    })
}

/// Kept for the agent's base, in front of the service.
#[tokio::test(start_paused = true)]
async fn the_card_that_a_call_went_by_is_doubted_with_the_skill() {
    const CARD: &str = r#"{"name":"A","description":"d","version":"1","supportedInterfaces":[{"url":"https://agent.example.com","protocolBinding":"GRPC","protocolVersion":"1.0"}],"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"s","tags":["t"]}]}"#;
    let agent = Agent::new(|asked| if asked.is_probe() { not_found() } else { unsupported("eu") });
    let cards = CardStore::builder::<_, Full<bytes::Bytes>, _>(agent.clone()).build().unwrap();
    cards.put(&"https://agent.example.com".parse().unwrap(), CARD.into()).await.unwrap();
    let layer = builder(&agent).cards(cards.clone()).build().unwrap();
    let ended = call(&mut guard(&layer, &agent), skilled(dialect::send())).await;
    assert_eq!(ended.word(), "stale/skill_unavailable");
    assert!(cards.snapshot()[0].distrusted);
}
