use proptest::prelude::*;

use super::*;

fn scan_pieces<'a>(envelope: Envelope, pieces: impl IntoIterator<Item = &'a [u8]>) -> (RequestFacts, bool) {
    let mut scan = RequestScan::new(envelope, Some("skill"), Some("region"));
    for piece in pieces {
        scan.feed(piece);
    }
    scan.finish();
    (scan.facts().clone(), scan.is_valid())
}

fn scan(envelope: Envelope, json: &str) -> RequestFacts {
    let (facts, is_valid) = scan_pieces(envelope, [json.as_bytes()]);
    assert!(is_valid, "{json}");
    assert_eq!(facts, scan_pieces(envelope, json.as_bytes().chunks(1)).0);
    facts
}

fn rpc(params: &str) -> RequestFacts {
    scan(Envelope::JsonRpc, &format!(r#"{{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{params}}}"#))
}

#[test]
fn a_send() {
    let facts = rpc(
        r#"{"tenant":"acme","message":{"messageId":"m","taskId":"t","contextId":"c","parts":[{"data":{"taskId":"no"}}]},
            "configuration":{"returnImmediately":true,"blocking":false},"metadata":{"skill":"s","region":"eu"}}"#,
    );
    assert!(facts.is_object && facts.jsonrpc);
    assert_eq!(facts.method.as_str(), "SendMessage");
    assert_eq!(facts.id, JsonRpcId::Number(7));
    assert_eq!(facts.tenant.as_str(), "acme");
    assert_eq!(facts.task_id.as_str(), "t");
    assert_eq!(facts.context_id.as_str(), "c");
    assert_eq!(facts.return_immediately, Some(true));
    assert_eq!(facts.blocking, Some(false));
    assert_eq!((facts.skill.as_str(), facts.region.as_str()), ("s", "eu"));
}

#[test]
fn the_task_addressed() {
    let task = |params: &str| rpc(params).task_id.as_str().to_owned();
    assert_eq!(task(r#"{"id":"t"}"#), "t");
    assert_eq!(task(r#"{"id":"config","taskId":"t"}"#), "t");
    assert_eq!(task(r#"{"taskId":"t","id":"config"}"#), "t");
    assert_eq!(task(r#"{"message":{"taskId":"m"},"id":"t"}"#), "t");
    assert_eq!(task(r#"{"id":"t","message":{"taskId":"m"}}"#), "t");
    assert_eq!(task(r#"{"message":{"taskId":"m"},"taskId":""}"#), "m");
    assert_eq!(task(r#"{"id":5}"#), "");
    assert_eq!(task(r#"[{"id":"t"}]"#), "");
}

#[test]
fn the_context() {
    let context = |params: &str| rpc(params).context_id.as_str().to_owned();
    assert_eq!(context(r#"{"contextId":"c"}"#), "c");
    assert_eq!(context(r#"{"contextId":"c","message":{"contextId":"m"}}"#), "m");
    assert_eq!(context(r#"{"message":{"contextId":"m"},"contextId":"c"}"#), "m");
    assert_eq!(context(r#"{"message":{"contextId":""},"contextId":"c"}"#), "c");
}

/// Whatever it is, it takes the place of one before.
#[test]
fn the_last_tenant_counts() {
    let tenant = |params: &str| rpc(params).tenant.as_str().to_owned();
    assert_eq!(tenant(r#"{"tenant":"a","tenant":"b"}"#), "b");
    for last in ["\"\"", "5", "null", "true", "{}", "[\"b\"]", "{\"tenant\":\"b\"}"] {
        assert_eq!(tenant(&format!(r#"{{"tenant":"a","tenant":{last}}}"#)), "", "{last}");
    }
    for last in ["5", "null", "{}", "[]", "\"b\""] {
        assert_eq!(tenant(&format!(r#"{{"tenant":"a"}},"params":{last}"#)), "", "{last}");
    }
}

#[test]
fn only_a_string_says_what_version_of_json_rpc_it_is() {
    let is_it = |version: &str| scan(Envelope::JsonRpc, &format!("{{\"jsonrpc\":{version}}}")).jsonrpc;
    assert!(is_it("\"2.0\""));
    for other in ["2.0", "\"1.0\"", "\"2.00\"", "null", "{}"] {
        assert!(!is_it(other), "{other}");
    }
}

#[test]
fn metadata_of_the_request_comes_before_that_of_its_message() {
    let skill = |params: &str| rpc(params).skill.as_str().to_owned();
    assert_eq!(skill(r#"{"message":{"metadata":{"skill":"m"}}}"#), "m");
    assert_eq!(skill(r#"{"metadata":{"skill":"p"},"message":{"metadata":{"skill":"m"}}}"#), "p");
    assert_eq!(skill(r#"{"message":{"metadata":{"skill":"m"}},"metadata":{"skill":"p"}}"#), "p");
    assert_eq!(skill(r#"{"metadata":{"skill":["p"],"x":{"skill":"no"}}}"#), "");
}

#[test]
fn a_bare_body() {
    let facts = scan(
        Envelope::Bare,
        r#"{"id":"no","message":{"taskId":"t","metadata":{"region":"eu"}},"configuration":{"blocking":true}}"#,
    );
    assert_eq!(facts.task_id.as_str(), "t");
    assert_eq!(facts.region.as_str(), "eu");
    assert_eq!(facts.blocking, Some(true));
    assert_eq!((facts.id, facts.jsonrpc), (JsonRpcId::Absent, false));
}

#[test]
fn ids() {
    let id = |id: &str| scan(Envelope::JsonRpc, &format!("{{\"id\":{id}}}")).id;
    assert_eq!(id("null"), JsonRpcId::Null);
    assert_eq!(id("-3"), JsonRpcId::Number(-3));
    assert_eq!(id("1.5"), JsonRpcId::Raw("1.5".into()));
    assert_eq!(id("\"a\\u0062\""), JsonRpcId::Text("ab".into()));
    assert_eq!(id("{}"), JsonRpcId::Other);
    assert_eq!(id("true"), JsonRpcId::Other);
    assert_eq!(id(&format!("\"{}\"", "x".repeat(2000))), JsonRpcId::Other);
    assert_eq!(scan(Envelope::JsonRpc, "{}").id, JsonRpcId::Absent);
}

#[test]
fn a_prefix_says_what_it_can() {
    let mut scan = RequestScan::new(Envelope::JsonRpc, None, None);
    scan.feed(br#"{"method":"GetTask","id":1,"params":{"id":"t"#);
    assert!(scan.is_valid());
    assert_eq!(scan.facts().method.as_str(), "GetTask");
    assert_eq!(scan.facts().task_id.as_str(), "");
    scan.feed(br#"1"}"#);
    assert_eq!(scan.facts().task_id.as_str(), "t1");
    scan.finish();
    assert!(!scan.is_valid(), "cut");
    let (facts, is_valid) = scan_pieces(Envelope::JsonRpc, [&b"{\"id\":1,]"[..]]);
    assert_eq!((facts.id, is_valid), (JsonRpcId::Number(1), false));
    let mut scan = RequestScan::new(Envelope::JsonRpc, None, None);
    for piece in [&b"{\"id\":1,"[..], b"]", b"{\"id\":1}"] {
        scan.feed(piece);
        assert_eq!(scan.is_valid(), piece.ends_with(b","), "what was wrong once stays wrong");
    }
}

proptest! {
    #[test]
    fn no_bytes_harm(bytes: Vec<u8>, size in 1usize..5) {
        for envelope in [Envelope::JsonRpc, Envelope::Bare] {
            let whole = scan_pieces(envelope, [&bytes[..]]);
            prop_assert_eq!(whole, scan_pieces(envelope, bytes.chunks(size)));
        }
    }
}
