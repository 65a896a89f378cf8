//! A refusal that contradicts the card makes the next call read it anew: once, and past every cache.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tokio::task::JoinSet;

use crate::{
    mock::{Answer, Dialect, Ended, MockBody, ms, s},
    support::{Card, Cards, Page, ROOT, agent, call, done, guard, layer, streamed},
};

use Dialect::{Rest, V1};

fn able() -> Card {
    Card::streaming().with("pushNotifications").with("extendedAgentCard")
}

fn cards() -> Cards {
    Cards::of(Page::from(able()).max_age(300).header("etag", "\"1\""))
}

fn refusal(code: i64) -> Answer {
    Answer::json(V1.error(code))
}

fn with_data(code: i64, data: &str) -> Answer {
    Answer::json(format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"no","data":{data}}}}}"#))
}

fn to_task(method: &str) -> Request<Full<Bytes>> {
    V1.rpc(method, r#""message":{"messageId":"m","role":"ROLE_USER","taskId":"task-1","parts":[{"text":"x"}]}"#)
}

/// Whether the card is asked for again after a call that ended so. The call in between is a send.
async fn doubted(request: Request<Full<Bytes>>, answer: Answer) -> (Ended, bool) {
    let cards = cards();
    let agent = agent([done(), answer, done()]);
    let mut service = guard(layer(&cards), &agent);
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
    let ended = call(&mut service, request).await;
    assert_eq!(cards.count(), 1, "not before the next call");
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
    // One that is asked for again for its age alone is asked for otherwise.
    let again = cards.asked().into_iter().nth(1).filter(|again| again.header("cache-control").is_some());
    if let Some(again) = &again {
        assert_eq!((again.header("cache-control"), again.header("if-none-match")), (Some("no-cache"), None));
    }
    (ended, again.is_some())
}

#[tokio::test(start_paused = true)]
async fn refusals_that_contradict_the_card() {
    let push = || V1.rpc("CreateTaskPushNotificationConfig", r#""taskId":"task-1""#);
    let rows = [
        (push(), refusal(-32003), "-32003"),
        (push(), refusal(-32004), "-32004 about push notifications"),
        (V1.stream(), refusal(-32004), "-32004 about streaming"),
        (V1.rpc("GetExtendedAgentCard", ""), refusal(-32004), "-32004 about the extended card"),
        (V1.rpc("GetExtendedAgentCard", ""), refusal(-32007), "-32007"),
        (V1.send(), refusal(-32005), "-32005"),
        (V1.send(), refusal(-32009), "-32009"),
        (V1.send(), with_data(-32004, r#"{"region":"eu"}"#), "-32004 about a skill"),
        (V1.send(), with_data(-32004, r#"{"availableSkills":["a"]}"#), "-32004 about a skill"),
        (to_task("SendMessage"), with_data(-32004, r#"{"availableSkills":["a"]}"#), "of a skill, whatever the task"),
        (V1.send(), Answer::new(404, "text/html", MockBody::new().data("<html>")), "404"),
        (V1.send(), Answer::new(405, "text/html", MockBody::new()), "405"),
    ];
    for (request, answer, what) in rows {
        let (ended, doubted) = doubted(request, answer).await;
        assert!(ended.word().starts_with("refused/"), "{what}: {}", ended.word());
        assert!(doubted, "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn refusals_that_do_not() {
    let rows = [
        (V1.subscribe(), refusal(-32004), "-32004 about a task that has ended"),
        (to_task("SendStreamingMessage"), refusal(-32004), "-32004 about an existing task"),
        (to_task("SendMessage"), refusal(-32004), "the same, without streaming"),
        (V1.send(), refusal(-32004), "-32004 about nothing that the card declares"),
        (V1.get(), refusal(-32001), "-32001"),
        (V1.rpc("CancelTask", r#""id":"task-1""#), refusal(-32002), "-32002"),
        (V1.send(), refusal(-32006), "-32006"),
        (V1.send(), refusal(-32008), "-32008"),
        (V1.send(), refusal(-32602), "-32602"),
        (V1.send(), refusal(-32603), "-32603"),
        (V1.send(), Answer::new(401, "text/plain", MockBody::new()), "401"),
        (V1.send(), Answer::new(429, "text/plain", MockBody::new()), "429"),
        (V1.send(), Answer::new(503, "text/plain", MockBody::new()), "503"),
        (V1.send(), Answer::new(500, "text/plain", MockBody::new()), "500"),
        (V1.send(), Answer::lost(std::io::ErrorKind::ConnectionReset), "a lost connection"),
        (V1.send(), Answer::never(), "a timeout"),
    ];
    for (request, answer, what) in rows {
        let (ended, doubted) = doubted(request, answer).await;
        assert!(ended.error.is_some() && !doubted, "{what}: {}", ended.word());
    }
}

/// -32005 contradicts the card only for what the card lists (§3.3.2).
#[tokio::test(start_paused = true)]
async fn a_content_type_that_the_card_lists_is_one_that_it_must_take() {
    let send = |parts: &str, more: &str| {
        V1.rpc("SendMessage", &format!(r#""message":{{"messageId":"m","role":"ROLE_USER","parts":[{parts}]}}{more}"#))
    };
    let accepts = |modes: &str| format!(r#","configuration":{{"acceptedOutputModes":[{modes}]}}"#);
    for (parts, more, doubts) in [
        (r#"{"text":"x"}"#, String::new(), true),
        (r#"{"text":"x","mediaType":"Text/Plain; charset=utf-8"}"#, accepts(r#""text/plain""#), true),
        (r#"{"text":"x"}"#, accepts(r#""image/png","text/plain""#), true),
        (r#"{"raw":"AA==","mediaType":"image/png"}"#, String::new(), false),
        (r#"{"text":"x"},{"raw":"AA==","mediaType":"image/png"}"#, String::new(), false),
        (r#"{"text":"x"}"#, accepts(r#""image/png""#), false),
        (r#"{"url":"https://example.com/file"}"#, String::new(), false),
    ] {
        let (ended, doubted) = doubted(send(parts, &more), refusal(-32005)).await;
        assert_eq!(ended.word(), "refused/peer_error");
        assert_eq!(doubted, doubts, "{parts}{more}");
    }
    // What the card lists is what counts, and not what is usual.
    let card = Card::plain().modes(r#""image/*""#);
    let cards = Cards::of(Page::from(card).max_age(300));
    let mut seen = 0;
    for (parts, fetches) in [(r#"{"text":"x"}"#, 1), (r#"{"raw":"AA==","mediaType":"image/png"}"#, 2)] {
        let agent = agent([refusal(-32005), done()]);
        let mut service = guard(layer(&cards), &agent);
        call(&mut service, send(parts, "")).await;
        call(&mut service, V1.send()).await;
        // A store of its own for each.
        assert_eq!(std::mem::replace(&mut seen, cards.count()) + fetches, cards.count(), "{parts}");
    }
    // Once an answer has begun, it is no word on the request.
    let event = format!("data: {}\n\n", V1.error(-32005));
    let answer = Answer::sse(MockBody::of([V1.task_event("WORKING")]).data(event));
    let (ended, doubted) = doubted(V1.stream(), answer).await;
    assert_eq!((ended.word().as_str(), doubted), ("refused/peer_error", false));
}

/// A routing signal says that the card is stale as well.
#[tokio::test(start_paused = true)]
async fn a_skill_that_is_not_here_is_a_contradiction() {
    let mut request = V1.send();
    request.extensions_mut().insert(a2a_guard::Call::new().with_skill("translate"));
    let (ended, doubted) = doubted(request, refusal(-32004)).await;
    assert_eq!((ended.word().as_str(), doubted), ("stale/skill_unavailable", true));
}

#[tokio::test(start_paused = true)]
async fn in_the_middle_of_a_stream_it_counts_as_well() {
    let event = |code| format!("data: {}\n\n", V1.error(code));
    let begun = || MockBody::of([V1.task_event("WORKING")]);
    for (code, doubts) in [(-32004, true), (-32009, true), (-32603, false), (-32001, false)] {
        let (ended, doubted) = doubted(V1.stream(), Answer::sse(begun().wait(ms(5)).data(event(code)))).await;
        assert_eq!((ended.word().as_str(), ended.status.is_some()), ("refused/peer_error", true));
        assert_eq!(doubted, doubts, "{code}");
    }
    // Nobody who reads no further sees the error.
    let cards = cards();
    let agent = agent([Answer::sse(begun().wait(ms(5)).data(event(-32004))), done()]);
    let mut service = guard(layer(&cards), &agent);
    use tower::{Service, ServiceExt};
    drop(service.ready().await.unwrap().call(V1.stream()).await.unwrap());
    assert_eq!(call(&mut service, V1.send()).await.word(), "success/success");
    assert_eq!(cards.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn over_http_json_reasons_tell() {
    let status = |reason: &str| {
        let info = r#""@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"a2a-protocol.org""#;
        let body = format!(
            r#"{{"error":{{"code":400,"status":"FAILED_PRECONDITION","message":"no","details":[{{{info},"reason":"{reason}"}}]}}}}"#
        );
        Answer::new(400, "application/json", MockBody::new().data(body))
    };
    for (reason, doubts) in
        [("UNSUPPORTED_OPERATION", true), ("VERSION_NOT_SUPPORTED", true), ("TASK_NOT_FOUND", false)]
    {
        let cards = Cards::default().put(ROOT, Page::from(Card::rest().with("streaming")).max_age(300));
        let agent = agent([status(reason), Answer::json(Rest.task("COMPLETED"))]);
        let mut service = guard(layer(&cards), &agent);
        assert_eq!(call(&mut service, Rest.stream()).await.word(), "refused/peer_error");
        let before = cards.count();
        assert_eq!(call(&mut service, Rest.send()).await.word(), "success/success");
        assert_eq!(cards.count() > before, doubts, "{reason}");
    }
}

/// A thousand calls are refused, each by a card that says otherwise.
#[tokio::test(start_paused = true)]
async fn there_is_no_storm() {
    const CALLS: usize = 1000;
    let cards = cards();
    let agent = agent((0..10 * CALLS).map(|_| refusal(-32004)));
    let service = guard(layer(&cards), &agent);
    let mut fetches = Vec::new();
    for _ in 0..4 {
        let mut calls = JoinSet::new();
        for _ in 0..CALLS {
            let mut service = service.clone();
            calls.spawn(async move { call(&mut service, V1.stream()).await.word() });
        }
        assert!(calls.join_all().await.iter().all(|word| word == "refused/peer_error"));
        fetches.push(cards.count());
        tokio::time::advance(s(1)).await;
    }
    assert_eq!(fetches, [1, 2, 2, 2], "the first fetch, and one anew");
    // 5 s after that one it is asked for again, once.
    tokio::time::advance(s(1)).await;
    for expected in [2, 3, 3] {
        tokio::time::advance(s(1) - ms(1)).await;
        call(&mut service.clone(), V1.stream()).await;
        assert_eq!(cards.count(), expected);
        tokio::time::advance(ms(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_goes_well_is_no_contradiction() {
    let (ended, doubted) = doubted(V1.stream(), streamed()).await;
    assert_eq!((ended.word().as_str(), doubted), ("success/success", false));
}
