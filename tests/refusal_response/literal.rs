//! Rendered errors, written out.

use std::io::ErrorKind;

use a2a_guard::{
    CallLayer, Limits, RefusalResponseLayer,
    card_consistency::{CardConsistencyLayer, CardStore},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower::{Layer, service_fn};

use crate::{
    Got, call, infallible,
    mock::{Answer, BoxError, Dialect, MockBody, Peer, ms, s},
    plain, rest_03,
};

use Dialect::{Rest, V1, V02, V03};

#[tokio::test(start_paused = true)]
async fn a_timeout_over_json_rpc_1_0() {
    let got = call(plain(), V1.get(), Answer::never()).await;
    assert_eq!((got.status.as_u16(), got.header("content-type")), (200, "application/json"));
    assert_eq!(got.header("a2a-version"), "1.0");
    assert_eq!(
        got.text(),
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","#,
            r#""domain":"a2a-guard","metadata":{"bound_ms":"30000","capability":"none","class":"head","elapsed_ms":"30000","#,
            r#""next":"GetTask","outcome":"timeout","retry":"safe","shape":"GetTask over JSONRPC 1.0","task_id":"task-1"},"#,
            r#""reason":"CAPABILITY_TIMEOUT"}],"message":"no response head within 30000 ms"}}"#,
        )
    );
    assert_eq!(
        got.error.unwrap().to_string().split(';').next().unwrap(),
        "timeout/head: no response head within 30000 ms"
    );
}

#[tokio::test(start_paused = true)]
async fn the_same_over_http_json_1_0() {
    let got = call(plain(), Rest.get(), Answer::never()).await;
    assert_eq!((got.status.as_u16(), got.header("content-type")), (504, "application/json"));
    assert_eq!(
        got.text(),
        concat!(
            r#"{"error":{"code":504,"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","#,
            r#""domain":"a2a-guard","metadata":{"bound_ms":"30000","capability":"none","class":"head","elapsed_ms":"30000","#,
            r#""next":"GetTask","outcome":"timeout","retry":"safe","shape":"GetTask over HTTP+JSON 1.0","task_id":"task-1"},"#,
            r#""reason":"CAPABILITY_TIMEOUT"}],"message":"no response head within 30000 ms","status":"DEADLINE_EXCEEDED"}}"#,
        )
    );
}

#[tokio::test(start_paused = true)]
async fn the_same_over_http_json_0_3() {
    let got = call(plain(), rest_03("GET", "/v1/tasks/task-1"), Answer::never()).await;
    assert_eq!((got.status.as_u16(), got.header("content-type")), (504, "application/json"));
    assert_eq!(got.header("a2a-version"), "");
    let json = got.json();
    let members: Vec<_> = json.as_object().unwrap().keys().collect();
    assert_eq!(members, ["code", "data", "message"]);
    assert_eq!((&json["code"], &json["message"]), (&(-32603).into(), &"no response head within 30000 ms".into()));
    assert_eq!(json["data"]["details"][0]["reason"], "CAPABILITY_TIMEOUT");
}

#[tokio::test(start_paused = true)]
async fn the_same_over_json_rpc_before_1_0() {
    for dialect in [V03, V02] {
        let got = call(plain(), dialect.get(), Answer::never()).await;
        assert_eq!((got.status.as_u16(), got.header("content-type")), (200, "application/json"));
        let json = got.json();
        assert_eq!((&json["jsonrpc"], &json["id"]), (&"2.0".into(), &1.into()));
        assert_eq!(json["error"]["code"], -32603);
        assert_eq!(json["error"]["data"]["details"][0]["reason"], "CAPABILITY_TIMEOUT");
    }
}

