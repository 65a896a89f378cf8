//! What each peer does, and what a guarded call must make of it.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::client::{EVENT_GAP, FIRST_EVENT, HEAD, IDLE, LINGER, TOTAL};
use crate::peer::{Chunk, End, Script};

/// The request header from which the guarded client's `CallLayer` reads the skill of a call.
pub(crate) const SKILL_HEADER: &str = "x-skill";

/// And its region.
pub(crate) const REGION_HEADER: &str = "x-region";

/// Where an agent behind a gateway has its base path.
const AGENT: &str = "/agents/acme";

pub(crate) struct Scenario {
    /// What the peer does, in a few words.
    pub(crate) peer: &'static str,
    pub(crate) ask: Ask,
    /// What the peer answers; `None`: nothing listens there.
    pub(crate) answer: Option<Script>,
    /// Whether cards are asked, and what the agent's own says of streaming. Its gateway's says yes.
    pub(crate) own_card: Option<bool>,
    /// `outcome/class` of the guarded call.
    pub(crate) end: &'static str,
    /// What the guarded caller must be told, in the order in which the row shows it.
    pub(crate) facts: &'static [(&'static str, &'static str)],
    /// When the guarded call must have ended: the bound that ends it, or the time that the peer takes.
    pub(crate) due: Duration,
}

/// What is asked of the peer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask {
    Send,
    /// A send that names the skill it is for.
    SendForSkill,
    Stream,
    /// The same, from a client that knows nothing of the guard, through a gateway that renders what fails.
    PlainStream,
    Stream03,
    RestSend,
    RestStream,
    /// A stream from one of the agents behind a gateway.
    StreamBehindGateway,
}

