//! What the gateway shows its operator.

use http::Method;
use serde_json::json;

use crate::{
    agent::Agent,
    asks::{Ask, Rpc, get},
    client::Caller,
    gateway::Gateway,
};

#[tokio::test]
async fn outcomes_availability_and_cards() {
    let agent = Agent::start().await;
    let words = ["--admin", "127.0.0.1:0", "--head-ms", "1500", "--skill-header", "x-skill", "--region", "eu"];
    let gateway = Gateway::start(agent.addr, &words);
    let (caller, admin) = (Caller::of(Rpc, gateway.addr), Caller::of(Rpc, gateway.admin.unwrap()));
    assert_eq!(admin.call(get("/outcomes")).await.json(), json!({}));
    for text in ["do-well", "do-well", "do-page", "do-hang"] {
        let mut request = Rpc.ask(Ask::Send(text));
        request.headers_mut().insert("x-skill", "translate".parse().unwrap());
        caller.call(request).await;
    }
    let stream = caller.call(Rpc.ask(Ask::Stream("do-well"))).await;
    assert_eq!(stream.status.as_u16(), 200);

    let outcomes = admin.call(get("/outcomes")).await;
    assert_eq!(outcomes.header("content-type"), Some("application/json"));
    assert_eq!(
        outcomes.json(),
        json!({ "success": { "success": 3 }, "broken": { "http_status": 1 }, "timeout": { "head": 1 } }),
        "each call once"
    );

    let origin = format!("http://{}", agent.addr);
    let availability = admin.call(get("/availability")).await.json();
    let skill = &availability["skills"][0];
    assert_eq!(
        (&skill["origin"], &skill["skill"], &skill["region"], &skill["state"]),
        (&json!(origin), &json!("translate"), &json!("eu"), &json!("available"))
    );
    let endpoint = &availability["endpoints"][0];
    assert_eq!((&endpoint["url"], &endpoint["state"]), (&json!(format!("{origin}/a2a")), &json!("trusted")));

    let cards = admin.call(get("/cards")).await.json();
    assert_eq!(cards[0]["location"], json!(format!("{origin}/.well-known/agent-card.json")));
    assert_eq!(cards[0]["failure"], json!(null));
    assert_eq!(cards.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn nothing_else_is_there_and_nothing_can_be_changed() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &["--admin", "127.0.0.1:0"]);
    let admin = Caller::of(Rpc, gateway.admin.unwrap());
    assert_eq!(admin.call(get("/")).await.status.as_u16(), 404);
    let mut request = get("/outcomes");
    *request.method_mut() = Method::POST;
    let answer = admin.call(request).await;
    assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, Some("GET, HEAD")));
    // It is for the operator, not for callers.
    let answer = Caller::of(Rpc, gateway.addr).call(get("/outcomes")).await;
    assert_eq!(answer.status.as_u16(), 404);
    assert!(agent.seen().iter().any(|seen| seen.target == "/outcomes"), "the agent said so");
}
