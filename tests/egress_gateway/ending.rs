//! SIGTERM: what is in flight is finished, within a bound.

use std::time::Duration;

use http_body_util::BodyExt;
use tokio::net::TcpStream;

use crate::{
    agent::Agent,
    asks::{ALL, Ask, Rpc},
    client::Caller,
    gateway::Gateway,
};

/// Long enough for a process to end, on a busy machine too; and less than what is in flight would take.
const SOON: Duration = Duration::from_secs(25);

/// Waits until nobody listens there.
async fn closed(gateway: &Gateway) {
    let closed = async {
        while TcpStream::connect(gateway.addr).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SOON, closed).await.expect("a closed door");
}

#[tokio::test]
async fn what_is_in_flight_is_finished() {
    let agent = Agent::start().await;
    for binding in ALL {
        let mut gateway = Gateway::start(agent.addr, &[]);
        let caller = Caller::of(binding, gateway.addr);
        let stream = caller.open(binding.ask(Ask::Stream("do-step"))).await.into_body();
        gateway.terminate();
        closed(&gateway).await;
        assert_eq!(gateway.ended(Duration::from_millis(100)).await, None, "a call is in flight");
        agent.step(5);
        let body = stream.collect().await.expect("the rest of the stream").to_bytes();
        assert!(String::from_utf8_lossy(&body).contains("event 0004"), "{binding:?}");
        let status = gateway.ended(SOON).await.expect("an end");
        assert!(status.success());
    }
}

#[tokio::test]
async fn what_does_not_end_is_cut_off() {
    let agent = Agent::start().await;
    let mut gateway = Gateway::start(agent.addr, &["--drain-ms", "500"]);
    let caller = Caller::of(Rpc, gateway.addr);
    let mut stream = caller.open(Rpc.ask(Ask::Stream("do-quiet"))).await.into_body();
    stream.frame().await.expect("an event").unwrap();
    gateway.terminate();
    let status = gateway.ended(SOON).await.expect("an end");
    assert!(status.success());
    assert!(stream.collect().await.is_err(), "it must not look finished");
}

#[tokio::test]
async fn an_idle_gateway_ends_at_once() {
    let agent = Agent::start().await;
    let mut gateway = Gateway::start(agent.addr, &[]);
    let caller = Caller::of(Rpc, gateway.addr); // holds its connection
    caller.call(Rpc.ask(Ask::Send("do-well"))).await;
    gateway.terminate();
    assert!(gateway.ended(SOON).await.expect("an end").success());
}
