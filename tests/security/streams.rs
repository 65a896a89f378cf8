//! Fields of events that steer a browser's `EventSource` steer nothing here, and pass as they are.

use std::time::Duration;

use a2a_guard::{Limits, Recovery, TerminalStateLayer};
use bytes::Bytes;
use http_body_util::Full;

use crate::mock::{Answer, Dialect, MockBody, Peer, call, s};

use Dialect::V1;

fn stream(fields: &str) -> String {
    let event = |bytes: Bytes| String::from_utf8(bytes.to_vec()).unwrap();
    format!("{fields}{}{fields}{}", event(V1.task_event("WORKING")), event(V1.update_event("COMPLETED")))
}

#[tokio::test(start_paused = true)]
async fn they_pass_and_do_nothing() {
    let megabyte = format!("id: {}\n", "9".repeat(1 << 20));
    for fields in [
        "retry: 99999999999999999999\n",
        "retry: -1\n",
        "retry: 0\n",
        "retry\n",
        "id: \0\n",
        "id: a\rid: b\n",
        "id\n",
        "id: \u{202e}\u{2028}\n",
        "event: \u{1b}[2J\n",
        "event: open\nevent: close\n",
        "Data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"no\"}}\n",
        " data: x\n",
        "data:\u{0}: x\n",
        &megabyte,
    ] {
        let body = stream(fields);
        let ended =
            call(TerminalStateLayer::builder(), V1.stream(), Answer::sse(MockBody::new().data(body.clone()))).await;
        let what: String = fields.chars().take(40).collect();
        if fields.starts_with("data:") {
            // That one is data, and no JSON.
            assert_eq!(ended.word(), "broken/malformed", "{what:?}");
            continue;
        }
        assert_eq!(ended.word(), "success/success", "{what:?}: {:?}", ended.error);
        assert_eq!(ended.bytes(), body.as_bytes(), "{what:?}");
        assert_eq!(ended.elapsed, Duration::ZERO, "{what:?}");
    }
}

/// They are a part of their event, and count with it.
#[tokio::test(start_paused = true)]
async fn they_are_no_way_around_the_cap() {
    let limits = || Limits::default().max_event(64 << 10);
    for field in ["id: ", "retry: ", "event: ", ": ", "x: ", "x"] {
        for many in [false, true] {
            // Comments that end are handed on between events, and are no part of any.
            if many && field == ": " {
                continue;
            }
            let text =
                if many { format!("{field}1\n").repeat(40_000) } else { format!("{field}{}\n", "1".repeat(1 << 20)) };
            let body = MockBody::new().data(V1.task_event("WORKING")).data(text).hang();
            let ended = call(TerminalStateLayer::builder().limits(limits()), V1.stream(), Answer::sse(body)).await;
            assert_eq!(ended.word(), "broken/too_large", "{field:?}, many: {many}");
        }
    }
}

/// Nobody reconnects with an id, nor after a time, that the peer chose.
#[tokio::test(start_paused = true)]
async fn what_is_asked_of_a_lost_task_has_no_event_id() {
    let aside: Peer<Full<Bytes>> = Peer::new([Answer::json("{}")]);
    let body = MockBody::new().data("retry: 999999999\nid: 7\n").data(V1.task_event("WORKING"));
    let builder = TerminalStateLayer::builder().recovery(Recovery::new(aside.clone()).reconcile());
    let ended = call(builder, V1.stream(), Answer::sse(body)).await;
    assert_eq!(ended.word(), "broken/truncated");
    assert!(ended.elapsed < s(1));
    let requests = aside.requests();
    assert_eq!(requests.len(), 1);
    assert!(!requests[0].headers().contains_key("last-event-id"));
}
