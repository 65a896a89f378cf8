//! What a program can ask an error for.

use a2a_guard::{
    Binding, CallError, Capability, CapabilityNegotiationError, Class, Limits, Operation, ProtocolVersion,
};

use crate::{
    failed, failed_under,
    mock::{Answer, Dialect, MockBody, s},
    with,
};

use Dialect::{Rest, V1, V03};

fn status(status: u16, media: &str, body: &'static str) -> Answer {
    Answer::new(status, media, MockBody::new().data(body))
}

#[tokio::test(start_paused = true)]
async fn each_error_names_capability_shape_target_time_and_cause() {
    let error = failed(V03.stream(), Answer::sse(MockBody::new().hang()).after(s(3))).await;
    assert_eq!(error.capability(), Some(Capability::Streaming));
    assert_eq!(error.shape().to_string(), "SendStreamingMessage over JSONRPC 0.3");
    assert_eq!(error.shape().media_type(), Some("text/event-stream"));
    assert_eq!(error.call().target().unwrap(), "https://agent.example.com/a2a");
    assert_eq!(error.call().version(), Some(ProtocolVersion::V0_3));
    assert_eq!((error.elapsed(), error.bound()), (s(33), Some(s(30))));
    let common: &dyn CapabilityNegotiationError = &error;
    assert_eq!(common.class(), Class::FirstEvent);
    assert_eq!((common.capability(), common.shape()), (Some(Capability::Streaming), error.shape()));
}

#[tokio::test(start_paused = true)]
async fn each_kind_is_a_type_of_its_own() {
    let timeout = failed_under(with(Limits::default().head(s(2))), V1.get(), Answer::never()).await;
    let CallError::Timeout(timeout) = timeout else { panic!("{timeout}") };
    assert_eq!((timeout.class(), timeout.bound(), timeout.elapsed()), (Class::Head, s(2), s(2)));

    let refused = failed(V1.get(), status(403, "text/plain", "no")).await;
    let CallError::Refused(refusal) = refused else { panic!("{refused}") };
    assert_eq!((refusal.class(), &refusal.response().unwrap().body[..]), (Class::Auth, &b"no"[..]));

    let untyped = failed(V1.get(), status(500, "text/plain", "no")).await;
    let CallError::Untyped(failure) = untyped else { panic!("{untyped}") };
    assert_eq!((failure.class(), failure.detail()), (Class::HttpStatus, "the peer failed without a typed error"));

    let lost = failed(V1.get(), Answer::lost(std::io::ErrorKind::ConnectionReset)).await;
    let CallError::Transport(transport) = lost else { panic!("{lost}") };
    assert_eq!(transport.class(), Class::ConnectionLost);
    assert_eq!(transport.call().operation(), Some(Operation::GetTask));
    let back: CallError = transport.into();
    assert_eq!(back.class(), Class::ConnectionLost);
}

#[tokio::test(start_paused = true)]
async fn clones_share_what_they_know() {
    let error = failed(V1.get(), Answer::json(V1.error(-32001))).await;
    let clone = error.clone();
    assert!(std::ptr::eq(error.response().unwrap(), clone.response().unwrap()));
}

