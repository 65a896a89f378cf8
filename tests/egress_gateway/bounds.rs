//! An agent that hangs, trickles or floods is ended by the bound that the operator set.

use std::time::Duration;

use crate::{
    agent::Agent,
    asks::{ALL, Ask, Grpc, Rpc},
    client::Caller,
    gateway::Gateway,
};

/// Far above every bound that is set here, and far below every default.
const SOON: Duration = Duration::from_secs(25);

#[tokio::test]
async fn every_bound_ends_what_it_is_for() {
    let agent = Agent::start().await;
    for (words, ask, refusal) in [
        (&["--head-ms", "400"][..], Ask::Send("do-hang"), "timeout/head"),
        (&["--first-event-ms", "400"], Ask::Stream("do-headonly"), "timeout/first_event"),
        (&["--idle-ms", "900"], Ask::Stream("do-quiet"), "timeout/idle"),
        (&["--event-gap-ms", "900"], Ask::Stream("do-comments"), "timeout/event_gap"),
        (&["--total-ms", "2000"], Ask::Stream("do-forever"), "timeout/total"),
        (&["--total-ms", "700"], Ask::Send("do-hang"), "timeout/"),
        (&["--max-unary-body", "50000"], Ask::Send("do-big"), "broken/too_large"),
        (&["--max-event", "50000"], Ask::Stream("do-big"), "broken/too_large"),
    ] {
        let gateway = Gateway::start(agent.addr, &[&["--no-probe"], words].concat());
        let caller = Caller::of(Rpc, gateway.addr);
        let (answer, took) = caller.timed(Rpc.ask(ask)).await;
        assert!(answer.refusal().starts_with(refusal), "{words:?}: {}", answer.refusal());
        assert!(took < SOON, "{words:?}: {took:?}");
    }
}

#[tokio::test]
async fn what_rested_and_is_not_closed_ends_well() {
    let agent = Agent::start().await;
    for (words, text) in [(["--linger-ms", "300"], "do-linger"), (["--auth-wait-ms", "300"], "do-auth")] {
        let gateway = Gateway::start(agent.addr, &words);
        for binding in ALL {
            let (answer, took) = Caller::of(binding, gateway.addr).timed(binding.ask(Ask::Stream(text))).await;
            assert!(!answer.broke_off);
            match binding {
                Grpc => assert_eq!(answer.grpc_status(), Some("0"), "{text}"),
                _ => assert!(answer.events().iter().all(|(name, _)| name.is_none()), "{text}: {:?}", answer.body),
            }
            assert!(took < SOON, "{text}: {took:?}");
        }
    }
}

#[tokio::test]
async fn a_hanging_agent_is_a_typed_timeout_in_every_binding() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &["--head-ms", "1500"]);
    for binding in ALL {
        let (answer, took) = Caller::of(binding, gateway.addr).timed(binding.ask(Ask::Send("do-hang"))).await;
        match binding {
            Grpc => assert_eq!(answer.grpc_status(), Some("4")),
            _ => assert_eq!(answer.refusal(), "timeout/head"),
        }
        assert!(took < SOON, "{binding:?}: {took:?}");
    }
}
