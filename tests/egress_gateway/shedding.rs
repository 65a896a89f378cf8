//! Above `--max-in-flight`, callers are turned away at once, in their own binding.

use std::time::Duration;

use http_body_util::BodyExt;
use serde_json::json;

use crate::{
    agent::Agent,
    asks::{ALL, Ask, Grpc, Rpc},
    client::Caller,
    gateway::Gateway,
};

#[tokio::test]
async fn a_call_counts_until_its_body_is_over() {
    let agent = Agent::start().await;
    let words = ["--max-in-flight", "1", "--no-probe", "--admin", "127.0.0.1:0"];
    let gateway = Gateway::start(agent.addr, &words);
    let first = Caller::of(Rpc, gateway.addr);
    let mut stream = first.open(Rpc.ask(Ask::Stream("do-step"))).await.into_body();
    stream.frame().await.expect("an event").unwrap(); // its head is long over
    for binding in ALL {
        let caller = Caller::of(binding, gateway.addr);
        let (answer, took) = caller.timed(binding.ask(Ask::Send("do-well"))).await;
        match binding {
            Grpc => assert_eq!(answer.grpc_status(), Some("14")),
            _ => assert_eq!(answer.refusal(), "refused/unavailable"),
        }
        assert!(took < Duration::from_secs(20), "{took:?}: it was kept waiting");
    }
    let admin = Caller::of(Rpc, gateway.admin.unwrap());
    let outcomes = admin.call(crate::asks::get("/outcomes")).await.json();
    assert_eq!(outcomes, json!({ "refused": { "unavailable": ALL.len() } }), "each call once, and none for its card");
    agent.step(5);
    stream.collect().await.unwrap();
    // The place is free again.
    let answer = first.call(Rpc.ask(Ask::Send("do-well"))).await;
    assert!(answer.text().contains("TASK_STATE_COMPLETED"), "{}", answer.text());

    // So it is when the caller goes away.
    let caller = Caller::of(Rpc, gateway.addr);
    drop(caller.open(Rpc.ask(Ask::Stream("do-quiet"))).await);
    drop(caller);
    let freed = async {
        while !first.call(Rpc.ask(Ask::Send("do-well"))).await.text().contains("TASK_STATE_COMPLETED") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), freed).await.expect("the place of a caller who left");
}
