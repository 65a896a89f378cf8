use proptest::prelude::*;

use super::*;
use crate::wire::id::JsonRpcId;
use crate::wire::judge::{Envelope, Expected, Payload, Verdict, Wrapping};
use crate::wire::sse::{Framing, LineEnd};
use crate::wire::template::SHORT;

const EXPECTED: Expected =
    Expected { envelope: Envelope::JsonRpc, wrapping: Wrapping::Member, payload: Payload::StreamEvent };
const ID: JsonRpcId = JsonRpcId::Number(1);
const TASK: &str = "310647ae-d68f-47e7-9482-e38f651890fe";

/// Texts, and some that end the string and go on with members of their own: of no interest, or of some.
const TAILS: &str = r#"[a-c]{0,2}|WORKING|"\}|,"id":3|a"\}\],"x":\[\{"y":"|a"\}\]\}\},"task":\{"x":\{"y":\[\{"z":""#;

fn event(id: u32, kind: usize, tail: &str) -> String {
    let result = match kind {
        0 => format!(r#"{{"artifactUpdate":{{"taskId":"{TASK}","artifact":{{"parts":[{{"text":"{tail}"}}]}}}}}}"#),
        1 => format!(r#"{{"statusUpdate":{{"taskId":"{TASK}","status":{{"state":"TASK_STATE_{tail}"}}}}}}"#),
        2 => {
            format!(r#"{{"task":{{"status":{{"state":"working","message":{{"parts":["{tail}"]}}}},"id":"{TASK}é"}}}}"#)
        }
        3 => format!(r#"{{"artifactUpdate":{{"taskId":"{TASK}","contextId":"{tail}","artifact":{{}}}}}}"#),
        4 => format!(
            r#"{{"statusUpdate":{{"taskId":"{TASK}","status":{{"state":"TASK_STATE_WORKING","x":"{tail}"}}}}}}"#
        ),
        // Two texts that nobody asks about.
        _ => format!(
            r#"{{"artifactUpdate":{{"taskId":"{TASK}","artifact":{{"artifactId":"{tail}{id}","parts":[{{"text":"{tail}"}}]}}}}}}"#
        ),
    };
    let id = if kind == 5 { 1 } else { id };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

struct Stream {
    memo: Memo<usize>,
    judge: Judge,
    framing: Framing,
}

impl Stream {
    fn new() -> Self {
        let mut framing = Framing::new();
        framing.pass_plain_event(LineEnd::Lf);
        Self { memo: Memo::default(), judge: Judge::new(EXPECTED), framing }
    }

    /// The news of the event that `raw` begins with, if it is like one before; else it is read.
    fn next(&mut self, raw: &str) -> Option<usize> {
        let bytes = raw.as_bytes();
        let event = self.framing.plain_event(bytes).expect("a plain event");
        if let Some(length) = self.memo.repeated(bytes).or_else(|| self.memo.repeated_widely(bytes)) {
            assert_eq!(length, event.length, "{raw}");
            return self.memo.last_news();
        }
        self.memo.read(&mut self.judge, bytes, &event);
        None
    }

    /// The same, and an event that was read is judged: it is valid, and says `news`.
    fn learns(&mut self, raw: &str, news: usize) -> Option<usize> {
        let known = self.next(raw);
        if known.is_none() {
            assert_eq!(self.judge.finish(&ID), Verdict::Valid, "{raw}");
            self.memo.judged(&self.judge, news);
        }
        known
    }

    /// The second of a kind is learnt of.
    fn learns_twice(&mut self, raw: &str, news: usize) {
        self.learns(raw, news);
        self.learns(raw, news);
    }

    /// What `raw` is like, without reading it.
    fn knows(&mut self, raw: &str) -> Option<(usize, usize)> {
        let bytes = raw.as_bytes();
        let length = self.memo.repeated(bytes).or_else(|| self.memo.repeated_widely(bytes))?;
        Some((length, self.memo.last_news()?))
    }
}

fn raw(json: &str) -> String {
    format!("data: {json}\n\n")
}

#[test]
fn events_that_differ_in_nothing_told_repeat() {
    let mut stream = Stream::new();
    for round in 0..12 {
        let known = stream.learns(&raw(&event(1, 0, &round.to_string())), round);
        assert_eq!(known, (round >= 2).then_some(1), "{round}");
    }
}

#[test]
fn all_texts_that_nobody_asks_about_may_differ() {
    let mut stream = Stream::new();
    for round in 0..4 {
        let json = event(round, 5, &round.to_string());
        let known = stream.learns(&raw(&json), 7);
        assert_eq!(known, (round >= 2).then_some(7), "{json}");
    }
}

#[test]
fn a_text_that_nobody_asks_about_is_passed_over_unread() {
    let mut stream = Stream::new();
    stream.learns_twice(&raw(&event(1, 0, "one")), 2);
    for text in ["two", "", "more, and longer", "é \\\" \\u00e9", &"x".repeat(5000)] {
        let raw = raw(&event(1, 0, text));
        assert_eq!(stream.knows(&format!("{raw}data: next")), Some((raw.len(), 2)), "{text}");
    }
    // One that goes on with members of its own, that is no text, or that is not there whole has to be read.
    for text in [r#"","x":""#, "\\x", "\n", "\u{1}"] {
        assert_eq!(stream.knows(&raw(&event(1, 0, text))), None, "{text}");
    }
    let raw = raw(&event(1, 0, "more"));
    for end in 0..raw.len() {
        assert_eq!(stream.knows(&raw[..end]), None, "{end}");
    }
}

/// What differs is passed over at once from then on, and what never did is still compared: as one, with all around it.
#[test]
fn a_text_that_did_differ_is_searched_for_no_more() {
    let with = |id: &str, name: &str, text: &str| {
        let json = event(1, 5, "").replace("\"artifactId\":\"1\"", &format!("\"artifactId\":\"{name}\""));
        format!("id: {id}\n{}", raw(&json.replace("\"text\":\"\"", &format!("\"text\":\"{text}\""))))
    };
    // Which one differs first, one that differs in it alone, and one that differs in another, too.
    for (first, alone, more) in [
        (with("2", "n", "t"), with("345", "n", "t"), with("2", "n", "u")),
        (with("1", "name", "t"), with("1", "", "t"), with("2", "name", "t")),
        (with("1", "n", "text"), with("1", "n", ""), with("1", "m", "text")),
    ] {
        let mut stream = Stream::new();
        stream.learns_twice(&with("1", "n", "t"), 1);
        assert_eq!(stream.memo.repeated(first.as_bytes()), None);
        assert_eq!(stream.memo.repeated_widely(first.as_bytes()), Some(first.len()));
        assert_eq!(stream.memo.repeated(alone.as_bytes()), Some(alone.len()), "{first}");
        assert_eq!(stream.memo.repeated(more.as_bytes()), None, "{first}");
        assert_eq!(stream.memo.repeated_widely(more.as_bytes()), Some(more.len()));
        assert_eq!(stream.memo.repeated(more.as_bytes()), Some(more.len()), "{first}");
    }
}

/// A long text is taken to differ, before one did.
#[test]
fn a_long_text_is_not_kept() {
    for (length, is_long) in [(1, false), (SHORT, false), (SHORT + 1, true), (3 * SHORT, true)] {
        let mut stream = Stream::new();
        stream.learns_twice(&raw(&event(1, 0, &"x".repeat(length))), 1);
        let other = raw(&event(1, 0, &"y".repeat(length)));
        let known = stream.memo.repeated(other.as_bytes());
        assert_eq!(known, is_long.then_some(other.len()), "{length}");
    }
}

#[test]
fn kinds_that_take_turns_repeat_each_for_itself() {
    let mut stream = Stream::new();
    for round in 0..12 {
        for kind in [0, 2, 4, 5] {
            let known = stream.learns(&raw(&event(1, kind, &round.to_string())), kind);
            // Two of them begin alike, so that the other one is learnt a round sooner.
            let is_known = round >= if kind == 5 { 1 } else { 2 };
            assert_eq!(known, is_known.then_some(kind), "{round}");
        }
    }
}

/// At once, whichever the last one was like.
#[test]
fn any_of_the_kinds_may_be_next() {
    let raws = [0, 2, 4, 5].map(|kind| (kind, raw(&event(1, kind, "a"))));
    let mut stream = Stream::new();
    for _ in 0..2 {
        for (kind, raw) in &raws {
            stream.learns(raw, *kind);
        }
    }
    for (last, next) in raws.iter().flat_map(|last| raws.iter().map(move |next| (last, next))) {
        for (kind, raw) in [last, next] {
            assert_eq!(stream.memo.repeated(raw.as_bytes()), Some(raw.len()), "{kind}");
            assert_eq!(stream.memo.last_news(), Some(*kind));
        }
    }
}

/// As the servers write them that people run: with carriage returns, with ids, with the name of the default event.
#[test]
fn what_is_around_the_data_belongs_to_the_kind() {
    for around in [
        "data: D\r\n\r\n",
        "id: N\ndata: D\n\n",
        "event: message\r\nid:N\r\ndata: D\r\n\r\n",
        "id: N\nevent: message\ndata: D\n\n",
    ] {
        let mut stream = Stream::new();
        for round in 0..5 {
            let number = (round * 77).to_string();
            let raw = around.replace('D', &event(1, 0, &number)).replace('N', &number);
            assert_eq!(stream.learns(&raw, 1), (round >= 2).then_some(1), "{raw}");
        }
    }
}

/// A line of its own in the value of an id would be one of the event.
#[test]
fn an_id_ends_with_its_line() {
    let mut stream = Stream::new();
    stream.learns_twice(&format!("id: 1\n{}", raw(&event(1, 0, "a"))), 1);
    assert!(stream.knows(&format!("id: 2\n{}", raw(&event(1, 0, "b")))).is_some());
    for id in ["2\ndata: x", "2\r", "2\nevent: error"] {
        assert_eq!(stream.knows(&format!("id: {id}\n{}", raw(&event(1, 0, "b")))), None, "{id}");
    }
}

/// What an event tells is judged by what stands in it, whatever those before it told.
#[test]
fn an_event_that_tells_something_is_judged_as_if_it_came_alone() {
    const TEXTS: [&str; 3] = ["WORKING", r#""}|,"id":3"#, r#"a"}]}},"task":{"x":{"y":[{"z":""#];
    let any: Vec<_> = [0, 4].into_iter().flat_map(|kind| TEXTS.map(|text| (kind, text))).collect();
    for (first, second, third) in
        any.iter().flat_map(|a| any.iter().flat_map(|b| any.iter().map(|c| (*a, *b, *c))).collect::<Vec<_>>())
    {
        let mut stream = Stream::new();
        let taught = ["1", "2", "3"].into_iter().flat_map(|text| [(0, text), (4, text)]);
        for (kind, text) in taught.chain([first, second, third]) {
            let json = event(1, kind, text);
            let mut fresh = Judge::new(EXPECTED);
            fresh.feed(json.as_bytes());
            let verdict = fresh.finish(&ID);
            if stream.next(&raw(&json)).is_none() {
                assert_eq!((stream.judge.finish(&ID), stream.judge.facts()), (verdict, fresh.facts()), "{json}");
                if verdict == Verdict::Valid {
                    stream.memo.judged(&stream.judge, kind);
                }
            } else {
                assert_eq!(verdict, Verdict::Valid, "{first:?} {json}");
            }
        }
    }
}

/// A cut anywhere but within what ends an event.
#[test]
fn an_event_that_is_cut_is_known_by_both_pieces() {
    for around in ["data: D\n\n", "id: 7\r\ndata: D\r\n\r\n"] {
        let mut stream = Stream::new();
        stream.learns_twice(&around.replace('D', &event(1, 5, "a")), 3);
        let raw = around.replace('D', &event(1, 5, "é\\\"é, and longer than it was"));
        let all = format!("{raw}data: next").into_bytes();
        let end = raw.trim_end().len();
        for cut in 1..raw.len() {
            let (one, two) = all.split_at(cut);
            assert_eq!(stream.memo.keep(one), cut <= end, "{cut}");
            if cut <= end {
                assert_eq!(stream.memo.go_on(two), GoneOn::Repeated(raw.len() - cut), "{cut}");
                assert_eq!(stream.memo.last_news(), Some(3));
                stream.memo.forget_kept();
            }
        }
        // Piece by piece, and then otherwise than expected.
        let pieces: Vec<&[u8]> = all[..end].chunks(end.div_ceil(4)).collect();
        assert!(stream.memo.keep(pieces[0]));
        for piece in &pieces[1..] {
            assert_eq!(stream.memo.go_on(piece), GoneOn::Kept);
        }
        assert_eq!(stream.memo.go_on(b"!"), GoneOn::Other);
        assert_eq!(stream.memo.take_kept(), &all[..end]);
    }
}

#[test]
fn an_event_in_many_pieces_is_read_as_they_come() {
    let mut stream = Stream::new();
    stream.learns_twice(&raw(&event(1, 0, "a")), 3);
    let raw = raw(&event(1, 0, "b"));
    for _ in 0..2 {
        assert!(stream.memo.keep(&raw.as_bytes()[..1]));
        for at in 1..usize::from(PIECES) - 1 {
            assert_eq!(stream.memo.go_on(&raw.as_bytes()[at..=at]), GoneOn::Kept, "{at}");
        }
        let last = usize::from(PIECES) - 1;
        assert_eq!(stream.memo.go_on(&raw.as_bytes()[last..=last]), GoneOn::Other);
        let kept = stream.memo.take_kept();
        assert_eq!(kept, &raw.as_bytes()[..last]);
        stream.memo.give_back(kept);
        assert!(!stream.memo.has_kept());
        assert!(stream.memo.carry.capacity() >= last, "its memory is used again");
    }
}

#[test]
fn little_is_kept_of_an_event_that_is_cut() {
    let mut stream = Stream::new();
    stream.learns_twice(&raw(&event(1, 0, "a")), 3);
    let long = raw(&event(1, 0, &"x".repeat(3 * CARRY)));
    assert!(!stream.memo.keep(&long.as_bytes()[..=CARRY]));
    assert!(stream.memo.keep(&long.as_bytes()[..CARRY]));
    assert_eq!(stream.memo.go_on(&long.as_bytes()[CARRY..2 * CARRY]), GoneOn::Other);
    assert_eq!(stream.memo.take_kept(), &long.as_bytes()[..CARRY]);
    assert!(!stream.memo.keep(b"data: {\"something\":\"else\""));
    assert!(!stream.memo.has_kept());
}

/// Of a stream whose events are all of another kind nothing is learnt for long.
#[test]
fn what_is_never_seen_again_is_learnt_ever_less_often() {
    let mut stream = Stream::new();
    let mut learnt = Vec::new();
    for number in 0..500_usize {
        assert_eq!(stream.next(&raw(&event(1, 3, &number.to_string()))), None);
        if stream.memo.learning.is_some() {
            learnt.push(number);
        }
        assert_eq!(stream.judge.finish(&ID), Verdict::Valid);
        stream.memo.judged(&stream.judge, number);
    }
    assert_eq!(learnt, [1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 131, 196, 261, 326, 391, 456]);
    // What comes again is learnt all the same.
    for round in 0..=usize::from(PATIENCE) {
        stream.learns(&raw(&event(1, 0, &round.to_string())), round);
    }
    assert!(stream.knows(&raw(&event(1, 0, "more"))).is_some());
}

/// So that a stream of more kinds than are remembered goes on to learn.
#[test]
fn nothing_is_learnt_less_often_for_what_was_worth_it() {
    for (uses, is_learnt) in [(WORTHWHILE, true), (WORTHWHILE - 1, false)] {
        let mut stream = Stream::new();
        let raws = ["a", "b", "c", "d", "e", "f"].map(|name| {
            move |text: &str| raw(&event(1, 0, text).replace("{\"jsonrpc\"", &format!("{{\"{name}\":1,\"jsonrpc\"")))
        });
        let (first, new) = raws.split_at(KINDS);
        for (number, raw) in first.iter().enumerate() {
            stream.learns_twice(&raw("1"), number);
            for round in 0..uses {
                assert_eq!(stream.knows(&raw(&round.to_string())).map(|known| known.1), Some(number));
            }
        }
        for (number, raw) in new.iter().enumerate() {
            stream.learns_twice(&raw("1"), KINDS + number);
        }
        assert_eq!(stream.knows(&new[0]("2")).map(|known| known.1), Some(KINDS));
        assert_eq!(stream.knows(&new[1]("2")).is_some(), is_learnt);
    }
}

#[test]
fn what_comes_once_is_not_learnt() {
    let mut stream = Stream::new();
    for kind in [2, 4, 0] {
        stream.learns(&raw(&event(1, kind, "a")), kind);
        assert_eq!(stream.memo.learning, None);
        assert_eq!(stream.knows(&raw(&event(1, kind, "b"))), None);
    }
    // Whose beginnings differ is learnt of all the same, now and then.
    let mut learnt = 0;
    for number in 0..32 {
        let json = event(1, 0, "a").replace("{\"jsonrpc\"", &format!("{{\"n\":{number},\"jsonrpc\""));
        stream.next(&raw(&json));
        learnt += usize::from(stream.memo.learning.is_some());
    }
    assert_eq!(learnt, 4);
}

#[test]
fn what_is_too_long_is_not_kept() {
    let many = (0..200).map(|n| format!(r#"{{"n":{n},"text":"x"}}"#)).collect::<Vec<_>>().join(",");
    let json = event(1, 0, "a").replace("[{", &format!("[{many},{{"));
    let mut stream = Stream::new();
    for _ in 0..5 {
        assert_eq!(stream.learns(&raw(&json), 1), None);
    }
}

proptest! {
    #[test]
    fn what_repeats_need_not_be_judged(
        events in prop::collection::vec((1u32..3, 0usize..6, TAILS), 0..40)
    ) {
        let mut stream = Stream::new();
        let mut earlier = Vec::new();
        for (number, kind, tail) in events {
            let json = event(number, kind, &tail);
            let mut fresh = Judge::new(EXPECTED);
            fresh.feed(json.as_bytes());
            let verdict = fresh.finish(&ID);
            if let Some(news) = stream.next(&raw(&json)) {
                prop_assert_eq!((verdict, fresh.facts()), (Verdict::Valid, &earlier[news]), "{}", json);
            } else {
                prop_assert_eq!(stream.judge.finish(&ID), verdict, "{}", json);
                prop_assert_eq!(stream.judge.facts(), fresh.facts());
                if verdict == Verdict::Valid {
                    stream.memo.judged(&stream.judge, earlier.len());
                }
                earlier.push(fresh.facts().clone());
            }
        }
    }
}
