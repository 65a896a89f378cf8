//! Callers that take their time.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::json;
use tokio::time::sleep;

use crate::{
    agent::{Agent, LONG},
    asks::{ALL, Ask, Grpc, Rpc, get},
    client::Caller,
    gateway::Gateway,
};

/// Sooner than the events are through that such a caller does not take; they never are. The next call has to be
/// answered within it, on a busy machine too.
const TOTAL: [&str; 2] = ["--total-ms", "3000"];

/// A window that the answers do not fit into, which is moved as the body is read.
fn narrow(window: u32) -> Client<HttpConnector, Full<Bytes>> {
    Client::builder(TokioExecutor::new()).http2_only(true).http2_initial_stream_window_size(window).build_http()
}

#[tokio::test]
async fn who_does_not_read_holds_no_call_beyond_its_total() {
    let agent = Agent::start().await;
    for binding in ALL {
        let words = [&TOTAL[..], &["--no-probe", "--max-in-flight", "1", "--admin", "127.0.0.1:0"]].concat();
        let gateway = Gateway::start(agent.addr, &words);
        let mut request = binding.ask(Ask::Stream("do-count:9999"));
        let path = request.uri().path().to_owned();
        *request.uri_mut() = format!("http://{}{path}", gateway.addr).parse().unwrap();
        let response = narrow(65_535).request(request).await.unwrap();

        let admin = Caller::of(Rpc, gateway.admin.unwrap());
        let mut outcomes = json!({});
        for _ in 0..600 {
            outcomes = admin.call(get("/outcomes")).await.json();
            if outcomes != json!({}) {
                break;
            }
            sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(outcomes, json!({ "timeout": { "total": 1 } }), "{binding:?}");
        // Its place is free.
        let caller = Caller::of(binding, gateway.addr);
        let answer = caller.call(binding.ask(Ask::Send("do-well"))).await;
        assert_eq!(answer.grpc_status(), (binding == Grpc).then_some("0"), "{binding:?}: {:?}", answer.body);

        // Should it read on after all, it finds a proper end.
        let rest = response.into_body().collect().await.expect("a body that ends well");
        let (trailers, body) = (rest.trailers().cloned(), rest.to_bytes());
        let text = String::from_utf8_lossy(&body);
        match binding {
            Grpc => assert_eq!(trailers.unwrap()["grpc-status"], "4"),
            _ => {
                let last = text.trim_end().rsplit("\n\n").next().unwrap();
                assert!(last.starts_with("event: error\ndata: ") && last.contains("CAPABILITY_TIMEOUT"), "{last}");
            }
        }
        let numbers: Vec<usize> =
            text.split("event ").skip(1).map(|rest| rest[..4].parse().expect("a number")).collect();
        assert!(numbers.iter().copied().eq(0..numbers.len()), "{binding:?}: in order, and none is left out");
    }
}

/// An answer of one piece that does not fit into what such a caller takes.
#[tokio::test]
async fn nor_its_place() {
    let agent = Agent::start().await;
    let gateway = Gateway::start(agent.addr, &["--total-ms", "12000", "--no-probe", "--max-in-flight", "1"]);
    let mut request = Rpc.ask(Ask::Send("do-long"));
    *request.uri_mut() = format!("http://{}/a2a", gateway.addr).parse().unwrap();
    let response = narrow(65_535).request(request).await.unwrap();
    let caller = Caller::of(Rpc, gateway.addr);
    let freed = async {
        while !caller.call(Rpc.ask(Ask::Send("do-well"))).await.text().contains("TASK_STATE_COMPLETED") {
            sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), freed).await.expect("its place");
    let body = response.into_body().collect().await.expect("all of it").to_bytes();
    assert!(body.len() > LONG, "{}", body.len());
}

/// What is here as a whole waits for nobody, and for no total.
#[tokio::test]
async fn who_takes_nothing_at_all_holds_nothing() {
    let agent = Agent::start().await;
    for binding in ALL {
        let gateway = Gateway::start(agent.addr, &["--no-probe", "--max-in-flight", "1"]);
        let mut request = binding.ask(Ask::Send("do-well"));
        let path = request.uri().path().to_owned();
        *request.uri_mut() = format!("http://{}{path}", gateway.addr).parse().unwrap();
        let response = narrow(0).request(request).await.unwrap();
        let caller = Caller::of(binding, gateway.addr);
        let answer = caller.call(binding.ask(Ask::Send("do-well"))).await;
        match binding {
            Grpc => assert_eq!(answer.grpc_status(), Some("0")),
            _ => assert!(answer.text().contains("TASK_STATE_COMPLETED"), "{binding:?}: {}", answer.text()),
        }
        drop(response);
    }
}
