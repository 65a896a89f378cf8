//! A stream counts for its skill when its body has ended well.

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt;

use crate::{
    mock::{Answer, Dialect, MockBody, ms, s},
    support::{Agent, begun, call, does, for_skill, no_task, stale, translate_lasts, unsupported, usual},
};

use Dialect::{Rest, V1};

fn stream() -> http::Request<http_body_util::Full<Bytes>> {
    for_skill(V1.stream(), "translate", "eu")
}

fn error_event(more: &str) -> Bytes {
    format!("data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{{\"code\":-32004,\"message\":\"no\"{more}}}}}\n\n").into()
}

/// What is below knows how much is to come, and whether anything is.
#[tokio::test(start_paused = true)]
async fn a_body_is_as_long_as_the_one_below() {
    let document = V1.result(&V1.task("COMPLETED"));
    let length = document.len() as u64;
    let agent = Agent::called(move |_| Answer::json(document.clone()));
    let (mut service, _) = usual(&agent);
    for request in [V1.send(), for_skill(V1.send(), "translate", "eu")] {
        let mut body = begun(&mut service, request).await.await.unwrap().into_body();
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(length), false));
        body.frame().await.unwrap().unwrap();
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(0), true));
    }
}

#[tokio::test(start_paused = true)]
async fn its_end_writes_and_its_head_does_not() {
    let events = || [V1.task_event("WORKING"), V1.update_event("COMPLETED")];
    let agent = Agent::called(move |_| {
        let [first, last] = events();
        Answer::sse(MockBody::of([first]).wait(s(30)).data(last))
    });
    let (mut service, layer) = usual(&agent);
    let skills = layer.availability().clone();
    let response = begun(&mut service, stream()).await.await.unwrap();
    assert_eq!(translate_lasts(&skills), None);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, events().concat());
    assert_eq!(translate_lasts(&skills), Some(s(60)), "counted from its end");

    // Dropped half way it says nothing.
    skills.invalidate_all();
    drop(begun(&mut service, stream()).await.await.unwrap());
    assert_eq!(translate_lasts(&skills), None);
}

#[tokio::test(start_paused = true)]
async fn one_that_breaks_off_writes_nothing() {
    let agent = Agent::called(|_| Answer::sse(MockBody::of([V1.task_event("WORKING")]).wait(ms(5)).reset()));
    let (mut service, layer) = usual(&agent);
    assert_eq!(call(&mut service, stream()).await.word(), "broken/truncated");
    assert_eq!(translate_lasts(layer.availability()), None);
}

/// Work has begun: whoever sends it again does it twice.
#[tokio::test(start_paused = true)]
async fn a_refusal_in_its_middle_is_stale_and_not_to_be_repeated() {
    for more in ["", r#","data":{"region":"eu","availableSkills":["a"]}"#] {
        let agent = Agent::willing();
        let (mut service, layer) = usual(&agent);
        assert_eq!(call(&mut service, stream()).await.word(), "success/success");
        agent
            .change(move |_| Answer::sse(MockBody::of([V1.task_event("WORKING")]).wait(ms(5)).data(error_event(more))));
        let ended = call(&mut service, stream()).await;
        assert_eq!((ended.word().as_str(), ended.status.is_some()), ("stale/skill_unavailable", true));
        let error = ended.error();
        assert_eq!((error.retry().as_str(), error.work_may_have_started()), ("unsafe", true));
        assert_eq!((error.task_id(), error.events()), (Some("task-1"), 1));
        assert!(!error.next_operations().is_empty() && error.is_routing_signal());
        assert!(stale(&ended).response().is_some());
        assert_eq!(translate_lasts(layer.availability()), None);
    }
}

/// Before its first event it may be about streaming: the entry goes, and the word stays.
#[tokio::test(start_paused = true)]
async fn a_refusal_at_its_head_may_mean_streaming() {
    let rest = || {
        let body = r#"{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"no","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNSUPPORTED_OPERATION","domain":"a2a-protocol.org"}]}}"#;
        Answer::new(400, "application/json", MockBody::new().data(body))
    };
    let in_stream = || Answer::sse(MockBody::of([error_event("")]));
    let rows: [(Dialect, fn() -> Answer); 3] = [(V1, unsupported), (V1, in_stream), (Rest, rest)];
    for (dialect, answer) in rows {
        let agent = Agent::willing();
        let (mut service, layer) = usual(&agent);
        let stream = || for_skill(dialect.stream(), "translate", "eu");
        assert_eq!(call(&mut service, stream()).await.word(), "success/success");
        assert_eq!(translate_lasts(layer.availability()), Some(s(60)));
        agent.change(move |_| answer());
        let ended = call(&mut service, stream()).await;
        assert_eq!(ended.word(), "refused/peer_error");
        assert_eq!(translate_lasts(layer.availability()), None);
        assert_eq!(layer.availability().stats().invalidations, 1);
    }
}

/// The bytes of a good stream are the agent's.
#[tokio::test(start_paused = true)]
async fn good_exchanges_pass_byte_for_byte() {
    for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::V02) {
        let agent =
            Agent::new(|asked| if asked.is_probe() { no_task(asked) } else { does(asked).header("x-more", "1") });
        let (mut service, _layer) = usual(&agent);
        let ended = call(&mut service, dialect.stream()).await;
        assert_eq!(ended.bytes(), [dialect.task_event("WORKING"), dialect.update_event("COMPLETED")].concat());
        assert_eq!(ended.headers["x-more"], "1");
        let ended = call(&mut service, dialect.send()).await;
        assert_eq!(ended.bytes(), dialect.result(&dialect.task("COMPLETED")).into_bytes());
        // And so does the request.
        let sent = agent.asked().into_iter().find(|asked| !asked.is_probe()).unwrap();
        let body = dialect.stream().into_body().collect().await.unwrap().to_bytes();
        assert_eq!(sent.body, body);
    }
}
