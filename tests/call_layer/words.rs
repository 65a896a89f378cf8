//! Skill and region, and what the caller says itself: that wins.

use a2a_guard::{Binding, Call, CallLayer, Operation, ProtocolVersion, wire::JsonRpcId};
use http::{HeaderName, Request};
use tower::{Layer, Service, ServiceExt};

use crate::{
    call_of,
    mock::{Answer, MockBody, Peer},
    named, passed, request, rpc,
};

fn layer() -> CallLayer {
    CallLayer::new()
        .skill_metadata("skillId")
        .region_metadata("region")
        .skill_header(HeaderName::from_static("x-skill"))
        .region_header(HeaderName::from_static("x-region"))
}

fn with(mut request: Request<MockBody>, call: Call) -> Request<MockBody> {
    request.extensions_mut().insert(call);
    request
}

fn headers(mut request: Request<MockBody>) -> Request<MockBody> {
    request.headers_mut().insert("x-skill", "by-header".parse().unwrap());
    request.headers_mut().insert("x-region", "by-header".parse().unwrap());
    request
}

#[tokio::test(start_paused = true)]
async fn metadata_keys_tell_skill_and_region() {
    let of_request = r#""metadata":{"skillId":"translate","region":"eu"},"message":{"parts":[]}"#;
    let of_message = r#""message":{"metadata":{"region":"eu","skillId":"translate"}}"#;
    let both =
        r#""message":{"metadata":{"skillId":"other","region":"us"}},"metadata":{"skillId":"translate","region":"eu"}"#;
    for params in [of_request, of_message, both] {
        for request in [rpc("SendMessage", params), rest(params)] {
            let call = named(&layer(), request).await;
            assert_eq!((call.skill(), call.region()), (Some("translate"), Some("eu")), "{params}");
        }
    }
}

fn rest(params: &str) -> Request<MockBody> {
    request("POST", "/message:send", MockBody::new().data(format!("{{{params}}}")))
}

#[tokio::test(start_paused = true)]
async fn nothing_is_taken_from_where_nobody_said() {
    let params = r#""metadata":{"skillId":"translate","region":"eu"}"#;
    let call = named(&CallLayer::new(), headers(rpc("SendMessage", params))).await;
    assert_eq!((call.skill(), call.region()), (None, None));
}

#[tokio::test(start_paused = true)]
async fn headers_win_over_metadata() {
    let call = named(&layer(), headers(rpc("SendMessage", r#""metadata":{"skillId":"x","region":"y"}"#))).await;
    assert_eq!((call.skill(), call.region()), (Some("by-header"), Some("by-header")));
}

#[tokio::test(start_paused = true)]
async fn what_the_caller_set_wins_over_everything() {
    let own = Call::new()
        .with_skill("mine")
        .with_region("here")
        .with_tenant("me")
        .with_task_id("my-task")
        .with_context_id("my-context")
        .with_version(ProtocolVersion::V0_3)
        .with_id(JsonRpcId::Text("my-id".into()));
    let params =
        r#""tenant":"acme","message":{"taskId":"t-1","contextId":"c-1"},"metadata":{"skillId":"x","region":"y"}"#;
    let call = named(&layer(), with(headers(rpc("SendMessage", params)), own)).await;
    assert_eq!((call.skill(), call.region(), call.tenant()), (Some("mine"), Some("here"), Some("me")));
    assert_eq!((call.task_id(), call.context_id()), (Some("my-task"), Some("my-context")));
    assert_eq!(call.version(), Some(ProtocolVersion::V0_3));
    assert_eq!(call.id(), Some(&JsonRpcId::Text("my-id".into())));
    // And what it left open is read.
    assert_eq!((call.operation(), call.binding()), (Some(Operation::SendMessage), Some(Binding::JsonRpc)));
    assert!(call.began().is_some());
}

#[tokio::test(start_paused = true)]
async fn the_callers_task_and_tenant_win_over_the_path() {
    let own = Call::new().with_task_id("mine").with_tenant("me");
    let request = with(request("GET", "/acme/tasks/t-1", MockBody::new()), own);
    let call = named(&CallLayer::new().base_path("/"), request).await;
    assert_eq!((call.operation(), call.task_id(), call.tenant()), (Some(Operation::GetTask), Some("mine"), Some("me")));
}

#[tokio::test(start_paused = true)]
async fn a_binding_that_the_caller_set_is_not_guessed_again() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}"#;
    let request = request("POST", "/message:send", MockBody::new().data(body));
    let call = named(&CallLayer::new(), with(request, Call::new().with_binding(Binding::JsonRpc))).await;
    assert_eq!((call.operation(), call.task_id()), (Some(Operation::GetTask), Some("t-1")));
}

/// Not even read: its body never comes.
#[tokio::test(start_paused = true)]
async fn a_call_with_operation_and_binding_is_left_alone() {
    let own = Call::new().with_operation(Operation::ListTasks).with_binding(Binding::JsonRpc);
    let passed = passed(&layer(), with(request("POST", "/a2a", MockBody::new().hang()), own)).await;
    let call = call_of(&passed);
    assert_eq!((call.operation(), call.version(), call.skill()), (Some(Operation::ListTasks), None, None));
    assert_eq!((call.began(), call.target()), (None, None));
}

/// Without a binding nothing could be judged.
#[tokio::test(start_paused = true)]
async fn a_call_with_an_operation_alone_keeps_it_and_is_completed() {
    let own = Call::new().with_operation(Operation::ListTasks);
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"t-1"}}"#;
    let call = named(&CallLayer::new(), with(request("POST", "/a2a", MockBody::new().data(body)), own)).await;
    assert_eq!((call.operation(), call.binding()), (Some(Operation::ListTasks), Some(Binding::JsonRpc)));
    assert_eq!(call.id(), Some(&JsonRpcId::Number(7)));
}

#[tokio::test(start_paused = true)]
async fn a_second_call_layer_does_nothing() {
    let peer = Peer::new([Answer::json("{}")]);
    let mut service = CallLayer::new().layer(CallLayer::new().layer(peer.clone()));
    service.ready().await.unwrap().call(rpc("GetTask", r#""id":"t-1""#)).await.unwrap();
    let request = peer.requests().remove(0);
    assert_eq!(call_of(&request).task_id(), Some("t-1"));
}

#[tokio::test(start_paused = true)]
async fn the_head_goes_on_unchanged() {
    let mut request = headers(rpc("GetTask", ""));
    *request.version_mut() = http::Version::HTTP_2;
    request.extensions_mut().insert(7_u8);
    let passed = passed(&layer(), request).await;
    assert_eq!((passed.method().as_str(), passed.uri().path()), ("POST", "/a2a"));
    assert_eq!((passed.version(), passed.headers().len()), (http::Version::HTTP_2, 2));
    assert_eq!(passed.extensions().get::<u8>(), Some(&7));
}

#[tokio::test(start_paused = true)]
async fn texts_too_long_to_be_kept_name_nothing() {
    let long = "x".repeat(2000);
    let call = named(&layer(), rpc("GetTask", &format!(r#""id":"{long}","metadata":{{"skillId":"{long}"}}"#))).await;
    assert_eq!((call.operation(), call.task_id(), call.skill()), (Some(Operation::GetTask), None, None));
}