/// The same error of the specification, in each binding's spelling.
#[tokio::test(start_paused = true)]
async fn the_a2a_error_is_normalised_over_the_bindings() {
    let info =
        r#"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}"#;
    let rest = format!(r#"{{"error":{{"code":404,"status":"NOT_FOUND","message":"no","details":[{info}]}}}}"#);
    let problem = r#"{"type":"https://a2a-protocol.org/errors/task-not-found","title":"no","status":404}"#;
    let errors = [
        failed(V1.get(), Answer::json(V1.error(-32001))).await,
        failed(
            V03.get(),
            status(404, "application/json", r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}"#),
        )
        .await,
        failed(Rest.get(), Answer::new(404, "application/json", MockBody::new().data(rest))).await,
        failed(Rest.get(), status(404, "application/problem+json", problem)).await,
        failed(Rest.get(), status(404, "application/json", r#"{"code":-32001,"message":"no"}"#)).await,
    ];
    for error in &errors {
        assert_eq!(error.a2a_error().unwrap().name(), "TaskNotFoundError", "{error}");
        assert_eq!(error.class(), Class::PeerError);
    }
    assert_eq!((errors[0].code(), errors[0].reason(), errors[0].grpc_code()), (Some(-32001), None, None));
    assert_eq!((errors[2].code(), errors[2].reason(), errors[2].grpc_code()), (None, Some("TASK_NOT_FOUND"), Some(5)));
    assert_eq!(errors[2].http_status().unwrap(), 404);
    assert_eq!(errors[0].http_status().unwrap(), 200);
    assert_eq!(errors[0].peer_message(), Some("no"));
}

#[tokio::test(start_paused = true)]
async fn a_broken_answer_is_an_invalid_one() {
    let error = failed(V1.get(), Answer::json("{")).await;
    assert_eq!(error.a2a_error().unwrap().name(), "InvalidAgentResponseError");
    let error = failed(V1.get(), Answer::never()).await;
    assert_eq!((error.a2a_error(), error.http_status()), (None, None));
}

#[tokio::test(start_paused = true)]
async fn a_status_that_several_errors_share_is_not_guessed() {
    let body = r#"{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"no"}}"#;
    let error = failed(Rest.send(), status(400, "application/json", body)).await;
    assert_eq!((error.a2a_error(), error.grpc_code()), (None, Some(9)));
}

#[tokio::test(start_paused = true)]
async fn a_skill_that_is_not_here_says_where_and_what_is() {
    let data = r#"{"region":"eu-1","availableSkills":["translate","summarise"]}"#;
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32004,"message":"no such skill","data":{data}}}}}"#);
    let error = failed(V1.send(), Answer::json(body)).await;
    assert_eq!(error.region(), Some("eu-1"));
    assert_eq!(error.available_skills().unwrap(), ["translate", "summarise"]);
    assert!(error.is_routing_signal());
    assert_eq!(error.a2a_error().unwrap().name(), "UnsupportedOperationError");
}

#[tokio::test(start_paused = true)]
async fn a_missing_endpoint_is_a_routing_signal_and_a_missing_task_is_none() {
    assert!(failed(V1.get(), status(404, "text/html", "<html>")).await.is_routing_signal());
    assert!(!failed(V1.get(), Answer::json(V1.error(-32001))).await.is_routing_signal());
    assert!(!failed(V1.get(), Answer::never()).await.is_routing_signal());
}

#[tokio::test(start_paused = true)]
async fn the_peers_headers_are_at_hand() {
    let answer = status(401, "text/plain", "no").header("www-authenticate", "Bearer realm=\"a\"");
    assert_eq!(failed(V1.send(), answer).await.www_authenticate(), Some("Bearer realm=\"a\""));
    let answer = status(307, "text/plain", "").header("location", "https://elsewhere.example/a2a");
    assert_eq!(failed(V1.send(), answer).await.location(), Some("https://elsewhere.example/a2a"));
    let error = failed(V1.get(), Answer::never()).await;
    assert_eq!((error.www_authenticate(), error.location(), error.response().is_none()), (None, None, true));
}

#[tokio::test(start_paused = true)]
async fn what_the_peer_had_done_by_then_is_known() {
    let body = MockBody::of([V1.task_event("SUBMITTED"), V1.update_event("WORKING")]);
    let error = failed(V1.stream(), Answer::sse(body)).await;
    assert_eq!((error.events(), error.task_id()), (2, Some("task-1")));
    assert_eq!(error.task_state().unwrap().as_str(), "TASK_STATE_WORKING");
    assert_eq!(error.http_status().unwrap(), 200);
    assert!(error.tolerated().is_empty());
}

/// An answer that is no good still names the task that it left behind.
#[tokio::test(start_paused = true)]
async fn an_answer_of_the_wrong_shape_still_names_its_task() {
    let bare = V1.result(&V1.bare_task("WORKING"));
    let error = failed(V1.send(), Answer::json(bare)).await;
    assert_eq!((error.class(), error.task_id()), (Class::ProtocolViolation, Some("task-1")));
    assert_eq!(error.task_state().unwrap().as_str(), "TASK_STATE_WORKING");
    assert_eq!(error.call().binding(), Some(Binding::JsonRpc));
}

#[tokio::test(start_paused = true)]
async fn an_event_of_the_wrong_shape_still_names_its_task() {
    let bare = MockBody::of([V1.event(&V1.bare_task("WORKING"))]);
    let error = failed(V1.stream(), Answer::sse(bare)).await;
    assert_eq!((error.class(), error.task_id()), (Class::ProtocolViolation, Some("task-1")));
}
