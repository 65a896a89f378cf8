//! Each tenant of a union gateway under a path of its own.

use http::HeaderValue;

use crate::{
    agent::Agent,
    asks::{Ask, Rest, Rpc, get},
    client::Caller,
    gateway::Gateway,
};

const CARD: &str = "/.well-known/agent-card.json";

fn of_tenant(
    mut request: http::Request<http_body_util::Full<bytes::Bytes>>,
    tenant: &str,
) -> http::Request<http_body_util::Full<bytes::Bytes>> {
    let uri = format!("/tenants/{tenant}{}", request.uri());
    *request.uri_mut() = uri.parse().unwrap();
    request
}

#[tokio::test]
async fn each_has_its_own_card_and_calls() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &["--tenant-header", "X-Tenant"]);
    let caller = Caller::of(Rpc, gateway.addr);
    for tenant in ["blue", "green"] {
        let card = caller.call(get(&format!("/tenants/{tenant}{CARD}"))).await.json();
        assert_eq!(card["name"], format!("agent of {tenant}"));
        let urls: Vec<_> = card["supportedInterfaces"].as_array().unwrap().iter().map(|one| &one["url"]).collect();
        let here = format!("http://{}/tenants/{tenant}", gateway.addr);
        // Over gRPC there is no path to tell a tenant by.
        assert_eq!(urls, [&format!("{here}/a2a"), &format!("{here}/rest"), "https://elsewhere.example/a2a"]);
        for binding in [Rpc, Rest] {
            let text = format!("do-well for {tenant} over {binding:?}");
            for ask in [Ask::Send(&text), Ask::Stream(&text)] {
                let answer = caller.call(of_tenant(binding.ask(ask), tenant)).await;
                assert_eq!(answer.status.as_u16(), 200);
                assert!(answer.text().contains("TASK_STATE_COMPLETED"), "{}", answer.text());
                let seen = agent.last(&text);
                assert_eq!(seen.header("x-tenant"), Some(tenant));
                assert_eq!(seen.target, binding.ask(ask).uri().to_string());
            }
        }
    }
    // What the layers ask of their own accord, they ask for the tenant too.
    assert!(agent.seen().iter().all(|seen| seen.header("x-tenant").is_some()));
}

#[tokio::test]
async fn nothing_is_for_all_of_them() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &["--tenant-header", "X-Tenant"]);
    let caller = Caller::of(Rpc, gateway.addr);
    for path in [CARD, "/.well-known/agent.json", "/", "/tenants", "/tenants/", &format!("/tenants/{CARD}")] {
        let mut request = get(path);
        request.headers_mut().insert("x-tenant", HeaderValue::from_static("blue"));
        assert_eq!(caller.call(request).await.status.as_u16(), 404, "{path}");
    }
    assert_eq!(caller.call(Rpc.ask(Ask::Send("do-well"))).await.status.as_u16(), 404);
    assert!(agent.seen().is_empty(), "{:?}", agent.seen());
}

#[tokio::test]
async fn nobody_chooses_another_by_header() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &["--tenant-header", "X-Tenant", "--no-probe"]);
    let caller = Caller::of(Rpc, gateway.addr);
    let tricks: [&[(&'static str, &'static str)]; 4] = [
        &[("x-tenant", "green")],
        &[("x_tenant", "green")],
        // As a header of this one connection it would be taken off, and the call be nobody's.
        &[("connection", "x-tenant")],
        &[("x-tenant", "green"), ("connection", "x-tenant, close")],
    ];
    for (number, trick) in tricks.iter().enumerate() {
        let text = format!("do-well {number}");
        let mut request = of_tenant(Rpc.ask(Ask::Send(&text)), "blue");
        for (name, value) in *trick {
            request.headers_mut().append(*name, HeaderValue::from_static(value));
        }
        assert_eq!(caller.call(request).await.status.as_u16(), 200);
        let seen = agent.last(&text);
        let tenants: Vec<_> = seen.headers.get_all("x-tenant").iter().collect();
        assert_eq!(tenants, ["blue"], "{trick:?}");
        assert_eq!(seen.header("x_tenant"), None);
    }
}
