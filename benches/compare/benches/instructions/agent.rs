//! Calls in each binding, and what is answered to them: 1 KiB there, as much back as is asked for.

use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_guard::{Binding, Call, Operation, ProtocolVersion, wire::JsonRpcId};
use a2a_guard_compare::{
    corpus::{self, Filling},
    peer::{Pause, Peer, Script},
};
use bytes::Bytes;
use http::{HeaderValue, Request, header};
use http_body_util::Full;

pub(crate) type Asked = Request<Full<Bytes>>;

const KIB: usize = 1024;

/// Where the agent is.
pub(crate) const AT: &str = "http://127.0.0.1:4110";

const ENVELOPE: &str = r#"{"jsonrpc":"2.0","id":1,"result":"#;
const PARAMS: &str = r#""params":"#;

/// A call as a client makes it; unary or a stream.
pub(crate) fn plain(binding: Binding, streams: bool) -> Asked {
    let operation = operation(streams);
    let (path, media, body) = match binding {
        Binding::JsonRpc => ("/rpc".into(), "application/json", json(operation)),
        Binding::HttpJson => (format!("/message:{}", verb(streams)), "application/json", rest()),
        _ => (format!("/lf.a2a.v1.A2AService/{operation}"), "application/grpc", message()),
    };
    // The first clone of a `Bytes` may allocate what the clones then share. Done here, it is nobody's cost.
    drop(body.clone());
    let mut request = Request::post(format!("{AT}{path}"))
        .header(header::CONTENT_TYPE, HeaderValue::from_static(media))
        .body(Full::new(body))
        .expect("a request of constants");
    if binding != Binding::Grpc {
        request.headers_mut().insert("a2a-version", HeaderValue::from_static("1.0"));
    }
    request
}

/// The same with what `CallLayer` finds out.
pub(crate) fn named(binding: Binding, streams: bool) -> Asked {
    let call = Call::new().with_operation(operation(streams)).with_binding(binding);
    let call = call.with_version(ProtocolVersion::V1_0);
    let call = if binding == Binding::JsonRpc { call.with_id(JsonRpcId::Number(1)) } else { call };
    let mut request = plain(binding, streams);
    request.extensions_mut().insert(call);
    request
}

fn operation(streams: bool) -> Operation {
    if streams { Operation::SendStreamingMessage } else { Operation::SendMessage }
}

fn verb(streams: bool) -> &'static str {
    if streams { "stream" } else { "send" }
}

/// The next of the corpus' requests, for either operation.
fn json(operation: Operation) -> Bytes {
    next().replace("SendMessage", &operation.to_string()).into()
}

fn rest() -> Bytes {
    let text = next();
    let params = text.find(PARAMS).expect("params") + PARAMS.len();
    Bytes::from(text[params..text.len() - 1].to_owned())
}

fn next() -> String {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let requests = corpus::requests(KIB);
    let turn = TURN.fetch_add(1, Ordering::Relaxed) % requests.len();
    String::from_utf8(requests[turn].to_vec()).expect("JSON")
}

/// A `SendMessageRequest` whose message has 1 KiB of text.
fn message() -> Bytes {
    use a2a_guard::wire::grpc::encode::Message;
    let text = "a".repeat(KIB);
    let message = Message::new().text(1, "m-1").number(4, 1).message(5, Message::new().text(1, &text));
    Message::new().message(2, message).framed().expect("a small message")
}

/// An agent that answers with results of this size.
pub(crate) fn unary(binding: Binding, filling: Filling, size: usize) -> Peer {
    let json = |answer| Script::json(vec![answer]);
    match binding {
        Binding::JsonRpc => Peer::in_turn(corpus::results(filling, size).into_iter().map(json)),
        Binding::HttpJson => {
            let bare = |whole: Bytes| json(whole.slice(ENVELOPE.len()..whole.len() - 1));
            Peer::in_turn(corpus::results(filling, size + ENVELOPE.len() + 1).into_iter().map(bare))
        }
        _ => Peer::new(Script::grpc(vec![corpus::grpc_result(size)])),
    }
}

/// An agent that answers over JSON-RPC in frames of this size.
pub(crate) fn in_frames(whole: &Bytes, frame: usize) -> Peer {
    Peer::new(Script::json(cut(whole, frame)))
}

/// An agent that answers with a stream of so many events of this size, so many of them in each frame.
pub(crate) fn events(count: usize, size: usize, together: usize, pause: Pause) -> Peer {
    let frames = corpus::events(count, size).chunks(together).map(|events| events.concat().into()).collect();
    Peer::new(Script::stream(frames, pause))
}

/// The same, cut without regard to where events end.
pub(crate) fn events_cut(count: usize, size: usize, frame: usize) -> Peer {
    Peer::new(Script::stream(cut(&corpus::events(count, size).concat().into(), frame), Pause::Once))
}

/// The same over gRPC.
pub(crate) fn messages(count: usize, size: usize, together: usize) -> Peer {
    let frames = corpus::grpc_messages(count, size).chunks(together).map(|all| all.concat().into()).collect();
    Peer::new(Script::grpc(frames))
}

/// An agent that answers over gRPC in frames of this size.
pub(crate) fn in_grpc_frames(whole: &Bytes, frame: usize) -> Peer {
    Peer::new(Script::grpc(cut(whole, frame)))
}

/// `whole` in pieces of so many bytes.
pub(crate) fn cut(whole: &Bytes, size: usize) -> Vec<Bytes> {
    (0..whole.len()).step_by(size).map(|start| whole.slice(start..whole.len().min(start + size))).collect()
}
