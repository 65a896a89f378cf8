//! `reconcile`: the task of a lost call is asked for once, and one that finished is the call's success.

use std::io::ErrorKind;

use a2a_guard::{Limits, Recovery, TerminalStateLayer};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::time::timeout;
use tower::{Service, ServiceExt};

use crate::{
    Aside, Asked, asked, limits,
    mock::{Answer, Dialect, Ended, MockBody, Notes, Peer, call, s, stack},
    recovered,
};

use Dialect::{Rest, V1, V02, V03};

/// The answer to the layer's own `GetTask`.
fn task(dialect: Dialect, state: &str) -> Answer {
    task_of(dialect, state, 0)
}

/// The same, of so many bytes at least.
fn task_of(dialect: Dialect, state: &str, size: usize) -> Answer {
    let task = dialect.bare_task(state);
    let (media, document) = match dialect {
        Rest => ("application/a2a+json", task),
        _ => ("application/json", format!(r#"{{"jsonrpc":"2.0","id":"a2a-guard","result":{task}}}"#)),
    };
    Answer::new(200, media, MockBody::new().data(format!("{document:<size$}")))
}

async fn reconciled(request: Request<Full<Bytes>>, answer: Answer, own: Answer) -> (Ended, Vec<Request<Full<Bytes>>>) {
    let aside: Aside = Peer::new([own]);
    let ended = recovered(Recovery::new(aside.clone()).reconcile(), request, answer).await;
    (ended, aside.requests())
}

fn begun(dialect: Dialect) -> MockBody {
    MockBody::of([dialect.task_event("WORKING")])
}

/// The last event's data, as JSON.
fn last_event(ended: &Ended) -> Value {
    let text = String::from_utf8(ended.frames.last().unwrap().to_vec()).unwrap();
    let data = text.strip_prefix("data: ").unwrap().strip_suffix("\n\n").unwrap();
    serde_json::from_str(data).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_lost_stream_whose_task_finished_is_a_success() {
    for dialect in Dialect::ALL {
        let losses = [
            (Answer::sse(begun(dialect)), s(0)),
            (Answer::sse(begun(dialect).reset()), s(0)),
            (Answer::sse(begun(dialect).data("data: {\"half").reset()), s(0)),
            (Answer::sse(begun(dialect).hang()), s(6)),
            (Answer::sse(begun(dialect).every(s(5), ":\n", 99)), s(20)),
        ];
        for (number, (answer, elapsed)) in losses.into_iter().enumerate() {
            let (ended, requests) = reconciled(dialect.stream(), answer, task(dialect, "COMPLETED")).await;
            assert_eq!(ended.word(), "success/success", "{dialect:?} {number}");
            assert_eq!((ended.elapsed, requests.len()), (elapsed, 1), "{dialect:?} {number}");
            assert_eq!(ended.frames[0], dialect.task_event("WORKING"));

            let expected: Value = serde_json::from_str(&dialect.result(&dialect.task("COMPLETED"))).unwrap();
            assert_eq!(last_event(&ended), expected, "{dialect:?} {number}");
            let noted = ended.notes.one();
            assert_eq!((noted.events, &noted.tolerated[..]), (2, &["reconciled"][..]));
            assert_eq!(noted.state, Some(dialect.state("COMPLETED").as_str()));
            assert_eq!(noted.task_id.as_deref(), Some("task-1"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_it_becomes_is_a_good_stream() {
    for dialect in Dialect::ALL {
        let (ended, _) = reconciled(dialect.stream(), Answer::sse(begun(dialect)), task(dialect, "FAILED")).await;
        let again =
            call(TerminalStateLayer::builder(), dialect.stream(), Answer::sse(MockBody::of(ended.frames))).await;
        assert_eq!(again.word(), "success/success", "{dialect:?}");
        assert_eq!(again.notes.one().state, Some(dialect.state("FAILED").as_str()));
    }
}

#[tokio::test(start_paused = true)]
async fn total_is_a_loss_too() {
    let aside: Aside = Peer::new([task(V1, "COMPLETED")]);
    let layer = TerminalStateLayer::builder()
        .limits(Limits::within(s(30)).total_stream(s(31)))
        .recovery(Recovery::new(aside).reconcile());
    let body = begun(V1).every(s(4), "data: {}\n", 99);
    let ended = call(layer, V1.stream(), Answer::sse(body).after(s(4))).await;
    assert_eq!((ended.word().as_str(), ended.elapsed), ("success/success", s(31)));
}

/// A subscription names its task, so that it can be asked for before anything came.
#[tokio::test(start_paused = true)]
async fn a_subscription_can_be_reconciled_before_its_first_event() {
    for dialect in [V1, V03, Rest] {
        let losses = [
            (Answer::never(), s(3)),
            (Answer::lost(ErrorKind::ConnectionReset), s(0)),
            (Answer::sse(MockBody::new().hang()), s(5)),
            (Answer::sse(MockBody::new().reset()), s(0)),
        ];
        for (answer, elapsed) in losses {
            let (ended, _) = reconciled(dialect.subscribe(), answer, task(dialect, "COMPLETED")).await;
            assert_eq!((ended.word().as_str(), ended.elapsed), ("success/success", elapsed), "{dialect:?}");
            assert_eq!(
                (ended.status.unwrap().as_u16(), &ended.headers["content-type"]),
                (200, &"text/event-stream".parse().unwrap())
            );
            assert_eq!((ended.frames.len(), ended.notes.one().events), (1, 1));
        }
    }
}

/// A message to a task that exists already.
fn follow_up(dialect: Dialect) -> Request<Full<Bytes>> {
    let params = r#""message":{"messageId":"m-1","taskId":"task-1","parts":[]}"#;
    match dialect {
        V1 => dialect.rpc("SendMessage", params),
        V03 => dialect.rpc("message/send", params),
        V02 => dialect.send(),
        Rest => dialect.request("POST", "/v1/message:send", format!("{{{params}}}")),
    }
}

/// Another task's end, a page, or what is no success says nothing of the task.
#[tokio::test(start_paused = true)]
async fn only_that_tasks_own_end_is_taken() {
    for dialect in Dialect::ALL {
        let other = dialect.bare_task("COMPLETED").replace("task-1", "task-9");
        let document = match dialect {
            Rest => other,
            _ => format!(r#"{{"jsonrpc":"2.0","id":"a2a-guard","result":{other}}}"#),
        };
        let own = || MockBody::new().data(document.clone());
        let (ended, _) =
            reconciled(dialect.stream(), Answer::sse(begun(dialect)), Answer::new(200, "application/json", own()))
                .await;
        assert_eq!(ended.word(), "broken/truncated", "{dialect:?}");
    }
    let page = Answer::new(200, "text/html", MockBody::new().data(V1.bare_task("COMPLETED")));
    let (ended, _) = reconciled(Rest.stream(), Answer::sse(begun(Rest)), page).await;
    assert_eq!(ended.word(), "broken/truncated");
}

/// The message may have been lost with its connection: what has become of the task since says nothing of it.
#[tokio::test(start_paused = true)]
async fn a_message_whose_connection_was_lost_is_not_taken_for_delivered() {
    for dialect in Dialect::ALL {
        let answer = Answer::lost(ErrorKind::ConnectionReset);
        let (ended, asked) = reconciled(follow_up(dialect), answer, task(dialect, "COMPLETED")).await;
        assert_eq!((ended.word().as_str(), asked.len()), ("transport/connection_lost", 0), "{dialect:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_message_to_a_known_task_becomes_the_finished_task() {
    for dialect in Dialect::ALL {
        let losses = [
            Answer::never(),
            Answer::new(200, "application/json", MockBody::new().data("{").reset()),
            Answer::new(200, "application/json", MockBody::new().data("{").hang()),
        ];
        for answer in losses {
            let (ended, _) = reconciled(follow_up(dialect), answer, task(dialect, "COMPLETED")).await;
            assert_eq!(ended.word(), "success/success", "{dialect:?}");
            let document = ended.bytes();
            let got: Value = serde_json::from_slice(&document).unwrap();
            let expected: Value = serde_json::from_str(&dialect.result(&dialect.task("COMPLETED"))).unwrap();
            assert_eq!(got, expected);
            let media = if dialect == Rest { "application/a2a+json" } else { "application/json" };
            assert_eq!(
                (ended.status.unwrap().as_u16(), &ended.headers["content-type"]),
                (200, &media.parse().unwrap())
            );
            let noted = ended.notes.one();
            assert_eq!((&noted.tolerated[..], noted.task_id.as_deref()), (&["reconciled"][..], Some("task-1")));

            let again = call(TerminalStateLayer::builder(), follow_up(dialect), Answer::json(document)).await;
            assert_eq!(again.word(), "success/success", "{dialect:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_task_is_asked_for_as_the_dialect_has_it() {
    let json_rpc = |method: &str| {
        let body = json!({"jsonrpc": "2.0", "id": "a2a-guard", "method": method, "params": {"id": "task-1"}});
        Asked::new("POST", "https://agent.example.com/a2a", body)
    };
    let rows = [
        (V1, json_rpc("GetTask")),
        (V03, json_rpc("tasks/get")),
        (V02, json_rpc("tasks/get")),
        (Rest, Asked::new("GET", "https://agent.example.com/tasks/task-1", Value::Null)),
    ];
    for (dialect, expected) in rows {
        let (_, requests) = reconciled(dialect.stream(), Answer::sse(begun(dialect)), task(dialect, "COMPLETED")).await;
        let [request] = <[_; 1]>::try_from(requests).unwrap();
        assert_eq!(asked(request).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn the_question_carries_tenant_and_headers_of_the_call() {
    let params = r#""tenant":"acme","message":{"messageId":"m","parts":[]}"#;
    let mut request = V1.rpc("SendStreamingMessage", params);
    for (name, value) in [
        ("authorization", "Bearer t"),
        ("x-tenant", "acme"),
        ("a2a-extensions", "https://e.example/x"),
        ("accept", "text/event-stream"),
        ("content-length", "999"),
        ("connection", "close"),
    ] {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    let (_, requests) = reconciled(request, Answer::sse(begun(V1)), task(V1, "COMPLETED")).await;
    let [own] = <[_; 1]>::try_from(requests).unwrap();
    let headers = own.headers();
    assert_eq!(
        (&headers["authorization"], &headers["x-tenant"]),
        (&"Bearer t".parse().unwrap(), &"acme".parse().unwrap())
    );
    assert_eq!(headers["a2a-extensions"], "https://e.example/x");
    assert_eq!((&headers["content-type"], headers.get("content-length")), (&"application/json".parse().unwrap(), None));
    assert!(!headers["accept"].to_str().unwrap().contains("event-stream"));
    assert!(!headers.contains_key("connection"));
    assert_eq!(asked(own).await.body["params"], json!({"id": "task-1", "tenant": "acme"}));
}

#[tokio::test(start_paused = true)]
async fn http_json_is_asked_beside_the_path_of_the_call() {
    let path = "/rest/acme/v1/message:stream?key=1";
    let request = Rest.request("POST", path, r#"{"message":{"messageId":"m","parts":[]}}"#.into());
    let odd = Rest.task_event("WORKING").to_vec();
    let odd = String::from_utf8(odd).unwrap().replace("task-1", "a/b c?é");
    let (_, requests) = reconciled(request, Answer::sse(MockBody::new().data(odd)), task(Rest, "COMPLETED")).await;
    let [own] = <[_; 1]>::try_from(requests).unwrap();
    assert_eq!(asked(own).await.uri, "https://agent.example.com/rest/acme/v1/tasks/a%2Fb%20c%3F%C3%A9?key=1");
}

/// What the question is answered, if not with the finished task; and how long that takes at most.
fn no_help(dialect: Dialect) -> Vec<(Answer, u64)> {
    vec![
        (task(dialect, "WORKING"), 0),
        (task(dialect, "INPUT_REQUIRED"), 0),
        (task(dialect, "DREAMING"), 0),
        (Answer::json(dialect.error(-32001)), 0),
        (Answer::json("{"), 0),
        (Answer::json(dialect.result(&dialect.task("COMPLETED")).replace("\"id\":1,", "\"id\":77,")), 0),
        (Answer::new(500, "text/html", MockBody::new().data("<html>")), 0),
        (Answer::new(404, "application/json", MockBody::new().data(dialect.bare_task("COMPLETED"))), 0),
        (Answer::lost(ErrorKind::ConnectionRefused), 0),
        (Answer::never(), 5),
        (Answer::new(200, "application/json", MockBody::new().data("{").hang()), 5),
        (Answer::new(200, "application/json", MockBody::new().data("{").reset()), 0),
        (task(dialect, "COMPLETED").after(s(6)), 5),
    ]
}

#[tokio::test(start_paused = true)]
async fn without_help_the_call_fails_as_it_did() {
    for dialect in [V1, V03] {
        for (number, (own, later)) in no_help(dialect).into_iter().enumerate() {
            let (ended, requests) = reconciled(dialect.stream(), Answer::sse(begun(dialect).reset()), own).await;
            assert_eq!(ended.word(), "broken/truncated", "{dialect:?} {number}");
            assert_eq!((ended.elapsed, requests.len()), (s(later), 1), "{dialect:?} {number}");
            assert_eq!(ended.error().task_state().unwrap().as_str(), dialect.state("WORKING"));
            assert!(std::error::Error::source(ended.error()).is_some(), "its source is not lost");
            let noted = ended.notes.one();
            assert_eq!((noted.word().as_str(), noted.events), ("broken/truncated", 1));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_end_is_not_read_without_end() {
    let huge = Answer::new(200, "application/json", MockBody::new().forever(vec![b' '; 64 << 10], s(0)));
    let (ended, _) = reconciled(V1.stream(), Answer::sse(begun(V1)), huge).await;
    assert_eq!(ended.word(), "broken/truncated");
}

/// What comes of the answer is the call's own, and so its cap is.
#[tokio::test(start_paused = true)]
async fn an_answer_may_be_as_large_as_the_calls_own() {
    const CAP: usize = 4096;
    for dialect in Dialect::ALL {
        for (size, due) in [(CAP - 512, "success/success"), (CAP + 1, "timeout/idle")] {
            for (request, lost) in [
                (dialect.stream(), Answer::sse(begun(dialect).hang())),
                (follow_up(dialect), Answer::new(200, "application/json", MockBody::new().data("{").hang())),
            ] {
                let aside: Aside = Peer::new([task_of(dialect, "COMPLETED", size)]);
                let limits = limits().max_unary_body(CAP).max_event(CAP);
                let recovery = Recovery::new(aside.clone()).reconcile();
                let ended = call(TerminalStateLayer::builder().limits(limits).recovery(recovery), request, lost).await;
                assert_eq!((ended.word().as_str(), aside.requests().len()), (due, 1), "{dialect:?}, {size} B");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_for_it_can_be_set() {
    let aside: Aside = Peer::new([Answer::never()]);
    let recovery = Recovery::new(aside).reconcile().timeout(s(2));
    let ended = recovered(recovery, V1.stream(), Answer::sse(begun(V1))).await;
    assert_eq!((ended.word().as_str(), ended.elapsed), ("broken/truncated", s(2)));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_not_ready_is_not_waited_for_longer() {
    let aside = Aside::new([]).never_ready();
    let ended = recovered(Recovery::new(aside).reconcile(), V1.stream(), Answer::sse(begun(V1))).await;
    assert_eq!((ended.word().as_str(), ended.elapsed), ("broken/truncated", s(5)));
}

/// Whose task nobody knows, who said no, and who was never reached, are not asked.
#[tokio::test(start_paused = true)]
async fn only_a_lost_call_with_a_known_task_is_reconciled() {
    let error_event = format!("data: {}\n\n", V1.error(-32603));
    let rows = [
        (V1.stream(), Answer::never(), "timeout/head"),
        (V1.stream(), Answer::sse(MockBody::new().hang()), "timeout/first_event"),
        (V1.send(), Answer::lost(ErrorKind::ConnectionReset), "transport/connection_lost"),
        (follow_up(V1), Answer::lost(ErrorKind::ConnectionRefused), "transport/connect"),
        (follow_up(V1), Answer::json(V1.error(-32004)), "refused/peer_error"),
        (follow_up(V1), Answer::new(503, "text/plain", MockBody::new()), "refused/unavailable"),
        (follow_up(V1), Answer::json("{"), "broken/malformed"),
        (V1.stream(), Answer::sse(begun(V1).data(error_event)), "refused/peer_error"),
        (V1.stream(), Answer::sse(begun(V1).data("data: {}\n\n")), "broken/protocol_violation"),
        (V1.get(), Answer::never(), "timeout/head"),
        (V1.rpc("CancelTask", r#""id":"task-1""#), Answer::never(), "timeout/head"),
        (V1.rpc("acme/doIt", r#""id":"task-1""#), Answer::never(), "timeout/head"),
    ];
    for (number, (request, answer, word)) in rows.into_iter().enumerate() {
        let aside: Aside = Peer::new([]);
        let ended = recovered(Recovery::new(aside.clone()).reconcile(), request, answer).await;
        assert_eq!(ended.word(), word, "{number}");
        assert!(aside.requests().is_empty(), "{number}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_is_not_asked_about() {
    let aside: Aside = Peer::new([]);
    let body = MockBody::of([V1.task_event("WORKING"), V1.update_event("COMPLETED")]).reset();
    let ended = recovered(Recovery::new(aside.clone()).reconcile(), V1.stream(), Answer::sse(body)).await;
    assert_eq!(ended.word(), "success/success");
    assert!(aside.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn beyond_its_number_no_question_is_asked() {
    let aside: Aside = Peer::new([Answer::never()]);
    let recovery = Recovery::new(aside.clone()).reconcile().max_in_flight(1).timeout(s(60));
    let lost = || recovered(recovery.clone(), V1.stream(), Answer::sse(begun(V1)));
    let (first, second) = tokio::join!(lost(), lost());
    assert_eq!((first.word().as_str(), second.word().as_str()), ("broken/truncated", "broken/truncated"));
    let mut waited = [first.elapsed, second.elapsed];
    waited.sort_unstable();
    assert_eq!((waited, aside.requests().len()), ([s(0), s(60)], 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_while_its_task_is_asked_for_is_abandoned() {
    let aside: Aside = Peer::new([Answer::never()]);
    let layer = TerminalStateLayer::builder().limits(limits()).recovery(Recovery::new(aside).reconcile());
    let cut = Answer::new(200, "application/json", MockBody::new().data("{").reset());
    let (mut stack, notes): (_, Notes) = stack(layer, Peer::new([cut]));
    let future = stack.ready().await.unwrap().call(follow_up(V1));
    assert!(timeout(s(1), future).await.is_err());
    assert_eq!(notes.words(), ["abandoned/abandoned"]);
}
