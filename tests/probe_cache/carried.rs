//! A probe is written as the call is, and carries what the call carries.

use serde_json::json;

use crate::{
    mock::Dialect,
    support::{Agent, Asked, builder, call, guard},
};

use Dialect::{Rest, V1, V02, V03};

async fn probe_of(request: http::Request<http_body_util::Full<bytes::Bytes>>) -> Asked {
    let agent = Agent::willing();
    let names = ["x-tenant", "x-trace"].map(http::HeaderName::from_static);
    let layer = builder(&agent).tenant_headers([names[0].clone()]).build().unwrap();
    assert_eq!(call(&mut guard(&layer, &agent), request).await.word(), "success/success");
    let mut probes: Vec<_> = agent.asked().into_iter().filter(Asked::is_probe).collect();
    assert_eq!(probes.len(), 1);
    probes.remove(0)
}

#[tokio::test(start_paused = true)]
async fn over_json_rpc() {
    for (dialect, method) in [(V1, "GetTask"), (V03, "tasks/get"), (V02, "tasks/get")] {
        let mut request = dialect.send();
        *request.uri_mut() = "https://agent.example.com/a2a?key=1".parse().unwrap();
        let probe = probe_of(request).await;
        assert_eq!(
            (probe.method.as_str(), probe.uri.to_string().as_str()),
            ("POST", "https://agent.example.com/a2a?key=1")
        );
        let body = probe.json();
        assert_eq!(
            (&body["jsonrpc"], &body["method"], &body["id"]),
            (&json!("2.0"), &json!(method), &json!("a2a-guard-probe"))
        );
        let id = body["params"]["id"].as_str().unwrap();
        assert_eq!((id.len(), id.as_bytes()[14]), (36, b'4'), "a UUID: {id}");
        assert_eq!(body["params"].as_object().unwrap().len(), 1);
        assert_eq!(probe.header("content-type"), Some("application/json"));
    }
    let probe = probe_of(V1.rpc("GetTask", r#""id":"task-1","tenant":"acme""#)).await;
    assert_eq!(probe.json()["params"]["tenant"], "acme");
}

#[tokio::test(start_paused = true)]
async fn over_http_json() {
    for (method, path, expected) in [
        ("POST", "/message:send", "/tasks/"),
        ("POST", "/base/v1/message:send", "/base/v1/tasks/"),
        ("POST", "/base/acme/message:send", "/base/acme/tasks/"),
        ("GET", "/rest/tasks/task-1", "/rest/tasks/"),
        ("POST", "/rest/tasks/task-1:subscribe", "/rest/tasks/"),
    ] {
        let probe = probe_of(Rest.request(method, &format!("{path}?A2A-Version=1.0"), "{}".into())).await;
        assert_eq!(probe.method, "GET");
        let id = probe.uri.path().strip_prefix(expected).unwrap_or_else(|| panic!("{path}: {}", probe.uri));
        assert_eq!(id.len(), 36);
        assert_eq!(probe.uri.query(), Some("A2A-Version=1.0"));
        assert!(probe.body.is_empty() && probe.header("content-type").is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn credentials_tenant_version_and_extensions_and_nothing_else() {
    let mut request = V1.send();
    let carried = [
        ("authorization", "Bearer t"),
        ("proxy-authorization", "Basic p"),
        ("cookie", "s=1"),
        ("x-api-key", "k"),
        ("x-tenant", "acme"),
        ("a2a-version", "1.0"),
        ("a2a-extensions", "https://a.example/x, https://a.example/y"),
        ("x-a2a-extensions", "https://a.example/z"),
    ];
    let left =
        [("x-other", "1"), ("idempotency-key", "i"), ("content-length", "5"), ("signature", "s"), ("traceparent", "t")];
    for (name, value) in carried.iter().chain(&left) {
        request.headers_mut().append(*name, value.parse().unwrap());
    }
    request.headers_mut().append("cookie", "u=2".parse().unwrap());
    let probe = probe_of(request).await;
    for (name, value) in carried {
        assert_eq!(probe.header(name), Some(value), "{name}");
    }
    assert_eq!(probe.headers.get_all("cookie").iter().count(), 2);
    for (name, _) in left {
        assert_eq!(probe.header(name), None, "{name}");
    }
    assert_eq!(probe.header("accept"), Some("application/json, application/a2a+json"));
}

#[tokio::test(start_paused = true)]
async fn credentials_are_what_the_user_names() {
    let agent = Agent::willing();
    let layer = builder(&agent).credential_headers([http::HeaderName::from_static("x-token")]).build().unwrap();
    let mut request = V1.send();
    request.headers_mut().insert("authorization", "Bearer t".parse().unwrap());
    request.headers_mut().insert("x-token", "1".parse().unwrap());
    call(&mut guard(&layer, &agent), request).await;
    let probe = agent.asked().remove(0);
    assert_eq!((probe.header("x-token"), probe.header("authorization")), (Some("1"), None));
}

#[tokio::test(start_paused = true)]
async fn each_probe_asks_for_another_task() {
    let agent = Agent::willing();
    let layer = builder(&agent).build().unwrap();
    let mut service = guard(&layer, &agent);
    for n in 0..8 {
        let mut request = V1.send();
        *request.uri_mut() = format!("https://agent-{n}.example.com/a2a").parse().unwrap();
        call(&mut service, request).await;
    }
    let asked = agent.asked().into_iter().filter(Asked::is_probe);
    let ids: std::collections::BTreeSet<_> = asked.map(|asked| asked.json()["params"]["id"].to_string()).collect();
    assert_eq!(ids.len(), 8);
}

/// What is printed of the layer's own types tells no secret.
#[tokio::test(start_paused = true)]
async fn nothing_that_is_printed_tells_a_secret() {
    use crate::support::begun;
    let agent = Agent::willing();
    let layer = builder(&agent).refresh_ahead(crate::mock::s(20)).build().unwrap();
    let mut service = guard(&layer, &agent);
    let request = || {
        let mut request = V1.stream();
        *request.uri_mut() = "https://user:secret@agent.example.com/a2a?key=secret".parse().unwrap();
        request.headers_mut().insert("authorization", "Bearer secret".parse().unwrap());
        request
    };
    assert_eq!(call(&mut service, request()).await.word(), "success/success");
    let future = begun(&mut service, request()).await;
    let mut printed = format!("{layer:?} {service:?} {:?} {:?}", layer.endpoints(), layer.availability().snapshot());
    printed += &format!("{future:?}");
    printed += &format!("{:?}", future.await.unwrap().into_body());
    assert!(!printed.contains("secret"), "{printed}");
    agent.change(|_| crate::support::html(200));
    layer.forget_endpoints(request().uri());
    let ended = call(&mut service, request()).await;
    assert_eq!(ended.word(), "stale/endpoint_not_conforming");
    assert!(!format!("{:?} {}", ended.error(), ended.error()).contains("secret"));
}

/// Over HTTP+JSON a tenant may stand in the body of a send (A2A 1.0 §8.3.2), and a question has none.
#[tokio::test(start_paused = true)]
async fn a_tenant_that_stands_in_a_body_stands_in_the_query_of_the_probe() {
    for (path, query) in [
        ("/message:send", Some("tenant=a%20c%2Fme")),
        ("/message:send?k=v", Some("k=v&tenant=a%20c%2Fme")),
        ("/message:send?tenant=a%20c%2Fme", Some("tenant=a%20c%2Fme")),
        ("/a%20c%2Fme/message:send", None),
    ] {
        let probe = probe_of(Rest.request("POST", path, r#"{"tenant":"a c/me"}"#.into())).await;
        assert_eq!(probe.uri.query(), query, "{path}");
    }
}
