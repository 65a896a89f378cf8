//! Good calls are what they are without the gateway, to the byte.

use std::time::Duration;

use http_body_util::BodyExt;
use tokio::time::timeout;

use crate::{
    agent::Agent,
    asks::{ALL, Ask, Grpc},
    client::{Answer, Caller, Http},
    gateway::Gateway,
};

/// Without what each connection says for itself.
pub(crate) fn comparable(mut answer: Answer) -> Answer {
    for name in ["date", "connection", "x-hop", "transfer-encoding", "content-length"] {
        answer.headers.remove(name);
    }
    answer
}

#[tokio::test]
async fn through_every_binding_and_version() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    for binding in ALL {
        for http in [Http::One, Http::Two] {
            if binding == Grpc && http == Http::One {
                continue; // there is no such thing
            }
            let (direct, through) = (Caller::new(agent.addr, http), Caller::new(gateway.addr, http));
            for ask in [Ask::Send("do-well"), Ask::Stream("do-count:0100"), Ask::Task] {
                let expected = comparable(direct.call(binding.ask(ask)).await);
                let found = comparable(through.call(binding.ask(ask)).await);
                assert_eq!(found, expected, "{binding:?} {http:?} {ask:?}");
                assert!(!found.broke_off);
                if binding == Grpc {
                    assert!(found.grpc_status().is_some(), "{ask:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn each_event_goes_out_as_it_comes() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    for binding in ALL {
        let caller = Caller::of(binding, gateway.addr);
        let mut body = caller.open(binding.ask(Ask::Stream("do-step"))).await.into_body();
        let mut seen = Vec::new();
        for number in 0..5 {
            // The next event does not exist before this one was seen.
            agent.step(1);
            let wanted = format!("event {number:04}");
            while !String::from_utf8_lossy(&seen).contains(&wanted) {
                let frame = timeout(Duration::from_secs(20), body.frame()).await.expect("an event");
                seen.extend_from_slice(frame.expect("no end").unwrap().data_ref().expect("data"));
            }
        }
        body.collect().await.unwrap();
    }
}
