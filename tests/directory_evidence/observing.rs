//! Calls that nobody delegated count by their outcomes.

use a2a_guard::{
    CallLayer, Outcome, TerminalStateLayer,
    directory::{Condition, Evidence},
};
use http_body_util::BodyExt;
use tower::{Layer, ServiceExt};

use crate::{
    mock::{Answer, Dialect::V1, MockBody, Peer},
    peer, standing,
};

#[tokio::test(start_paused = true)]
async fn an_observer_takes_note() {
    let evidence = Evidence::new();
    let peer_of = |outcome: &Outcome<'_>| {
        let is_agents = outcome.target()?.host() == Some("agent.example.com");
        is_agents.then(|| peer("agent"))
    };
    let ending = TerminalStateLayer::builder().observe(evidence.observer(peer_of)).build().unwrap();
    let answers = [
        Answer::json(V1.result(&V1.task("COMPLETED"))),
        Answer::json(V1.result(&V1.task("FAILED"))),
        Answer::json(V1.error(-32602)),
        Answer::new(500, "text/plain", MockBody::new().data("oops")),
        Answer::json(V1.error(-32004)),
    ];
    let stack = CallLayer::new().layer(ending.layer(Peer::new(answers)));
    for _ in 0..5 {
        if let Ok(response) = stack.clone().oneshot(V1.send()).await {
            response.into_body().collect().await.unwrap();
        }
    }
    // Dropped before it came to anything.
    drop(stack.clone().oneshot(V1.send()));
    let standing = standing(&evidence, "agent");
    assert_eq!((standing.calls, standing.condition), (4, Condition::Demoted));
    crate::close(standing.trust, 0.25);
    assert_eq!(evidence.snapshot()[0].neutral, 1);
}
