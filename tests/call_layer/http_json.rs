//! HTTP+JSON: by method and path, whatever stands in front; a send's body says the rest.

use a2a_guard::{Binding, Call, CallLayer, Operation, ProtocolVersion, TerminalStateLayer};
use http::Request;
use tower::{Layer, Service, ServiceExt};

use crate::{
    mock::{Answer, MockBody, Notes, Peer},
    named, request,
};

use Operation as O;

const TABLE: [(&str, &str, Operation, Option<&str>); 20] = [
    ("POST", "/message:send", O::SendMessage, None),
    ("POST", "/v1/message:send", O::SendMessage, None),
    ("POST", "/acme/message:stream", O::SendStreamingMessage, None),
    ("POST", "/some/base/path/v1/message%3Astream", O::SendStreamingMessage, None),
    ("POST", "/message%3asend", O::SendMessage, None),
    ("GET", "/tasks", O::ListTasks, None),
    ("GET", "/v1/tasks?pageSize=10", O::ListTasks, None),
    ("GET", "/tasks/t-1", O::GetTask, Some("t-1")),
    ("GET", "/acme/v1/tasks/t-1?historyLength=1", O::GetTask, Some("t-1")),
    ("GET", "/tasks/a%2Fb%20%C3%A9", O::GetTask, Some("a/b é")),
    ("GET", "/tasks/urn:uuid:7", O::GetTask, Some("urn:uuid:7")),
    ("POST", "/tasks/urn:uuid:7:cancel", O::CancelTask, Some("urn:uuid:7")),
    ("POST", "/tasks/t-1%3Acancel", O::CancelTask, Some("t-1")),
    ("POST", "/tasks/t-1:subscribe", O::SubscribeToTask, Some("t-1")),
    ("GET", "/v1/tasks/t-1:subscribe", O::SubscribeToTask, Some("t-1")),
    ("POST", "/tasks/t-1/pushNotificationConfigs", O::CreateTaskPushNotificationConfig, Some("t-1")),
    ("GET", "/tasks/t-1/pushNotificationConfigs", O::ListTaskPushNotificationConfigs, Some("t-1")),
    ("GET", "/tasks/t-1/pushNotificationConfigs/c-1", O::GetTaskPushNotificationConfig, Some("t-1")),
    ("DELETE", "/tasks/t-1/pushNotificationConfigs/c-1", O::DeleteTaskPushNotificationConfig, Some("t-1")),
    ("GET", "/acme/extendedAgentCard", O::GetExtendedAgentCard, None),
];

#[tokio::test(start_paused = true)]
async fn method_and_path_name_the_call() {
    for (method, path, operation, task) in TABLE {
        let call = named(&CallLayer::new(), request(method, path, MockBody::new())).await;
        assert_eq!(call.operation(), Some(operation), "{method} {path}");
        assert_eq!((call.binding(), call.task_id()), (Some(Binding::HttpJson), task), "{method} {path}");
        assert_eq!(call.is_streaming(), operation.is_streaming(), "{method} {path}");
        assert_eq!((call.id(), call.tenant()), (None, None), "{method} {path}");
    }
}

