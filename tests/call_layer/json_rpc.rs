//! JSON-RPC: operation and version by the method's spelling, the rest by the parameters.

use a2a_guard::{Binding, CallLayer, Operation, ProtocolVersion, wire::JsonRpcId};

use crate::{mock::MockBody, named, post, request, rpc};

use Operation as O;

const V1: ProtocolVersion = ProtocolVersion::V1_0;
const V03: ProtocolVersion = ProtocolVersion::V0_3;
const V02: ProtocolVersion = ProtocolVersion::V0_2;

#[tokio::test(start_paused = true)]
async fn the_method_names_operation_and_version() {
    let table = [
        ("SendMessage", O::SendMessage, V1),
        ("SendStreamingMessage", O::SendStreamingMessage, V1),
        ("GetTask", O::GetTask, V1),
        ("ListTasks", O::ListTasks, V1),
        ("CancelTask", O::CancelTask, V1),
        ("SubscribeToTask", O::SubscribeToTask, V1),
        ("CreateTaskPushNotificationConfig", O::CreateTaskPushNotificationConfig, V1),
        ("GetTaskPushNotificationConfig", O::GetTaskPushNotificationConfig, V1),
        ("ListTaskPushNotificationConfigs", O::ListTaskPushNotificationConfigs, V1),
        ("DeleteTaskPushNotificationConfig", O::DeleteTaskPushNotificationConfig, V1),
        ("GetExtendedAgentCard", O::GetExtendedAgentCard, V1),
        ("message/send", O::SendMessage, V03),
        ("message/stream", O::SendStreamingMessage, V03),
        ("tasks/get", O::GetTask, V03),
        ("tasks/cancel", O::CancelTask, V03),
        ("tasks/resubscribe", O::SubscribeToTask, V03),
        ("tasks/pushNotificationConfig/set", O::CreateTaskPushNotificationConfig, V03),
        ("tasks/pushNotificationConfig/get", O::GetTaskPushNotificationConfig, V03),
        ("tasks/pushNotificationConfig/list", O::ListTaskPushNotificationConfigs, V03),
        ("tasks/pushNotificationConfig/delete", O::DeleteTaskPushNotificationConfig, V03),
        ("agent/getAuthenticatedExtendedCard", O::GetExtendedAgentCard, V03),
        ("tasks/send", O::SendMessage, V02),
        ("tasks/sendSubscribe", O::SendStreamingMessage, V02),
        ("tasks/pushNotification/set", O::CreateTaskPushNotificationConfig, V02),
        ("tasks/pushNotification/get", O::GetTaskPushNotificationConfig, V02),
    ];
    for (method, operation, version) in table {
        let call = named(&CallLayer::new(), rpc(method, "")).await;
        assert_eq!(call.operation(), Some(operation), "{method}");
        assert_eq!((call.binding(), call.version()), (Some(Binding::JsonRpc), Some(version)), "{method}");
        assert_eq!(call.is_streaming(), operation.is_streaming(), "{method}");
        assert_eq!(call.target().unwrap(), "https://agent.example.com/a2a");
    }
}

#[tokio::test(start_paused = true)]
async fn another_method_is_json_rpc_that_nobody_can_name() {
    for method in ["acme/doIt", "sendMessage", "sendmessage", "SendMessage ", ""] {
        let call = named(&CallLayer::new(), rpc(method, "")).await;
        assert_eq!((call.operation(), call.binding()), (None, Some(Binding::JsonRpc)), "{method:?}");
        assert_eq!(call.id(), Some(&JsonRpcId::Number(1)));
    }
}

#[tokio::test(start_paused = true)]
async fn the_method_may_be_spelled_with_escapes_and_stand_anywhere() {
    let call = named(&CallLayer::new(), rpc("message\\/\\u0073end", "")).await;
    assert_eq!(call.operation(), Some(O::SendMessage));
    let backwards = r#" { "params" : {"id":"t-9"} , "method" : "GetTask" , "id" : 7 , "jsonrpc" : "2.0" } "#;
    let call = named(&CallLayer::new(), post(backwards)).await;
    assert_eq!((call.operation(), call.task_id()), (Some(O::GetTask), Some("t-9")));
    assert_eq!(call.id(), Some(&JsonRpcId::Number(7)));
}

