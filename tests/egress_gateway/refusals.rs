//! What goes wrong is the binding's own error.

use crate::{
    agent::Agent,
    asks::{ALL, Ask, Grpc, Rest, Rpc},
    client::Caller,
    gateway::Gateway,
    nobody::Nobody,
};

#[tokio::test]
async fn before_the_head() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    for (binding, text, refusal) in [
        (Rpc, "do-page", "broken/http_status"),
        (Rpc, "do-half", "broken/malformed"),
        (Rest, "do-page", "broken/http_status"),
        (Rest, "do-half", "broken/malformed"),
    ] {
        let answer = Caller::of(binding, gateway.addr).call(binding.ask(Ask::Send(text))).await;
        assert_eq!(answer.refusal(), refusal, "{binding:?} {text}");
        let answer_json = answer.json();
        if binding == Rpc {
            assert_eq!((answer.status.as_u16(), &answer_json["error"]["code"]), (200, &(-32006).into()));
            assert_eq!(answer_json["id"], "r-7");
        } else {
            assert_eq!((answer.status.as_u16(), &answer_json["error"]["code"]), (500, &500.into()));
        }
    }
    for text in ["do-page", "do-half"] {
        let answer = Caller::of(Grpc, gateway.addr).call(Grpc.ask(Ask::Send(text))).await;
        assert_eq!((answer.status.as_u16(), answer.grpc_status()), (200, Some("13")), "{text}");
        assert!(answer.body.is_empty());
    }
}

#[tokio::test]
async fn in_the_middle_of_a_stream() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    for binding in [Rpc, Rest] {
        let answer = Caller::of(binding, gateway.addr).call(binding.ask(Ask::Stream("do-cut"))).await;
        assert!(!answer.broke_off, "an error event is a proper end");
        let events = answer.events();
        assert_eq!(events.iter().map(|(name, _)| *name).collect::<Vec<_>>(), [None, Some("error")]);
        assert_eq!(answer.refusal(), "broken/truncated");
    }
    let answer = Caller::of(Grpc, gateway.addr).call(Grpc.ask(Ask::Stream("do-cut"))).await;
    assert_eq!(answer.trailers.as_ref().map(|trailers| trailers["grpc-status"].as_bytes()), Some(&b"13"[..]));
    assert!(!answer.body.is_empty(), "the first message came");
}

#[tokio::test]
async fn an_agent_that_is_not_there() {
    let nobody = Nobody::new().unwrap();
    let gateway = Gateway::start(nobody.addr(), &["--no-cards", "--no-probe"]);
    for binding in [Rpc, Rest] {
        let answer = Caller::of(binding, gateway.addr).call(binding.ask(Ask::Send("do-well"))).await;
        assert_eq!(answer.refusal(), "transport/connect");
    }
    let answer = Caller::of(Grpc, gateway.addr).call(Grpc.ask(Ask::Send("do-well"))).await;
    assert_eq!(answer.grpc_status(), Some("14"));
}

#[tokio::test]
async fn what_the_card_does_not_cover_is_not_sent() {
    let agent = Agent::modest().await;
    let gateway = Gateway::start(agent.addr, &[]);
    for binding in ALL {
        let answer = Caller::of(binding, gateway.addr).call(binding.ask(Ask::Stream("do-cut"))).await;
        match binding {
            Grpc => assert_eq!(answer.grpc_status(), Some("9")),
            _ => assert_eq!(answer.refusal(), "card/capability_missing"),
        }
        assert!(!agent.seen().iter().any(|seen| seen.body.windows(6).any(|text| text == b"do-cut")), "{binding:?}");
    }
}
