//! Mixed traffic: what is asked, what the peer makes of it, and what must come of that.

use std::time::Duration;

use a2a_guard::LimitOverrides;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::Full;
use tokio::sync::mpsc;

use crate::{
    calls, messages,
    peer::{Fed, answered, end, media_of_stream, whole},
    ways::{GOOD, Wire, finish, framed, good_bytes},
};

/// For calls whose bound is to be reached.
const SHORT: Duration = Duration::from_millis(300);
/// After which a caller loses its patience.
pub(crate) const PATIENCE: Duration = Duration::from_millis(20);

/// One kind of call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    wires: &'static [Wire],
    /// What must come of it, as long as its peer lives.
    pub(crate) word: &'static str,
}

use Wire::{Grpc, HttpJson, JsonRpc};

const ALL: &[Wire] = &[JsonRpc, HttpJson, Grpc];
const SUCCESS: &str = "success/success";

const fn kind(name: &'static str, wires: &'static [Wire], word: &'static str) -> Kind {
    Kind { name, wires, word }
}

pub(crate) const KINDS: &[Kind] = &[
    kind("a task", ALL, SUCCESS),
    kind("a large task", &[JsonRpc, HttpJson], SUCCESS),
    kind("a stream", ALL, SUCCESS),
    kind("a refusal", &[JsonRpc], "refused/peer_error"),
    kind("a crash", &[JsonRpc, HttpJson], "broken/http_status"),
    kind("a sign-in page", &[JsonRpc, HttpJson], "broken/wrong_media_type"),
    kind("a stream that is cut", ALL, "broken/truncated"),
    kind("no head", ALL, "timeout/head"),
    kind("a stream that stalls", ALL, "timeout/idle"),
    kind("a caller without patience", ALL, "abandoned/abandoned"),
];

impl Kind {
    pub(crate) fn wire(&self, any: usize) -> Wire {
        self.wires[any % self.wires.len()]
    }

    pub(crate) fn is_dropped(&self) -> bool {
        self.word.starts_with("abandoned")
    }

    fn is_unary(&self) -> bool {
        matches!(self.name, "a task" | "a large task" | "a refusal" | "a crash" | "a sign-in page")
    }

    pub(crate) fn request(&self, wire: Wire, host: usize) -> Request<Full<Bytes>> {
        let mut request = match wire {
            _ if !self.is_unary() => calls::streaming(wire, host, self.name),
            JsonRpc => calls::json_rpc(host, self.name, "GetTask", r#""id":"task-1""#),
            HttpJson => calls::http_json(host, self.name, "GET", "/tasks/task-1", String::new()),
            Grpc => calls::grpc(host, self.name, "GetTask", &messages::of_task()),
        };
        if self.word.starts_with("timeout") {
            request.extensions_mut().insert(LimitOverrides::default().head(SHORT).idle(SHORT));
        }
        request
    }

    /// The bytes of a success.
    pub(crate) fn bytes(&self, wire: Wire) -> Option<Vec<u8>> {
        match self.name {
            "a stream" => Some(good_bytes(wire)),
            "a task" => Some(task(wire, 10).to_vec()),
            "a large task" => Some(task(wire, 256 << 10).to_vec()),
            _ => None,
        }
    }
}

fn task(wire: Wire, size: usize) -> Bytes {
    let text = "t".repeat(size);
    let task = format!(
        r#"{{"id":"task-1","contextId":"ctx-1","status":{{"state":"TASK_STATE_COMPLETED"}},"metadata":{{"text":"{text}"}}}}"#
    );
    match wire {
        Grpc => framed(&messages::bare_task(messages::COMPLETED)),
        JsonRpc => format!(r#"{{"jsonrpc":"2.0","id":1,"result":{task}}}"#).into(),
        HttpJson => task.into(),
    }
}

/// What the peer does with it.
pub(crate) async fn answer(name: &str, wire: Wire) -> Response<Fed> {
    let json = "application/json";
    let size = if name == "a large task" { 256 << 10 } else { 10 };
    match name {
        "a task" | "a large task" if wire != Grpc => whole(200, json, task(wire, size)),
        "a refusal" => whole(200, json, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}"#),
        "a crash" => whole(500, "text/html", "<html>"),
        "a sign-in page" => whole(200, "text/html", "<html>"),
        "no head" | "a caller without patience" => std::future::pending().await,
        _ => {
            let (feed, body) = mpsc::channel(8);
            tokio::spawn(play(name.to_owned(), wire, feed));
            answered(200, media_of_stream(wire), body)
        }
    }
}

async fn play(name: String, wire: Wire, feed: mpsc::Sender<Frame<Bytes>>) {
    if name == "a task" {
        let _ = feed.send(Frame::data(task(wire, 10))).await;
        return end(wire, &feed).await;
    }
    for piece in GOOD.first {
        let _ = feed.send(Frame::data(piece.bytes(wire))).await;
    }
    match name.as_str() {
        "a stream that is cut" => {}
        "a stream that stalls" => feed.closed().await,
        _ => {
            for piece in finish() {
                let _ = feed.send(Frame::data(piece.bytes(wire))).await;
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            end(wire, &feed).await;
        }
    }
}