/// The layers below name HTTP+JSON by themselves, as far as method, path and headers tell.
#[tokio::test(start_paused = true)]
async fn without_a_call_layer_the_path_is_enough() {
    for (method, path, operation, task) in TABLE {
        let calls = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let noting = std::sync::Arc::clone(&calls);
        let layer = a2a_guard::TerminalStateLayer::builder()
            .observe(move |outcome: &a2a_guard::Outcome<'_>| noting.lock().unwrap().push(outcome.call().clone()))
            .build()
            .unwrap();
        let mut service = layer.layer(Peer::new([Answer::new(401, "text/plain", MockBody::new())]));
        let mut request = request(method, path, MockBody::new());
        request.headers_mut().insert("a2a-version", "0.3".parse().unwrap());
        let error = service.ready().await.unwrap().call(request).await.unwrap_err();
        for call in [error.call(), &calls.lock().unwrap()[0]] {
            assert_eq!(call.operation(), Some(operation), "{method} {path}");
            assert_eq!((call.binding(), call.task_id()), (Some(Binding::HttpJson), task), "{method} {path}");
            assert_eq!(call.version(), Some(ProtocolVersion::V0_3));
        }
        assert_eq!(error.call().target().unwrap().path(), path.split('?').next().unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_call_layer_json_rpc_passes_unjudged() {
    let notes = Notes::default();
    let layer = a2a_guard::TerminalStateLayer::builder().observe(notes.clone()).build().unwrap();
    let mut service = layer.layer(Peer::new([Answer::json("{\"jsonrpc\":\"2.0\"}")]));
    let response = service.ready().await.unwrap().call(crate::rpc("GetTask", "")).await.unwrap();
    assert_eq!(crate::mock::frames_of(response.into_body()).await.0.concat(), b"{\"jsonrpc\":\"2.0\"}");
    assert_eq!(notes.words(), ["success/success"]);
}

#[tokio::test(start_paused = true)]
async fn the_version_is_that_of_header_or_query() {
    let version = |header: Option<&'static str>, path: &'static str| async move {
        let mut request = request("GET", path, MockBody::new());
        if let Some(header) = header {
            request.headers_mut().insert("a2a-version", header.parse().unwrap());
        }
        named(&CallLayer::new(), request).await.version()
    };
    assert_eq!(version(Some("1.0"), "/tasks/t").await, Some(ProtocolVersion::V1_0));
    assert_eq!(version(Some("0.3.0"), "/v1/tasks/t").await, Some(ProtocolVersion::V0_3));
    assert_eq!(version(None, "/tasks/t?x=y&A2A-Version=1.0").await, Some(ProtocolVersion::V1_0));
    assert_eq!(version(Some("0.3"), "/tasks/t?A2A-Version=1.0").await, Some(ProtocolVersion::V0_3));
    assert_eq!(version(Some("latest"), "/v1/tasks/t").await, None, "a path proves nothing");
    assert_eq!(version(Some(""), "/v1/tasks/t").await, None);
}

#[tokio::test(start_paused = true)]
async fn a_sends_body_says_task_context_tenant_and_blocking() {
    let body =
        r#"{"tenant":"acme","message":{"taskId":"t-1","contextId":"c-1"},"configuration":{"returnImmediately":true}}"#;
    for path in ["/message:send", "/v1/message:stream"] {
        let call = named(&CallLayer::new(), request("POST", path, MockBody::new().data(body))).await;
        assert_eq!((call.task_id(), call.context_id(), call.tenant()), (Some("t-1"), Some("c-1"), Some("acme")));
        assert!(!call.is_blocking());
        let call = named(&CallLayer::new(), request("POST", path, MockBody::new().data("{}"))).await;
        assert!(call.is_blocking());
    }
}

#[tokio::test(start_paused = true)]
async fn a_sends_body_does_not_change_what_the_path_says() {
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"t-1"}}"#;
    let call = named(&CallLayer::new(), request("POST", "/message:send", MockBody::new().data(body))).await;
    assert_eq!((call.operation(), call.binding()), (Some(O::SendMessage), Some(Binding::HttpJson)));
    assert_eq!(call.id(), None);
}

#[tokio::test(start_paused = true)]
async fn bodies_of_other_methods_are_not_read() {
    for (method, path) in [("GET", "/tasks/t-1"), ("DELETE", "/tasks/t-1/pushNotificationConfigs/c")] {
        // A body that never comes would hold the call up.
        let began = tokio::time::Instant::now();
        let call = named(&CallLayer::new(), request(method, path, MockBody::new().hang())).await;
        assert_eq!((call.task_id(), began.elapsed()), (Some("t-1"), std::time::Duration::ZERO), "{method} {path}");
    }
}

/// What the caller says of it wins over the body, as all that the caller says.
#[tokio::test(start_paused = true)]
async fn whether_a_send_may_wait_is_what_the_caller_says() {
    for (own, body) in [(false, "{}"), (true, r#"{"configuration":{"returnImmediately":true}}"#)] {
        let mut request = request("POST", "/message:send", MockBody::new().data(body));
        request.extensions_mut().insert(Call::new().with_blocking(own));
        assert_eq!(named(&CallLayer::new(), request).await.is_blocking(), own, "{body}");
    }
}

/// A query named no tenant before 1.0: with a `CallLayer` or without.
#[tokio::test(start_paused = true)]
async fn the_head_says_the_same_to_all_layers() {
    for (path, tenant) in [("/tasks/t-1?tenant=acme", Some("acme")), ("/tasks/t-1?tenant=acme&A2A-Version=0.3", None)] {
        let call = named(&CallLayer::new(), request("GET", path, MockBody::new())).await;
        assert_eq!(call.tenant(), tenant, "{path}");
        let lost = tower::service_fn(|_: Request<MockBody>| async {
            Err::<http::Response<MockBody>, _>(std::io::Error::from(std::io::ErrorKind::ConnectionReset))
        });
        let alone = TerminalStateLayer::new().layer(lost).oneshot(request("GET", path, MockBody::new())).await;
        assert_eq!(alone.unwrap_err().call().tenant(), tenant, "{path}");
    }
}

/// Wherever a request can name a tenant, agents read it there.
#[tokio::test(start_paused = true)]
async fn bodies_and_queries_name_tenants() {
    async fn of(layer: &CallLayer, method: &str, path: &str, body: &'static str) -> Option<String> {
        let call = named(layer, request(method, path, MockBody::new().data(body))).await;
        call.tenant().map(str::to_owned)
    }
    let (layer, based) = (CallLayer::new(), CallLayer::new().base_path(""));
    for path in ["/tasks/t-1:cancel", "/tasks/t-1:subscribe", "/tasks/t-1/pushNotificationConfigs"] {
        assert_eq!(of(&layer, "POST", path, r#"{"tenant":"acme"}"#).await.as_deref(), Some("acme"), "{path}");
        assert_eq!(of(&layer, "POST", path, "").await, None, "{path}");
    }
    for (query, tenant) in [
        ("tenant=acme", Some("acme")),
        ("x=1&ten%61nt=a%20b+c", Some("a b c")),
        ("tenant=", None),
        ("tenant", None),
        ("tenants=x&xtenant=y&Tenant=z", None),
        ("tenant=a&tenant=a", Some("a")),
        // Two are nobody's.
        ("tenant=a&tenant=b", Some("a,b")),
    ] {
        assert_eq!(of(&layer, "GET", &format!("/tasks/t-1?{query}"), "").await.as_deref(), tenant, "{query}");
    }
    // Nor are one in the path and another one elsewhere.
    assert_eq!(of(&based, "GET", "/acme/tasks?tenant=acme", "").await.as_deref(), Some("acme"));
    assert_eq!(of(&based, "GET", "/acme/tasks?tenant=evil", "").await.as_deref(), Some("acme,evil"));
    assert_eq!(of(&based, "POST", "/acme/message:send", r#"{"tenant":"evil"}"#).await.as_deref(), Some("acme,evil"));
    assert_eq!(of(&layer, "POST", "/message:send?tenant=a", r#"{"tenant":"b"}"#).await.as_deref(), Some("a,b"));
    // Older versions know none.
    let mut old = request("GET", "/v1/tasks/t-1?tenant=x", MockBody::new());
    old.headers_mut().insert("a2a-version", "0.3".parse().unwrap());
    assert_eq!(named(&layer, old).await.tenant(), None);
}

#[tokio::test(start_paused = true)]
async fn the_segment_behind_the_base_path_is_the_tenant() {
    let rows = [
        ("/rest", "/rest/acme/message:send", Some("acme")),
        ("/rest/", "/rest/acme/tasks/t-1", Some("acme")),
        ("rest", "/rest/acme/tasks/t-1", Some("acme")),
        ("/rest", "/rest/a%20b/tasks", Some("a b")),
        ("", "/acme/tasks", Some("acme")),
        ("/", "/acme/tasks", Some("acme")),
        ("/rest", "/rest/message:send", None),
        ("/rest", "/rest/v1/tasks", None),
        ("/rest", "/rest/a/b/tasks", None),
        ("/rest", "/restless/tasks", None),
        ("/rest", "/other/acme/tasks", None),
    ];
    for (base, path, tenant) in rows {
        let method = if path.ends_with("send") { "POST" } else { "GET" };
        let call = named(&CallLayer::new().base_path(base), request(method, path, MockBody::new())).await;
        assert!(call.operation().is_some(), "{path}");
        assert_eq!(call.tenant(), tenant, "{base} {path}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_verb_that_is_nobodys_names_no_operation() {
    for (method, path) in [("POST", "/message:translate"), ("POST", "/tasks/t-1:pause"), ("PUT", "/tasks/t-1")] {
        let call = named(&CallLayer::new(), request(method, path, MockBody::new())).await;
        assert_eq!(call.operation(), None, "{method} {path}");
        assert!(!call.is_streaming() && !call.is_blocking());
    }
}

#[tokio::test(start_paused = true)]
async fn other_paths_are_not_named() {
    for (method, path) in [
        ("GET", "/.well-known/agent-card.json"),
        ("GET", "/"),
        ("GET", "/tasks/"),
        ("GET", "/business/card"),
        ("GET", "/pushNotificationConfigs/c"),
    ] {
        let call = named(&CallLayer::new(), request(method, path, MockBody::new())).await;
        assert_eq!((call.operation(), call.binding()), (None, None), "{method} {path}");
    }
}
