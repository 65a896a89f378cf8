use proptest::prelude::*;

use super::super::{HOLES, WORTHWHILE};
use super::*;
use crate::wire::judge::{Payload, Wrapping};
use crate::wire::text::SmallText;

const SEND: Expected =
    Expected { envelope: Envelope::JsonRpc, wrapping: Wrapping::Member, payload: Payload::SendResult };
const TASK: Expected = Expected { envelope: Envelope::Bare, wrapping: Wrapping::Member, payload: Payload::Task };

fn number(id: i64) -> JsonRpcId {
    JsonRpcId::Number(id)
}

/// A task as a JSON-RPC result; `{{…}}` of what may differ.
fn answer(id: &str, task: &str, context: &str, text: &str, tokens: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"task":{{"id":"{task}","contextId":"{context}","status":{{"state":"TASK_STATE_COMPLETED","timestamp":"2025-11-03T09:12:44.120Z"}},"artifacts":[{{"artifactId":"a-1","parts":[{{"text":"{text}"}}]}}],"metadata":{{"tokens":{tokens}}}}}}}}}"#
    )
}

fn judged(expected: Expected, document: &str, id: &JsonRpcId) -> (Verdict, Facts) {
    let mut judge = Judge::new(expected);
    judge.feed(document.as_bytes());
    (judge.finish(id), judge.facts().clone())
}

/// What is known of an answer, which must be what a judge says.
fn known(answers: &mut KnownAnswers, expected: Expected, document: &str, id: &JsonRpcId) -> Option<Facts> {
    let facts = answers.find(expected, document.as_bytes(), id).map(|known| known.facts())?;
    assert_eq!((Verdict::Valid, &facts), (judged(expected, document, id).0, &judged(expected, document, id).1));
    Some(facts)
}

fn taught(expected: Expected, document: &str, id: &JsonRpcId) -> KnownAnswers {
    let mut answers = KnownAnswers::default();
    assert!(known(&mut answers, expected, document, id).is_none());
    answers.learn(expected, document.as_bytes(), id);
    assert!(known(&mut answers, expected, document, id).is_some(), "{document}");
    answers
}

#[test]
fn an_answer_that_differs_in_ids_texts_and_numbers_is_known() {
    let mut answers = taught(SEND, &answer("1", "t-1", "c-1", "one", "7"), &number(1));
    for (id, task, context, text, tokens) in [
        (2, "t-2", "c-2", "two", "8"),
        (-30, "another", "", "", "1.5"),
        (1, "t-1", "c-1", "é \\\" \\u00e9 and more than forty bytes of text, so that it is long", "-2e9"),
        (i64::MAX, "t", "c", "one", "0"),
    ] {
        let document = answer(&id.to_string(), task, context, text, tokens);
        let facts = known(&mut answers, SEND, &document, &number(id)).expect("known");
        assert_eq!((facts.task_id.as_str(), facts.context_id.as_str()), (task, context));
    }
}

#[test]
fn the_id_has_to_be_the_requests() {
    let text = |id: &str| JsonRpcId::Text(id.into());
    let mut answers = taught(SEND, &answer("1", "t", "c", "x", "7"), &number(1));
    for (spelled, id) in [
        ("2", number(1)),
        ("1.0", number(1)),
        ("01", number(1)),
        ("1", text("1")),
        ("1", JsonRpcId::Absent),
        ("1", JsonRpcId::Null),
        ("1", JsonRpcId::Other),
        ("\"1\"", number(1)),
        ("null", JsonRpcId::Null),
        ("1", JsonRpcId::Raw("1.0".into())),
    ] {
        assert!(known(&mut answers, SEND, &answer(spelled, "t", "c", "x", "7"), &id).is_none(), "{spelled} {id:?}");
    }
    let mut answers = taught(SEND, &answer("\"r-1\"", "t", "c", "x", "7"), &text("r-1"));
    assert!(known(&mut answers, SEND, &answer("\"r-2\"", "t", "c", "x", "7"), &text("r-2")).is_some());
    for (spelled, id) in
        [("\"r-1\"", text("r-2")), ("\"r\\n\"", text("r\\n")), ("\"\\u0072\"", text("r")), ("1", number(1))]
    {
        assert!(known(&mut answers, SEND, &answer(spelled, "t", "c", "x", "7"), &id).is_none(), "{spelled}");
    }
}