#[tokio::test(start_paused = true)]
async fn the_media_type_makes_no_difference() {
    for media in [None, Some("application/json"), Some("text/plain"), Some("application/a2a+json")] {
        let mut request = rpc("GetTask", "");
        if let Some(media) = media {
            request.headers_mut().insert("content-type", media.parse().unwrap());
        }
        assert_eq!(named(&CallLayer::new(), request).await.operation(), Some(O::GetTask), "{media:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_version_header_does_not_change_the_dialect() {
    let mut request = rpc("message/send", "");
    request.headers_mut().insert("a2a-version", "1.0".parse().unwrap());
    assert_eq!(named(&CallLayer::new(), request).await.version(), Some(V03));
}

#[tokio::test(start_paused = true)]
async fn ids_of_every_kind_are_read() {
    let text = |text: &str| JsonRpcId::Text(text.into());
    let raw = |text: &str| JsonRpcId::Raw(text.into());
    let table = [
        (r#""id":7,"#, JsonRpcId::Number(7)),
        (r#""id":-7,"#, JsonRpcId::Number(-7)),
        (r#""id":"7","#, text("7")),
        (r#""id":"a\u00e9\"","#, text("aé\"")),
        (r#""id":"","#, text("")),
        (r#""id":1.5,"#, raw("1.5")),
        (r#""id":12345678901234567890,"#, raw("12345678901234567890")),
        (r#""id":null,"#, JsonRpcId::Null),
        ("", JsonRpcId::Absent),
        (r#""id":true,"#, JsonRpcId::Other),
        (r#""id":{"a":1},"#, JsonRpcId::Other),
        (r#""id":[1],"#, JsonRpcId::Other),
    ];
    for (member, id) in table {
        let body = format!(r#"{{"jsonrpc":"2.0",{member}"method":"GetTask","params":{{}}}}"#);
        assert_eq!(named(&CallLayer::new(), post(body)).await.id(), Some(&id), "{member}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_task_is_read_where_the_operation_has_it() {
    let table = [
        ("GetTask", r#""id":"t-1""#, Some("t-1")),
        ("tasks/get", r#""id":"t-1","historyLength":3"#, Some("t-1")),
        ("CancelTask", r#""id":"t-1""#, Some("t-1")),
        ("SubscribeToTask", r#""id":"t-1""#, Some("t-1")),
        ("tasks/send", r#""id":"t-1","message":{"taskId":"t-2"}"#, Some("t-1")),
        ("SendMessage", r#""message":{"taskId":"t-2","contextId":"c-1"}"#, Some("t-2")),
        ("message/stream", r#""message":{"taskId":"t-2"}"#, Some("t-2")),
        ("GetTaskPushNotificationConfig", r#""taskId":"t-3","id":"config-1""#, Some("t-3")),
        ("GetTaskPushNotificationConfig", r#""id":"config-1","taskId":"t-3""#, Some("t-3")),
        ("tasks/pushNotificationConfig/get", r#""id":"t-4","pushNotificationConfigId":"config-1""#, Some("t-4")),
        ("SendMessage", r#""message":{"messageId":"m","parts":[{"data":{"taskId":"other"}}]}"#, None),
        ("GetTask", r#""id":7"#, None),
        ("GetTask", r#""id":"""#, None),
        ("ListTasks", "", None),
    ];
    for (method, params, task) in table {
        let call = named(&CallLayer::new(), rpc(method, params)).await;
        assert_eq!(call.task_id(), task, "{method} {params}");
    }
}

#[tokio::test(start_paused = true)]
async fn context_and_tenant_are_read() {
    let call = named(&CallLayer::new(), rpc("SendMessage", r#""tenant":"acme","message":{"contextId":"c-1"}"#)).await;
    assert_eq!((call.tenant(), call.context_id()), (Some("acme"), Some("c-1")));
    let call = named(&CallLayer::new(), rpc("ListTasks", r#""contextId":"c-2""#)).await;
    assert_eq!((call.tenant(), call.context_id()), (None, Some("c-2")));
}

#[tokio::test(start_paused = true)]
async fn a_send_blocks_unless_it_says_otherwise() {
    let table = [
        ("SendMessage", "", true),
        ("SendMessage", r#""configuration":{}"#, true),
        ("SendMessage", r#""configuration":{"returnImmediately":false}"#, true),
        ("SendMessage", r#""configuration":{"returnImmediately":true}"#, false),
        ("SendMessage", r#""configuration":{"returnImmediately":"true"}"#, true),
        ("SendStreamingMessage", "", true),
        ("SendStreamingMessage", r#""configuration":{"returnImmediately":true}"#, false),
        ("message/send", "", true),
        ("message/send", r#""configuration":{"blocking":true}"#, true),
        ("message/send", r#""configuration":{"blocking":false}"#, false),
        ("message/stream", "", true),
        ("tasks/send", "", true),
        ("tasks/sendSubscribe", "", true),
        ("GetTask", r#""configuration":{"returnImmediately":false}"#, false),
        ("SubscribeToTask", "", false),
        ("SendMessage", r#""message":{"configuration":{"returnImmediately":true}}"#, true),
    ];
    for (method, params, blocking) in table {
        let call = named(&CallLayer::new(), rpc(method, params)).await;
        assert_eq!(call.is_blocking(), blocking, "{method} {params}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_json_rpc_is_not_named() {
    let bodies = [
        "",
        "null",
        "7",
        "{}",
        "<html>",
        r#"{"method":"SendMessage","id":1}"#,
        r#"{"jsonrpc":"1.0","method":"SendMessage","id":1}"#,
        r#"{"jsonrpc":2.0,"method":"SendMessage","id":1}"#,
        r#"[{"jsonrpc":"2.0","method":"SendMessage","id":1}]"#,
        r#"{"a":{"jsonrpc":"2.0","method":"SendMessage","id":1}}"#,
    ];
    for body in bodies {
        let call = named(&CallLayer::new(), post(body)).await;
        assert_eq!((call.operation(), call.binding(), call.id()), (None, None, None), "{body}");
        assert!(call.began().is_some() && call.target().is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn only_a_post_is_read() {
    for method in ["GET", "PUT", "DELETE"] {
        let request = request(method, "/a2a", MockBody::new().data(r#"{"jsonrpc":"2.0","method":"GetTask"}"#).hang());
        assert_eq!(named(&CallLayer::new(), request).await.operation(), None, "{method}");
    }
}

/// An agent may serve JSON-RPC at any path, also at one that looks like HTTP+JSON's and is none of its operations.
#[tokio::test(start_paused = true)]
async fn json_rpc_is_named_at_any_path() {
    for path in ["/", "/a2a", "/v1", "/tasks", "/tasks/rpc", "/agents/tasks/a2a", "/message:rpc", "/a2a/"] {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}"#;
        let call = named(&CallLayer::new(), request("POST", path, MockBody::new().data(body))).await;
        assert_eq!((call.operation(), call.binding()), (Some(O::GetTask), Some(Binding::JsonRpc)), "{path}");
        assert_eq!(call.task_id(), Some("t-1"), "{path}");
    }
}
