//! What a lenient reader understands is listed, and a strict one refuses it.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::{
    mock::{Answer, Dialect, MockBody, call},
    plain,
};

use Dialect::{V1, V03};

const WORKING: &str = r#"{"task":{"id":"task-1","status":{"state":"TASK_STATE_WORKING"}}}"#;

/// A slip: its name, the request, and the answer that has it.
type Slip = (&'static str, Request<Full<Bytes>>, Box<dyn Fn() -> Answer>);

fn document(text: &str) -> Box<dyn Fn() -> Answer> {
    let text = text.to_owned();
    Box::new(move || Answer::json(text.clone()))
}

/// A stream of these events, the last of them as it is.
fn stream(events: &[&str], last: &str) -> Box<dyn Fn() -> Answer> {
    let mut text: String = events.iter().map(|event| format!("data: {}\n\n", V1.result(event))).collect();
    text.push_str(last);
    Box::new(move || Answer::sse(MockBody::new().data(text.clone())))
}

fn slips() -> Vec<Slip> {
    let completed = r#"{"statusUpdate":{"taskId":"task-1","status":{"state":"TASK_STATE_COMPLETED"}}}"#;
    let other = r#"{"statusUpdate":{"taskId":"task-2","status":{"state":"TASK_STATE_WORKING"}}}"#;
    let numeric = r#"{"task":{"id":"task-1","status":{"state":3}}}"#;
    let unknown = r#"{"task":{"id":"task-1","status":{"state":"TASK_STATE_DREAMING"}}}"#;
    let v03_without_kind = r#"{"id":"task-1","contextId":"c","status":{"state":"completed"}}"#;
    let message = V1.message();
    vec![
        ("id_type_changed", V1.send(), document(&V1.result(WORKING).replace("\"id\":1,", "\"id\":\"1\","))),
        (
            "null_error_member",
            V1.send(),
            document(&V1.result(WORKING).replace("\"id\":1,", "\"id\":1,\"error\":null,")),
        ),
        ("jsonrpc_member_missing", V1.send(), document(&V1.result(WORKING).replace("\"jsonrpc\":\"2.0\",", ""))),
        ("kind_missing", V03.send(), document(&V03.result(v03_without_kind))),
        ("numeric_state", V1.send(), document(&V1.result(numeric))),
        ("unknown_state", V1.send(), document(&V1.result(unknown))),
        ("first_event_not_task", V1.stream(), stream(&[completed], "")),
        ("other_task_id", V1.stream(), stream(&[WORKING, other, completed], "")),
        ("message_in_task_stream", V1.stream(), stream(&[WORKING, &message, completed], "")),
        ("unterminated_event", V1.stream(), stream(&[WORKING], &format!("data: {}", V1.result(completed)))),
    ]
}

#[tokio::test(start_paused = true)]
async fn each_slip_is_tolerated_and_listed() {
    for (name, request, answer) in slips() {
        let ended = call(plain(), request, answer()).await;
        assert_eq!(ended.word(), "success/success", "{name}: {:?}", ended.error);
        assert_eq!(ended.notes.one().tolerated, [name]);
    }
}

#[tokio::test(start_paused = true)]
async fn each_slip_is_refused_by_a_strict_layer() {
    for (name, request, answer) in slips() {
        let ended = call(plain().strict(true), request, answer()).await;
        assert_eq!(ended.word(), "broken/protocol_violation", "{name}");
        assert!(ended.error().tolerated().iter().any(|slip| slip == name), "{name}: {:?}", ended.error().tolerated());
        let line = ended.error().to_string();
        assert!(line.contains(&format!("the peer is slightly wrong, and strict is on ({name})")), "{line}");
        assert_eq!(ended.notes.words(), ["broken/protocol_violation"]);
    }
}

/// A task that a slip leaves behind is there all the same.
#[tokio::test(start_paused = true)]
async fn a_strict_layer_still_tells_the_task() {
    for (name, request, answer) in slips() {
        let ended = call(plain().strict(true), request, answer()).await;
        assert_eq!(ended.error().task_id(), Some("task-1"), "{name}");
        assert_eq!(ended.notes.one().task_id.as_deref(), Some("task-1"), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_strict_layer_passes_what_is_right() {
    for dialect in Dialect::ALL {
        let answer = Answer::json(dialect.result(&dialect.task("COMPLETED")));
        assert_eq!(call(plain().strict(true), dialect.send(), answer).await.word(), "success/success", "{dialect:?}");
        let body = MockBody::of([dialect.task_event("WORKING"), dialect.update_event("COMPLETED")]);
        let ended = call(plain().strict(true), dialect.stream(), Answer::sse(body)).await;
        assert_eq!(ended.word(), "success/success", "{dialect:?}: {:?}", ended.error);
    }
}

/// Who says no in a slightly wrong way has said no; the slip is listed all the same.
#[tokio::test(start_paused = true)]
async fn a_refusal_with_a_slip_stays_a_refusal() {
    let refusals = [
        ("null_result_member", r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-32001,"message":"no"}}"#),
        ("id_type_changed", r#"{"jsonrpc":"2.0","id":"1","error":{"code":-32001,"message":"no"}}"#),
    ];
    for (name, text) in refusals {
        for strict in [false, true] {
            let ended = call(plain().strict(strict), V1.send(), Answer::json(text)).await;
            assert_eq!((ended.word().as_str(), ended.error().code()), ("refused/peer_error", Some(-32001)), "{name}");
            assert_eq!(ended.error().tolerated().iter().collect::<Vec<_>>(), [name]);
            let body = MockBody::new().data(format!("data: {text}\n\n"));
            let ended = call(plain().strict(strict), V1.stream(), Answer::sse(body)).await;
            assert_eq!(ended.word(), "refused/peer_error", "{name}");
            assert_eq!(ended.error().tolerated().iter().collect::<Vec<_>>(), [name]);
        }
    }
}

/// Options of the layer's own are no slips of the peer's.
#[tokio::test(start_paused = true)]
async fn a_strict_layer_still_adapts_a_downgrade() {
    let answer = Answer::json(V1.result(&V1.task("COMPLETED")));
    let ended = call(plain().strict(true).adapt_downgrade(true), V1.stream(), answer).await;
    assert_eq!(ended.word(), "success/success");
}

/// The events before the slip were good, and are the caller's.
#[tokio::test(start_paused = true)]
async fn a_strict_layer_hands_on_what_came_before_the_slip() {
    let good = V1.task_event("WORKING");
    let slip = V1.event(r#"{"statusUpdate":{"taskId":"task-2","status":{"state":"TASK_STATE_WORKING"}}}"#);
    for body in [MockBody::of([good.clone(), slip.clone()]), MockBody::new().data([&good[..], &slip].concat())] {
        let ended = call(plain().strict(true), V1.stream(), Answer::sse(body)).await;
        assert_eq!(ended.word(), "broken/protocol_violation");
        assert_eq!(ended.bytes(), good);
    }
}
