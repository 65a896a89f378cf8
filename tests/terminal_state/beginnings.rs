//! What an answer tells that is not whole, or that no tree can be built of.

use a2a_guard::Limits;

use crate::{
    fate,
    mock::{Answer, Dialect, MockBody, call, s},
    plain, with,
};

use Dialect::{Rest, V1};

/// A task that a broken answer leaves behind is known all the same.
#[tokio::test(start_paused = true)]
async fn an_unfinished_body_names_its_task() {
    let whole = V1.result(&V1.task("WORKING"));
    let cut = whole[..whole.len() - 3].to_owned();
    let bodies = || {
        [
            ("broken/truncated", MockBody::new().data(cut.clone()).reset()),
            ("timeout/idle", MockBody::new().data(cut.clone()).hang()),
            ("broken/malformed", MockBody::new().data(cut.clone())),
            ("broken/too_large", MockBody::new().data(cut.clone()).forever("x", std::time::Duration::ZERO)),
        ]
    };
    for (word, body) in bodies() {
        let layer = with(Limits::default().max_unary_body(4000));
        let ended = call(layer, V1.send(), Answer::new(200, "application/json", body)).await;
        assert_eq!((ended.word().as_str(), ended.error().task_id()), (word, Some("task-1")));
        assert_eq!(ended.error().task_state().unwrap().as_str(), "TASK_STATE_WORKING", "{word}");
    }
}

#[tokio::test(start_paused = true)]
async fn so_does_the_beginning_of_a_first_event() {
    let event = V1.task_event("WORKING");
    let cut = String::from_utf8(event[..event.len() - 6].to_vec()).unwrap();
    for (word, body) in [
        ("broken/truncated", MockBody::new().data(cut.clone())),
        ("broken/truncated", MockBody::new().data(cut.clone()).reset()),
        ("timeout/first_event", MockBody::new().data(cut.clone()).hang()),
    ] {
        let ended = call(plain(), V1.stream(), Answer::sse(body)).await;
        assert_eq!((ended.word().as_str(), ended.error().task_id()), (word, Some("task-1")));
    }
}

/// A lone surrogate, a number beyond every float, deep nesting: an error has its code whatever stands beside it.
#[tokio::test(start_paused = true)]
async fn an_error_has_its_code_whatever_its_data_holds() {
    let deep = format!("{}{}", "[".repeat(150), "]".repeat(150));
    for data in ["\"cut \\ud83d\"", "1e400", &deep] {
        let error = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32001,"message":"no","data":{data}}}}}"#);
        for status in [200, 400, 404, 500] {
            let answer = Answer::new(status, "application/json", MockBody::new().data(error.clone()));
            let ended = call(plain(), V1.get(), answer).await;
            assert_eq!((ended.word().as_str(), ended.error().code()), ("refused/peer_error", Some(-32001)), "{status}");
        }
        let body = MockBody::new().data(V1.task_event("WORKING")).data(format!("data: {error}\n\n"));
        let ended = call(plain(), V1.stream(), Answer::sse(body)).await;
        assert_eq!((ended.word().as_str(), ended.error().code()), ("refused/peer_error", Some(-32001)));
    }
}

/// What is kept of an error status is judged, however much comes behind it.
#[tokio::test(start_paused = true)]
async fn a_large_error_is_judged_by_its_beginning() {
    let padding = "x".repeat(70_000);
    let error = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32001,"message":"no","data":["{padding}"]}}}}"#);
    for status in [400, 404, 500] {
        let answer = Answer::new(status, "application/json", MockBody::new().data(error.clone()));
        let ended = call(plain(), V1.get(), answer).await;
        assert_eq!((ended.word().as_str(), ended.error().code()), ("refused/peer_error", Some(-32001)), "{status}");
        assert!(ended.error().response().unwrap().truncated);
    }
}

/// Mere words count only as JSON.
#[tokio::test(start_paused = true)]
async fn words_under_another_media_type_say_nothing() {
    for (media, word) in [("text/plain", "broken/http_status"), ("application/json", "refused/peer_error")] {
        let body = MockBody::new().data(r#"{"message":"bad"}"#);
        let ended = call(plain(), Rest.get(), Answer::new(400, media, body)).await;
        assert_eq!(ended.word(), word, "{media}");
    }
}

/// RetryInfo in the middle of a stream comes of work that began.
#[tokio::test(start_paused = true)]
async fn a_refusal_after_an_event_is_not_to_be_sent_again() {
    let retry = r#"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}"#;
    let error = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32603,"message":"no","data":[{retry}]}}}}"#);
    let event = format!("data: {error}\n\n");
    let first = call(plain(), V1.stream(), Answer::sse(MockBody::new().data(event.clone()))).await;
    assert_eq!(first.error().retry().as_str(), "after");
    let body = MockBody::new().data(V1.task_event("WORKING")).data(event);
    let later = call(plain(), V1.stream(), Answer::sse(body)).await;
    assert_eq!((later.error().retry().as_str(), later.error().retry_after()), ("unsafe", Some(s(7))));
}

/// What comes after INPUT_REQUIRED does not begin the wait anew.
#[tokio::test(start_paused = true)]
async fn updates_of_a_task_that_waits_do_not_keep_its_stream_open() {
    for (state, after) in [("INPUT_REQUIRED", 2), ("AUTH_REQUIRED", 600)] {
        let body = MockBody::new().data(V1.update_event(state)).every(s(1), leaked(V1.update_event(state)), 4000);
        let ended = call(plain(), V1.stream(), Answer::sse(body)).await;
        assert_eq!(ended.fate(), fate("success/success", s(after)), "{state}");
    }
}

fn leaked(event: bytes::Bytes) -> &'static str {
    String::from_utf8(event.to_vec()).unwrap().leak()
}

/// Problem details are never a result, whatever the status says.
#[tokio::test(start_paused = true)]
async fn problem_details_under_200_are_a_refusal() {
    let problem = r#"{"type":"https://a2a-protocol.org/errors/task-not-found","title":"Task not found","status":404}"#;
    let requests = [Rest.get(), Rest.send(), Rest.stream(), Rest.request("GET", "/tasks", String::new())];
    for request in requests {
        let body = MockBody::new().data(problem);
        let ended = call(plain(), request, Answer::new(200, "application/problem+json", body)).await;
        assert_eq!(ended.word(), "refused/peer_error");
        assert_eq!(ended.error().a2a_error().unwrap().name(), "TaskNotFoundError");
    }
}
