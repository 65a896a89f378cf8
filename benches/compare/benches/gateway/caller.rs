//! Callers: as many calls as go, or one that looks at the clock.

use std::{
    net::SocketAddr,
    rc::Rc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use tokio::task::LocalSet;

use crate::agent::BEGAN;

/// Of an answer's end, how much is looked at, in bytes: the completion is there.
const END: usize = 128;

#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) path: &'static str,
    pub(crate) at_once: usize,
    /// What a call counts for.
    pub(crate) events: usize,
}

pub(crate) struct Caller {
    client: Client<HttpConnector, Full<Bytes>>,
    at: SocketAddr,
}

impl Caller {
    pub(crate) fn new(at: SocketAddr) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self { client: Client::builder(TokioExecutor::new()).build(connector), at }
    }

    fn request(&self, path: &str) -> Request<Full<Bytes>> {
        let method = if path.starts_with("/send") { "SendMessage" } else { "SendStreamingMessage" };
        let text = "x".repeat(700);
        let message = format!(r#"{{"messageId":"m","role":"ROLE_USER","parts":[{{"text":"{text}"}}]}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"message":{message}}}}}"#);
        let request = Request::post(format!("http://{}{path}", self.at)).header("content-type", "application/json");
        request.header("a2a-version", "1.0").body(Full::from(body)).expect("a request")
    }

    /// One call, read to its end; the last bytes of a stream say that it is complete.
    async fn call(&self, path: &str) {
        let response = self.client.request(self.request(path)).await.expect("a response");
        let (status, mut body) = (response.status(), response.into_body());
        let mut end = Vec::new();
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame.expect("a whole body").into_data() {
                end.extend_from_slice(&data[data.len().saturating_sub(END)..]);
                end.drain(..end.len().saturating_sub(END));
            }
        }
        assert_eq!(status, 200, "{}", end.escape_ascii());
        assert!(end.windows(9).any(|part| part == b"COMPLETED"), "{}", end.escape_ascii());
    }

    /// How many calls (or events) end within this time, and within how long exactly.
    pub(crate) async fn load(self, load: Load, time: Duration) -> (usize, Duration) {
        // Connections stand, the card is there.
        self.call(load.path).await;
        let (this, began) = (Rc::new(self), Instant::now());
        let callers = LocalSet::new();
        let mut counts = Vec::new();
        for _ in 0..load.at_once {
            let this = Rc::clone(&this);
            counts.push(callers.spawn_local(async move {
                let mut count = 0;
                while began.elapsed() < time {
                    this.call(load.path).await;
                    count += load.events;
                }
                count
            }));
        }
        callers.await;
        let took = began.elapsed();
        let mut sum = 0;
        for count in counts {
            sum += count.await.expect("a count");
        }
        (sum, took)
    }

    /// How long each of so many events took to get here.
    pub(crate) async fn latencies(self, events: usize) -> Vec<Duration> {
        let mut took = Vec::new();
        while took.len() < events {
            let response = self.client.request(self.request("/timed")).await.expect("a response");
            assert_eq!(response.status(), 200);
            let mut body = response.into_body();
            while let Some(frame) = body.frame().await {
                let Ok(data) = frame.expect("a whole body").into_data() else { continue };
                let now = BEGAN.with(|began| began.elapsed());
                let text = String::from_utf8_lossy(&data);
                for sent in text.split("at ").skip(1) {
                    let nanos: u64 = sent[..20].parse().expect("a time");
                    took.push(now - Duration::from_nanos(nanos));
                }
                if took.len() >= events {
                    break;
                }
            }
        }
        took
    }
}
