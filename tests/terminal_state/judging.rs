//! Media types, content codings and downgrades: what the head alone decides, and what it leaves to the body.

use crate::{
    mock::{Answer, Dialect, MockBody, call, s},
    plain,
};

use Dialect::{Rest, V1, V02, V03};

#[tokio::test(start_paused = true)]
async fn good_answers_pass_in_every_dialect() {
    for dialect in Dialect::ALL {
        let answers = [
            (dialect.send(), dialect.result(&dialect.task("COMPLETED"))),
            (dialect.send(), dialect.result(&dialect.message())),
            (dialect.get(), dialect.result(&dialect.bare_task("WORKING"))),
        ];
        // `tasks/get` counts as 0.3, whose tasks have a kind.
        for (request, document) in answers {
            let ended = call(plain(), request, Answer::json(document.clone())).await;
            assert_eq!(ended.word(), "success/success", "{document}: {:?}", ended.error);
            assert_eq!(ended.bytes(), document.as_bytes());
        }
        let frames = [dialect.task_event("WORKING"), dialect.update_event("COMPLETED")];
        let ended = call(plain(), dialect.stream(), Answer::sse(MockBody::of(frames.clone()))).await;
        assert_eq!(ended.word(), "success/success", "{dialect:?}: {:?}", ended.error);
        assert_eq!(ended.frames, frames);
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_failed_is_a_call_that_succeeded() {
    for state in ["FAILED", "REJECTED", "CANCELED"] {
        let ended = call(plain(), V1.send(), Answer::json(V1.result(&V1.task(state)))).await;
        assert_eq!(ended.word(), "success/success");
        assert_eq!(ended.notes.one().state, Some(V1.state(state).as_str()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_an_error_in_every_dialect() {
    for dialect in Dialect::ALL {
        for status in [200, 400] {
            let answer = Answer::new(status, "application/json", MockBody::new().data(dialect.error(-32004)));
            let ended = call(plain(), dialect.send(), answer).await;
            assert_eq!(ended.word(), "refused/peer_error", "{dialect:?} {status}");
            assert_eq!(ended.error().http_status().unwrap(), status);
            assert_eq!(ended.error().response().unwrap().body, dialect.error(-32004));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_keeps_the_peers_own_answer() {
    let answer = Answer::new(403, "text/plain", MockBody::new().data("go ").data("away")).header("x-why", "policy");
    let ended = call(plain(), V1.send(), answer).await;
    assert_eq!(ended.word(), "refused/auth");
    let response = ended.error().response().unwrap();
    assert_eq!((response.status.as_u16(), &response.body[..], response.truncated), (403, &b"go away"[..], false));
    assert_eq!(response.headers["x-why"], "policy");
    assert!(response.trailers.is_none());
}

/// What the status says is not made to wait for the body.
#[tokio::test(start_paused = true)]
async fn a_status_that_decides_alone_does_so_when_its_body_breaks_off() {
    for status in [307, 401, 403, 407, 413, 415, 429, 503] {
        let answer = Answer::new(status, "text/plain", MockBody::new().data("half").reset());
        let ended = call(plain(), V1.send(), answer).await;
        assert_eq!(ended.error().outcome().as_str(), "refused", "{status}");
        let response = ended.error().response().unwrap();
        assert_eq!((&response.body[..], response.truncated), (&b"half"[..], true));
    }
}

#[tokio::test(start_paused = true)]
async fn any_other_status_is_truncated_when_its_body_breaks_off() {
    let answer = Answer::new(400, "application/json", MockBody::new().data("{").reset());
    assert_eq!(call(plain(), V1.send(), answer).await.word(), "broken/truncated");
}

#[tokio::test(start_paused = true)]
async fn a_page_under_a_200_is_no_success() {
    for (request, media) in [(V1.send(), "text/html"), (V1.stream(), "text/html"), (Rest.get(), "text/plain")] {
        let ended = call(plain(), request, Answer::new(200, media, MockBody::new().hang())).await;
        assert_eq!((ended.word().as_str(), ended.elapsed), ("broken/wrong_media_type", s(0)));
        assert!(ended.error().to_string().contains(media), "{}", ended.error());
    }
    // Decompressed it would be one all the same.
    let coded = Answer::new(200, "text/html", MockBody::new().hang()).header("content-encoding", "gzip");
    assert_eq!(call(plain(), V1.send(), coded).await.word(), "broken/wrong_media_type");
}

#[tokio::test(start_paused = true)]
async fn an_event_stream_answers_no_unary_call() {
    let ended = call(plain(), V1.send(), Answer::sse(MockBody::new().data(V1.task_event("COMPLETED")))).await;
    assert_eq!(ended.word(), "broken/wrong_media_type");
    let line = ended.error().to_string();
    assert!(line.contains("an event stream answers a unary call"), "{line}");
}

/// Who sent no id waits for no answer (JSON-RPC 2.0 §4.1). A delete has nothing to say: over HTTP that is an empty
/// body, over JSON-RPC an answer without a result.
#[tokio::test(start_paused = true)]
async fn an_answer_with_nothing_in_it_is_one_where_nothing_is_due() {
    let without_id = |method: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"message":{{"parts":[]}}}}}}"#);
        V1.request("POST", "/a2a", body)
    };
    let delete = r#""taskId":"task-1","id":"c""#;
    for (request, word) in [
        (without_id("SendMessage"), "success/success"),
        (without_id("SendStreamingMessage"), "success/success"),
        (V1.stream(), "broken/empty"),
        (V1.rpc("DeleteTaskPushNotificationConfig", delete), "broken/empty"),
        (Rest.request("DELETE", "/tasks/task-1/pushNotificationConfigs/c", String::new()), "success/success"),
        (V1.send(), "broken/empty"),
        (V1.get(), "broken/empty"),
        (Rest.get(), "broken/empty"),
    ] {
        let line = format!("{request:?}");
        let ended = call(plain(), request, Answer::json("")).await;
        assert_eq!(ended.word(), word, "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_a_list_of_push_configurations_may_be_an_array() {
    let id = r#""id":"task-1""#;
    for (request, word) in [
        (V03.rpc("tasks/pushNotificationConfig/list", id), "success/success"),
        (V03.rpc("tasks/pushNotificationConfig/get", id), "broken/protocol_violation"),
        (V03.rpc("agent/getAuthenticatedExtendedCard", ""), "broken/protocol_violation"),
    ] {
        assert_eq!(call(plain(), request, Answer::json(V03.result("[]"))).await.word(), word);
    }
}

#[tokio::test(start_paused = true)]
async fn one_result_where_a_stream_was_asked_is_a_silent_downgrade() {
    for dialect in Dialect::ALL {
        for request in [dialect.stream(), dialect.subscribe()] {
            let ended = call(plain(), request, Answer::json(dialect.result(&dialect.task("WORKING")))).await;
            assert_eq!(ended.word(), "broken/silent_downgrade", "{dialect:?}");
            assert_eq!(ended.error().task_id(), Some("task-1"));
            assert_eq!(ended.error().task_state().unwrap().as_str(), dialect.state("WORKING"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn by_option_a_downgrade_becomes_a_stream_of_one_event() {
    for dialect in Dialect::ALL {
        let document = dialect.result(&dialect.task("COMPLETED"));
        // Line ends between the tokens would end the event's line.
        let pretty = document.replacen(',', ",\r\n ", 1);
        let answer = Answer::json(pretty.clone()).header("content-length", "999");
        let ended = call(plain().adapt_downgrade(true), dialect.stream(), answer).await;
        assert_eq!(ended.word(), "success/success", "{dialect:?}");
        assert_eq!(ended.headers["content-type"], "text/event-stream");
        assert!(!ended.headers.contains_key("content-length"));
        let one_line = pretty.replace(['\r', '\n'], " ");
        assert_eq!(String::from_utf8(ended.bytes()).unwrap(), format!("data: {one_line}\n\n"));
        let noted = ended.notes.one();
        assert_eq!((noted.events, &noted.tolerated[..]), (1, &["downgrade_adapted"][..]));
        assert_eq!(noted.task_id.as_deref(), Some("task-1"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_adapted_stream_passes_a_second_layer() {
    let document = V1.result(&V1.task("COMPLETED"));
    let inner = call(plain().adapt_downgrade(true), V1.stream(), Answer::json(document)).await;
    let outer = call(plain(), V1.stream(), Answer::sse(MockBody::of(inner.frames))).await;
    assert_eq!(outer.word(), "success/success");
}

#[tokio::test(start_paused = true)]
async fn the_option_makes_no_stream_of_a_refusal() {
    let ended = call(plain().adapt_downgrade(true), V1.stream(), Answer::json(V1.error(-32004))).await;
    assert_eq!(ended.word(), "refused/peer_error");
}

#[tokio::test(start_paused = true)]
async fn the_option_makes_no_stream_of_what_is_no_result() {
    for document in ["{}", "[]", "", "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"task\":{}}}"] {
        let ended = call(plain().adapt_downgrade(true), V1.stream(), Answer::json(document)).await;
        assert_eq!(ended.error().outcome().as_str(), "broken", "{document}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_document_under_the_media_type_of_streams_is_a_downgrade_or_a_refusal() {
    let downgrade = MockBody::new().data(V1.result(&V1.task("COMPLETED")));
    assert_eq!(call(plain(), V1.stream(), Answer::sse(downgrade)).await.word(), "broken/silent_downgrade");
    let ended = call(plain(), V1.stream(), Answer::sse(MockBody::new().data(V1.error(-32001)))).await;
    assert_eq!((ended.word().as_str(), ended.error().code()), ("refused/peer_error", Some(-32001)));
    assert_eq!(ended.error().response().unwrap().body, V1.error(-32001));
}

/// As `adapt_downgrade` says of a JSON result that answers a streaming call, whatever the peer calls it.
#[tokio::test(start_paused = true)]
async fn by_option_a_document_under_the_media_type_of_streams_is_adapted_too() {
    let document = V1.result(&V1.task("COMPLETED"));
    let answer = Answer::sse(MockBody::new().data(document.clone()));
    let ended = call(plain().adapt_downgrade(true), V1.stream(), answer).await;
    assert_eq!(ended.word(), "success/success");
    assert_eq!(String::from_utf8(ended.bytes()).unwrap(), format!("data: {document}\n\n"));
}

#[tokio::test(start_paused = true)]
async fn a_content_coding_that_nobody_decoded_names_the_fix() {
    let place = "put a decompression layer directly below this one";
    for (request, media) in
        [(V1.send(), "application/json"), (V1.stream(), "text/event-stream"), (Rest.get(), "application/a2a+json")]
    {
        let answer = Answer::new(200, media, MockBody::new().hang()).header("content-encoding", "gzip");
        let ended = call(plain(), request, answer).await;
        assert_eq!((ended.word().as_str(), ended.elapsed), ("broken/content_encoding", s(0)));
        let line = ended.error().to_string();
        assert!(line.contains(place) && line.contains("gzip"), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_coded_error_is_judged_by_its_status_where_that_decides() {
    let coded =
        |status| Answer::new(status, "application/json", MockBody::new().data("\x1f")).header("content-encoding", "br");
    assert_eq!(call(plain(), V1.send(), coded(401)).await.word(), "refused/auth");
    assert_eq!(call(plain(), V1.send(), coded(400)).await.word(), "broken/content_encoding");
}

#[tokio::test(start_paused = true)]
async fn identity_is_no_coding() {
    let answer = Answer::json(V1.result(&V1.task("COMPLETED"))).header("content-encoding", "identity");
    assert_eq!(call(plain(), V1.send(), answer).await.word(), "success/success");
}

#[tokio::test(start_paused = true)]
async fn the_answer_of_another_call_is_no_answer() {
    let other = |dialect: Dialect| dialect.result(&dialect.task("COMPLETED")).replace("\"id\":1,", "\"id\":2,");
    for dialect in [V1, V03, V02] {
        let ended = call(plain(), dialect.send(), Answer::json(other(dialect))).await;
        assert_eq!(ended.word(), "broken/protocol_violation", "{dialect:?}");
        let body = MockBody::new().data(format!("data: {}\n\n", other(dialect)));
        let ended = call(plain(), dialect.stream(), Answer::sse(body)).await;
        assert_eq!(ended.word(), "broken/protocol_violation", "{dialect:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_unary_body_that_breaks_off_is_truncated() {
    let whole = V1.result(&V1.task("COMPLETED"));
    let cut = MockBody::new().data(whole[..20].to_owned()).reset();
    let ended = call(plain(), V1.send(), Answer::new(200, "application/json", cut)).await;
    assert_eq!(ended.word(), "broken/truncated");
    assert!(ended.frames.is_empty());
    // Even behind a whole document: the peer had more to say.
    let cut = MockBody::new().data(whole).reset();
    assert_eq!(call(plain(), V1.send(), Answer::new(200, "application/json", cut)).await.word(), "broken/truncated");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_empty_and_half_a_document_is_malformed() {
    let json = |text: &'static str| Answer::new(200, "application/json", MockBody::new().data(text));
    assert_eq!(call(plain(), V1.send(), json("")).await.word(), "broken/empty");
    assert_eq!(call(plain(), V1.send(), json("{\"jsonrpc\":\"2.0\"")).await.word(), "broken/malformed");
    assert_eq!(call(plain(), V1.stream(), Answer::sse(MockBody::new())).await.word(), "broken/empty");
}
