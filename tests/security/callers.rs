//! A caller of a gateway, who names the host that it likes: in HTTP/1.1's absolute form, or as HTTP/2's `:authority`.

use std::{convert::Infallible, net::SocketAddr};

use a2a_guard::{CallBody, Guard};
use axum::{Router, body::Body};
use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tower::Layer;

use crate::loopback::Loopback;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}"#;

/// A server that answers every call with a task of this name, under the `Host` that it was asked by.
async fn agent(name: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let answer = service_fn(move |request: Request<Incoming>| async move {
                let host = request.headers().get("host").map_or("none", |host| host.to_str().unwrap()).to_owned();
                let task = format!(
                    r#"{{"id":"t-1","contextId":"{name} as {host}","status":{{"state":"TASK_STATE_COMPLETED"}}}}"#
                );
                let body = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{task}}}"#);
                let answer = Response::builder().header("content-type", "application/json");
                Ok::<_, Infallible>(answer.body(Full::<Bytes>::from(body)).unwrap())
            });
            tokio::spawn(async move {
                let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), answer).await;
            });
        }
    });
    addr
}

/// The quick start's gateway, over HTTP/1.1 and HTTP/2.
async fn gateway(upstream: SocketAddr) -> SocketAddr {
    let client = Client::builder(TokioExecutor::new()).build_http::<CallBody<Body>>();
    let guard = Guard::builder().upstream(format!("http://{upstream}").parse().unwrap()).build().unwrap().rendered();
    let router: Router = Router::new().fallback_service(guard.layer(client));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let service = TowerToHyperService::new(router.clone());
            tokio::spawn(async move {
                let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), service).await;
            });
        }
    });
    addr
}

#[tokio::test]
async fn in_absolute_form_nobody_gets_elsewhere() {
    let (upstream, other) = (agent("upstream").await, agent("other").await);
    let gateway = gateway(upstream).await;
    for target in [format!("http://{other}/a2a"), format!("http://user:pw@{other}/a2a"), "/a2a".to_owned()] {
        let mut socket = TcpStream::connect(gateway).await.unwrap();
        let request = format!(
            "POST {target} HTTP/1.1\r\nhost: {other}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n{CALL}",
            CALL.len()
        );
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains(&format!("upstream as {upstream}")), "{target}: {answer}");
    }
}

#[tokio::test]
async fn over_http_2_neither() {
    let (upstream, other) = (agent("upstream").await, agent("other").await);
    let gateway = gateway(upstream).await;
    let client = Client::builder(TokioExecutor::new()).http2_only(true).build::<_, Full<Bytes>>(Loopback(gateway));
    let request = Request::post(format!("http://{other}/a2a")).version(Version::HTTP_2);
    let request = request.header("content-type", "application/json").body(Full::from(CALL)).unwrap();
    let answer = client.request(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.contains(&format!("upstream as {upstream}")), "{answer}");
}
