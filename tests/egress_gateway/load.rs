//! Many streams at once, each complete and in order, and none of them in the way of another's events.

use std::time::Duration;

use http_body_util::BodyExt;
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};

use crate::{
    agent::Agent,
    asks::{Ask, Grpc, Rest, Rpc},
    client::{Caller, Http},
    gateway::Gateway,
};

const STREAMS: usize = 200;
const EVENTS: usize = 1000;

/// How long one event may be on its way while all of them are. On a machine that does other things too it may be
/// longer, if all take longer: who waits for all others waits for most of that time.
const LATE: Duration = Duration::from_secs(10);
const SHARE: u32 = 3;
/// What is so late never comes.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long events take that are sent one by one, the longest of them; they are asked for until nobody wants more.
async fn latency(agent: &Agent, gateway: &Gateway, wanted: impl Fn() -> bool) -> (usize, Duration) {
    let caller = Caller::of(Rpc, gateway.addr);
    let (mut events, mut longest) = (0, Duration::ZERO);
    while wanted() {
        let mut body = caller.open(Rpc.ask(Ask::Stream("do-step"))).await.into_body();
        let mut seen = Vec::new();
        for number in 0..5 {
            let sent = Instant::now();
            agent.step(1);
            let event = format!("event {number:04}");
            while !String::from_utf8_lossy(&seen).contains(&event) {
                let frame = timeout(PATIENCE, body.frame()).await.expect("an event in time");
                seen.extend_from_slice(frame.expect("no end").unwrap().data_ref().expect("data"));
            }
            longest = longest.max(sent.elapsed());
            events += 1;
        }
        body.collect().await.unwrap();
    }
    (events, longest)
}

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
    let (left, began) = (std::cell::Cell::new(STREAMS), Instant::now());
    let all = async {
        while let Some(stream) = streams.join_next().await {
            stream.unwrap();
            left.set(left.get() - 1);
        }
    };
    let ((), (events, longest)) = tokio::join!(all, latency(&agent, &gateway, || left.get() > 0));
    assert_eq!(left.get(), 0);
    let whole = began.elapsed();
    println!("{events} events of another stream in {whole:?} meanwhile, {longest:?} at most");
    assert!(events > 0 && longest < LATE.max(whole / SHARE), "{events} events, {longest:?} of {whole:?}");
}
