//! Options that change what is asked of the agent; and what cannot be.

use std::net::TcpListener;

use crate::{
    agent::Agent,
    asks::{Ask, Rpc, get},
    client::Caller,
    gateway::{Gateway, command},
};

/// How often the agent was asked for its card, and probed.
fn asked(agent: &Agent) -> (usize, usize) {
    let seen = agent.seen();
    let cards = seen.iter().filter(|seen| seen.target == "/.well-known/agent-card.json").count();
    let probes = seen.iter().filter(|seen| seen.body.windows(9).any(|text| text == b"\"GetTask\"")).count();
    (cards, probes)
}

#[tokio::test]
async fn cards_and_probes_are_asked_for_unless_told_not_to() {
    for (words, wanted) in [(&[][..], (1, 1)), (&["--no-cards"], (0, 1)), (&["--no-probe"], (1, 0))] {
        let agent = Agent::start().await;
        let gateway = Gateway::start(agent.addr, words);
        let caller = Caller::of(Rpc, gateway.addr);
        for _ in 0..2 {
            let answer = caller.call(Rpc.ask(Ask::Send("do-well"))).await;
            assert!(answer.text().contains("TASK_STATE_COMPLETED"), "{words:?}: {}", answer.text());
        }
        assert_eq!(asked(&agent), wanted, "{words:?}");
    }
}

#[tokio::test]
async fn a_skill_that_is_not_there_is_known_without_probes_too() {
    let agent = Agent::start().await;
    let words = ["--no-probe", "--skill-header", "x-skill", "--region", "eu", "--admin", "127.0.0.1:0"];
    let gateway = Gateway::start(agent.addr, &words);
    let mut request = Rpc.ask(Ask::Send("do-elsewhere"));
    request.headers_mut().insert("x-skill", "translate".parse().unwrap());
    let answer = Caller::of(Rpc, gateway.addr).call(request).await;
    // The agent's own words, and a routing signal in the books.
    assert_eq!(answer.json()["error"]["message"], "not here");
    let outcomes = Caller::of(Rpc, gateway.admin.unwrap()).call(get("/outcomes")).await.json();
    assert_eq!(outcomes["stale"]["skill_unavailable"], 1, "{outcomes}");
}

#[test]
fn what_cannot_be_is_said_and_not_served() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let upstream = ["--upstream", "http://127.0.0.1:9"];
    for (words, code, said) in [
        (&["--listen", "127.0.0.1:0"][..], 2, "--upstream is missing"),
        (&["--listen", "127.0.0.1:0", "--upstream", "https://a.test"], 2, "--upstream cannot be https://a.test"),
        (&[&["--listen", "127.0.0.1:0"], &upstream[..], &["--fast"]].concat(), 2, "--fast is none of the options"),
        (&[&["--listen", "127.0.0.1:0"], &upstream[..], &["--idle-ms", "0"]].concat(), 1, "idle"),
        (
            &[&["--listen", "127.0.0.1:0"], &upstream[..], &["--total-ms", "5", "--head-ms", "9"]].concat(),
            1,
            "it could never be reached",
        ),
        (&[&["--listen", &taken], &upstream[..]].concat(), 1, "in use"),
        (&[&["--listen", "127.0.0.1:0"], &upstream[..], &["--admin", &taken]].concat(), 1, "in use"),
    ] {
        let output = command(words).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {error}");
        assert!(error.contains(said), "{words:?}: {error}");
        assert!(output.stdout.is_empty(), "{words:?}: {:?}", output.stdout);
    }
}
