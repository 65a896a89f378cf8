//! How a call is answered that nobody named.

use std::io::ErrorKind;

use a2a_guard::{Call, Operation, ProtocolVersion, RefusalResponseLayer, wire::JsonRpcId};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tower::Layer;

use crate::{
    Got, call, grpc, infallible,
    mock::{Answer, Dialect, MockBody, Peer},
    plain,
};

async fn alone(request: Request<Full<Bytes>>) -> Got {
    let peer = Peer::new([Answer::lost(ErrorKind::ConnectionRefused)]);
    infallible(RefusalResponseLayer::new().layer(peer), request).await
}

#[tokio::test(start_paused = true)]
async fn path_and_media_type_tell_the_binding() {
    assert_eq!(alone(Dialect::Rest.send()).await.json()["error"]["status"], "UNAVAILABLE");
    let got = alone(grpc("GetTask")).await;
    assert_eq!((got.header("content-type"), got.header("grpc-status")), ("application/grpc", "14"));
}

#[tokio::test(start_paused = true)]
async fn any_other_post_is_taken_for_json_rpc() {
    let got = alone(Dialect::V1.send()).await;
    assert_eq!(got.status, 200);
    assert!(got.text().starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"#), "{}", got.text());
}

#[tokio::test(start_paused = true)]
async fn and_what_is_no_a2a_at_all_gets_a_status() {
    let get = Request::get("https://agent.example.com/.well-known/agent-card.json").body(Full::default()).unwrap();
    let got = call(plain(), get, Answer::lost(ErrorKind::ConnectionRefused)).await;
    assert_eq!((got.status.as_u16(), &got.json()["error"]["code"]), (502, &502.into()));
    let post = Request::post("https://agent.example.com/hook").body(Full::from("not json")).unwrap();
    let got = call(plain(), post, Answer::lost(ErrorKind::ConnectionRefused)).await;
    assert_eq!(
        (got.status.as_u16(), &got.json()["error"]["code"]),
        (502, &502.into()),
        "its body was read, and is no JSON-RPC"
    );
}

/// A caller that knows better says so.
#[tokio::test(start_paused = true)]
async fn a_call_in_the_extensions_decides() {
    let mut request = Request::post("https://agent.example.com/a2a").body(Full::default()).unwrap();
    let call = Call::new()
        .with_binding(a2a_guard::Binding::JsonRpc)
        .with_operation(Operation::SendMessage)
        .with_version(ProtocolVersion::V0_3)
        .with_id(JsonRpcId::Text("x".into()));
    request.extensions_mut().insert(call);
    let got = alone(request).await;
    assert!(got.text().starts_with(r#"{"jsonrpc":"2.0","id":"x","error":"#), "{}", got.text());
    assert!(got.json()["error"]["data"].is_object());
}

/// A method that is none of A2A's is JSON-RPC all the same.
#[tokio::test(start_paused = true)]
async fn a_vendors_method_is_answered_in_its_binding() {
    let got = call(plain(), Dialect::V1.rpc("vendor/do", ""), Answer::never()).await;
    assert_eq!((got.status.as_u16(), got.word().as_str()), (200, "timeout/head"));
    let stream = Answer::sse(MockBody::new().data("data: 1\n\n").reset());
    let got = call(plain(), Dialect::V1.rpc("vendor/do", ""), stream).await;
    assert!(got.text().starts_with("data: 1\n\nevent: error\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,"), "{}", got.text());
}

/// A stream of something else is not written into.
#[tokio::test(start_paused = true)]
async fn a_stream_of_nobody_knows_what_breaks_off() {
    let get = Request::get("https://agent.example.com/events").body(Full::<Bytes>::default()).unwrap();
    let got = call(plain(), get, Answer::sse(MockBody::new().data("data: 1\n\n").reset())).await;
    assert!(got.failed.is_some());
}
