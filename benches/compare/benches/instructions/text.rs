//! Answers that the corpus does not have: tiny events, and events of any length.

use a2a_guard_compare::{
    corpus,
    peer::{Pause, Peer, Script},
};
use bytes::Bytes;

use crate::agent::cut;

const TASK: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"task\":{\"id\":\"t\",\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_WORKING\"}}}}\n\n";
const DONE: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"statusUpdate\":{\"taskId\":\"t\",\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_COMPLETED\"}}}}\n\n";

/// An artifact update with this text.
fn update(text: &str) -> String {
    format!(
        "data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"artifactUpdate\":{{\"taskId\":\"t\",\"contextId\":\"c\",\"artifact\":{{\"artifactId\":\"a\",\"parts\":[{{\"text\":\"{text}\"}}]}}}}}}}}\n\n"
    )
}

/// A task, so many of the smallest updates, and the completion, a frame each.
pub(crate) fn tiny(events: usize) -> Peer {
    let each = Bytes::from(update("x"));
    let mut frames = vec![Bytes::from_static(TASK.as_bytes())];
    frames.extend(std::iter::repeat_n(each, events));
    frames.push(Bytes::from_static(DONE.as_bytes()));
    Peer::new(Script::stream(frames, Pause::Once))
}

/// A task, so many of the smallest updates, and the completion: all of it in one frame.
pub(crate) fn tiny_in_one_frame(events: usize) -> Peer {
    let whole = format!("{TASK}{}{DONE}", update("x").repeat(events));
    Peer::new(Script::stream(vec![whole.into()], Pause::Once))
}

/// A task, one update of this size, and the completion, in frames of that size.
pub(crate) fn one_event(size: usize, frame: usize) -> Peer {
    let text = "prose with an escaped line end\\n";
    let around = update("").len();
    let whole = Bytes::from(format!("{TASK}{}{DONE}", update(&text.repeat((size - around) / text.len()))));
    Peer::new(Script::stream(cut(&whole, frame), Pause::Once))
}

/// A result of this size over gRPC, in frames of that size.
pub(crate) fn one_message(size: usize, frame: usize) -> Peer {
    Peer::new(Script::grpc(cut(&corpus::grpc_result(size), frame)))
}
