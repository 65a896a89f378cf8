use a2a_guard::wire::{Envelope, Expected, Flaw, JsonRpcId, Judge, Payload, SmallText, Verdict, Wrapping};
use serde_json::value::RawValue;

use crate::{
    cut::cuts,
    input::Input,
    oracle::answer::{Id, Ruling, Said, rule},
};

/// One answer, JSON-RPC's or HTTP+JSON's, against the same rules over serde_json's tree.
pub fn answer(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let expected = Expected {
        envelope: input.pick(&[Envelope::JsonRpc, Envelope::Bare]),
        wrapping: input.pick(&[Wrapping::Member, Wrapping::Kind, Wrapping::Legacy]),
        payload: input.pick(&[
            Payload::SendResult,
            Payload::StreamEvent,
            Payload::Task,
            Payload::Object,
            Payload::ObjectOrArray,
            Payload::Anything,
        ]),
    };
    let (id, id_json) = request_id(input.byte());
    let seed = input.word();
    let document = input.rest();
    let raw = id_json.map(|json| serde_json::from_str::<&RawValue>(json).expect("an id"));
    let ruling = rule(expected, raw, document);

    let mut whole = None;
    let mut reused = Judge::new(expected);
    for pieces in cuts(document, seed) {
        let mut judge = Judge::new(expected);
        pieces.iter().for_each(|piece| judge.feed(piece));
        let verdict = judge.finish(&id);
        assert_ruled(&ruling, verdict, &judge, raw);
        let (first, facts) = whole.get_or_insert_with(|| (verdict, judge.facts().clone()));
        assert_eq!((*first, &*facts), (verdict, judge.facts()), "judged otherwise in another cut");

        reused.reset();
        pieces.iter().for_each(|piece| reused.feed(piece));
        assert_eq!((reused.finish(&id), reused.facts()), (verdict, judge.facts()), "judged otherwise by a used judge");
    }
}

/// Ids of requests, and the same in JSON.
pub(super) fn request_id(choice: u8) -> (JsonRpcId, Option<&'static str>) {
    match choice % 9 {
        0 => (JsonRpcId::Number(1), Some("1")),
        1 => (JsonRpcId::Text("1".into()), Some("\"1\"")),
        2 => (JsonRpcId::Text("a-b".into()), Some("\"a-b\"")),
        3 => (JsonRpcId::Absent, None),
        4 => (JsonRpcId::Null, Some("null")),
        5 => (JsonRpcId::Number(i64::MIN), Some("-9223372036854775808")),
        6 => (JsonRpcId::Raw("1.5".into()), Some("1.5")),
        7 => (JsonRpcId::Raw("18446744073709551616".into()), Some("18446744073709551616")),
        _ => (JsonRpcId::Other, Some("[]")),
    }
}

fn assert_ruled(ruling: &Ruling, verdict: Verdict, judge: &Judge, id: Id<'_>) {
    let agrees = match ruling {
        Ruling::Valid(said) => {
            assert_eq!(verdict, Verdict::Valid, "{ruling:?} for {id:?}");
            return assert_said(said, judge);
        }
        Ruling::Error => verdict == Verdict::Error,
        Ruling::Empty => verdict == Verdict::Flawed(Flaw::Empty),
        Ruling::Malformed => matches!(verdict, Verdict::Flawed(Flaw::Malformed(_))),
        Ruling::OtherCall => verdict == Verdict::Flawed(Flaw::OTHER_CALL),
        Ruling::Violation => {
            matches!(verdict, Verdict::Flawed(Flaw::Violation(_))) && verdict != Verdict::Flawed(Flaw::OTHER_CALL)
        }
    };
    assert!(agrees, "{ruling:?} by the tree, {verdict:?} by the bytes");
}

fn assert_said(said: &Said, judge: &Judge) {
    let facts = judge.facts();
    assert_eq!(facts.kind, said.kind);
    assert!(is_text(&facts.task_id, &said.task_id), "{:?} {:?}", facts.task_id, said.task_id);
    assert!(is_text(&facts.context_id, &said.context_id), "{:?} {:?}", facts.context_id, said.context_id);
    assert_eq!(facts.state, said.state);
}

/// Is it this text, as far as one is kept?
fn is_text(kept: &SmallText, text: &str) -> bool {
    match text.as_bytes().get(..SmallText::MAX) {
        Some(start) if text.len() > SmallText::MAX => kept.is_truncated() && kept.as_bytes() == start,
        _ => !kept.is_truncated() && kept.as_str() == text,
    }
}
