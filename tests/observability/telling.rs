//! What the event of a call's end says, how loudly, and what it never says.

use a2a_guard::{
    CallError, CallLayer, TerminalStateLayer,
    observability::{TracingLayer, TracingObserver},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use tower::{Layer, Service, ServiceExt};
use tracing::Level;

use crate::{
    answer,
    mock::{Answer, Dialect::V1, MockBody, Peer},
    subscriber::Subscribed,
};

/// Makes a call with an observer, and with a span unless that is asked not to be.
async fn tell(request: Request<Full<Bytes>>, answer: Answer, span: bool) -> Subscribed {
    let (subscribed, _guard) = Subscribed::all();
    let ending = TerminalStateLayer::builder().observe(TracingObserver::new()).build().unwrap();
    let judged = ending.layer(Peer::new([answer]));
    if span {
        read(CallLayer::new().layer(TracingLayer::new().layer(judged)), request).await;
    } else {
        read(CallLayer::new().layer(judged), request).await;
    }
    subscribed
}

async fn read<S, B>(stack: S, request: Request<Full<Bytes>>)
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = CallError>,
    B: Body<Data = Bytes, Error = CallError>,
{
    if let Ok(response) = stack.oneshot(request).await {
        let _ = response.into_body().collect().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_level_says_who_has_to_do_something() {
    let rpc_error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}"#;
    let json = |status| Answer::new(status, "application/json", MockBody::new().data("{}"));
    for (answer, level, word) in [
        (Answer::json(answer("FAILED")), Level::DEBUG, "success/success"),
        (Answer::json(rpc_error), Level::INFO, "refused/peer_error"),
        (json(401), Level::WARN, "refused/auth"),
        (json(429), Level::WARN, "refused/rate_limited"),
        (json(404), Level::WARN, "refused/endpoint_not_found"),
        (json(413), Level::INFO, "refused/too_large"),
        (Answer::never(), Level::WARN, "timeout/head"),
        (Answer::lost(std::io::ErrorKind::ConnectionRefused), Level::WARN, "transport/connect"),
        (json(500), Level::ERROR, "broken/http_status"),
        (Answer::json("{"), Level::ERROR, "broken/malformed"),
    ] {
        let end = tell(V1.get(), answer, false).await.end();
        assert_eq!(
            (format!("{}/{}", end.fields["a2a.outcome"], end.fields["a2a.class"]), end.level),
            (word.into(), level)
        );
        assert!(end.fields["message"].starts_with(word), "{end:#?}");
        assert_eq!(end.fields["a2a.method"], "GetTask");
        assert_eq!(end.fields["server.address"], "agent.example.com");
    }
}

/// Line breaks, terminal escapes, reordering, and texts without end.
const HOSTILE: &str = "a\\nERROR forged\\u001b[2J\\u202etxet\\\"";

#[tokio::test(start_paused = true)]
async fn texts_of_peers_and_callers_can_neither_break_a_line_nor_fill_a_log() {
    let long = "x".repeat(5000);
    let task_id = format!("{HOSTILE}{long}");
    let error = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32603,"message":"{HOSTILE}{long}"}}}}"#);
    let update = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"task":{{"id":"{HOSTILE}","contextId":"c","status":{{"state":"TASK_STATE_WORKING"}}}}}}}}"#
    );
    let stream = MockBody::of([Bytes::from(format!("data: {update}\n\n")), Bytes::from(format!("data: {error}\n\n"))]);
    let get = V1.rpc("GetTask", &format!(r#""id":"{task_id}","tenant":"{HOSTILE}""#));
    for (request, answer) in [(get, Answer::json(error)), (V1.stream(), Answer::sse(stream))] {
        let subscribed = tell(request, answer, true).await;
        assert_eq!(subscribed.end().fields["a2a.outcome"], "refused");
        let everything = subscribed.everything();
        assert!(everything.contains("forged"), "it is told, in a form that harms nobody");
        for harmful in ['\n', '\u{1b}', '\u{202e}'] {
            assert!(!everything.contains(harmful), "{everything}");
        }
        assert!(everything.len() < 2000, "{} bytes", everything.len());
    }
}

#[tokio::test(start_paused = true)]
async fn secrets_are_not_told() {
    for answer in [Answer::json(answer("COMPLETED")), Answer::never(), Answer::json("{")] {
        let mut request = V1.get();
        *request.uri_mut() = "https://user:hunter2@agent.example.com/a2a?key=hunter2".parse().unwrap();
        request.headers_mut().insert("authorization", "Bearer hunter2".parse().unwrap());
        request.headers_mut().insert("x-api-key", "hunter2".parse().unwrap());
        let subscribed = tell(request, answer, true).await;
        let everything = subscribed.everything();
        assert!(everything.contains("agent.example.com"));
        assert!(!everything.contains("hunter2"), "{everything}");
    }
}

#[tokio::test(start_paused = true)]
async fn slips_of_a_peer_are_told_beside_its_success() {
    let slip = answer("COMPLETED").replacen(r#""id":1"#, r#""id":"1""#, 1);
    let subscribed = tell(V1.get(), Answer::json(slip), true).await;
    assert_eq!(subscribed.end().fields["a2a.tolerated"], "id_type_changed");
    assert_eq!(subscribed.call().1.fields["a2a.tolerated"], "id_type_changed");
}
