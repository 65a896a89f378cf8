//! The core alone: what judges bytes, over whole answers of 64 KiB and over events.

use a2a_guard::wire::JsonRpcId;
use a2a_guard_compare::{
    corpus::{self, Filling},
    ours,
};
use bytes::Bytes;

use crate::{callgrind::counted, row::Row};

const SIZE: usize = 64 << 10;
const EVENTS: usize = 500;

pub(crate) fn rows() -> Vec<Row> {
    vec![
        judged("judge: 64 KiB of text", corpus::result(Filling::Base64, SIZE)),
        judged("judge: 64 KiB of prose", corpus::result(Filling::Prose, SIZE)),
        judged("judge: 64 KiB of three-byte characters", corpus::result(Filling::Kanji, SIZE)),
        judged("judge: 64 KiB of records, dense in structure", corpus::result(Filling::Records, SIZE)),
        judged("judge: 64 KiB of nothing but structure", structure()),
        Row::new("judge: SSE, events of 384 B", "event", EVENTS, |events| {
            let frames = corpus::events(events, 384);
            counted(|| ours::judge_stream(&frames, &JsonRpcId::Number(1)));
        }),
        Row::new("judge: SSE, events of 384 B as an SDK writes them", "event", EVENTS, |events| {
            let (frames, id) = (corpus::events_of_sdk(events, 384), JsonRpcId::Text(corpus::SDK_ID.into()));
            counted(|| ours::judge_stream(&frames, &id));
        }),
        Row::new("judge: gRPC, messages of 384 B", "message", EVENTS, |messages| {
            let frames = corpus::grpc_messages(messages, 384);
            counted(|| ours::judge_messages(&frames));
        }),
    ]
}

fn judged(name: &'static str, whole: Bytes) -> Row {
    let frames = [whole];
    Row::new(name, "answer", 2, move |answers| counted(|| (0..answers).for_each(|_| ours::judge(&frames))))
}

/// A result whose data are brackets, commas and colons for the most part.
fn structure() -> Bytes {
    let head = r#"{"jsonrpc":"2.0","id":1,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":["#;
    let of = r#"{"a":[],"b":{}},[[0],[1,2]],"#;
    let mut whole = String::from(head);
    while whole.len() + of.len() < SIZE {
        whole.push_str(of);
    }
    whole.pop();
    whole.push_str("]}]}}}");
    whole.into()
}