#[tokio::test(start_paused = true)]
async fn ids_come_back_as_they_were() {
    for (id, echoed) in [
        ("7", "7"),
        ("\"a\\\"\\u00e9\"", "\"a\\\"é\""),
        ("null", "null"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("1.5e3", "1.5e3"),
        ("{\"no\":1}", "null"),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"GetTask","params":{{"id":"task-1"}}}}"#);
        let got = call(plain(), V1.request("POST", "/a2a", body), Answer::lost(ErrorKind::ConnectionReset)).await;
        assert!(got.text().starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{echoed},"error":{{"#)), "{}", got.text());
        assert_eq!(got.word(), "transport/connection_lost");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_broken_is_an_invalid_agent_response() {
    let page = || Answer::new(500, "text/html", MockBody::new().data("<html>secret</html>"));
    for (dialect, status) in [(V1, 200), (V03, 200), (V02, 200), (Rest, 500)] {
        for request in [dialect.send(), dialect.stream()] {
            let got = call(plain(), request, page()).await;
            assert_eq!((got.status.as_u16(), got.word().as_str()), (status, "broken/http_status"));
            assert_eq!(got.header("content-type"), "application/json");
            assert!(!got.text().contains("secret"));
            assert!(
                got.text().contains(r#""message":"the peer failed without a typed error, HTTP 500""#),
                "{}",
                got.text()
            );
            assert!(got.text().contains(r#""reason":"INVALID_AGENT_RESPONSE""#));
            assert!(got.text().contains(r#""domain":"a2a-protocol.org""#));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn in_a_stream_it_is_the_last_event() {
    let idle = ms(120_000);
    for dialect in [V1, V03, V02, Rest] {
        let sent = dialect.task_event("WORKING");
        let body = MockBody::of([sent.clone()]).hang();
        let got = call(plain(), dialect.stream(), Answer::sse(body)).await;
        assert_eq!((got.status.as_u16(), got.header("content-type")), (200, "text/event-stream"));
        assert_eq!(got.frames.len(), 2);
        assert_eq!(got.frames[0].as_ptr(), sent.as_ptr());
        let event = std::str::from_utf8(&got.frames[1]).unwrap();
        let data = event.strip_prefix("event: error\ndata: ").unwrap().strip_suffix("\n\n").unwrap();
        assert!(!data.contains('\n'));
        let json: serde_json::Value = serde_json::from_str(data).unwrap();
        let metadata = match dialect {
            V1 => &json["error"]["data"][0]["metadata"],
            Rest => &json["error"]["details"][0]["metadata"],
            _ => &json["error"]["data"]["details"][0]["metadata"],
        };
        assert_eq!((&metadata["outcome"], &metadata["class"]), (&"timeout".into(), &"idle".into()));
        assert_eq!(
            (&metadata["task_id"], &metadata["bound_ms"]),
            (&"task-1".into(), &idle.as_millis().to_string().into())
        );
        assert_eq!(metadata["task_state"], dialect.state("WORKING"));
        if dialect == Rest {
            assert_eq!((&json["error"]["code"], &json["error"]["status"]), (&504.into(), &"DEADLINE_EXCEEDED".into()));
        } else {
            assert_eq!((&json["id"], &json["error"]["code"]), (&1.into(), &(-32603).into()));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_failed_before_its_first_event_is_plain_json() {
    for (dialect, status) in [(V1, 200), (V03, 200), (Rest, 504)] {
        let got = call(plain(), dialect.stream(), Answer::sse(MockBody::new().data(": hello\n").hang())).await;
        assert_eq!((got.status.as_u16(), got.header("content-type")), (status, "application/json"));
        assert_eq!(got.word(), "timeout/first_event");
    }
}

/// Clients of 0.3 read no JSON where they asked for a stream: their servers begin it at once.
#[tokio::test(start_paused = true)]
async fn before_1_0_a_caller_that_names_no_json_gets_a_stream() {
    let lost = || Answer::lost(ErrorKind::ConnectionRefused);
    let asked = |dialect: Dialect, accept: &'static [&'static str], stream: bool| {
        let mut request = if stream { dialect.stream() } else { dialect.send() };
        for value in accept {
            request.headers_mut().append("accept", value.parse().unwrap());
        }
        request
    };
    for dialect in [V03, V02] {
        for accept in [&["text/event-stream"][..], &["Text/Event-Stream; q=1"], &["*/*", "text/event-stream"]] {
            let got = call(plain(), asked(dialect, accept, true), lost()).await;
            assert_eq!((got.status.as_u16(), got.header("content-type")), (200, "text/event-stream"), "{accept:?}");
            let data =
                got.text().strip_prefix("event: error\ndata: ").unwrap().strip_suffix("\n\n").unwrap().to_owned();
            let json: serde_json::Value = serde_json::from_str(&data).unwrap();
            assert_eq!((&json["id"], &json["error"]["code"]), (&1.into(), &(-32603).into()));
            let info = &json["error"]["data"]["details"][0];
            assert_eq!((&info["reason"], &info["metadata"]["class"]), (&"AGENT_UNREACHABLE".into(), &"connect".into()));
        }
    }
    for (dialect, accept, stream) in [
        // Whoever accepts JSON gets JSON, and so does whoever says nothing, or asked for no stream.
        (V03, &["application/json, text/event-stream"][..], true),
        (V03, &["text/event-stream", "application/*;q=0.1"], true),
        (V03, &["*/*"], true),
        (V03, &[], true),
        (V03, &["text/event-stream"], false),
        // As servers of 1.0 have it.
        (V1, &["text/event-stream"], true),
    ] {
        let got = call(plain(), asked(dialect, accept, stream), lost()).await;
        assert_eq!((got.status.as_u16(), got.header("content-type")), (200, "application/json"), "{accept:?}");
        assert_eq!(got.json()["error"]["code"], -32603);
    }
    let got = call(plain(), asked(Rest, &["text/event-stream"], true), lost()).await;
    assert_eq!((got.status.as_u16(), got.header("content-type")), (502, "application/json"));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_not_ready_is_a_timeout_too() {
    let stack = || {
        let ending = plain().limits(Limits::default().ready(s(2))).build().unwrap();
        CallLayer::new().layer(RefusalResponseLayer::new().layer(ending.layer(Peer::new([]).never_ready())))
    };
    let got = infallible(stack(), Rest.send()).await;
    assert_eq!((got.status.as_u16(), got.word().as_str()), (504, "timeout/ready"));
    assert_eq!(got.json()["error"]["details"][0]["metadata"]["retry"], "safe");
    assert_eq!(got.json()["error"]["message"], "the client below was not ready within 2000 ms");
}

/// Every call is refused for its card: what the card's host answers is `card`.
async fn with_card(
    status: u16,
    headers: &[(&'static str, &'static str)],
    card: &str,
    request: Request<Full<Bytes>>,
) -> Got {
    let mut page = Response::builder().status(status).header("content-type", "application/json");
    for (name, value) in headers {
        page = page.header(*name, *value);
    }
    let page = page.body(Full::<Bytes>::from(card.to_owned())).unwrap();
    let host = service_fn(move |_: Request<Full<Bytes>>| {
        let page = page.clone();
        async { Ok::<_, BoxError>(page) }
    });
    let matching = CardConsistencyLayer::new(CardStore::builder(host).build().unwrap());
    let ending = plain().build().unwrap();
    let stack = CallLayer::new().layer(RefusalResponseLayer::new().layer(matching.layer(ending.layer(Peer::new([])))));
    infallible(stack, request).await
}

fn card(binding: &str, version: &str) -> String {
    let path = if binding == "JSONRPC" { "/a2a" } else { "" };
    format!(
        r#"{{"name":"a","description":"d","version":"1","capabilities":{{}},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{{"id":"s","name":"s","description":"s","tags":["t"]}}],"supportedInterfaces":[{{"url":"https://agent.example.com{path}","protocolBinding":"{binding}","protocolVersion":"{version}"}}]}}"#
    )
}

#[tokio::test(start_paused = true)]
async fn a_capability_that_the_card_lacks_is_the_specifications_own_error() {
    let got = with_card(200, &[], &card("JSONRPC", "1.0"), V1.stream()).await;
    let error = &got.json()["error"];
    assert_eq!(error["code"], -32004);
    assert_eq!(error["message"], "the card does not declare streaming");
    assert_eq!(
        (&error["data"][0]["reason"], &error["data"][0]["domain"]),
        (&"UNSUPPORTED_OPERATION".into(), &"a2a-protocol.org".into())
    );
    assert_eq!(error["data"][0]["metadata"]["capability"], "streaming");
    assert_eq!(got.word(), "card/capability_missing");

    let push = Rest.request("POST", "/tasks/task-1/pushNotificationConfigs", "{}".into());
    let got = with_card(200, &[], &card("HTTP+JSON", "1.0"), push).await;
    assert_eq!(got.status, 400);
    assert_eq!(got.json()["error"]["status"], "FAILED_PRECONDITION");
    assert_eq!(got.json()["error"]["details"][0]["reason"], "PUSH_NOTIFICATION_NOT_SUPPORTED");
}

#[tokio::test(start_paused = true)]
async fn a_version_that_the_card_lacks_is_version_not_supported() {
    let got = with_card(200, &[], &card("JSONRPC", "2.0"), V1.send()).await;
    assert_eq!(got.word(), "card/unsupported_version");
    let error = &got.json()["error"];
    assert_eq!((&error["code"], &error["data"][0]["reason"]), (&(-32009).into(), &"VERSION_NOT_SUPPORTED".into()));
}

#[tokio::test(start_paused = true)]
async fn what_else_is_wrong_with_a_card_is_card_resolution() {
    let challenge = [("www-authenticate", "Bearer realm=\"cards\"")];
    let got = with_card(401, &challenge, "", Rest.send()).await;
    assert_eq!((got.status.as_u16(), got.word().as_str()), (502, "card/unauthorized"));
    assert_eq!(got.header("www-authenticate"), "Bearer realm=\"cards\"");
    let error = &got.json()["error"];
    assert_eq!(
        (&error["status"], &error["details"][0]["reason"]),
        (&"FAILED_PRECONDITION".into(), &"AGENT_CARD_RESOLUTION".into())
    );
    assert_eq!(error["details"][0]["metadata"]["retry"], "after_credentials");

    let got = with_card(503, &[("retry-after", "7")], "", Rest.send()).await;
    assert_eq!((got.status.as_u16(), got.word().as_str(), got.header("retry-after")), (502, "card/http_status", "7"));
    assert_eq!(got.json()["error"]["details"][1]["retryDelay"], "7s");
    assert_eq!(got.json()["error"]["details"][0]["metadata"]["retry_after"], "7");
}

/// A version that only the card told decides the form too.
#[tokio::test(start_paused = true)]
async fn the_card_says_in_which_version_a_silent_call_is_answered() {
    let got = with_card(200, &[], &card("HTTP+JSON", "1.0"), rest_03("POST", "/tasks/task-1:subscribe")).await;
    assert_eq!(got.word(), "card/capability_missing");
    assert_eq!(got.json()["error"]["status"], "FAILED_PRECONDITION", "{}", got.text());
}
