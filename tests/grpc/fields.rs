//! What an answer that succeeds says of an error all the same. Clients read it before they know better: tonic panics at
//! details that are no base64, and takes a message that is no text for UNKNOWN.

use http::HeaderMap;

use crate::{
    dialect::{COMPLETED, WORKING, answer, ended, fields, ok, send, stream, task, update},
    mock::{Answer, Ended, MockBody, call},
    plain,
};

const DETAILS: &str = "grpc-status-details-bin";
const MESSAGE: &str = "grpc-message";

/// Name, value, and whether a client can read it.
const SAID: [(&str, &str, bool); 12] = [
    (DETAILS, "", true),
    (DETAILS, "CAk", true),
    (DETAILS, "CAk=", true),
    (DETAILS, "!!!", false),
    (DETAILS, "C", false),
    (DETAILS, "CAk,CAU", false),
    // Bits behind the last byte, and more padding than there is room for.
    (DETAILS, "CAl", false),
    (DETAILS, "CAkA=", false),
    (MESSAGE, "", true),
    (MESSAGE, "fine%20%E2%82%AC %2", true),
    (MESSAGE, "%ff", false),
    (MESSAGE, "%c3", false),
];

/// All but what no client can read.
fn kept(all: &HeaderMap, name: &str, readable: bool) -> HeaderMap {
    let mut kept = all.clone();
    if !readable {
        kept.remove(name);
    }
    kept
}

fn success(ended: &Ended, what: &str) {
    assert_eq!(ended.word(), "success/success", "{what}");
    assert_eq!(ended.notes.words(), ["success/success"], "{what}");
}

#[tokio::test(start_paused = true)]
async fn what_no_client_can_read_is_dropped_from_trailers() {
    for (name, value, readable) in SAID {
        let trailers = [("grpc-status", "0"), (name, value), ("x-trace", "abc")];
        let unary = call(plain(), send(), answer(ended(MockBody::of([task(COMPLETED)]), &trailers))).await;
        let events = MockBody::of([task(WORKING), update(COMPLETED)]);
        let streamed = call(plain(), stream(), answer(ended(events, &trailers))).await;
        for done in [unary, streamed] {
            success(&done, value);
            assert_eq!(done.trailers, Some(kept(&fields(&trailers), name, readable)), "{name}: {value}");
        }
    }
}

/// A refusal keeps all that was said.
#[tokio::test(start_paused = true)]
async fn a_refusal_keeps_what_no_client_can_read() {
    for (name, value, _) in SAID {
        let trailers = [("grpc-status", "9"), (name, value), ("x-trace", "abc")];
        let refused = call(plain(), send(), answer(ended(MockBody::of([task(COMPLETED)]), &trailers))).await;
        assert_eq!(refused.word(), "refused/peer_error");
        assert_eq!(refused.error().response().unwrap().trailers, Some(fields(&trailers)), "{name}: {value}");
    }
}

fn with_head(head: &'static [(&'static str, &'static str)], body: MockBody) -> Answer {
    head.iter().fold(answer(body), |answer, (name, value)| answer.header(name, value))
}

/// The status may stand in the head. There the same holds, and behind it come the trailers of a stream, which say it:
/// tonic does not look at trailers if it found a status before.
#[tokio::test(start_paused = true)]
async fn nor_does_it_stay_in_the_head() {
    for (name, value, readable) in SAID {
        let head = Box::leak(Box::new([("grpc-status", "0"), (name, value), ("x-trace", "abc")]));
        for body in [MockBody::of([task(COMPLETED)]), ok(&[task(COMPLETED)])] {
            let unary = call(plain(), send(), with_head(head, body)).await;
            success(&unary, value);
            let mut expected = kept(&fields(head), name, readable);
            expected.insert("content-type", "application/grpc".parse().unwrap());
            assert_eq!(unary.headers, expected, "{name}: {value}");
        }
        for body in [MockBody::of([task(WORKING), update(COMPLETED)]), ok(&[task(WORKING), update(COMPLETED)])] {
            let streamed = call(plain(), stream(), with_head(head, body)).await;
            success(&streamed, value);
            let expected = fields(&[("x-trace", "abc"), ("content-type", "application/grpc")]);
            assert_eq!(streamed.headers, expected, "{name}: {value}");
            assert_eq!(streamed.trailers, Some(fields(&[("grpc-status", "0")])), "{name}: {value}");
        }
    }
}
