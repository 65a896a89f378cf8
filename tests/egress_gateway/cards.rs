//! Cards are shown as the gateway's own.

use std::net::SocketAddr;

use http::{HeaderValue, Method};
use serde_json::Value;

use crate::{
    agent::{Agent, framed},
    asks::{Ask, Grpc, Rest, Rpc, get},
    client::{Caller, Http},
    gateway::Gateway,
    messages,
};

const CARD: &str = "/.well-known/agent-card.json";

fn urls(card: &Value) -> Vec<&str> {
    let interfaces = card["supportedInterfaces"].as_array().unwrap();
    interfaces.iter().map(|interface| interface["url"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn with_the_gateways_address_and_without_signatures() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    for http in [Http::One, Http::Two] {
        let answer = Caller::new(gateway.addr, http).call(get(CARD)).await;
        let (card, at) = (answer.json(), gateway.addr);
        let here = [
            format!("http://{at}/a2a"),
            format!("http://{at}/rest"),
            at.to_string(),
            "https://elsewhere.example/a2a".to_owned(),
        ];
        assert_eq!(urls(&card), here);
        assert_eq!(card.get("signatures"), None);
        assert_eq!(card["name"], "agent of union");
        assert_eq!(card["documentationUrl"], format!("http://{}/docs", agent.addr), "no interface");
        assert_eq!((answer.header("cache-control"), answer.header("vary")), (Some("max-age=60"), Some("a2a-version")));
        assert_eq!(answer.header("last-modified"), None, "that was the agent's card");
        assert_ne!(answer.header("etag"), Some("\"the-agents\""));
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn under_a_name_of_whoever_asks() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    let mut request = get(CARD);
    request.headers_mut().insert("host", HeaderValue::from_static("gate.example:8080"));
    let answer = Caller::new(gateway.addr, Http::One).call(request).await;
    assert_eq!(urls(&answer.json())[0], "http://gate.example:8080/a2a");
}

#[tokio::test]
async fn conditions_are_about_the_card_that_is_shown() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    let caller = Caller::new(gateway.addr, Http::One);
    let etag = caller.call(get(CARD)).await.header("etag").unwrap().to_owned();
    let asking = |condition: &str| {
        let mut request = get(CARD);
        request.headers_mut().insert("if-none-match", HeaderValue::from_str(condition).unwrap());
        request.headers_mut().insert("range", HeaderValue::from_static("bytes=0-3"));
        request
    };
    for condition in [etag.clone(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".into()] {
        let answer = caller.call(asking(&condition)).await;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (304, 0), "{condition}");
        assert_eq!(answer.header("etag"), Some(&*etag));
        assert_eq!(answer.header("cache-control"), Some("max-age=60"));
    }
    for condition in ["\"x\"", "\"the-agents\""] {
        let answer = caller.call(asking(condition)).await;
        assert_eq!(answer.status.as_u16(), 200, "{condition}");
        answer.json();
    }
    let asked: Vec<_> = agent.seen().into_iter().filter(|seen| seen.target == CARD).collect();
    assert!(asked.iter().all(|seen| seen.header("if-none-match").is_none() && seen.header("range").is_none()));
}

#[tokio::test]
async fn a_head_tells_the_same_without_the_card() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    let caller = Caller::new(gateway.addr, Http::One);
    let whole = caller.call(get(CARD)).await;
    let mut request = get(CARD);
    *request.method_mut() = Method::HEAD;
    let head = caller.call(request).await;
    assert_eq!((head.header("etag"), head.body.len()), (whole.header("etag"), 0));
    assert_eq!(head.header("content-length"), Some(&*whole.body.len().to_string()));
}

#[tokio::test]
async fn extended_ones_too() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    let at = format!("http://{}/a2a", gateway.addr);
    let answer = Caller::of(Rpc, gateway.addr).call(Rpc.ask(Ask::Card)).await.json();
    assert_eq!((&answer["id"], &answer["result"]["name"]), (&"r-7".into(), &"extended".into()));
    assert_eq!(urls(&answer["result"])[0], at);
    let card = Caller::of(Rest, gateway.addr).call(Rest.ask(Ask::Card)).await.json();
    assert_eq!((&card["name"], urls(&card)[0]), (&"extended".into(), &*at));
    // Over gRPC its signatures are gone too, and its trailers are there.
    let answer = Caller::of(Grpc, gateway.addr).call(Grpc.ask(Ask::Card)).await;
    let agents = Answered::from(&agent).await;
    let of = |at: &str, host: &str| {
        let interface = |url: &str, binding: &str| {
            let fields = [messages::field(1, url), messages::field(2, binding), messages::field(4, "1.0")];
            messages::field(3, fields.concat())
        };
        [
            messages::field(1, "extended"),
            interface(&format!("{at}/a2a"), "JSONRPC"),
            interface(&format!("{at}/rest"), "HTTP+JSON"),
            interface(host, "GRPC"),
            interface("https://elsewhere.example/a2a", "WEBSOCKET"),
            messages::field(5, "1"),
        ]
        .concat()
    };
    let signed = |addr: SocketAddr| of(&format!("http://{addr}"), &addr.to_string());
    let signatures = messages::field(13, messages::field(1, "e30"));
    assert_eq!(agents.body[..], framed(&[signed(agent.addr), signatures].concat()));
    assert_eq!(answer.body[..], framed(&signed(gateway.addr)));
    assert_eq!((answer.status, &answer.trailers), (agents.status, &agents.trailers));
    assert!(answer.trailers.is_some_and(|trailers| trailers["grpc-status"] == "0"));
}

/// What the agent itself answers over gRPC.
struct Answered;

impl Answered {
    async fn from(agent: &Agent) -> crate::client::Answer {
        Caller::of(Grpc, agent.addr).call(Grpc.ask(Ask::Card)).await
    }
}
