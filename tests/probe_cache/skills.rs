//! Availability is written by calls that go well, and dropped by refusals that are about the skill.

use a2a_guard::{
    CallLayer, TerminalStateLayer,
    card_consistency::CardStore,
    probe_cache::{Availability, ProbeCacheLayer, SkillAvailability},
};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tokio::time::advance;
use tower::Layer;

use crate::{
    mock::{Answer, Dialect, MockBody, Notes, ms, s},
    support::{
        Agent, Guarded, builder, call, does, for_skill, guard, guard_noting, key, no_task, not_here, rpc_error, stale,
        translate, translate_lasts, unsupported, usual,
    },
};

use Dialect::{Rest, V1, V02, V03};

type Answering = fn() -> Answer;

fn skilled(request: Request<Full<Bytes>>) -> Request<Full<Bytes>> {
    for_skill(request, "translate", "eu")
}

fn to_task(method: &str) -> Request<Full<Bytes>> {
    V1.rpc(method, r#""message":{"messageId":"m","role":"ROLE_USER","taskId":"task-1","parts":[{"text":"x"}]}"#)
}

/// A stack in which the usual skill is known to be available.
async fn known(agent: &Agent) -> (Guarded, SkillAvailability) {
    let (mut service, layer) = usual(agent);
    assert_eq!(call(&mut service, translate()).await.word(), "success/success");
    assert_eq!(translate_lasts(layer.availability()), Some(s(60)));
    (service, layer.availability().clone())
}

#[tokio::test(start_paused = true)]
async fn a_success_is_good_for_60_s() {
    let agent = Agent::willing();
    let (mut service, skills) = known(&agent).await;
    assert_eq!((skills.stats().hits, skills.stats().misses), (0, 1));
    advance(s(60) - ms(1)).await;
    assert_eq!(translate_lasts(&skills), Some(ms(1)));
    assert_eq!(call(&mut service, translate()).await.word(), "success/success");
    assert_eq!((skills.stats().hits, skills.stats().misses), (1, 1));
    assert_eq!(translate_lasts(&skills), Some(s(60)), "renewed");
    advance(s(60)).await;
    assert_eq!(skills.get(&key("translate", "eu")), Availability::Unknown);
    assert_eq!(call(&mut service, translate()).await.word(), "success/success");
    assert_eq!((skills.stats().hits, skills.stats().misses), (1, 2));
    assert_eq!(agent.probes(), 1, "a miss of a skill costs no probe");
}

#[tokio::test(start_paused = true)]
async fn a_probe_vouches_for_no_skill() {
    let agent = Agent::called(|_| Answer::json(V1.error(-32603)));
    let (mut service, layer) = usual(&agent);
    assert_eq!(call(&mut service, translate()).await.word(), "refused/peer_error");
    assert_eq!(agent.probes(), 1);
    assert!(layer.availability().snapshot().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_skill_is_a_routing_signal_and_drops_the_entry() {
    let agent = Agent::willing();
    let (mut service, skills) = known(&agent).await;
    agent.change(|_| not_here());
    let ended = call(&mut service, translate()).await;
    assert_eq!(ended.word(), "stale/skill_unavailable");
    let error = stale(&ended);
    assert_eq!(
        (error.region(), error.host(), error.skill()),
        (Some("eu"), Some("agent.example.com"), Some("translate"))
    );
    assert_eq!(error.available_skills().unwrap(), ["summarize", "translate-2"]);
    assert!(error.response().unwrap().body.starts_with(b"{\"jsonrpc\""));
    assert_eq!((error.response().unwrap().status.as_u16(), error.seen()), (200, None));
    let error = ended.error();
    assert_eq!((error.code(), error.a2a_error().map(|error| error.code())), (Some(-32004), Some(-32004)));
    assert_eq!(
        (error.retry().as_str(), error.work_may_have_started(), error.is_routing_signal()),
        ("safe", false, true)
    );
    assert_eq!(skills.get(&key("translate", "eu")), Availability::Unknown);
    assert_eq!(skills.stats().invalidations, 1);
    // The next one is a real one.
    agent.change(does);
    assert_eq!(call(&mut service, translate()).await.word(), "success/success");
    assert_eq!(translate_lasts(&skills), Some(s(60)));
}

/// What the observer of the layer below is told is what the caller gets.
#[tokio::test(start_paused = true)]
async fn the_observer_below_is_told_the_same() {
    let agent = Agent::called(|_| unsupported());
    let (layer, notes, own) = (builder(&agent), Notes::default(), Notes::default());
    let layer = layer.observe(own.clone()).build().unwrap();
    let mut service = guard_noting(&layer, &agent, &notes);
    let ended = call(&mut service, translate()).await;
    assert_eq!(
        (ended.word(), notes.words()),
        ("stale/skill_unavailable".into(), vec!["stale/skill_unavailable".into()])
    );
    assert!(own.all().is_empty(), "this layer refused nothing");
}

/// In JSON-RPC and HTTP+JSON, in each shape of an error: for a new task it drops the entry.
#[tokio::test(start_paused = true)]
async fn in_every_binding_and_shape() {
    let info = r#"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNSUPPORTED_OPERATION","domain":"a2a-protocol.org"}"#;
    let json =
        |status: u16, body: String| move || Answer::new(status, "application/json", MockBody::new().data(body.clone()));
    let rpc =
        |more: &str| json(200, format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32004,"message":"no"{more}}}}}"#));
    let rest = |status, body: &str| json(status, body.to_owned());
    let metadata = info.replace(r#""domain""#, r#""metadata":{"region":"eu","availableSkills":"[\"a\"]"},"domain""#);
    let rows: Vec<(Dialect, Box<dyn Fn() -> Answer + Send + Sync>)> = vec![
        (V1, Box::new(rpc(""))),
        (V1, Box::new(rpc(&format!(r#","data":[{info}]"#)))),
        (V1, Box::new(rpc(&format!(r#","data":[{metadata}]"#)))),
        (V1, Box::new(json(400, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"no"}}"#.into()))),
        (V03, Box::new(rpc(""))),
        // In 0.2 the caller chooses the task's id, also of a new one.
        (V02, Box::new(rpc(""))),
        (
            Rest,
            Box::new(rest(
                400,
                &format!(
                    r#"{{"error":{{"code":400,"status":"FAILED_PRECONDITION","message":"no","details":[{info}]}}}}"#
                ),
            )),
        ),
        (Rest, Box::new(rest(400, r#"{"code":-32004,"message":"no"}"#))),
        (Rest, Box::new(rest(501, r#"{"code":-32004,"message":"no"}"#))),
        (
            Rest,
            Box::new(move || {
                Answer::new(
                    400,
                    "application/problem+json",
                    MockBody::new().data(r#"{"type":"https://a2a-protocol.org/errors/unsupported-operation"}"#),
                )
            }),
        ),
    ];
    for (dialect, answer) in rows {
        let agent = Agent::willing();
        let (mut service, layer) = usual(&agent);
        assert_eq!(call(&mut service, skilled(dialect.send())).await.word(), "success/success", "{dialect:?}");
        assert!(translate_lasts(layer.availability()).is_some(), "{dialect:?}");
        agent.change(move |_| answer());
        let ended = call(&mut service, skilled(dialect.send())).await;
        assert_eq!(ended.word(), "stale/skill_unavailable", "{dialect:?}");
        assert!(stale(&ended).response().is_some());
        assert_eq!(translate_lasts(layer.availability()), None, "{dialect:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_about_a_task_that_is_there_leaves_the_entry() {
    let rest_no = || {
        let body = r#"{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"no","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNSUPPORTED_OPERATION","domain":"a2a-protocol.org"}]}}"#;
        Answer::new(400, "application/json", MockBody::new().data(body))
    };
    let rest_to_task = || {
        let body = r#"{"message":{"messageId":"m","role":"ROLE_USER","taskId":"task-1","parts":[{"text":"x"}]}}"#;
        Rest.request("POST", "/message:send", body.into())
    };
    let rows: [(Request<Full<Bytes>>, Answering); 8] = [
        (to_task("SendMessage"), unsupported),
        (to_task("SendStreamingMessage"), unsupported),
        (V1.subscribe(), unsupported),
        (V1.get(), unsupported),
        (V1.rpc("CancelTask", r#""id":"task-1""#), unsupported),
        (V1.rpc("GetExtendedAgentCard", ""), unsupported),
        (rest_to_task(), rest_no),
        (Rest.subscribe(), rest_no),
    ];
    for (request, answer) in rows {
        let what = format!("{} {:?}", request.uri().path(), request.body());
        let agent = Agent::willing();
        let (mut service, layer) = usual(&agent);
        let first = if request.uri().path() == "/a2a" { V1.send() } else { Rest.send() };
        assert_eq!(call(&mut service, skilled(first)).await.word(), "success/success");
        agent.change(move |asked| if asked.is_probe() { no_task(asked) } else { answer() });
        let ended = call(&mut service, skilled(request)).await;
        assert_eq!(ended.word(), "refused/peer_error", "{what}");
        assert_eq!(translate_lasts(layer.availability()), Some(s(60)), "{what}");
    }
}

/// With a region or a list of skills it is about the skill, whatever the call addressed. Of a message it drops the
/// entry that calls which begin tasks go by; operations on tasks drop none.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_names_skills_is_about_the_skill() {
    for data in [r#"{"region":"eu"}"#, r#"{"availableSkills":[]}"#, r#"{"region":"eu","availableSkills":["a"]}"#] {
        for (request, drops) in [
            (V1.send(), true),
            (V1.stream(), true),
            (to_task("SendMessage"), true),
            (to_task("SendStreamingMessage"), true),
            (V1.subscribe(), false),
            (V1.get(), false),
        ] {
            let agent = Agent::willing();
            let (mut service, skills) = known(&agent).await;
            agent.change(move |_| rpc_error(&1.into(), -32004, &format!(r#","data":{data}"#)));
            let ended = call(&mut service, skilled(request)).await;
            assert_eq!(ended.word(), "stale/skill_unavailable", "{data}");
            assert_eq!(translate_lasts(&skills).is_none(), drops, "{data}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_skill_it_is_a_refusal_as_ever() {
    for answer in [unsupported as fn() -> Answer, not_here] {
        let agent = Agent::willing();
        let (mut service, skills) = known(&agent).await;
        agent.change(move |_| answer());
        assert_eq!(call(&mut service, V1.send()).await.word(), "refused/peer_error");
        assert_eq!(translate_lasts(&skills), Some(s(60)));
    }
    // Nor do calls without one write anything.
    let agent = Agent::willing();
    let (mut service, layer) = usual(&agent);
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
    assert!(layer.availability().snapshot().is_empty());
    assert_eq!(layer.availability().stats().misses, 0);
}

#[tokio::test(start_paused = true)]
async fn other_failures_say_nothing_of_the_skill() {
    let rows: [(Answering, &str); 6] = [
        (|| Answer::json(V1.error(-32603)), "refused/peer_error"),
        (|| Answer::json(V1.error(-32005)), "refused/peer_error"),
        (|| Answer::new(401, "application/json", MockBody::new().data(V1.error(-32004))), "refused/auth"),
        (|| Answer::new(500, "text/plain", MockBody::new()), "broken/http_status"),
        (|| Answer::lost(std::io::ErrorKind::ConnectionReset), "transport/connection_lost"),
        (Answer::never, "timeout/head"),
    ];
    for (answer, word) in rows {
        let agent = Agent::willing();
        let (mut service, skills) = known(&agent).await;
        agent.change(move |_| answer());
        assert_eq!(call(&mut service, translate()).await.word(), word);
        assert_eq!(skills.stats().invalidations, 0, "{word}");
        // Nor do they to a stream.
        assert_eq!(call(&mut service, skilled(V1.stream())).await.word(), word);
        assert_eq!(skills.stats().invalidations, 0, "{word} to a stream");
    }
}

/// A layer further in that spares a call tells of what it has seen, not of another refusal.
#[tokio::test(start_paused = true)]
async fn what_is_only_remembered_is_not_learnt_again() {
    let agent = Agent::willing();
    let inner = SkillAvailability::builder().unavailable_for(s(10)).build().unwrap();
    let inner = builder(&agent).availability(inner).build().unwrap();
    let outer = builder(&agent).build().unwrap();
    let ending = TerminalStateLayer::builder().observe(Notes::default()).build().unwrap();
    let mut service = CallLayer::new().layer(outer.layer(inner.layer(ending.layer(agent.clone()))));
    agent.change(|asked| if asked.is_probe() { no_task(asked) } else { not_here() });
    for _ in 0..3 {
        assert_eq!(call(&mut service, translate()).await.word(), "stale/skill_unavailable");
    }
    assert_eq!(agent.counts().1, 1);
    assert_eq!(outer.availability().stats().invalidations, 1);
}

/// The card says that the skill is where it is not, or that the agent streams: it is read anew.
#[tokio::test(start_paused = true)]
async fn the_card_that_a_call_went_by_is_doubted_with_the_skill() {
    for (request, answer, doubted) in [
        (translate(), not_here as Answering, true),
        (skilled(V1.stream()), || unsupported(), true),
        (translate(), || Answer::json(V1.error(-32603)), false),
    ] {
        let agent = Agent::called(move |_| answer());
        let cards = CardStore::builder::<_, Full<Bytes>, _>(agent.clone()).build().unwrap();
        cards.put(&"https://agent.example.com/a2a".parse().unwrap(), CARD.into()).await.unwrap();
        let layer = builder(&agent).cards(cards.clone()).build().unwrap();
        call(&mut guard(&layer, &agent), request).await;
        assert_eq!(cards.snapshot()[0].distrusted, doubted);
    }
}

const CARD: &str = r#"{"name":"A","description":"d","version":"1","supportedInterfaces":[{"url":"https://agent.example.com/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"s","tags":["t"]}]}"#;

#[tokio::test(start_paused = true)]
async fn calls_about_tasks_write_nothing() {
    let agent = Agent::willing();
    let (mut service, layer) = usual(&agent);
    for request in [V1.get(), V1.subscribe(), to_task("SendMessage"), V1.rpc("CancelTask", r#""id":"task-1""#)] {
        assert_eq!(call(&mut service, skilled(request)).await.word(), "success/success");
    }
    assert!(layer.availability().snapshot().is_empty());
    assert_eq!(layer.availability().stats().hits + layer.availability().stats().misses, 0);
}

#[tokio::test(start_paused = true)]
async fn skills_regions_and_hosts_have_entries_of_their_own() {
    let agent = Agent::willing();
    let (mut service, layer) = usual(&agent);
    let mut elsewhere = V1.send();
    *elsewhere.uri_mut() = "https://other.example.com/a2a".parse().unwrap();
    let requests = [
        for_skill(V1.send(), "translate", "eu"),
        for_skill(V1.send(), "translate", "us"),
        for_skill(V1.send(), "translate", ""),
        for_skill(V1.send(), "summarize", "eu"),
        for_skill(elsewhere, "translate", "eu"),
        // The same host, spelled another way and over another binding: the first entry.
        for_skill(Rest.send(), "translate", "eu"),
    ];
    for request in requests {
        assert_eq!(call(&mut service, request).await.word(), "success/success");
    }
    let skills = layer.availability();
    assert_eq!(skills.snapshot().len(), 5);
    agent.change(|asked| if asked.is_probe() { no_task(asked) } else { not_here() });
    assert_eq!(call(&mut service, for_skill(V1.send(), "translate", "us")).await.word(), "stale/skill_unavailable");
    assert_eq!(skills.snapshot().len(), 4);
    assert_eq!(skills.get(&key("translate", "us")), Availability::Unknown);
}

#[tokio::test(start_paused = true)]
async fn what_began_before_a_refusal_does_not_bring_the_entry_back() {
    let agent = Agent::willing();
    let (mut service, skills) = known(&agent).await;
    let slow = {
        let mut service = service.clone();
        agent.change(|asked| does(asked).after(s(5)));
        tokio::spawn(async move { call(&mut service, translate()).await.word() })
    };
    tokio::task::yield_now().await;
    tokio::time::sleep(s(1)).await;
    agent.change(|_| not_here());
    assert_eq!(call(&mut service, translate()).await.word(), "stale/skill_unavailable");
    assert_eq!(slow.await.unwrap(), "success/success");
    assert_eq!(translate_lasts(&skills), None);
    // One that began after it does.
    agent.change(does);
    call(&mut service, translate()).await;
    assert_eq!(translate_lasts(&skills), Some(s(60)));
}

#[tokio::test(start_paused = true)]
async fn by_option_a_skill_is_unavailable_for_a_while() {
    let agent = Agent::willing();
    let skills = SkillAvailability::builder().unavailable_for(s(10)).build().unwrap();
    let (own, below) = (Notes::default(), Notes::default());
    let layer = builder(&agent).availability(skills.clone()).observe(own.clone()).build().unwrap();
    let mut service = guard_noting(&layer, &agent, &below);
    call(&mut service, translate()).await;
    agent.change(|_| not_here());
    assert_eq!(call(&mut service, translate()).await.word(), "stale/skill_unavailable");
    assert_eq!(skills.get(&key("translate", "eu")), Availability::Unavailable { lasts: s(10) });
    assert!(own.all().is_empty());
    // Nothing is sent, and the observer here is told, not the one below.
    let (asked, told) = (agent.asked().len(), below.all().len());
    advance(s(10) - ms(1)).await;
    let ended = call(&mut service, translate()).await;
    assert_eq!(ended.word(), "stale/skill_unavailable");
    assert_eq!((stale(&ended).available_skills().unwrap().len(), stale(&ended).response().is_none()), (2, true));
    assert_eq!((ended.error().retry().as_str(), ended.error().retry_after()), ("after", Some(ms(1))));
    assert_eq!((agent.asked().len(), below.all().len()), (asked, told));
    assert_eq!(own.words(), ["stale/skill_unavailable"]);
    assert!(own.one().error);
    // Other skills and regions go on; and then so does this one.
    agent.change(does);
    assert_eq!(call(&mut service, for_skill(V1.send(), "translate", "us")).await.word(), "success/success");
    advance(ms(1)).await;
    assert_eq!(call(&mut service, translate()).await.word(), "success/success");
    assert_eq!(skills.get(&key("translate", "eu")), Availability::Available { lasts: s(60) });

    // For as long as the peer says.
    agent.change(|_| {
        rpc_error(
            &1.into(),
            -32004,
            r#","data":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"90s"}]"#,
        )
    });
    assert_eq!(call(&mut service, translate()).await.word(), "stale/skill_unavailable");
    assert_eq!(skills.get(&key("translate", "eu")), Availability::Unavailable { lasts: s(90) });
    // Until somebody knows better.
    assert!(skills.invalidate(&key("translate", "eu")));
    agent.change(does);
    assert_eq!(call(&mut service, translate()).await.word(), "success/success");
}

#[tokio::test(start_paused = true)]
async fn layers_share_a_handle() {
    let agent = Agent::willing();
    let skills = SkillAvailability::new();
    let layer = || ProbeCacheLayer::without_probes().availability(skills.clone()).build().unwrap();
    let (mut one, mut other) = (guard(&layer(), &agent), guard(&layer(), &agent));
    call(&mut one, translate()).await;
    call(&mut other, translate()).await;
    assert_eq!((skills.stats().hits, skills.stats().misses, skills.stats().entries), (1, 1, 1));
    agent.change(|_| not_here());
    call(&mut other, translate()).await;
    call(&mut one, translate()).await;
    assert_eq!((skills.stats().hits, skills.stats().misses, skills.stats().invalidations), (2, 2, 2));
    assert_eq!(agent.probes(), 0);
}
