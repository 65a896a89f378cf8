//! Calls that the peer refuses, and says why.

use a2a_guard::Binding;
use a2a_guard_peers::Profile;
use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};

use crate::ask::Ask;
use crate::caller::{Outcomes, Peer, named};
use crate::tap::Tap;

over_both_bindings! {
    an_unknown_task
    a_finished_task
    streaming_that_the_card_denies
    push_that_the_card_denies
    an_extended_card_that_is_not_there
    a_version_that_nobody_speaks
    an_error_of_the_agent
    an_error_of_the_agent_in_a_stream
    a_route_that_is_not_there
    the_refusal_keeps_the_response
}

/// What the refusal of a call with status 200 or another is: JSON-RPC has the code, HTTP+JSON the status.
fn expect_code(error: &a2a_guard::CallError, binding: Binding, code: i64, status: StatusCode) {
    match binding {
        Binding::JsonRpc => {
            assert_eq!(error.code(), Some(code), "{error}");
            assert_eq!(error.http_status(), Some(StatusCode::OK), "{error}");
        }
        _ => assert_eq!(error.http_status(), Some(status), "{error}"),
    }
}

async fn an_unknown_task(binding: Binding) {
    let peer = Peer::full(binding).await;
    for (ask, operation) in [
        (Ask::Get("nobody"), "GetTask"),
        (Ask::Cancel("nobody"), "CancelTask"),
        (Ask::Subscribe("nobody"), "SubscribeToTask"),
    ] {
        let ended = peer.ask(ask).await;
        let error = ended.expect_refusal("TaskNotFoundError", "TASK_NOT_FOUND");
        expect_code(error, binding, -32001, StatusCode::NOT_FOUND);
        assert_eq!(named(error.call()), (Some(operation), Some(binding.as_str())));
        assert_eq!(error.task_id(), Some("nobody"));
        assert!(!error.is_routing_signal());
    }
}

async fn a_finished_task(binding: Binding) {
    let peer = Peer::full(binding).await;
    let task = &peer.task("task").await;
    let ended = peer.ask(Ask::Cancel(task)).await;
    let error = ended.expect_refusal("TaskNotCancelableError", "TASK_NOT_CANCELABLE");
    expect_code(error, binding, -32002, StatusCode::BAD_REQUEST);
    for ask in [Ask::Subscribe(task), Ask::FollowUp { task, text: "more" }] {
        let ended = peer.ask(ask).await;
        let error = ended.expect_refusal("UnsupportedOperationError", "UNSUPPORTED_OPERATION");
        expect_code(error, binding, -32004, StatusCode::BAD_REQUEST);
        // It is about the task: nothing says that agent or skill are not here.
        assert!(!error.is_routing_signal());
        assert_eq!(error.task_id(), Some(task.as_str()));
    }
}

async fn streaming_that_the_card_denies(binding: Binding) {
    let peer = Peer::start(Profile::Bare, binding).await;
    let ended = peer.ask(Ask::Stream("task")).await;
    let error = ended.expect_refusal("UnsupportedOperationError", "UNSUPPORTED_OPERATION");
    expect_code(error, binding, -32004, StatusCode::BAD_REQUEST);
    assert_eq!(error.capability().map(|capability| capability.as_str()), Some("streaming"));
    assert_eq!(error.events(), 0);
    // What it can do, it does.
    peer.ask(Ask::Send("task")).await.expect_state("TASK_STATE_COMPLETED");
}

async fn push_that_the_card_denies(binding: Binding) {
    let peer = Peer::start(Profile::Bare, binding).await;
    let task = peer.task("task").await;
    let ended = peer.ask(Ask::CreatePush(&task)).await;
    let error = ended.expect_refusal("PushNotificationNotSupportedError", "PUSH_NOTIFICATION_NOT_SUPPORTED");
    expect_code(error, binding, -32003, StatusCode::BAD_REQUEST);
}

async fn an_extended_card_that_is_not_there(binding: Binding) {
    let peer = Peer::start(Profile::Bare, binding).await;
    let ended = peer.ask(Ask::ExtendedCard).await;
    let error = ended.expect_refusal("UnsupportedOperationError", "UNSUPPORTED_OPERATION");
    expect_code(error, binding, -32004, StatusCode::BAD_REQUEST);

    let peer = Peer::start(Profile::ExtendedCardMissing, binding).await;
    let ended = peer.ask(Ask::ExtendedCard).await;
    let error = ended.expect_refusal("ExtendedAgentCardNotConfiguredError", "EXTENDED_AGENT_CARD_NOT_CONFIGURED");
    expect_code(error, binding, -32007, StatusCode::BAD_REQUEST);
}

/// The server checks the version over JSON-RPC only.
async fn a_version_that_nobody_speaks(binding: Binding) {
    let peer = Peer::full(binding).await;
    let mut request = Ask::Send("message").request(&peer.server, binding);
    request.headers_mut().insert("a2a-version", HeaderValue::from_static("9.9"));
    let ended = peer.call(request).await;
    match binding {
        Binding::JsonRpc => {
            let error = ended.expect_refusal("VersionNotSupportedError", "VERSION_NOT_SUPPORTED");
            expect_code(error, binding, -32009, StatusCode::BAD_REQUEST);
        }
        _ => assert_eq!(ended.expect_success().payload(binding)["message"]["role"], "ROLE_AGENT"),
    }
}

