//! gRPC: a head that is its own trailers, or trailers in the middle of a stream; also over a real connection.

use a2a_guard::{CallLayer, RefusalResponseLayer};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    service::TowerToHyperService,
};
use tower::Layer;

use crate::{
    Got, call, grpc, infallible,
    mock::{Answer, MockBody, Peer, Step},
    plain,
};

/// One message with these bytes.
fn message(bytes: &[u8]) -> Bytes {
    let mut frame = vec![0];
    frame.extend_from_slice(&u32::try_from(bytes.len()).unwrap().to_be_bytes());
    frame.extend_from_slice(bytes);
    frame.into()
}

#[tokio::test(start_paused = true)]
async fn before_the_head_it_is_a_head_alone() {
    for method in ["GetTask", "SendStreamingMessage"] {
        let got = call(plain(), grpc(method), Answer::never()).await;
        assert_eq!((got.status.as_u16(), got.header("content-type")), (200, "application/grpc"));
        assert_eq!(got.header("grpc-status"), "4");
        assert!(got.header("grpc-message").starts_with("no response head within "), "{}", got.header("grpc-message"));
        assert!(got.frames.is_empty() && got.trailers.is_none());
        // google.rpc.Status: its code, and its message's length and beginning.
        assert!(got.header("grpc-status-details-bin").starts_with("CAQS"), "{}", got.header("grpc-status-details-bin"));
        assert!(!got.header("grpc-status-details-bin").contains('='));
    }
}

/// Without a layer that judges below, for what is asked here is the form alone.
async fn alone(body: MockBody) -> Got {
    alone_of("SendStreamingMessage", body).await
}

async fn alone_of(method: &str, body: MockBody) -> Got {
    let answer = Answer::new(200, "application/grpc", body);
    let stack = CallLayer::new().layer(RefusalResponseLayer::new().layer(Peer::new([answer])));
    infallible(stack, grpc(method)).await
}

#[tokio::test(start_paused = true)]
async fn so_it_is_behind_a_unary_answer() {
    let got = alone_of("GetTask", MockBody::of([message(b"\x0a\x00")]).reset()).await;
    assert_eq!((got.frames.len(), &got.trailers.unwrap()["grpc-status"]), (1, &"13".parse().unwrap()));
}

#[tokio::test(start_paused = true)]
async fn in_a_stream_it_is_the_trailers() {
    let sent = message(b"\x0a\x00");
    let got = alone(MockBody::of([sent.clone()]).reset()).await;
    assert_eq!(got.frames[0].as_ptr(), sent.as_ptr());
    assert_eq!(got.frames.len(), 1);
    let trailers = got.trailers.unwrap();
    assert_eq!(
        (&trailers["grpc-status"], &trailers["grpc-message"]),
        (&"13".parse().unwrap(), &"the body broke off".parse().unwrap())
    );
}

#[tokio::test(start_paused = true)]
async fn the_peers_own_trailers_pass() {
    let got = alone(MockBody::of([message(b"")]).trailers("grpc-status", "9")).await;
    assert_eq!(got.trailers.unwrap()["grpc-status"], "9");
    // With all that they say, also where they were judged to refuse.
    let mut own = http::HeaderMap::new();
    for (name, value) in [("grpc-status", "9"), ("grpc-message", "no%20push"), ("x-trace", "abc")] {
        own.insert(name, value.parse().unwrap());
    }
    let body = MockBody::of([working()]).then(Step::Trailers(own.clone()));
    let got = call(plain(), grpc("SendStreamingMessage"), Answer::new(200, "application/grpc", body)).await;
    assert_eq!((got.frames.len(), got.trailers), (1, Some(own)));
}

/// Clients that found a status in the head do not look at trailers: there a failure would pass for a good end.
#[tokio::test(start_paused = true)]
async fn behind_a_status_in_the_head_the_body_breaks_off() {
    let answer = Answer::new(200, "application/grpc", MockBody::of([message(b"")]).reset()).header("grpc-status", "0");
    let stack = CallLayer::new().layer(RefusalResponseLayer::new().layer(Peer::new([answer])));
    let got = infallible(stack, grpc("SendStreamingMessage")).await;
    assert_eq!((got.header("grpc-status"), got.frames.len(), &got.trailers), ("0", 1, &None));
    assert_eq!(got.failed.unwrap().class(), a2a_guard::Class::Truncated);
    // Where the layer below judges, the head does not say it before it is so.
    let answer = Answer::new(200, "application/grpc", MockBody::of([working()])).header("grpc-status", "0");
    let got = call(plain(), grpc("SendStreamingMessage"), answer).await;
    assert_eq!((got.header("grpc-status"), got.frames.len()), ("", 1));
    assert_eq!(got.trailers.unwrap()["grpc-status"], "13");
}

/// A `StreamResponse` whose task is at work.
fn working() -> Bytes {
    message(b"\x0a\x0c\x0a\x06task-1\x1a\x02\x08\x02")
}

/// HTTP/2 from end to end: a client without any layer reads the messages that came, and then the trailers.
#[tokio::test]
async fn over_http_2_a_client_reads_messages_and_trailers() {
    let (near, far) = tokio::io::duplex(64 << 10);
    let serving = tokio::spawn(async move {
        let answer =
            Answer::new(200, "application/grpc", MockBody::of([message(b"\x0a\x00"), message(b"\x0a\x01x")]).reset());
        let stack = CallLayer::new().layer(RefusalResponseLayer::new().layer(Peer::new([answer])));
        let stack = tower::util::MapRequest::new(stack, |request: Request<hyper::body::Incoming>| {
            request.map(|_| Full::<Bytes>::default())
        });
        hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(far), TowerToHyperService::new(stack))
            .await
    });
    let (mut client, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(near)).await.unwrap();
    tokio::spawn(connection);
    let response: Response<hyper::body::Incoming> = client.send_request(grpc("SendStreamingMessage")).await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (200, &"application/grpc".parse().unwrap())
    );
    let collected = response.into_body().collect().await.unwrap();
    let trailers = collected.trailers().cloned().unwrap();
    assert_eq!(
        (&trailers["grpc-status"], &trailers["grpc-message"]),
        (&"13".parse().unwrap(), &"the body broke off".parse().unwrap())
    );
    assert!(trailers.contains_key("grpc-status-details-bin"));
    assert_eq!(collected.to_bytes(), [message(b"\x0a\x00"), message(b"\x0a\x01x")].concat());
    drop(client);
    serving.abort();
}
