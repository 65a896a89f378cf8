use proptest::prelude::*;

use super::*;

const RPC: Envelope = Envelope::JsonRpc;

fn scan() -> RequestScan {
    RequestScan::new(RPC, Some("skill"), Some("region"))
}

fn bare() -> RequestScan {
    RequestScan::new(Envelope::Bare, Some("skill"), Some("region"))
}

fn new(envelope: Envelope) -> RequestScan {
    if envelope == RPC { scan() } else { bare() }
}

fn scanned(envelope: Envelope, document: &str) -> RequestScan {
    let mut scan = new(envelope);
    scan.feed(document.as_bytes());
    scan.finish();
    scan
}

/// What is known of a request, which must be what a scan says.
fn known(requests: &mut KnownRequests, envelope: Envelope, document: &str) -> Option<RequestFacts> {
    let known = requests.find(envelope, document.as_bytes())?;
    let (mut facts, own) = (known.facts().clone(), known.own());
    facts.id = own.id.unwrap_or(facts.id);
    for (place, text) in [(&mut facts.task_id, own.task_id), (&mut facts.context_id, own.context_id)] {
        if let Some(text) = text {
            place.set(text.as_bytes(), false);
        }
    }
    let scanned = scanned(envelope, document);
    assert!(scanned.is_valid(), "{document}");
    assert_eq!(&facts, scanned.facts(), "{document}");
    Some(facts)
}

fn taught(document: &str) -> KnownRequests {
    let mut requests = KnownRequests::default();
    assert!(known(&mut requests, RPC, document).is_none());
    requests.learn(RPC, document.as_bytes(), scan);
    assert!(known(&mut requests, RPC, document).is_some(), "{document}");
    requests
}

fn request(id: &str, task: &str, text: &str, members: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"SendMessage","params":{{"message":{{"messageId":"m","taskId":"{task}","contextId":"c-{task}","parts":[{{"text":"{text}"}}]}},"configuration":{{"historyLength":2}}{members}}}}}"#
    )
}

#[test]
fn a_request_that_differs_in_ids_texts_and_numbers_is_known() {
    let mut requests = taught(&request("1", "t-1", "one", ""));
    for (id, task, text) in [("2", "t-2", "two"), ("-3", "t", ""), ("1.5", "t", "é \\n"), ("1e3", "another", "x")] {
        let facts = known(&mut requests, RPC, &request(id, task, text, "")).expect("known");
        assert_eq!((facts.task_id.as_str(), facts.context_id.as_str()), (task, &*format!("c-{task}")));
        assert_eq!(facts.method.as_str(), "SendMessage");
    }
    let mut requests = taught(&request("\"r-1\"", "t-1", "one", ""));
    let facts = known(&mut requests, RPC, &request("\"another\"", "t", "x", "")).expect("known");
    assert_eq!(facts.id, JsonRpcId::Text("another".into()));
    // Without an id, and with one that is none, requests are known too; one with an id is not like them.
    for none in ["null", "true", "[1]"] {
        let mut requests = taught(&request(none, "t-1", "one", ""));
        assert!(known(&mut requests, RPC, &request(none, "t-2", "two", "")).is_some());
        assert!(known(&mut requests, RPC, &request("1", "t-2", "two", "")).is_none());
    }
    let without = |task| request("1", task, "one", "").replace("\"id\":1,", "");
    let mut requests = taught(&without("t-1"));
    assert_eq!(known(&mut requests, RPC, &without("t-2")).expect("known").id, JsonRpcId::Absent);
}

/// What decides where a call goes, and for whom it is, is never taken from another request.
#[test]
fn whatever_makes_another_call_of_it_is_scanned() {
    let members = r#","tenant":"one","metadata":{"skill":"s","region":"eu"}"#;
    let good = request("1", "t-1", "text", members);
    let mut requests = taught(&good);
    for other in [
        good.replace("one", "two"),
        good.replace("\"s\"", "\"t\""),
        good.replace("eu", "us"),
        good.replace("SendMessage", "CancelTask"),
        good.replace("2.0", "1.0"),
        good.replace("t-1", ""),
        good.replace("\"t-1\"", "5"),
        good.replace("t-1", "a\\u0062"),
        good.replace("text\":\"text", "text\":\"text\"}]},\"tenant\":\"two\",\"x\":[{\"y\":\""),
        good.replace("\"id\":1", "\"id\":\"1\""),
        good.replace("\"id\":1", "\"id\":null"),
        good.replace(":2}", ":02}"),
        format!("{good} "),
        good[..good.len() - 1].to_owned(),
    ] {
        assert!(known(&mut requests, RPC, &other).is_none(), "{other}");
    }
    assert!(known(&mut requests, Envelope::Bare, &good).is_none());
}