async fn an_error_of_the_agent(binding: Binding) {
    let peer = Peer::full(binding).await;
    for text in ["typed0", "typed"] {
        let ended = peer.ask(Ask::Send(text)).await;
        let error = ended.expect_refusal("ContentTypeNotSupportedError", "CONTENT_TYPE_NOT_SUPPORTED");
        expect_code(error, binding, -32005, StatusCode::BAD_REQUEST);
    }
    for text in ["error0", "error"] {
        let ended = peer.ask(Ask::Send(text)).await;
        let error = ended.expect_failure("refused", "peer_error");
        assert_eq!(error.a2a_error().map(|known| known.name()), Some("InternalError"), "{error}");
        assert_eq!(error.peer_message(), Some("boom"));
        expect_code(error, binding, -32603, StatusCode::INTERNAL_SERVER_ERROR);
    }
}

/// Here both bindings write a code into the event, under a head that said 200.
async fn an_error_of_the_agent_in_a_stream(binding: Binding) {
    let peer = Peer::full(binding).await;
    for (text, code, events, state) in [
        ("typed0", -32005, 0, None),
        ("typed", -32005, 2, Some("TASK_STATE_WORKING")),
        ("error0", -32603, 0, None),
        ("error", -32603, 2, Some("TASK_STATE_WORKING")),
    ] {
        let ended = peer.ask(Ask::Stream(text)).await;
        let error = ended.expect_failure("refused", "peer_error");
        assert_eq!(error.code(), Some(code), "{text}: {error}");
        assert_eq!(error.http_status(), Some(StatusCode::OK));
        assert_eq!(error.events(), events, "{text}: {error}");
        assert_eq!(error.task_state().map(|state| state.as_str()), state, "{text}: {error}");
        assert_eq!(error.task_id().is_some(), events > 0, "{text}: {error}");
    }
}

async fn a_route_that_is_not_there(binding: Binding) {
    let peer = Peer::full(binding).await;
    let mut request = Ask::Send("message").request(&peer.server, binding);
    let moved = request.uri().to_string().replace("/rpc", "/nowhere").replace("/rest", "/nowhere");
    *request.uri_mut() = moved.parse().unwrap();
    let ended = peer.call(request).await;
    let error = ended.expect_failure("refused", "endpoint_not_found");
    assert_eq!(error.http_status(), Some(StatusCode::NOT_FOUND));
    assert_eq!(error.a2a_error(), None);
}

/// Whoever gets the error can still replay the answer: status, headers and the bytes as they came.
async fn the_refusal_keeps_the_response(binding: Binding) {
    let peer = Peer::full(binding).await;
    let ended = peer.ask(Ask::Get("nobody")).await;
    let error = ended.expect_refusal("TaskNotFoundError", "TASK_NOT_FOUND");
    let response = error.response().expect("a response");
    assert_eq!(Some(response.status), error.http_status());
    assert!(response.headers.contains_key(header::CONTENT_TYPE));
    let body: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(body["error"]["message"], "task not found: nobody");
    let length = response.headers[header::CONTENT_LENGTH].to_str().unwrap();
    assert_eq!(length, response.body.len().to_string());
}

/// What the server's HTTP framework says by itself, in plain text or with nothing.
#[tokio::test]
async fn answers_of_the_framework() {
    let peer = Peer::full(Binding::HttpJson).await;
    let url = format!("{}/message:send", peer.server.rest());
    let request = |method, media: &'static str, body: &'static str| {
        Request::builder()
            .method(method)
            .uri(&url)
            .header(header::CONTENT_TYPE, media)
            .body(Full::new(Bytes::from_static(body.as_bytes())))
            .unwrap()
    };

    let ended = peer.call(request(Method::POST, "text/plain", "{}")).await;
    let error = ended.expect_failure("refused", "unsupported_media");
    assert_eq!(error.http_status(), Some(StatusCode::UNSUPPORTED_MEDIA_TYPE));

    let ended = peer.call(request(Method::POST, "application/json", "{")).await;
    let error = ended.expect_failure("broken", "http_status");
    assert_eq!(error.http_status(), Some(StatusCode::BAD_REQUEST));
}

/// Nobody can name it, so it passes as it is, though the observer learns what came of it.
#[tokio::test]
async fn a_call_without_a_name_passes() {
    let peer = Peer::full(Binding::HttpJson).await;
    let request = Request::get(format!("{}/health", peer.server.rest())).body(Full::default()).unwrap();
    let (outcomes, tap) = (Outcomes::default(), Tap::default());
    let response = peer.guarded(&outcomes, &tap, None, request).await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    assert!(response.into_body().collect().await.unwrap().to_bytes().is_empty());
    let seen = outcomes.one();
    assert_eq!((seen.outcome, seen.class, seen.with_error), ("refused", "endpoint_not_found", false));
}
