//! `grpc-timeout`: what the caller gives the call, and what the agent is told.

use a2a_guard::{CallLayer, LimitOverrides, Limits, TerminalStateLayer};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tower::{Layer, Service, ServiceExt};

use crate::{
    dialect::{WORKING, answer, artifact, bare_task, framed, get, ok, send, stream, task},
    fate,
    mock::{Answer, MockBody, Peer, call, ms, s},
    plain, with,
};

fn given(mut request: Request<Full<Bytes>>, timeout: &str) -> Request<Full<Bytes>> {
    request.headers_mut().insert("grpc-timeout", timeout.parse().unwrap());
    request
}

#[tokio::test(start_paused = true)]
async fn it_bounds_the_call_as_its_total_does() {
    let working = || MockBody::new().data(task(WORKING));
    for (request, body) in [
        (send(), Answer::never()),
        (stream(), Answer::never()),
        (send(), answer(working().hang())),
        (stream(), answer(working().hang())),
        (stream(), answer(working().forever(artifact("more"), ms(10)))),
    ] {
        let ended = call(plain(), given(request, "1500m"), body).await;
        assert_eq!(ended.word(), "timeout/total");
        assert!(ended.elapsed >= ms(1500) && ended.elapsed < ms(2200), "{:?}", ended.elapsed);
        assert_eq!(ended.error().bound(), Some(ms(1500)));
    }
}

#[tokio::test(start_paused = true)]
async fn the_shorter_of_both_counts() {
    let limits = || with(Limits::within(s(3)));
    assert_eq!(call(limits(), given(get(), "1H"), Answer::never()).await.fate(), fate("timeout/total", s(3)));
    let mut own = given(get(), "2S");
    own.extensions_mut().insert(LimitOverrides::default().total(s(1)));
    assert_eq!(call(limits(), own, Answer::never()).await.elapsed, s(1));
    let mut own = given(get(), "1S");
    own.extensions_mut().insert(LimitOverrides::default().total(s(2)));
    assert_eq!(call(limits(), own, Answer::never()).await.fate(), fate("timeout/total", s(1)));
}

#[tokio::test(start_paused = true)]
async fn a_malformed_one_is_not_there() {
    for timeout in ["", "1s", "1.5S", "123456789S", "-1S"] {
        let ended = call(with(Limits::default().head(s(7))), given(get(), timeout), Answer::never()).await;
        assert_eq!(ended.fate(), fate("timeout/head", s(7)), "{timeout}");
    }
}

/// No time at all is a bound like any other, and no time is too long to be one.
#[tokio::test(start_paused = true)]
async fn the_extremes_are_bounds_too() {
    for timeout in ["0n", "0S", "00000000H", "1n"] {
        for request in [get(), send(), stream()] {
            let ended = call(plain(), given(request, timeout), Answer::never()).await;
            assert_eq!(ended.word(), "timeout/total", "{timeout}");
            assert!(ended.elapsed <= ms(1), "{timeout}: {:?}", ended.elapsed);
            // What is there already is in time.
            let ended = call(plain(), given(get(), timeout), answer(ok(&[framed(&bare_task(3))]))).await;
            assert_eq!(ended.word(), "success/success", "{timeout}");
        }
    }
    for timeout in ["99999999H", "99999999M", "99999999S"] {
        let ended = call(with(Limits::default().head(s(7))), given(get(), timeout), Answer::never()).await;
        assert_eq!(ended.fate(), fate("timeout/head", s(7)), "{timeout}");
        // Whatever is not whole is waited for no longer than the layer itself would.
        let mut slow = given(send(), timeout).map(|_| MockBody::new().data(&b"\0\0"[..]).hang());
        slow.extensions_mut().insert(LimitOverrides::default().total(s(3)));
        let peer = Peer::new([Answer::never()]);
        let mut stack = CallLayer::new().layer(plain().build().unwrap().layer(peer));
        let started = tokio::time::Instant::now();
        stack.ready().await.unwrap().call(slow).await.unwrap_err();
        assert_eq!(started.elapsed(), s(3), "{timeout}");
    }
}

