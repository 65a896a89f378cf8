//! Events that are like others but for their texts, right and wrong ones: judged as by the rules for single answers, in
//! any cut.

use a2a_guard_fuzz::targets;
use proptest::prelude::*;

/// What strings hold.
const RIGHT: [&[u8]; 7] = [b"", b"a", b"some more", b"\xc3\xa9", b"\\\"", b"\\u00e9", b"\\ud83e\\udd80"];
/// What none does.
const WRONG: [&[u8]; 7] = [b"\xff", b"\x01", b"\\x", b"\\u12", b"\xc3", b"\r", b"\n"];
/// What ends one, or hides its end.
const ENDS: [&[u8]; 4] = [b"\"", b"\"}", b"\",\"text\":\"", b"\\"];

fn text() -> impl Strategy<Value = &'static [u8]> {
    let one = |of: &'static [&'static [u8]]| prop::sample::select(of);
    prop_oneof![12 => one(&RIGHT), 1 => one(&WRONG), 1 => one(&ENDS)]
}

/// How an event is written, with places for its texts.
fn form() -> impl Strategy<Value = String> {
    let kinds = [
        r#"{"artifactUpdate":{"taskId":"t","artifact":{"parts":[{"text":"<text>"}]}}}"#,
        r#"{"artifactUpdate":{"taskId":"t","contextId":"<text>","artifact":{"artifactId":"<text>","parts":[{"text":"<text>"}]}}}"#,
        r#"{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_WORKING","timestamp":"<text>"}}}"#,
        r#"{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"},"<key>":["<text>","<text>"]}}"#,
        r#"{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_COMPLETED","timestamp":"<text>"}}}"#,
    ];
    let around = [
        "data: <json>",
        "id: <id>\ndata: <json>",
        "event: message\nid:<id>\ndata: <json>",
        "data: <json>\ndata: ",
        "data:<json>",
        ": <id>",
    ];
    let kind = prop_oneof![12 => 0_usize..4, 1 => Just(4)].prop_map(move |index| kinds[index]);
    let around = prop_oneof![8 => 0_usize..3, 1 => 3_usize..6].prop_map(move |index| around[index]);
    (kind, around).prop_map(|(kind, around)| {
        let json = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{kind}}}"#);
        around.replace("<json>", &json) + "\n\n"
    })
}

/// What stands in an event: its texts, the name of a member, its id.
fn content() -> impl Strategy<Value = (&'static [u8], &'static str, String)> {
    let key = prop_oneof![
        8 => Just("metadata"),
        1 => prop::sample::select(&["history", "artifacts", "id", "status"][..]),
    ];
    let id = prop_oneof![
        16 => (0_u8..20).prop_map(|id| id.to_string()),
        1 => Just("1\r".to_owned()),
        1 => Just("1\rdata: {".to_owned()),
    ];
    (text(), key, id)
}

fn write(form: &str, (text, key, id): &(&[u8], &str, String)) -> Vec<u8> {
    let event = form.replace("<id>", id).replace("<key>", key);
    event.split("<text>").map(str::as_bytes).collect::<Vec<_>>().join(*text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn events_like_others_are_judged_as_if_each_was_the_only_one(
        forms in [form(), form(), form()],
        events in prop::collection::vec((prop_oneof![6 => Just(0_usize), 3 => Just(1), 1 => Just(2)], content()), 0..14),
        missing in prop_oneof![2 => Just(0_usize), 1 => 1_usize..4, 1 => 4_usize..60],
        is_crlf: bool,
        seed in any::<[u8; 2]>(),
    ) {
        let mut body = events.iter().flat_map(|(form, content)| write(&forms[*form], content)).collect::<Vec<_>>();
        if is_crlf {
            body = body.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]);
        }
        body.truncate(body.len().saturating_sub(missing));
        targets::sse(&[&[0; 7], &seed[..], &body].concat());
    }
}
