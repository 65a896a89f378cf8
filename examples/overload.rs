//! An agent that hangs must not drown who calls it: 10,000 calls, each bounded by itself, at once.
//!
//! tower's concurrency limit and load shedding stand below the layers, one of each for each upstream. What is over the
//! limit is turned away at once, typed, and safe to send elsewhere; calls to another upstream do not notice. (tower's
//! limit counts a call until its response head: open streams are not in it.)
//!
//! ```text
//! cargo run --release --example overload --features tower,hyper
//! ```

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    time::{Duration, Instant},
};

use a2a_guard::{CallBody, CallError, CallLayer, Limits, Retry, TerminalStateLayer};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tokio::task::JoinSet;
use tower::{Service, ServiceBuilder, ServiceExt, limit::ConcurrencyLimitLayer, load_shed::LoadShedLayer};

#[allow(dead_code, reason = "shared with others that use more of it")]
#[path = "support/peer.rs"]
mod peer;

use peer::{End, Peer, Script};

const CALLS: usize = 10_000;
const AT_ONCE: usize = 100;
const BOUND: Duration = Duration::from_secs(2); // 30 s in life

async fn get_task<S, B>(stack: S, to: SocketAddr) -> String
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = CallError>,
    B: http_body::Body<Data = Bytes, Error = CallError>,
{
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}"#;
    let request = Request::post(format!("http://{to}/a2a")).body(Full::from(call)).expect("a request");
    let ended = async { stack.oneshot(request).await?.into_body().collect().await };
    match ended.await {
        Ok(_) => "success".to_owned(),
        Err(error) if error.retry() != Retry::Safe => format!("{error}"),
        Err(error) => format!("{}/{}", error.outcome(), error.class()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let task = r#"{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}"#;
    let healthy = Peer::serve([Script::json(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{task}}}"#))]).await?;
    let hanging = Peer::serve([Script::silent(End::Hang)]).await?;
    let client = Client::builder(TokioExecutor::new()).build_http::<CallBody<Full<Bytes>>>();
    let ending = TerminalStateLayer::builder().limits(Limits::within(BOUND * 2).head(BOUND)).build()?;
    let upstream = || {
        let below = ServiceBuilder::new().layer(LoadShedLayer::new()).layer(ConcurrencyLimitLayer::new(AT_ONCE));
        let above = ServiceBuilder::new().layer(CallLayer::new()).layer(ending.clone());
        above.service(below.service(client.clone()))
    };

    let (began, flooded, other) = (Instant::now(), upstream(), upstream());
    let mut calls = JoinSet::new();
    (0..CALLS).for_each(|_| drop(calls.spawn(get_task(flooded.clone(), hanging.addr()))));
    for _ in 0..50 {
        assert_eq!(get_task(other.clone(), healthy.addr()).await, "success");
    }
    println!("50 calls to the healthy agent: {:.2} s, beside the others", began.elapsed().as_secs_f64());
    let mut ends = BTreeMap::new();
    calls.join_all().await.into_iter().for_each(|end| *ends.entry(end).or_insert(0) += 1);
    println!("{CALLS} calls to the hanging one: {:.2} s, {ends:?}", began.elapsed().as_secs_f64());
    assert_eq!(
        ends,
        BTreeMap::from([("refused/unavailable".into(), CALLS - AT_ONCE), ("timeout/head".into(), AT_ONCE)])
    );
    assert_eq!(hanging.requests().len(), AT_ONCE);
    assert!(began.elapsed() < BOUND * 3);
    Ok(())
}