/// It is gRPC's header alone.
#[tokio::test(start_paused = true)]
async fn other_bindings_do_not_know_it() {
    let mut request = given(get(), "1S");
    request.headers_mut().insert("content-type", "application/json".parse().unwrap());
    let ended = call(with(Limits::default().head(s(7)).blocking_head(s(7))), request, Answer::never()).await;
    assert_eq!(ended.fate(), fate("timeout/head", s(7)));
}

/// A client below that keeps to the header too gives up at the same moment, with an error that says nothing: tonic's
/// does.
#[tokio::test(start_paused = true)]
async fn a_client_that_gives_up_at_the_same_time_is_the_timeout() {
    let gives_up = || Answer::fails("Timeout expired").after(ms(1500));
    let ended = call(plain(), given(send(), "1500m"), gives_up()).await;
    assert_eq!(ended.fate(), fate("timeout/total", ms(1500)));
    assert_eq!(ended.notes.words(), ["timeout/total"]);
    // Sooner, it is what it is.
    let ended = call(plain(), given(send(), "1501m"), gives_up()).await;
    assert_eq!(ended.word(), "transport/connection_lost");
    // The header may be ours.
    for (limit, told, word) in [
        (1500, true, "timeout/total"),
        (1501, true, "transport/connection_lost"),
        (1500, false, "transport/connection_lost"),
    ] {
        let layer = with(Limits::within(ms(limit))).send_grpc_timeout(told);
        assert_eq!(call(layer, send(), gives_up()).await.word(), word, "{limit} {told}");
    }
}

/// What the agent is told of the time.
async fn told(layer: TerminalStateLayer, request: Request<Full<Bytes>>) -> Option<String> {
    let peer = Peer::new([answer(ok(&[task(3)]))]);
    let mut stack = CallLayer::new().layer(layer.layer(peer.clone()));
    stack.ready().await.unwrap().call(request).await.unwrap();
    let request = peer.requests().remove(0);
    request.headers().get("grpc-timeout").map(|value| value.to_str().unwrap().into())
}

#[tokio::test(start_paused = true)]
async fn by_option_the_agent_is_told_what_is_left() {
    let limits = || with(Limits::within(s(20)));
    let off = || limits().build().unwrap();
    let on = || limits().send_grpc_timeout(true).build().unwrap();
    assert_eq!(told(off(), send()).await, None);
    assert_eq!(told(off(), given(send(), "1S")).await.as_deref(), Some("1S"));
    assert_eq!(told(on(), send()).await.as_deref(), Some("20000000u"));
    assert_eq!(told(on(), given(send(), "1S")).await.as_deref(), Some("1000000u"));
    assert_eq!(told(on(), given(send(), "1H")).await.as_deref(), Some("20000000u"));
    // No other binding is told anything.
    let json = Request::post("https://agent.example.com/message:send")
        .header("content-type", "application/json")
        .body(Full::from(r#"{"message":{}}"#))
        .unwrap();
    let peer = Peer::new([Answer::json(r#"{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}}"#)]);
    let mut stack = CallLayer::new().layer(on().layer(peer.clone()));
    stack.ready().await.unwrap().call(json).await.unwrap();
    assert!(!peer.requests().remove(0).headers().contains_key("grpc-timeout"));
}

/// The time that reading the request took is gone.
#[tokio::test(start_paused = true)]
async fn what_is_left_counts_from_the_call() {
    let peer = Peer::new([answer(ok(&[task(3)]))]);
    let layer = with(Limits::within(s(20))).send_grpc_timeout(true).build().unwrap();
    let mut stack = CallLayer::new().layer(layer.layer(peer.clone()));
    let message = send().into_body();
    let bytes = http_body_util::BodyExt::collect(message).await.unwrap().to_bytes();
    let slow = MockBody::new().data(bytes.slice(..7)).wait(s(5)).data(bytes.slice(7..));
    let (parts, ()) = send().map(|_| ()).into_parts();
    stack.ready().await.unwrap().call(Request::from_parts(parts, slow)).await.unwrap();
    assert_eq!(peer.requests().remove(0).headers()["grpc-timeout"], "15000000u");
}