/// Without an id, or with one that is accepted although it is not quite right, what another request gets is another
/// matter.
#[test]
fn only_an_answer_with_the_requests_own_id_is_learnt() {
    for (document, id) in [
        (answer("null", "t", "c", "x", "7"), JsonRpcId::Null),
        (answer("1", "t", "c", "x", "7").replace(r#""id":1,"#, ""), JsonRpcId::Absent),
        (answer("\"1\"", "t", "c", "x", "7"), number(1)),
        (answer("1", "t", "c", "x", "7"), JsonRpcId::Other),
        (answer("1", "t", "c", "x", "7").replace(r#""jsonrpc":"2.0","#, ""), number(1)),
    ] {
        assert_eq!(judged(SEND, &document, &id).0, Verdict::Valid, "{document}");
        let mut answers = KnownAnswers::default();
        answers.learn(SEND, document.as_bytes(), &id);
        assert!(known(&mut answers, SEND, &document, &id).is_none(), "{document}");
    }
}

#[test]
fn whatever_makes_another_answer_of_it_is_judged() {
    let good = answer("1", "t-1", "c-1", "one", "7");
    let mut answers = taught(SEND, &good, &number(1));
    for other in [
        good.replace("COMPLETED", "FAILED"),
        good.replace("t-1", ""),
        good.replace("\"t-1\"", "5"),
        good.replace("\"one\"", "1"),
        good.replace("one", "one\",\"x\":\""),
        good.replace("one", "\u{1}"),
        good.replace("one", "\\x"),
        good.replace(":7", ":07"),
        good.replace(":7", ":\"7\""),
        good.replace(":7", ":7,\"error\":1"),
        good.replace("task\"", "message\""),
        good.replace("2.0", "2.1"),
        format!("{good} "),
        format!("{good}{good}"),
        good[..good.len() - 1].to_owned(),
    ] {
        assert!(known(&mut answers, SEND, &other, &number(1)).is_none(), "{other}");
    }
    // The same bytes are no answer to another question.
    for payload in [Payload::Task, Payload::Object, Payload::StreamEvent] {
        assert!(known(&mut answers, Expected { payload, ..SEND }, &good, &number(1)).is_none());
    }
    assert!(known(&mut answers, Expected { wrapping: Wrapping::Kind, ..SEND }, &good, &number(1)).is_none());
}

/// A text that is not what it spells, or longer than what is kept, is for the judge to read.
#[test]
fn ids_that_are_spelled_oddly_are_judged() {
    let mut answers = taught(SEND, &answer("1", "t-1", "c-1", "one", "7"), &number(1));
    let long = "x".repeat(SmallText::MAX + 1);
    for odd in ["a\\u0062", "\\\"", &long] {
        assert!(known(&mut answers, SEND, &answer("1", odd, "c", "x", "7"), &number(1)).is_none(), "{odd}");
        assert!(known(&mut answers, SEND, &answer("1", "t", odd, "x", "7"), &number(1)).is_none(), "{odd}");
        let mut odd_ones = KnownAnswers::default();
        odd_ones.learn(SEND, answer("1", odd, "c", "x", "7").as_bytes(), &number(1));
        assert!(known(&mut odd_ones, SEND, &answer("1", odd, "c", "x", "7"), &number(1)).is_none(), "{odd}");
    }
    let whole = "x".repeat(SmallText::MAX);
    assert!(known(&mut answers, SEND, &answer("1", &whole, &whole, "x", "7"), &number(1)).is_some());
}

/// Which of several is the task's is the judge's to say.
#[test]
fn an_answer_that_names_two_tasks_is_not_learnt() {
    for members in [
        r#""id":"t-1","taskId":"t-2""#,
        r#""taskId":"t-1","id":"t-1""#,
        r#""contextId":"c","id":"t","task":{"id":"u","contextId":"d"}"#,
    ] {
        let document = format!(r#"{{{members},"status":{{"state":"TASK_STATE_WORKING"}}}}"#);
        let mut answers = KnownAnswers::default();
        answers.learn(TASK, document.as_bytes(), &JsonRpcId::Absent);
        assert!(known(&mut answers, TASK, &document, &JsonRpcId::Absent).is_none(), "{document}");
    }
}

/// What stands where an id would, and is none: nothing is noted of it, nor of what is like it.
#[test]
fn what_is_not_noted_of_one_is_not_noted_of_another() {
    let message = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"message":{{"id":{id},"parts":[]}}}}}}"#);
    let task = |ids: &str| format!(r#"{{{ids},"status":{{"state":"working"}}}}"#);
    for (expected, one, other) in [
        (SEND, message(r#""a""#), message(r#""b""#)),
        (TASK, task(r#""id":"a","taskId":5"#), task(r#""id":"a","taskId":6"#)),
        (TASK, task(r#""id":"a","contextId":5"#), task(r#""id":"a","contextId":6"#)),
    ] {
        let mut answers = KnownAnswers::default();
        for document in [&one, &other, &one] {
            assert_eq!(judged(expected, document, &number(1)).0, Verdict::Valid, "{document}");
            if known(&mut answers, expected, document, &number(1)).is_none() {
                answers.learn(expected, document.as_bytes(), &number(1));
            }
        }
    }
}

/// What stands beside the result is none of it, an empty text like any other.
#[test]
fn a_context_that_is_not_the_results_is_not_told() {
    for document in [
        r#"{"jsonrpc":"2.0","id":1,"result":{"contextId":"","task":{"id":"t","status":{"state":"working"}}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","status":{"state":"working"}},"contextId":""}}"#,
    ] {
        let mut answers = KnownAnswers::default();
        answers.learn(SEND, document.as_bytes(), &number(1));
        for context in ["", "c"] {
            let other = document.replace(r#""contextId":"""#, &format!(r#""contextId":"{context}""#));
            known(&mut answers, SEND, &other, &number(1));
            assert_eq!(judged(SEND, &other, &number(1)).1.context_id.as_str(), "", "{other}");
        }
    }
}

/// A message's own id is only asked to be there.
#[test]
fn messages_are_known_whatever_their_id() {
    let message = |id: &str, text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"message":{{"messageId":"{id}","role":"ROLE_AGENT","parts":[{{"text":"{text}"}}]}}}}}}"#
        )
    };
    let mut answers = taught(SEND, &message("m-1", "a"), &number(1));
    assert!(known(&mut answers, SEND, &message("m-2", "b"), &number(1)).is_some());
    assert!(known(&mut answers, SEND, &message("", "b"), &number(1)).is_some());
}

#[test]
fn kinds_that_take_turns_are_all_known() {
    let kinds = ["one", "two", "three", "four"]
        .map(|name| move |id: &str| answer("1", id, "c", "x", "7").replace("artifactId", name));
    let mut answers = KnownAnswers::default();
    for kind in &kinds {
        answers.learn(SEND, kind("t").as_bytes(), &number(1));
    }
    for (first, second) in kinds.iter().flat_map(|one| kinds.iter().map(move |other| (one, other))) {
        assert!(known(&mut answers, SEND, &first("t-1"), &number(1)).is_some());
        assert!(known(&mut answers, SEND, &second("t-2"), &number(1)).is_some());
    }
}

/// Of a peer that never answers alike little is learnt, and what was worth it keeps the pace.
#[test]
fn what_is_never_seen_again_is_learnt_ever_less_often() {
    let strange = |number: usize| answer("1", "t", "c", "x", "7").replace("artifactId", &format!("a{number}"));
    let mut answers = KnownAnswers::default();
    let mut learnt = Vec::new();
    for at in 0..2_000 {
        let next = answers.0.next;
        answers.learn(SEND, strange(at).as_bytes(), &number(1));
        if answers.0.next != next {
            learnt.push(at);
        }
    }
    assert_eq!(learnt, [0, 1, 2, 3, 4, 6, 10, 18, 34, 66, 130, 258, 514, 770, 1026, 1282, 1538, 1794]);
    for at in 2_000..2_300 {
        answers.learn(SEND, strange(at).as_bytes(), &number(1));
    }
    let last = (2_000..2_300).rev().find(|at| known(&mut answers, SEND, &strange(*at), &number(1)).is_some());
    let last = last.expect("one of them");
    for _ in 0..WORTHWHILE {
        assert!(known(&mut answers, SEND, &strange(last), &number(1)).is_some());
    }
}

#[test]
fn what_was_worth_it_is_learnt_as_often_as_before() {
    for (uses, pause) in [(WORTHWHILE - 1, 1), (WORTHWHILE, 0)] {
        let mut answers = KnownAnswers::default();
        for kind in 0..=4 {
            let good = answer("1", "t", "c", "x", "7").replace("artifactId", &format!("a{kind}"));
            answers.learn(SEND, good.as_bytes(), &number(1));
            // The one with which it is found that all is sound counts too.
            for _ in 1..uses {
                assert!(known(&mut answers, SEND, &good, &number(1)).is_some());
            }
        }
        assert_eq!(answers.0.pause, pause);
    }
}

/// Calls at once may bring what is alike, each before it was learnt of the other; and what is known may have another
/// call's id.
#[test]
fn what_is_known_takes_no_other_place() {
    let mut answers = taught(SEND, &answer("1", "t-1", "c", "x", "7"), &number(1));
    for (id, asked) in [("1", number(1)), ("2", number(2)), ("2", number(1)), ("1.0", number(1))] {
        answers.learn(SEND, answer(id, "t-2", "c", "x", "7").as_bytes(), &asked);
        assert_eq!(answers.0.kinds.len(), 1, "{id}");
    }
    assert!(known(&mut answers, SEND, &answer("3", "t-3", "c", "x", "7"), &number(3)).is_some());
}

#[test]
fn what_has_too_many_parts_is_not_learnt() {
    let parts = (0..HOLES).map(|n| format!(r#"{{"text":"{n}"}}"#)).collect::<Vec<_>>().join(",");
    let document = answer("1", "t", "c", "x", "7").replace(r#"{"text":"x"}"#, &parts);
    assert_eq!(judged(SEND, &document, &number(1)).0, Verdict::Valid);
    let mut answers = KnownAnswers::default();
    answers.learn(SEND, document.as_bytes(), &number(1));
    assert!(known(&mut answers, SEND, &document, &number(1)).is_none());
}

/// Texts, and some that end the string and go on with members of their own.
fn tail() -> impl Strategy<Value = String> {
    const TAILS: &str =
        r#"[a-c]{0,2}|WORKING|"\}|,"id":3|a"\}\],"x":\[\{"y":"|"\},"taskId":"u|\\u0061|","id":"|1|null"#;
    prop_oneof![3 => "[a-c]{0,2}", 1 => TAILS]
}

fn any_document(shapes: std::ops::Range<usize>) -> impl Strategy<Value = (Expected, String, i64)> {
    let wrapping = prop_oneof![Just(Wrapping::Member), Just(Wrapping::Kind), Just(Wrapping::Legacy)];
    let payload =
        prop_oneof![Just(Payload::SendResult), Just(Payload::Task), Just(Payload::Object), Just(Payload::Anything)];
    let envelope = prop_oneof![Just(Envelope::JsonRpc), Just(Envelope::Bare)];
    let expected = (envelope, wrapping, payload).prop_map(|(envelope, wrapping, payload)| Expected {
        envelope,
        wrapping,
        payload,
    });
    (expected, shapes, tail(), tail(), 1_i64..3, "[0-9]{1,2}|-0|1e1|1\\.5|\"1\"|true").prop_map(
        |(expected, shape, tail, other, id, count)| {
            let task = match shape {
                0 => format!(r#""id":"t{other}","contextId":"{tail}","status":{{"state":"TASK_STATE_WORKING"}}"#),
                1 => format!(r#""status":{{"state":"working","n":{count}}},"id":"{other}","history":["{tail}"]"#),
                2 => format!(r#""kind":"task","id":"t","status":{{"state":"{tail}"}},"contextId":"{other}""#),
                3 => format!(r#""messageId":"{tail}","role":"agent","parts":[{{"text":"{other}"}}],"taskId":"{tail}""#),
                4 => format!(r#""id":"t{tail}","taskId":"t{other}","status":{{"state":"completed"}}"#),
                5 => format!(r#""kind":"message","messageId":"m{tail}","parts":[],"contextId":"c{other}""#),
                _ => format!(r#""tasks":[{{"id":"{tail}"}}],"nextPageToken":"{other}","totalSize":{count}"#),
            };
            let payload = match (expected.wrapping, expected.payload, shape) {
                (Wrapping::Member, Payload::SendResult, 3 | 5) => format!(r#"{{"message":{{{task}}}}}"#),
                (Wrapping::Member, Payload::SendResult, _) => format!(r#"{{"task":{{{task}}}}}"#),
                _ => format!("{{{task}}}"),
            };
            let document = match expected.envelope {
                Envelope::JsonRpc => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{payload}}}"#),
                Envelope::Bare => payload,
            };
            (expected, document, id)
        },
    )
}

fn sequences() -> impl Strategy<Value = Vec<((Expected, String, i64), i64)>> {
    (any_document(0..1), 0_usize..7).prop_flat_map(|((focus, ..), shape)| {
        let one = any_document(shape..shape + 1).prop_map(move |(_, document, id)| (focus, document, id));
        prop::collection::vec((prop_oneof![4 => one, 1 => any_document(0..7)], 1_i64..3), 0..60)
    })
}

proptest! {
    /// Whatever came before, what is known is what a judge says, which `known` asserts.
    #[test]
    fn what_is_known_need_not_be_judged(documents in sequences()) {
        let mut answers = KnownAnswers::default();
        for ((expected, document, id), asked) in documents {
            for id in [number(id), number(asked)] {
                if known(&mut answers, expected, &document, &id).is_none()
                    && judged(expected, &document, &id).0 == Verdict::Valid
                {
                    answers.0.pause = 0;
                    answers.learn(expected, document.as_bytes(), &id);
                }
            }
        }
    }
}