impl Ask {
    pub(crate) fn request(self, address: SocketAddr) -> http::Result<Request<Full<Bytes>>> {
        let message = r#"{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hello"}]}"#;
        let message_03 =
            r#"{"kind":"message","messageId":"m-1","role":"user","parts":[{"kind":"text","text":"hello"}]}"#;
        let rpc = |method, message| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"message":{message}}}}}"#)
        };
        let (path, body) = match self {
            Self::Send | Self::SendForSkill => ("/", rpc("SendMessage", message)),
            Self::Stream | Self::PlainStream => ("/", rpc("SendStreamingMessage", message)),
            Self::StreamBehindGateway => (AGENT, rpc("SendStreamingMessage", message)),
            Self::Stream03 => ("/", rpc("message/stream", message_03)),
            Self::RestSend => ("/message:send", format!(r#"{{"message":{message}}}"#)),
            Self::RestStream => ("/message:stream", format!(r#"{{"message":{message}}}"#)),
        };
        let mut request = Request::post(format!("http://{address}{path}")).header("content-type", "application/json");
        if !matches!(self, Self::Stream03) {
            request = request.header("a2a-version", "1.0");
        }
        if matches!(
            self,
            Self::Stream | Self::PlainStream | Self::Stream03 | Self::RestStream | Self::StreamBehindGateway
        ) {
            request = request.header("accept", "text/event-stream");
        }
        if matches!(self, Self::SendForSkill) {
            request = request.header(SKILL_HEADER, "translate");
        }
        request.body(Full::from(body))
    }
}

const NOW: Duration = Duration::ZERO;
/// Between one event and the next.
const STEP: Duration = Duration::from_millis(100);

/// The table.
pub(crate) fn all() -> Vec<Scenario> {
    let mut all = good();
    all.extend(silent());
    all.extend(endless());
    all.extend(ended_early());
    all.extend(wrong());
    all.extend(refusals());
    all.extend(behind_gateway());
    all
}

/// A gateway's card says that all of the agents behind it stream.
fn behind_gateway() -> Vec<Scenario> {
    vec![
        Scenario {
            peer: "gateway's card: streams; the agent's own: no",
            ask: Ask::StreamBehindGateway,
            answer: Some(working().chunk(artifact()).end(End::Cut)),
            own_card: Some(false),
            end: "card/capability_missing",
            facts: &[("sent", "nothing"), ("error", "UnsupportedOperationError"), ("retry", "safe")],
            due: NOW,
        },
        Scenario {
            peer: "both cards say that it streams, and it does",
            ask: Ask::StreamBehindGateway,
            answer: Some(working().chunk(artifact()).chunk(completed())),
            own_card: Some(true),
            end: "success/success",
            facts: &[("state", "TASK_STATE_COMPLETED"), ("events", "3"), ("bytes", "unchanged"), ("head", "unchanged")],
            due: STEP * 2,
        },
    ]
}

/// What the gateway's host answers: its own card first, then that of the agent behind it.
pub(crate) fn cards(address: SocketAddr, own_streams: bool) -> [Script; 2] {
    [true, own_streams].map(|streams| {
        let interface = format!(r#"{{"url":"http://{address}{AGENT}","protocolBinding":"JSONRPC","protocolVersion":"1.0"}}"#);
        let skill = r#"{"id":"summarize","name":"Summarize","description":"Sums it up","tags":["text"]}"#;
        Script::json(format!(
            r#"{{"name":"Acme","description":"An agent","version":"1","supportedInterfaces":[{interface}],"capabilities":{{"streaming":{streams}}},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{skill}]}}"#
        ))
    })
}

/// What is right passes, unchanged.
fn good() -> Vec<Scenario> {
    vec![
        Scenario {
            peer: "a good answer: the finished task",
            ask: Ask::Send,
            answer: Some(Script::json(rpc(&task("COMPLETED")))),
            own_card: None,
            end: "success/success",
            facts: &[("state", "TASK_STATE_COMPLETED"), ("bytes", "unchanged"), ("head", "unchanged")],
            due: NOW,
        },
        Scenario {
            peer: "the same over HTTP+JSON",
            ask: Ask::RestSend,
            answer: Some(Script::json(task("COMPLETED"))),
            own_card: None,
            end: "success/success",
            facts: &[("state", "TASK_STATE_COMPLETED"), ("bytes", "unchanged"), ("head", "unchanged")],
            due: NOW,
        },
        Scenario {
            peer: "a good stream, up to COMPLETED",
            ask: Ask::Stream,
            answer: Some(working().chunk(artifact()).chunk(completed())),
            own_card: None,
            end: "success/success",
            facts: &[("state", "TASK_STATE_COMPLETED"), ("events", "3"), ("bytes", "unchanged"), ("head", "unchanged")],
            due: STEP * 2,
        },
    ]
}

/// Nothing more comes, and nobody says so.
fn silent() -> Vec<Scenario> {
    vec![
        Scenario {
            peer: "reads the request and never answers",
            ask: Ask::Send,
            answer: Some(Script::silent(End::Hang)),
            own_card: None,
            end: "timeout/head",
            facts: &[("retry", "unsafe")],
            due: HEAD,
        },
        Scenario {
            peer: "200 event stream that never says anything",
            ask: Ask::Stream,
            answer: Some(Script::sse().end(End::Hang)),
            own_card: None,
            end: "timeout/first_event",
            facts: &[("status", "200"), ("retry", "unsafe")],
            due: FIRST_EVENT,
        },
        Scenario {
            peer: "goes silent while WORKING",
            ask: Ask::Stream,
            answer: Some(working().end(End::Hang)),
            own_card: None,
            end: "timeout/idle",
            facts: &[("task", "t-1"), ("state", "TASK_STATE_WORKING")],
            due: IDLE,
        },
        Scenario {
            peer: "the same, to a plain JSON-RPC client above",
            ask: Ask::PlainStream,
            answer: Some(working().end(End::Hang)),
            own_card: None,
            end: "timeout/idle",
            facts: &[("results", "1"), ("code", "-32603"), ("reason", "CAPABILITY_TIMEOUT"), ("task", "t-1")],
            due: IDLE,
        },
        Scenario {
            peer: "keep-alives behind a dead task",
            ask: Ask::Stream,
            answer: Some(working().chunk(Chunk::new(": keep-alive\n\n").after(STEP).every(STEP).forever())),
            own_card: None,
            end: "timeout/event_gap",
            facts: &[("task", "t-1"), ("state", "TASK_STATE_WORKING")],
            due: EVENT_GAP,
        },
        Scenario {
            peer: "COMPLETED, and then silence",
            ask: Ask::Stream,
            answer: Some(working().chunk(completed()).end(End::Hang)),
            own_card: None,
            end: "success/success",
            facts: &[("state", "TASK_STATE_COMPLETED"), ("events", "2"), ("bytes", "unchanged")],
            due: STEP + LINGER,
        },
    ]
}

/// There is always more.
fn endless() -> Vec<Scenario> {
    vec![
        Scenario {
            peer: "a body that trickles",
            ask: Ask::Send,
            answer: Some(endless_task(Chunk::new("z").every(STEP).forever())),
            own_card: None,
            end: "timeout/total",
            facts: &[("status", "200"), ("retry", "unsafe")],
            due: TOTAL,
        },
        Scenario {
            peer: "a body without end",
            ask: Ask::Send,
            // Paced, for the bare caller reads it all.
            answer: Some(endless_task(Chunk::new("z".repeat(64 * 1024)).every(Duration::from_millis(5)).forever())),
            own_card: None,
            end: "broken/too_large",
            facts: &[("status", "200"), ("retry", "unsafe")],
            due: Duration::from_millis(80),
        },
        Scenario {
            peer: "events without end",
            ask: Ask::Stream,
            answer: Some(working().chunk(Chunk::new(event(&status("WORKING"))).every(STEP).forever())),
            own_card: None,
            end: "timeout/total",
            facts: &[("task", "t-1"), ("state", "TASK_STATE_WORKING")],
            due: TOTAL,
        },
    ]
}

/// It ended, but not where it should.
fn ended_early() -> Vec<Scenario> {
    vec![
        Scenario {
            peer: "stream cut while WORKING",
            ask: Ask::Stream,
            answer: Some(working().chunk(artifact()).end(End::Cut)),
            own_card: None,
            end: "broken/truncated",
            facts: &[("task", "t-1"), ("state", "TASK_STATE_WORKING")],
            due: STEP,
        },
        Scenario {
            peer: "stream closed, properly, while WORKING",
            ask: Ask::Stream,
            answer: Some(working().chunk(artifact())),
            own_card: None,
            end: "broken/truncated",
            facts: &[("task", "t-1"), ("state", "TASK_STATE_WORKING")],
            due: STEP,
        },
        Scenario {
            peer: "COMPLETED, and then a reset",
            ask: Ask::Stream,
            answer: Some(working().chunk(completed()).end(End::Reset)),
            own_card: None,
            end: "success/success",
            facts: &[("state", "TASK_STATE_COMPLETED"), ("events", "2"), ("bytes", "unchanged")],
            due: STEP,
        },
        Scenario {
            peer: "0.3 code path that crashes",
            ask: Ask::Stream03,
            answer: Some(Script::sse().end(End::Cut)),
            own_card: None,
            end: "broken/truncated",
            facts: &[("status", "200"), ("retry", "unsafe")],
            due: NOW,
        },
        Scenario {
            peer: "JSON that ends in the middle",
            ask: Ask::Send,
            answer: Some(Script::json(r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t-1","#)),
            own_card: None,
            end: "broken/malformed",
            facts: &[("status", "200"), ("retry", "unsafe")],
            due: NOW,
        },
    ]
}

/// A whole answer, and not one to this call.
fn wrong() -> Vec<Scenario> {
    vec![
        Scenario {
            peer: "HTML page with 200",
            ask: Ask::Send,
            answer: Some(
                Script::new(200)
                    .header("content-type", "text/html; charset=utf-8")
                    .chunk("<!doctype html><title>Sign in</title><p>Please sign in."),
            ),
            own_card: None,
            end: "broken/wrong_media_type",
            facts: &[("status", "200"), ("error", "InvalidAgentResponseError")],
            due: NOW,
        },
        Scenario {
            peer: "a 415 that became an opaque 500",
            ask: Ask::RestSend,
            answer: Some(
                Script::new(500).header("content-type", "text/plain; charset=utf-8").chunk("Internal Server Error"),
            ),
            own_card: None,
            end: "broken/http_status",
            facts: &[("status", "500"), ("error", "InvalidAgentResponseError")],
            due: NOW,
        },
        Scenario {
            peer: "a stream asked for, JSON answered",
            ask: Ask::Stream,
            answer: Some(Script::json(rpc(&task("COMPLETED")))),
            own_card: None,
            end: "broken/silent_downgrade",
            facts: &[("task", "t-1"), ("state", "TASK_STATE_COMPLETED")],
            due: NOW,
        },
        Scenario {
            peer: "the answer to another call",
            ask: Ask::Send,
            answer: Some(Script::json(rpc(&task("COMPLETED")).replace(r#""id":1,"#, r#""id":7,"#))),
            own_card: None,
            end: "broken/protocol_violation",
            facts: &[("status", "200"), ("error", "InvalidAgentResponseError")],
            due: NOW,
        },
        Scenario {
            peer: "gzip that nobody asked for",
            ask: Ask::Send,
            answer: Some(Script::json(&b"\x1f\x8b\x08\x00"[..]).header("content-encoding", "gzip")),
            own_card: None,
            end: "broken/content_encoding",
            facts: &[("status", "200"), ("error", "InvalidAgentResponseError")],
            due: NOW,
        },
    ]
}

/// The peer says no, and the caller is told what kind of no.
fn refusals() -> Vec<Scenario> {
    vec![
        Scenario {
            peer: "-32004 with region and availableSkills",
            ask: Ask::SendForSkill,
            answer: Some(Script::json(rpc_error(
                r#"{"code":-32004,"message":"skill not available here","data":{"region":"eu-west","availableSkills":["summarize","transcribe"]}}"#,
            ))),
            own_card: None,
            end: "stale/skill_unavailable",
            facts: &[("code", "-32004"), ("region", "eu-west"), ("skills", "summarize,transcribe"), ("routing", "yes")],
            due: NOW,
        },
        Scenario {
            peer: "an error event in the middle of a stream",
            ask: Ask::Stream,
            answer: Some(
                working()
                    .chunk(Chunk::new(event(&rpc_error(r#"{"code":-32603,"message":"executor failed"}"#))).after(STEP)),
            ),
            own_card: None,
            end: "refused/peer_error",
            facts: &[("code", "-32603"), ("task", "t-1"), ("state", "TASK_STATE_WORKING")],
            due: STEP,
        },
        Scenario {
            peer: "401 with a challenge",
            ask: Ask::Send,
            answer: Some(Script::new(401).header("www-authenticate", "Bearer realm=\"agents\"")),
            own_card: None,
            end: "refused/auth",
            facts: &[("challenge", "Bearer realm=\"agents\""), ("retry", "after_credentials")],
            due: NOW,
        },
        Scenario {
            peer: "503 with Retry-After",
            ask: Ask::RestStream,
            answer: Some(Script::new(503).header("retry-after", "7")),
            own_card: None,
            end: "refused/unavailable",
            facts: &[("retry", "after"), ("after", "7s")],
            due: NOW,
        },
        Scenario {
            peer: "nothing listens",
            ask: Ask::Send,
            answer: None,
            own_card: None,
            end: "transport/connect",
            facts: &[("retry", "safe")],
            due: NOW,
        },
    ]
}

/// A stream whose first event is a task that is WORKING.
fn working() -> Script {
    Script::sse().chunk(event(&rpc(&task("WORKING"))))
}

fn artifact() -> Chunk {
    let update = r#"{"artifactUpdate":{"taskId":"t-1","contextId":"c-1","artifact":{"artifactId":"a-1","parts":[{"text":"half of it"}]}}}"#;
    Chunk::new(event(&rpc(update))).after(STEP)
}

fn completed() -> Chunk {
    Chunk::new(event(&status("COMPLETED"))).after(STEP)
}

fn status(state: &str) -> String {
    rpc(&format!(
        r#"{{"statusUpdate":{{"taskId":"t-1","contextId":"c-1","status":{{"state":"TASK_STATE_{state}"}}}}}}"#
    ))
}

fn task(state: &str) -> String {
    format!(r#"{{"task":{{"id":"t-1","contextId":"c-1","status":{{"state":"TASK_STATE_{state}"}}}}}}"#)
}

fn rpc(result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)
}

fn rpc_error(error: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#)
}

fn event(json: &str) -> String {
    format!("data: {json}\n\n")
}

/// The beginning of a good answer, up to the middle of a string that goes on with `rest`.
fn endless_task(rest: Chunk) -> Script {
    Script::new(200)
        .header("content-type", "application/json")
        .chunk(r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t-1","contextId":"c-1"#)
        .chunk(rest)
}
