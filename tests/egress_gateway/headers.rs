//! What of a message is for one connection stays there, and the rest passes.

use http::{HeaderValue, Method, Version};

use crate::{
    agent::Agent,
    asks::{ALL, Ask, Grpc, Rpc, get},
    client::{Caller, Http},
    gateway::Gateway,
};

#[tokio::test]
async fn on_the_way_there() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &["--no-probe"]);
    let mut request = Rpc.ask(Ask::Send("do-well"));
    for (name, value) in [
        ("connection", "keep-alive, x-mine"),
        ("x-mine", "1"),
        ("keep-alive", "timeout=5"),
        ("proxy-authorization", "Basic eA=="),
        ("authorization", "Bearer x"),
        ("x-other", "2"),
        ("a2a-extensions", "https://example.com/ext"),
    ] {
        request.headers_mut().append(name, HeaderValue::from_static(value));
    }
    Caller::of(Rpc, gateway.addr).call(request).await;
    let seen = agent.last("do-well");
    for name in ["connection", "x-mine", "keep-alive", "proxy-authorization"] {
        assert_eq!(seen.header(name), None, "{name}");
    }
    assert_eq!(seen.header("authorization"), Some("Bearer x"));
    assert_eq!(seen.header("x-other"), Some("2"));
    assert_eq!(seen.header("a2a-extensions"), Some("https://example.com/ext"));
    assert_eq!(seen.header("host"), Some(&*agent.addr.to_string()));
    assert_eq!(seen.header("via"), Some("1.1 a2a-guard"));
}

#[tokio::test]
async fn on_the_way_back() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    let answer = Caller::of(Rpc, gateway.addr).call(Rpc.ask(Ask::Send("do-well"))).await;
    assert_eq!((answer.header("x-agent"), answer.header("x-hop")), (Some("1"), None));
}

#[tokio::test]
async fn each_agent_is_spoken_to_as_its_binding_needs() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    for binding in ALL {
        let text = format!("do-well over {binding:?}");
        Caller::new(gateway.addr, Http::Two).call(binding.ask(Ask::Send(&text))).await;
        let seen = agent.last(&text);
        let version = if binding == Grpc { Version::HTTP_2 } else { Version::HTTP_11 };
        assert_eq!(seen.version, version, "{binding:?}");
        assert_eq!(seen.header("te"), (binding == Grpc).then_some("trailers"));
        assert_eq!(seen.header("via"), Some("2 a2a-guard"));
        assert_eq!(seen.method, Method::POST);
    }
}

/// Most clients ask for codings, and what is coded cannot be judged.
#[tokio::test]
async fn nobody_is_asked_for_codings() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    for binding in ALL {
        let text = format!("do-coded over {binding:?}");
        let mut request = binding.ask(Ask::Send(&text));
        request.headers_mut().insert("accept-encoding", HeaderValue::from_static("gzip, deflate, br"));
        if binding == Grpc {
            request.headers_mut().insert("grpc-accept-encoding", HeaderValue::from_static("identity,gzip"));
        }
        let answer = Caller::of(binding, gateway.addr).call(request).await;
        match binding {
            Grpc => assert_eq!(answer.grpc_status(), Some("0")),
            _ => assert!(answer.text().contains("TASK_STATE_COMPLETED"), "{binding:?}: {}", answer.text()),
        }
        let seen = agent.last(&text);
        assert_eq!(seen.header("accept-encoding"), Some("identity"), "{binding:?}");
        assert_eq!(seen.header("grpc-accept-encoding"), (binding == Grpc).then_some("identity"), "{binding:?}");
    }
}

#[tokio::test]
async fn a_redirect_does_not_lead_around_the_gateway() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    let answer = Caller::of(Rpc, gateway.addr).call(get("/moved")).await;
    let here = format!("http://{}/a2a?x=1", gateway.addr);
    assert_eq!((answer.status.as_u16(), answer.header("location")), (307, Some(&*here)));
}

#[tokio::test]
async fn it_is_no_tunnel() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &[]);
    for (request, status) in [
        ("CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: elsewhere.example:443\r\n\r\n", "405"),
        ("GET /x HTTP/1.1\r\nhost: a@b\r\nconnection: close\r\n\r\n", "400"),
        ("OPTIONS * HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", "404"),
        // Whatever authority a caller writes there, the operator's agent is asked.
        ("GET http://elsewhere.example/x HTTP/1.1\r\nhost: elsewhere.example\r\nconnection: close\r\n\r\n", "404"),
    ] {
        let mut socket = tokio::net::TcpStream::connect(gateway.addr).await.unwrap();
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut head = [0; 12];
        socket.read_exact(&mut head).await.unwrap();
        assert_eq!(std::str::from_utf8(&head[9..]).unwrap(), status, "{request}");
    }
    assert_eq!(agent.seen().iter().map(|seen| &*seen.target).collect::<Vec<_>>(), ["*", "/x"]);
}
