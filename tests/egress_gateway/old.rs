//! Callers of 0.3, who name no version: what is good is what it is without the gateway, and what goes wrong is said as
//! servers of 0.3 say it.

use http::{HeaderMap, HeaderValue};
use serde_json::Value;

use crate::{
    agent::Agent,
    asks::{ALL, Binding, Grpc, Rest, Rpc},
    client::{Answer, Caller},
    gateway::Gateway,
    good::comparable,
};

/// Sends, streams, what each comes to, and its JSON-RPC code, HTTP status and gRPC status.
const FAULTS: [(&str, bool, &str, i64, u16, &str); 6] = [
    ("do-page", false, "broken/http_status", -32006, 500, "13"),
    ("do-half", false, "broken/malformed", -32006, 500, "13"),
    ("do-hang", false, "timeout/head", -32603, 504, "4"),
    ("do-headonly", true, "timeout/first_event", -32603, 504, "4"),
    ("do-cut", true, "broken/truncated", -32006, 200, "13"),
    ("do-quiet", true, "timeout/idle", -32603, 200, "4"),
];

/// Clients of 0.3 that ask for a stream accept nothing else, and read nothing else.
#[tokio::test]
async fn a_stream_that_never_begins_is_one_with_an_error_in_it() {
    let agent = Agent::old().await;
    let gateway = Gateway::start(agent.addr, &BOUNDS);
    let caller = Caller::of(Rpc, gateway.addr);
    for (text, word) in [("do-page", "broken/http_status"), ("do-hang", "timeout/head")] {
        let mut request = Rpc.old(text, true);
        request.headers_mut().insert("accept", HeaderValue::from_static("text/event-stream"));
        let answer = caller.call(request).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, Some("text/event-stream")));
        let told = &error_of(Rpc, &answer)["data"]["details"][0]["metadata"];
        assert_eq!(format!("{}/{}", told["outcome"], told["class"]).replace('"', ""), word);
    }
}

const BOUNDS: [&str; 6] = ["--head-ms", "1500", "--first-event-ms", "1500", "--idle-ms", "1500"];

#[tokio::test]
async fn good_calls_are_the_same() {
    let agent = Agent::old().await;
    let gateway = Gateway::start(agent.addr, &[]);
    for binding in ALL {
        let (direct, through) = (Caller::of(binding, agent.addr), Caller::of(binding, gateway.addr));
        for (text, streams) in [("do-well", false), ("do-count:0100", true)] {
            let expected = comparable(direct.call(binding.old(text, streams)).await);
            let found = comparable(through.call(binding.old(text, streams)).await);
            assert_eq!(found, expected, "{binding:?} {text}");
            assert!(!found.broke_off && !found.body.is_empty(), "{binding:?} {text}");
        }
    }
    // Who names no version is not given one on the way.
    assert_eq!(agent.last("do-well").header("a2a-version"), None);
}

/// The error, out of what 0.3 wraps around it, which is nothing over HTTP+JSON.
fn error_of(binding: Binding, answer: &Answer) -> Value {
    let mut document = match answer.header("content-type") {
        Some("text/event-stream") => {
            let mut events = answer.events();
            let (name, last) = events.pop().expect("an event");
            assert_eq!(name, Some("error"));
            last
        }
        media => {
            assert_eq!(media, Some("application/json"));
            answer.json()
        }
    };
    if binding == Rpc {
        assert_eq!((&document["jsonrpc"], &document["id"]), (&"2.0".into(), &"r-7".into()));
        return document["error"].take();
    }
    assert_eq!(document.get("error"), None, "a google.rpc.Status is 1.0's");
    document
}

#[tokio::test]
async fn what_goes_wrong_is_said_in_its_words() {
    let agent = Agent::old().await;
    let gateway = Gateway::start(agent.addr, &BOUNDS);
    for binding in ALL {
        let caller = Caller::of(binding, gateway.addr);
        for (text, streams, word, code, http, grpc) in FAULTS {
            let answer = caller.call(binding.old(text, streams)).await;
            assert!(!answer.broke_off, "{binding:?} {text}");
            assert_eq!(answer.header("a2a-version"), None, "{binding:?} {text}");
            if binding == Grpc {
                assert_eq!((answer.status.as_u16(), answer.grpc_status()), (200, Some(grpc)), "{text}");
                let bare = |headers: &HeaderMap| headers.contains_key("grpc-message");
                assert!(bare(&answer.headers) || answer.trailers.as_ref().is_some_and(bare), "{text}");
                continue;
            }
            let error = error_of(binding, &answer);
            assert_eq!(error["code"], code, "{binding:?} {text}: {error}");
            assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{binding:?} {text}");
            // An object is what the types of 0.3 have there.
            let told = &error["data"]["details"][0]["metadata"];
            assert_eq!(format!("{}/{}", told["outcome"], told["class"]).replace('"', ""), word, "{binding:?} {text}");
            let status = if binding == Rest { http } else { 200 };
            assert_eq!(answer.status.as_u16(), status, "{binding:?} {text}");
        }
    }
}