#[test]
fn a_request_that_names_two_tasks_is_not_learnt() {
    for members in [r#","taskId":"t-2""#, r#","id":"t-2""#, r#","contextId":"c-2""#] {
        let document = request("1", "t-1", "x", members);
        let mut requests = KnownRequests::default();
        requests.learn(RPC, document.as_bytes(), scan);
        assert!(known(&mut requests, RPC, &document).is_none(), "{document}");
    }
}

/// What stands where an id would, and is none: nothing is noted of it, nor of what is like it.
#[test]
fn what_is_not_noted_of_one_is_not_noted_of_another() {
    let get = |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{{{params}}}}}"#);
    for (one, other) in [(r#""id":5"#, r#""id":6"#), (r#""contextId":5"#, r#""contextId":6"#)] {
        let mut requests = KnownRequests::default();
        for params in [one, other, one] {
            if known(&mut requests, RPC, &get(params)).is_none() {
                requests.learn(RPC, get(params).as_bytes(), scan);
            }
        }
    }
}

#[test]
fn what_is_known_takes_no_other_place() {
    let mut requests = taught(&request("1", "t-1", "one", ""));
    for id in ["1", "2", "1.5"] {
        requests.learn(RPC, request(id, "t-2", "two", "").as_bytes(), scan);
        assert_eq!(requests.0.kinds.len(), 1, "{id}");
    }
    requests.learn(RPC, request("null", "t-2", "two", "").as_bytes(), scan);
    assert_eq!(requests.0.kinds.len(), 2);
}

#[test]
fn what_is_no_json_is_not_learnt() {
    for document in ["", "{", "{}x", "{\"id\":01}", "{\"method\":\"\u{1}\"}"] {
        let mut requests = KnownRequests::default();
        requests.learn(RPC, document.as_bytes(), scan);
        assert!(requests.find(RPC, document.as_bytes()).is_none(), "{document}");
    }
}

/// Texts, and some that end the string and go on with members of their own.
fn tail() -> impl Strategy<Value = String> {
    const TAILS: &str =
        r#"[a-c]{0,2}|"\},"tenant":"u|","taskId":"u|\\u0061|","id":"|","metadata":\{"skill":"x"\},"y":""#;
    prop_oneof![3 => "[a-c]{0,2}", 1 => TAILS]
}

fn any_document(shapes: std::ops::Range<usize>) -> impl Strategy<Value = (Envelope, String)> {
    let id =
        prop_oneof![Just("1"), Just("2"), Just("\"a\""), Just("\"b\""), Just("null"), Just("1.0"), Just("\"\\n\"")];
    (prop::bool::weighted(0.8), shapes, tail(), tail(), id, "[0-9]{1,2}|-0|1e1|\"1\"|true").prop_map(
        |(is_rpc, shape, tail, other, id, count)| {
            let params = match shape {
                0 => format!(r#""message":{{"messageId":"{tail}","taskId":"t{other}","parts":[{{"text":"{tail}"}}]}}"#),
                1 => format!(r#""id":"{tail}","historyLength":{count}"#),
                2 => format!(r#""taskId":"{tail}","id":"{other}","tenant":"{tail}""#),
                3 => format!(r#""message":{{"contextId":"{tail}","metadata":{{"skill":"{other}"}}}},"n":{count}"#),
                4 => format!(r#""tenant":"{tail}","metadata":{{"region":"{other}","x":["{tail}",{count}]}}"#),
                _ => format!(r#""configuration":{{"blocking":{count},"x":"{tail}"}},"contextId":"{other}""#),
            };
            match is_rpc {
                true => (RPC, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{{{params}}}}}"#)),
                false => (Envelope::Bare, format!("{{{params}}}")),
            }
        },
    )
}

fn sequences() -> impl Strategy<Value = Vec<(Envelope, String)>> {
    (0_usize..6).prop_flat_map(|shape| {
        let one = any_document(shape..shape + 1);
        prop::collection::vec(prop_oneof![4 => one, 1 => any_document(0..6)], 0..80)
    })
}

proptest! {
    /// Whatever came before, what is known is what a scan says, which `known` asserts.
    #[test]
    fn what_is_known_need_not_be_scanned(documents in sequences()) {
        let mut requests = KnownRequests::default();
        for (envelope, document) in documents {
            if known(&mut requests, envelope, &document).is_none() && scanned(envelope, &document).is_valid() {
                requests.0.pause = 0;
                requests.learn(envelope, document.as_bytes(), || new(envelope));
            }
        }
    }
}
