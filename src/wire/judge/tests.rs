use proptest::prelude::*;

use super::*;
use Payload::{Anything, Object, ObjectOrArray, SendResult, StreamEvent, Task};
use Wrapping::{Kind, Legacy, Member};

fn expected(envelope: Envelope, wrapping: Wrapping, payload: Payload) -> Expected {
    Expected { envelope, wrapping, payload }
}

fn judge_pieces<'a>(
    expected: Expected,
    id: &JsonRpcId,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Verdict, Facts) {
    let mut judge = Judge::new(expected);
    // A judge that is used again must not remember.
    judge.feed(br#"{"jsonrpc":"2.0","id":"x","error":{},"result":{"task":{"id":"t","status":{"state":"failed"}}}}"#);
    judge.finish(id);
    judge.reset();
    for piece in pieces {
        judge.feed(piece);
    }
    (judge.finish(id), judge.facts().clone())
}

fn judge(expected: Expected, json: &str) -> (Verdict, Facts) {
    let id = JsonRpcId::Number(1);
    let whole = judge_pieces(expected, &id, [json.as_bytes()]);
    assert_eq!(whole, judge_pieces(expected, &id, json.as_bytes().chunks(1)));
    whole
}

/// The verdict on a JSON-RPC answer, with what was tolerated.
fn rpc(wrapping: Wrapping, payload: Payload, json: &str) -> (Verdict, Vec<&'static str>) {
    let (verdict, facts) = judge(expected(Envelope::JsonRpc, wrapping, payload), json);
    (verdict, facts.tolerated.iter().collect())
}

fn bare(wrapping: Wrapping, payload: Payload, json: &str) -> (Verdict, Facts) {
    judge(expected(Envelope::Bare, wrapping, payload), json)
}

/// The same for a result in a faultless envelope.
fn result(wrapping: Wrapping, payload: Payload, result: &str) -> (Verdict, Facts) {
    let json = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    judge(expected(Envelope::JsonRpc, wrapping, payload), &json)
}

fn violation(text: &'static str) -> Verdict {
    Verdict::Flawed(Flaw::Violation(text))
}

const TASK: &str = r#"{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}"#;

#[test]
fn envelopes() {
    let ok = |members: &str, tolerated: &[&'static str]| {
        let json = format!("{{{members}}}");
        assert_eq!(rpc(Member, Task, &json), (Verdict::Valid, tolerated.to_vec()), "{json}");
    };
    ok(&format!(r#""jsonrpc":"2.0","id":1,"result":{TASK}"#), &[]);
    ok(&format!(r#""result":{TASK},"id":1.0,"jsonrpc":"2.0","x":[{{}}]"#), &[]);
    ok(&format!(r#""id":1,"result":{TASK}"#), &["jsonrpc_member_missing"]);
    ok(&format!(r#""jsonrpc":"2.0","id":"1","result":{TASK}"#), &["id_type_changed"]);
    ok(&format!(r#""jsonrpc":"2.0","id":1,"result":{TASK},"error":null"#), &["null_error_member"]);
    ok(&format!(r#""\u006asonrpc":"2.0","id":1,"\u0072esult":{TASK}"#), &[]);

    let bad = |json: &str, text: &'static str| {
        assert_eq!(rpc(Member, Task, json).0, violation(text), "{json}");
    };
    bad("[]", "a batch where one answer is due");
    bad("7", "no JSON-RPC object");
    bad("{}", "neither a result nor an error");
    bad(r#"{"jsonrpc":"2.0","id":1}"#, "neither a result nor an error");
    bad(r#"{"jsonrpc":"2.0","id":1,"error":null}"#, "neither a result nor an error");
    bad(r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "a result that is null");
    bad(r#"{"jsonrpc":"2.0","id":1,"result":"done"}"#, "a result that is no object");
    bad(r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, "jsonrpc is not 2.0");
    bad(r#"{"jsonrpc":2.0,"id":1,"result":{}}"#, "jsonrpc is not 2.0");
    bad(r#"{"jsonrpc":{},"id":1,"result":{}}"#, "jsonrpc is not 2.0");
    bad(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#, "the id of another call");
    bad(r#"{"jsonrpc":"2.0","id":[1],"result":{}}"#, "the id of another call");
    bad(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, "a result without the call's id");
    bad(r#"{"jsonrpc":"2.0","result":{}}"#, "a result without the call's id");
    bad(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, "both a result and an error");
    bad(r#"{"jsonrpc":"2.0","id":1,"error":"boom"}"#, "an error that is no object");
    bad(r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#, "duplicate member");
    bad(r#"{"jsonrpc":"2.0","id":1,"id":1,"result":{}}"#, "duplicate member");
    bad(r#"{"jsonrpc":"2.0","id":1,"error":{},"\u0065rror":{}}"#, "duplicate member");
}

#[test]
fn errors_in_envelopes() {
    let error = |json: &str, tolerated: &[&'static str]| {
        assert_eq!(rpc(Kind, SendResult, json), (Verdict::Error, tolerated.to_vec()), "{json}");
    };
    error(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"x"}}"#, &[]);
    error(r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, &[]);
    error(r#"{"jsonrpc":"2.0","error":{}}"#, &[]);
    error(r#"{"jsonrpc":"2.0","id":1,"error":{},"result":null}"#, &["null_result_member"]);
    error(r#"{"jsonrpc":"2.0","id":"1","error":{}}"#, &["id_type_changed"]);
    error(r#"{"error":{}}"#, &["jsonrpc_member_missing"]);
    error(r#"{"code":-32600,"message":"x"}"#, &["jsonrpc_member_missing"]);
    error(r#"{"code":-32600.0,"message":"x"}"#, &["jsonrpc_member_missing"]);
    let (verdict, _) = rpc(Kind, SendResult, r#"{"jsonrpc":"2.0","id":9,"error":{}}"#);
    assert_eq!(verdict, violation("the id of another call"));
    for nothing in [
        r#"{"code":502,"message":"x"}"#,
        r#"{"code":-32600}"#,
        r#"{"code":-32600,"message":7}"#,
        r#"{"code":"-32600","message":"x"}"#,
        r#"{"code":-32600.5,"message":"x"}"#,
    ] {
        let (verdict, _) = rpc(Kind, SendResult, nothing);
        assert_eq!(verdict, violation("neither a result nor an error"), "{nothing}");
    }
}

#[test]
fn ids_of_notifications_and_odd_requests() {
    let answer = |asked: &JsonRpcId, id: &str| {
        let json = format!(r#"{{"jsonrpc":"2.0",{id}"result":{{}}}}"#);
        let expected = expected(Envelope::JsonRpc, Member, Object);
        judge_pieces(expected, asked, [json.as_bytes()]).0
    };
    for asked in [JsonRpcId::Absent, JsonRpcId::Null] {
        assert_eq!(answer(&asked, ""), Verdict::Valid);
        assert_eq!(answer(&asked, r#""id":null,"#), Verdict::Valid);
        assert_eq!(answer(&asked, r#""id":1,"#), violation("the id of another call"));
    }
    assert_eq!(answer(&JsonRpcId::Other, r#""id":{"a":1},"#), Verdict::Valid);
    let long = "x".repeat(2000);
    let text = JsonRpcId::Text(long[..1024].into());
    assert_eq!(answer(&text, &format!(r#""id":"{long}","#)), violation("the id of another call"));
}

#[test]
fn wrapped_results() {
    let (verdict, facts) = result(Member, SendResult, &format!(r#"{{"task":{TASK}}}"#));
    assert_eq!(verdict, Verdict::Valid);
    assert_eq!(facts.kind, PayloadKind::Task);
    assert_eq!(facts.task_id.as_str(), "t");
    assert_eq!(facts.context_id.as_str(), "c");
    assert_eq!(facts.state.unwrap().as_str(), "TASK_STATE_WORKING");

    let (verdict, facts) =
        result(Member, SendResult, r#"{"message":{"messageId":"m","role":"ROLE_AGENT","taskId":"t2","id":"no"}}"#);
    assert_eq!((verdict, facts.kind), (Verdict::Valid, PayloadKind::Message));
    assert_eq!(facts.task_id.as_str(), "t2");

    let update = r#"{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_FAILED"},"final":true}}"#;
    let (verdict, facts) = result(Member, StreamEvent, update);
    assert_eq!((verdict, facts.kind), (Verdict::Valid, PayloadKind::StatusUpdate));
    assert!(facts.is_final);
    assert!(facts.state.unwrap().is_terminal());

    let (verdict, facts) =
        result(Member, StreamEvent, r#"{"artifactUpdate":{"taskId":"t","artifact":{}},"task":null}"#);
    assert_eq!((verdict, facts.kind), (Verdict::Valid, PayloadKind::ArtifactUpdate));

    let bad = |payload, json: &str, text| assert_eq!(result(Member, payload, json).0, violation(text), "{json}");
    bad(SendResult, update, "an update where a task or message is due");
    bad(SendResult, "{}", "neither a task nor a message");
    bad(StreamEvent, r#"{"error":"timed out"}"#, "none of task, message, statusUpdate and artifactUpdate");
    bad(SendResult, r#"{"task":"t"}"#, "neither a task nor a message");
    for other in ["[]", "7", "true", r#""hi""#] {
        let no_object = "a task, message or update that is no object";
        bad(SendResult, &format!(r#"{{"task":{TASK},"message":{other}}}"#), no_object);
        bad(SendResult, &format!(r#"{{"statusUpdate":{other},"artifactUpdate":null,"task":{TASK}}}"#), no_object);
    }
    let (verdict, _) = result(Member, SendResult, &format!(r#"{{"message":null,"task":{TASK},"statusUpdate":null}}"#));
    assert_eq!(verdict, Verdict::Valid);
    bad(SendResult, r#"{"task":{},"message":{}}"#, "more than one of task, message, statusUpdate and artifactUpdate");
    bad(SendResult, r#"{"task":{},"task":{}}"#, "duplicate member");
    bad(SendResult, r#"{"task":{"id":"","status":{"state":"TASK_STATE_WORKING"}}}"#, "a task without its id");
    bad(SendResult, r#"{"task":{"id":"t","status":{}}}"#, "a task without its state");
    bad(SendResult, r#"{"task":{"id":"t","status":{"state":{}}}}"#, "a task without its state");
    bad(SendResult, r#"{"task":{"id":"t","id":"u","status":{"state":"x"}}}"#, "duplicate member");
    bad(SendResult, r#"{"task":{"id":"t","status":{"state":"x","state":"y"}}}"#, "duplicate member");
    bad(SendResult, r#"{"message":{"text":"hi"}}"#, "a message with nothing in it");
    bad(StreamEvent, r#"{"statusUpdate":{"status":{"state":"x"}}}"#, "an update without its task's id");
    bad(StreamEvent, r#"{"statusUpdate":{"taskId":"t"}}"#, "a status update without a state");
    bad(StreamEvent, r#"{"artifactUpdate":{"artifact":{}}}"#, "an update without its task's id");
}

#[test]
fn a_bare_result_where_a_wrapped_one_is_due_still_names_its_task() {
    let (verdict, facts) = result(Member, SendResult, TASK);
    assert_eq!(verdict, violation("a bare result where a wrapped one is due"));
    assert_eq!(facts.kind, PayloadKind::Task);
    assert_eq!(facts.task_id.as_str(), "t");
    assert_eq!(facts.state.unwrap().as_str(), "TASK_STATE_WORKING");

    // A message's `id`, which it has not, names no task.
    for (json, task_id) in [(r#"{"messageId":"m","id":"no"}"#, ""), (r#"{"messageId":"m","taskId":"t"}"#, "t")] {
        let (verdict, facts) = result(Member, SendResult, json);
        assert_eq!(verdict, violation("a bare result where a wrapped one is due"), "{json}");
        assert_eq!((facts.kind, facts.task_id.as_str()), (PayloadKind::Message, task_id), "{json}");
    }

    for (wrapping, payload) in [(Kind, SendResult), (Legacy, SendResult), (Member, Task), (Kind, Task)] {
        let (verdict, facts) = result(wrapping, payload, &format!(r#"{{"task":{TASK}}}"#));
        assert_eq!(verdict, violation("a wrapped result where a bare one is due"));
        assert_eq!(facts.task_id.as_str(), "t");
    }
}

/// Members in every order, as none is prescribed (RFC 8259 §4).
fn in_any_order(members: [&str; 3]) -> [String; 6] {
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        .map(|order| format!("{{{}}}", order.map(|place| members[place]).join(",")))
}

#[test]
fn what_stands_beside_the_result_says_nothing_about_it() {
    for around in in_any_order([
        r#""task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}"#,
        r#""id":"other","contextId":"other","taskId":"other""#,
        r#""status":{"state":"TASK_STATE_COMPLETED"},"final":true"#,
    ]) {
        let (verdict, facts) = result(Member, StreamEvent, &around);
        assert_eq!((verdict, facts.kind), (Verdict::Valid, PayloadKind::Task));
        assert_eq!((facts.task_id.as_str(), facts.context_id.as_str()), ("t", "c"), "{around}");
        assert_eq!((facts.state.unwrap().as_str(), facts.is_final), ("TASK_STATE_WORKING", false), "{around}");
    }
    for around in in_any_order([r#""message":{"messageId":"m"}"#, r#""id":"other""#, r#""status":{"state":"paused"}"#])
    {
        let (verdict, facts) = result(Member, SendResult, &around);
        assert_eq!((verdict, facts.kind), (Verdict::Valid, PayloadKind::Message));
        assert_eq!((facts.task_id.as_str(), facts.state, facts.tolerated.iter().count()), ("", None, 0), "{around}");
    }
    let inner = r#""task":{"id":"other","contextId":"other","status":{"state":"paused"},"final":true}"#;
    for around in in_any_order([r#""kind":"task","id":"t""#, r#""status":{"state":"working"}"#, inner]) {
        for payload in [SendResult, Task] {
            let (verdict, facts) = result(Kind, payload, &around);
            assert_eq!((verdict, facts.kind), (Verdict::Valid, PayloadKind::Task));
            assert_eq!((facts.task_id.as_str(), facts.context_id.as_str()), ("t", ""), "{around}");
            assert_eq!((facts.state.unwrap().as_str(), facts.is_final), ("working", false), "{around}");
            assert!(facts.tolerated.is_empty(), "{around}");
        }
    }
    for around in in_any_order([r#""kind":"status-update","taskId":"t""#, r#""status":{"state":"working"}"#, inner]) {
        let (verdict, facts) = result(Kind, StreamEvent, &around);
        assert_eq!((verdict, facts.kind), (Verdict::Valid, PayloadKind::StatusUpdate));
        assert_eq!((facts.task_id.as_str(), facts.context_id.as_str()), ("t", ""), "{around}");
        assert_eq!((facts.state.unwrap().as_str(), facts.is_final), ("working", false), "{around}");
    }
    for around in in_any_order([r#""kind":"message""#, r#""messageId":"m""#, inner]) {
        let (verdict, facts) = result(Kind, SendResult, &around);
        assert_eq!((verdict, facts.kind), (Verdict::Valid, PayloadKind::Message));
        assert_eq!((facts.task_id.as_str(), facts.state, facts.tolerated.iter().count()), ("", None, 0), "{around}");
    }
}

/// What has a meaning in an envelope, or in another dialect, has none in a result.
#[test]
fn members_of_a_result_are_its_own() {
    let task = &TASK[1..TASK.len() - 1];
    for other in [
        r#""error":{"code":-32001}"#,
        r#""error":"timed out""#,
        r#""code":-32001,"code":-32002"#,
        r#""jsonrpc":"1.0","result":null"#,
        r#""sessionId":"other""#,
    ] {
        for (wrapping, payload, json) in [
            (Kind, SendResult, format!(r#"{{"kind":"task",{task},{other}}}"#)),
            (Kind, Task, format!(r#"{{{other},{task},"kind":"task"}}"#)),
            (Member, Task, format!("{{{task},{other}}}")),
            (Member, SendResult, format!(r#"{{"task":{{{other},{task}}},{other}}}"#)),
        ] {
            let (verdict, facts) = result(wrapping, payload, &json);
            assert_eq!((verdict, facts.kind), (Verdict::Valid, PayloadKind::Task), "{json}");
            assert_eq!((facts.task_id.as_str(), facts.context_id.as_str()), ("t", "c"), "{json}");
            assert!(facts.tolerated.is_empty(), "{json}");
        }
    }
}

#[test]
fn a_task_is_named_by_its_own_id() {
    for task in in_any_order([r#""id":"t""#, r#""taskId":"other""#, r#""status":{"state":"TASK_STATE_WORKING"}"#]) {
        for (payload, json) in [(SendResult, format!(r#"{{"task":{task}}}"#)), (Task, task)] {
            let (verdict, facts) = result(Member, payload, &json);
            assert_eq!((verdict, facts.task_id.as_str()), (Verdict::Valid, "t"), "{json}");
        }
    }
}

#[test]
fn an_update_is_of_the_task_that_it_points_to() {
    for update in in_any_order([
        r#""taskId":"t""#,
        r#""kind":"status-update","id":"other""#,
        r#""status":{"state":"TASK_STATE_WORKING"}"#,
    ]) {
        for (wrapping, json) in [(Member, format!(r#"{{"statusUpdate":{update}}}"#)), (Kind, update)] {
            let (verdict, facts) = result(wrapping, StreamEvent, &json);
            assert_eq!((verdict, facts.task_id.as_str()), (Verdict::Valid, "t"), "{json}");
        }
    }
}

#[test]
fn only_tasks_and_their_updates_have_a_state() {
    for json in [
        r#"{"message":{"messageId":"m","status":{"state":"TASK_STATE_WORKING"}}}"#,
        r#"{"artifactUpdate":{"taskId":"t","artifact":{},"status":{"state":"paused"}}}"#,
    ] {
        let (verdict, facts) = result(Member, StreamEvent, json);
        assert_eq!((verdict, facts.state, facts.tolerated.iter().count()), (Verdict::Valid, None, 0), "{json}");
    }
    for around in ["", r#","task":{"id":"other","status":{"state":"completed"}}"#] {
        for json in [
            r#""kind":"message","messageId":"m","status":{"state":"working"}"#,
            r#""kind":"artifact-update","taskId":"t","artifact":{},"status":{"state":"paused"}"#,
        ] {
            let json = format!("{{{json}{around}}}");
            let (verdict, facts) = result(Kind, StreamEvent, &json);
            assert_eq!((verdict, facts.state, facts.tolerated.iter().count()), (Verdict::Valid, None, 0), "{json}");
        }
    }
}

#[test]
fn results_named_by_their_kind() {
    let ok = |payload, json: &str, kind, tolerated: &[&'static str]| {
        let (verdict, facts) = result(Kind, payload, json);
        assert_eq!((verdict, facts.kind), (Verdict::Valid, kind), "{json}");
        assert_eq!(facts.tolerated.iter().collect::<Vec<_>>(), tolerated, "{json}");
        facts.task_id.as_str().to_owned()
    };
    let status = r#""status":{"state":"working"}"#;
    let id = ok(SendResult, &format!(r#"{{"id":"t",{status},"kind":"task"}}"#), PayloadKind::Task, &[]);
    assert_eq!(id, "t");
    let id = ok(SendResult, r#"{"kind":"message","messageId":"m","id":"no"}"#, PayloadKind::Message, &[]);
    assert_eq!(id, "");
    let id = ok(
        StreamEvent,
        &format!(r#"{{"kind":"status-update","id":"no","taskId":"t",{status}}}"#),
        PayloadKind::StatusUpdate,
        &[],
    );
    assert_eq!(id, "t");
    ok(StreamEvent, r#"{"taskId":"t","kind":"artifact-update","artifact":{}}"#, PayloadKind::ArtifactUpdate, &[]);
    ok(SendResult, &format!(r#"{{"id":"t",{status}}}"#), PayloadKind::Task, &["kind_missing"]);
    ok(Task, &format!(r#"{{"id":"t",{status}}}"#), PayloadKind::Task, &["kind_missing"]);
    ok(StreamEvent, &format!(r#"{{"taskId":"t",{status}}}"#), PayloadKind::StatusUpdate, &["kind_missing"]);
    ok(StreamEvent, r#"{"taskId":"t","artifact":{}}"#, PayloadKind::ArtifactUpdate, &["kind_missing"]);
    ok(SendResult, r#"{"parts":[],"role":"agent"}"#, PayloadKind::Message, &["kind_missing"]);

    let bad = |payload, json: &str, text| assert_eq!(result(Kind, payload, json).0, violation(text), "{json}");
    bad(
        SendResult,
        r#"{"kind":"status-update","taskId":"t","status":{"state":"working"}}"#,
        "an update where a task or message is due",
    );
    bad(SendResult, r#"{"kind":"Task"}"#, "a kind that is not known");
    for kind in ["7", "true", "null", "{}", r#"["task"]"#] {
        bad(SendResult, &format!(r#"{{"kind":{kind},"id":"t",{status}}}"#), "a kind that is not known");
    }
    bad(Task, r#"{"kind":"message","messageId":"m"}"#, "no task, by its kind");
    bad(SendResult, "{}", "neither a task nor a message");
    bad(SendResult, r#"{"kind":"task","kind":"task"}"#, "duplicate member");
}

/// Where nothing says what a result is, two members together tell, and one alone does not.
#[test]
fn results_told_by_their_members() {
    const STATUS: &str = r#""status":{"state":"working"}"#;
    const ARTIFACT: &str = r#""artifact":{}"#;
    let kind = |wrapping, members: &[&str]| {
        let json = format!("{{{}}}", members.join(","));
        let (verdict, facts) = result(wrapping, StreamEvent, &json);
        let expected =
            if facts.kind == PayloadKind::None { violation("neither a task nor a message") } else { Verdict::Valid };
        assert_eq!(verdict, expected, "{wrapping:?} {json}");
        facts.kind
    };
    let (id, task_id, last) = (r#""id":"t""#, r#""taskId":"t""#, r#""final":true"#);
    let (parts, role) = (r#""parts":[]"#, r#""role":"agent""#);
    for wrapping in [Kind, Legacy] {
        for (members, expected) in [
            (&[id, STATUS][..], PayloadKind::Task),
            (&[task_id, STATUS], PayloadKind::StatusUpdate),
            (&[task_id, ARTIFACT], PayloadKind::ArtifactUpdate),
            (&[r#""messageId":"m""#], PayloadKind::Message),
            (&[parts, role], PayloadKind::Message),
            (&[], PayloadKind::None),
            (&[id], PayloadKind::None),
            (&[task_id], PayloadKind::None),
            (&[STATUS], PayloadKind::None),
            (&[STATUS, last], PayloadKind::None),
            (&[ARTIFACT], PayloadKind::None),
            (&[parts], PayloadKind::None),
            (&[role], PayloadKind::None),
        ] {
            assert_eq!(kind(wrapping, members), expected, "{wrapping:?} {members:?}");
        }
    }
    // In the oldest dialect a task's updates have its id as their own, and `tasks/resubscribe` may be of that one too.
    assert_eq!(kind(Kind, &[id, STATUS, last]), PayloadKind::Task);
    assert_eq!(kind(Legacy, &[id, STATUS, last]), PayloadKind::StatusUpdate);
    assert_eq!(kind(Kind, &[id, ARTIFACT]), PayloadKind::ArtifactUpdate);
    assert_eq!(kind(Legacy, &[id, ARTIFACT]), PayloadKind::ArtifactUpdate);
    let named = r#"{"kind":"artifact-update","id":"t","artifact":{}}"#;
    assert_eq!(result(Kind, StreamEvent, named).0, violation("an update without its task's id"));
}

#[test]
fn any_member_of_its_own_makes_a_message() {
    // Nobody goes by what is in them, so they may be empty.
    for member in [r#""messageId":"m""#, r#""messageId":"""#, r#""parts":[]"#, r#""role":"ROLE_AGENT""#, r#""role":"""#]
    {
        let (verdict, facts) = result(Member, SendResult, &format!(r#"{{"message":{{{member}}}}}"#));
        assert_eq!((verdict, facts.kind), (Verdict::Valid, PayloadKind::Message), "{member}");
    }
    for member in [r#""messageId":7"#, r#""parts":{}"#, r#""role":null"#] {
        let json = format!(r#"{{"message":{{{member}}}}}"#);
        assert_eq!(result(Member, SendResult, &json).0, violation("a message with nothing in it"), "{member}");
    }
}

#[test]
fn results_of_the_oldest_dialect() {
    let kind = |payload, json: &str| {
        let (verdict, facts) = result(Legacy, payload, json);
        assert_eq!(verdict, Verdict::Valid, "{json}");
        assert_eq!(facts.task_id.as_str(), "t", "{json}");
        assert!(facts.tolerated.is_empty());
        facts.kind
    };
    let status = r#""status":{"state":"working"}"#;
    assert_eq!(kind(SendResult, &format!(r#"{{"id":"t","sessionId":"s",{status}}}"#)), PayloadKind::Task);
    assert_eq!(kind(Task, &format!(r#"{{"id":"t",{status}}}"#)), PayloadKind::Task);
    assert_eq!(kind(StreamEvent, &format!(r#"{{"id":"t",{status},"final":false}}"#)), PayloadKind::StatusUpdate);
    assert_eq!(kind(StreamEvent, r#"{"id":"t","artifact":{"parts":[]}}"#), PayloadKind::ArtifactUpdate);
    let (_, facts) = result(Legacy, SendResult, &format!(r#"{{"id":"t","sessionId":"s",{status}}}"#));
    assert_eq!(facts.context_id.as_str(), "s");
}

#[test]
fn states() {
    let state = |state: &str| {
        let (verdict, facts) = result(Member, Task, &format!(r#"{{"id":"t","status":{{"state":{state}}}}}"#));
        let tolerated: Vec<_> = facts.tolerated.iter().collect();
        (verdict, facts.state.map(TaskState::as_str), tolerated)
    };
    assert_eq!(state("\"completed\""), (Verdict::Valid, Some("completed"), vec![]));
    assert_eq!(state("3"), (Verdict::Valid, Some("TASK_STATE_COMPLETED"), vec!["numeric_state"]));
    assert_eq!(state("99"), (Verdict::Valid, None, vec!["numeric_state", "unknown_state"]));
    assert_eq!(state("\"paused\""), (Verdict::Valid, None, vec!["unknown_state"]));
    assert_eq!(state("null").0, violation("a task without its state"));
    assert_eq!(state("\"\"").0, violation("a task without its state"));
}

#[test]
fn results_of_other_operations() {
    let all = ["{\"id\":\"x\"}", "[]", "null"];
    let verdicts = |payload| all.map(|json| result(Kind, payload, json).0 == Verdict::Valid);
    assert_eq!(verdicts(Object), [true, false, false]);
    assert_eq!(verdicts(ObjectOrArray), [true, true, false]);
    assert_eq!(verdicts(Anything), [true, true, true]);
    assert_eq!(rpc(Kind, Anything, r#"{"jsonrpc":"2.0","id":1}"#).0, Verdict::Valid);
    assert_eq!(rpc(Kind, Anything, "").0, Verdict::Flawed(Flaw::Empty));
    assert_eq!(result(Kind, Object, "{\"id\":\"x\"}").1.task_id.as_str(), "");
    assert_eq!(bare(Member, Anything, "").0, Verdict::Valid);
    assert_eq!(bare(Member, Anything, "{}").0, Verdict::Valid);
    assert_eq!(bare(Member, Object, "").0, Verdict::Flawed(Flaw::Empty));
    assert_eq!(bare(Member, Object, "[]").0, violation("a result that is no object"));
    assert_eq!(bare(Member, ObjectOrArray, "[]").0, Verdict::Valid);
}

#[test]
fn bare_bodies() {
    let (verdict, facts) = bare(Member, SendResult, &format!(r#"{{"task":{TASK}}}"#));
    assert_eq!((verdict, facts.kind), (Verdict::Valid, PayloadKind::Task));
    assert_eq!(bare(Member, Task, TASK).0, Verdict::Valid);
    let (verdict, facts) = bare(Member, Task, &format!(r#"{{"error":null,{}"#, &TASK[1..]));
    assert_eq!(verdict, Verdict::Valid);
    assert!(facts.tolerated.contains(Tolerated::NULL_ERROR_MEMBER));

    for payload in [SendResult, Task, StreamEvent, Object, Anything] {
        for json in [
            r#"{"error":{"code":404,"status":"NOT_FOUND"}}"#,
            r#"{"error":"boom"}"#,
            r#"{"error":5}"#,
            r#"{"code":-32004,"message":"no"}"#,
            r#"{"message":"no","code":404}"#,
            r#"{"message":"no","code":-32004.0}"#,
            r#"{"message":"no","code":-3.2004E4}"#,
        ] {
            assert_eq!(bare(Member, payload, json).0, Verdict::Error, "{payload:?} {json}");
        }
    }
    let both = format!(r#"{{"error":{{}},"task":{TASK}}}"#);
    assert_eq!(bare(Member, SendResult, &both).0, violation("both a result and an error"));
    assert_eq!(bare(Member, SendResult, r#"{"error":true}"#).0, violation("an error that is no object"));
    assert_eq!(bare(Member, SendResult, r#"{"message":"no"}"#).0, violation("neither a task nor a message"));
    assert_eq!(bare(Member, SendResult, TASK).0, violation("a bare result where a wrapped one is due"));
}

#[test]
fn words_beside_a_result_in_an_envelope_do_no_harm() {
    for payload in [Task, Object, ObjectOrArray, Anything] {
        let json = format!(r#"{{"jsonrpc":"2.0","id":1,"message":"all well","result":{TASK}}}"#);
        assert_eq!(rpc(Member, payload, &json).0, Verdict::Valid, "{payload:?}");
    }
}

/// They are no duplicates, nor does the result's own say that it is an error.
#[test]
fn what_stands_in_an_envelope_may_stand_in_its_result_too() {
    for member in [r#""type":"x""#, r#""code":1"#, r#""message":"m""#] {
        let result = format!("{{{member},{}", TASK.strip_prefix('{').unwrap());
        let json = format!(r#"{{"jsonrpc":"2.0","id":1,{member},"result":{result}}}"#);
        assert_eq!(rpc(Member, Task, &json), (Verdict::Valid, Vec::new()), "{json}");
    }
}

#[test]
fn words_and_problems_are_no_result() {
    let problem = r#"{"type":"https://a2a-protocol.org/errors/task-not-found","title":"Task Not Found","status":404,"detail":"x"}"#;
    for payload in [SendResult, StreamEvent, Task, Object, ObjectOrArray] {
        assert_eq!(bare(Member, payload, problem).0, Verdict::Error, "{payload:?}");
        assert_eq!(rpc(Member, payload, problem).0, Verdict::Error, "{payload:?}");
        let other = problem.replace("a2a-protocol.org", "example.com");
        assert_ne!(rpc(Member, payload, &other).0, Verdict::Error, "{payload:?}");
    }
    for payload in [Object, ObjectOrArray] {
        for words in [r#"{"message":"boom"}"#, r#"{"detail":"Not Found"}"#, r#"{"title":"t","status":1,"detail":"d"}"#]
        {
            assert_eq!(bare(Member, payload, words).0, violation("an error's words where a result is due"), "{words}");
        }
        // One member that no error has, and it may be what was asked for.
        for result in [r#"{"message":"m","tasks":[]}"#, r#"{"detail":1}"#, r#"{"type":"x","id":"c"}"#, "{}"] {
            assert_eq!(bare(Member, payload, result).0, Verdict::Valid, "{result}");
        }
    }
    assert_eq!(bare(Member, Anything, r#"{"message":"deleted"}"#).0, Verdict::Valid);
}

#[test]
fn bodies_that_are_no_json() {
    let malformed = |flaw: JsonFlaw| Verdict::Flawed(Flaw::Malformed(flaw.as_str()));
    assert_eq!(bare(Member, Task, "").0, Verdict::Flawed(Flaw::Empty));
    assert_eq!(bare(Member, Task, "<html>").0, malformed(JsonFlaw::Syntax));
    assert_eq!(bare(Member, Task, "{}x").0, malformed(JsonFlaw::Trailing));
    let (verdict, facts) = bare(Member, SendResult, &format!(r#"{{"task":{TASK}"#));
    assert_eq!(verdict, malformed(JsonFlaw::Unfinished));
    assert_eq!(facts.task_id.as_str(), "t", "a cut answer still names the task it left behind");
    assert_eq!(Flaw::Malformed("x y").to_string(), "x y");
}

/// Envelope members, good and bad, in any order and number.
fn answer() -> impl Strategy<Value = String> {
    let member = prop::sample::select(vec![
        r#""jsonrpc":"2.0""#,
        r#""id":1"#,
        r#""id":"1""#,
        r#""id":null"#,
        r#""error":{"code":-32004,"message":"no"}"#,
        r#""error":null"#,
        r#""result":null"#,
        r#""result":{"task":{"id":"t","status":{"state":"working"}}}"#,
        r#""result":{"kind":"status-update","taskId":"é\n","status":{"state":3},"final":true}"#,
        r#""task":{"status":{"state":"TASK_STATE_FAILED"},"id":"t"}"#,
        r#""message":{"messageId":"m","parts":[{"text":"[]{}"}]}"#,
        r#""message":"no""#,
        r#""code":-32004"#,
        r#""id":"t","status":{"state":"completed"}"#,
    ]);
    prop::collection::vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(", ")))
}

fn any_expected() -> impl Strategy<Value = Expected> {
    let envelope = prop::sample::select(vec![Envelope::JsonRpc, Envelope::Bare]);
    let wrapping = prop::sample::select(vec![Member, Kind, Legacy]);
    let payload = prop::sample::select(vec![SendResult, Task, Object, ObjectOrArray, Anything, StreamEvent]);
    (envelope, wrapping, payload).prop_map(|(envelope, wrapping, payload)| expected(envelope, wrapping, payload))
}

proptest! {
    #[test]
    fn the_verdict_does_not_depend_on_cuts(json in answer(), expected in any_expected(), size in 1usize..20) {
        let id = JsonRpcId::Number(1);
        let whole = judge_pieces(expected, &id, [json.as_bytes()]);
        prop_assert_eq!(whole, judge_pieces(expected, &id, json.as_bytes().chunks(size)));
    }

    #[test]
    fn no_bytes_harm(bytes: Vec<u8>, expected in any_expected()) {
        let id = JsonRpcId::Text("a".into());
        let whole = judge_pieces(expected, &id, [&bytes[..]]);
        prop_assert_eq!(whole, judge_pieces(expected, &id, bytes.chunks(1)));
    }
}
