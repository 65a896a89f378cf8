//! Many streams at once, each complete and in order.

use tokio::task::JoinSet;

use crate::{
    agent::Agent,
    asks::{Ask, Grpc, Rest, Rpc},
    client::{Caller, Http},
    gateway::Gateway,
};

const STREAMS: usize = 200;
const EVENTS: usize = 1000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_streams_of_a_thousand_events() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    let (one, two) = (Caller::new(gateway.addr, Http::One), Caller::new(gateway.addr, Http::Two));
    let mut streams = JoinSet::new();
    for number in 0..STREAMS {
        // A connection for each, or one for all.
        let (binding, caller) = match number % 4 {
            0 => (Rpc, one.clone()),
            1 => (Rest, one.clone()),
            2 => (Rpc, two.clone()),
            _ => (Grpc, two.clone()),
        };
        streams.spawn(async move {
            let answer = caller.call(binding.ask(Ask::Stream(&format!("do-count:{EVENTS:04}")))).await;
            assert!(!answer.broke_off, "{binding:?}");
            let text = String::from_utf8_lossy(&answer.body);
            let numbers: Vec<usize> =
                text.split("event ").skip(1).map(|rest| rest[..4].parse().expect("a number")).collect();
            assert!(numbers.iter().copied().eq(0..EVENTS), "{binding:?}: {} events", numbers.len());
            match binding {
                Grpc => assert_eq!(answer.grpc_status(), Some("0")),
                _ => assert!(text.contains("TASK_STATE_COMPLETED"), "{binding:?}"),
            }
        });
    }
    let mut done = 0;
    while let Some(stream) = streams.join_next().await {
        stream.unwrap();
        done += 1;
    }
    assert_eq!(done, STREAMS);
}
