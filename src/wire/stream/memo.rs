//! What the events of a stream begin with, read once.
//!
//! Events of one kind in one stream share their first bytes: the envelope, the wrapper, the ids. A judge can stop and go on at any byte, so its state
//! behind such a prefix can be kept and restored; only what follows is read. That is exact by construction: the state is that of a judge
//! that was fed these very bytes.

use crate::wire::json::end_of_string;
use crate::wire::judge::{Judge, PayloadKind};

/// How much of an event is compared.
const LONGEST: usize = 256;
/// Less in common is no prefix of one kind of event; the JSON-RPC envelope alone has about 40 bytes.
const SHORTEST: usize = 64;
/// A longer end than this is not remembered.
const TAIL: usize = 64;
/// How many kinds of events are remembered: updates of status and artifact often alternate.
const KINDS: usize = 2;
/// What is around the data of a plain event, the usual one (see [`Framing::plain_event`](crate::wire::sse::Framing::plain_event)).
const DATA: &[u8] = b"data: ";
const END: &[u8] = b"\n\n";

/// The prefixes seen, and the news of events that begin so: whatever a valid event says that its stream's judge acts on.
#[derive(Debug)]
pub(super) struct Memo<N> {
    /// What an event looks like that tells nothing new, one for each kind. All that most events are compared with lies here, in few cache lines:
    /// between two events a live stream's state has left the caches.
    repeats: [Repeat<N>; KINDS],
    kinds: Vec<Kind<N>>,
    /// The kind of the last event.
    last: usize,
    /// What is known of the event going on.
    standing: Standing,
    /// The kind behind whose prefix the judge stands, with nothing told since.
    untold: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    #[default]
    Unknown,
    /// It has the prefix of `last`.
    Known,
    /// The same, and of events that tell nothing behind it the news are known.
    Repeating,
}

#[derive(Debug)]
struct Kind<N> {
    /// The beginning of an event of this kind, with the name of its field …
    sample: Vec<u8>,
    /// … as much of its data as the others shared, if two have been seen …
    shared: usize,
    /// … and the judge behind that.
    behind: Judge,
    /// Most events of a kind differ only in what nobody asks about. Then all that is told of them stands in the prefix, and this is what it says.
    news: Option<N>,
}

/// A plain event of which only a text that nobody asks about is not known.
#[derive(Debug)]
struct Repeat<N> {
    /// What is before the text, and behind that what the last such event ended with, from the end of the text to the blank line. Empty if that is
    /// not known.
    around: Vec<u8>,
    /// How much of that is before the text.
    prefix: usize,
    news: Option<N>,
}

impl<N> Default for Memo<N> {
    fn default() -> Self {
        let repeats = std::array::from_fn(|_| Repeat { around: Vec::new(), prefix: 0, news: None });
        Self { repeats, kinds: Vec::new(), last: 0, standing: Standing::default(), untold: None }
    }
}

impl<N: Copy> Memo<N> {
    /// Is there a plain event at the start of `bytes` that differs from one before only in a text that nobody asks about? Then it is as valid. Gives
    /// its length and its news.
    #[inline]
    pub(super) fn repeated(&mut self, bytes: &[u8]) -> Option<(usize, N)> {
        if let Some(found) = self.repeats.get(self.last)?.of(bytes) {
            return Some(found);
        }
        let other = KINDS - 1 - self.last;
        let found = self.repeats.get(other)?.of(bytes)?;
        self.last = other;
        Some(found)
    }

    /// Begins an event with the first piece of its data, or with all of it, if it is a plain one.
    pub(super) fn begin(&mut self, judge: &mut Judge, piece: &[u8], is_all: bool) {
        let untold = self.untold.take();
        let found = self.find(piece);
        let read = match found.and_then(|index| Some((index, self.kinds.get(index)?))) {
            Some((index, kind)) => {
                let is_told = kind.news.is_some();
                if is_told && untold == Some(index) {
                    judge.restore_untold(&kind.behind);
                } else {
                    judge.restore(&kind.behind);
                    judge.listen();
                }
                if is_told
                    && is_all
                    && let Some(repeat) = self.repeats.get_mut(index)
                {
                    repeat.note(kind, piece);
                }
                self.last = index;
                self.standing = if is_told { Standing::Repeating } else { Standing::Known };
                kind.shared
            }
            None => {
                self.standing = Standing::Unknown;
                judge.reset();
                self.learn(judge, piece)
            }
        };
        judge.feed(piece.get(read..).unwrap_or_default());
    }

    /// The event is at its end: is it known to be valid, since nothing was told behind its prefix? Gives its news.
    pub(super) fn repeats(&mut self, judge: &mut Judge) -> Option<N> {
        if self.standing != Standing::Repeating {
            return None;
        }
        if judge.was_told() || !judge.is_whole() {
            self.forget_repeat(self.last);
            return None;
        }
        self.untold = Some(self.last);
        self.kinds.get(self.last)?.news
    }

    /// The event was judged, and is valid.
    pub(super) fn judged(&mut self, judge: &Judge, news: N) {
        // A message ends its stream, and what is noted of it is not all told.
        let is_known = self.standing != Standing::Unknown && judge.facts().kind != PayloadKind::Message;
        if is_known
            && !judge.was_told()
            && let Some(kind) = self.kinds.get_mut(self.last)
        {
            kind.news = Some(news);
            self.untold = Some(self.last);
        }
    }

    /// The kind whose prefix the piece begins with.
    fn find(&self, piece: &[u8]) -> Option<usize> {
        let fits = |index: &usize| self.kinds.get(*index).is_some_and(|kind| kind.fits(piece));
        (0..KINDS).map(|step| (self.last + step) % KINDS).find(fits)
    }

    fn forget_repeat(&mut self, index: usize) {
        if let Some(repeat) = self.repeats.get_mut(index) {
            repeat.around.clear();
        }
    }

    /// Learns from an event that began otherwise. Gives the number of bytes that were fed on the way.
    fn learn(&mut self, judge: &mut Judge, piece: &[u8]) -> usize {
        let start = piece.get(..LONGEST).unwrap_or(piece);
        if start.len() < SHORTEST {
            return 0;
        }
        for (index, kind) in self.kinds.iter_mut().enumerate() {
            let shared = common(kind.sample.get(DATA.len()..).unwrap_or_default(), start);
            if shared >= SHORTEST {
                self.last = index;
                judge.feed(start.get(..shared).unwrap_or_default());
                kind.behind.restore(judge);
                kind.shared = shared;
                kind.news = None;
                self.forget_repeat(index);
                return shared;
            }
        }
        let sample = [DATA, start].concat();
        if self.kinds.len() < KINDS {
            self.last = self.kinds.len();
            self.kinds.push(Kind { sample, shared: 0, behind: judge.clone(), news: None });
        } else {
            self.last = (self.last + 1) % KINDS;
            if let Some(oldest) = self.kinds.get_mut(self.last) {
                oldest.sample = sample;
                oldest.shared = 0;
                oldest.news = None;
            }
            self.forget_repeat(self.last);
        }
        0
    }
}

impl<N: Copy> Kind<N> {
    /// The shared prefix, with the name of its field.
    fn prefix(&self) -> &[u8] {
        self.sample.get(..DATA.len() + self.shared).unwrap_or_default()
    }

    fn fits(&self, piece: &[u8]) -> bool {
        self.shared > 0 && self.prefix().get(DATA.len()..).is_some_and(|prefix| piece.starts_with(prefix))
    }
}

impl<N: Copy> Repeat<N> {
    /// See [`Memo::repeated`].
    #[inline]
    fn of(&self, bytes: &[u8]) -> Option<(usize, N)> {
        let (prefix, tail) = self.around.split_at_checked(self.prefix).filter(|_| !self.around.is_empty())?;
        if !bytes.starts_with(prefix) {
            return None;
        }
        let end = end_of_string(bytes, prefix.len())?;
        bytes.get(end..)?.starts_with(tail).then_some((end + tail.len(), self.news?))
    }

    /// Notes how an event of a kind ends, if the prefix of the kind ends within a string that nobody asks about. Whoever finds the event told of
    /// anything, or not whole, has to forget that.
    fn note(&mut self, kind: &Kind<N>, event: &[u8]) {
        self.around.clear();
        if let Some(tail) = kind.behind.end_of_ignored_string(event, kind.shared).and_then(|end| event.get(end..))
            && tail.len() <= TAIL
        {
            self.around.extend_from_slice(kind.prefix());
            self.prefix = self.around.len();
            self.around.extend_from_slice(tail);
            self.around.extend_from_slice(END);
            self.news = kind.news;
        }
    }
}

/// How many bytes two texts have in common from their start.
fn common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::id::JsonRpcId;
    use crate::wire::judge::{Envelope, Expected, Payload, Verdict, Wrapping};

    const EXPECTED: Expected =
        Expected { envelope: Envelope::JsonRpc, wrapping: Wrapping::Member, payload: Payload::StreamEvent };

    /// Texts, and some that end the string and go on with members of their own: of no interest, or of some.
    const TAILS: &str =
        r#"[a-c]{0,2}|WORKING|"\}|,"id":3|a"\}\],"x":\[\{"y":"|a"\}\]\}\},"task":\{"x":\{"y":\[\{"z":""#;

    fn event(id: u32, kind: usize, tail: &str) -> String {
        let task = "310647ae-d68f-47e7-9482-e38f651890fe";
        let result = match kind {
            0 => format!(r#"{{"artifactUpdate":{{"taskId":"{task}","artifact":{{"parts":[{{"text":"{tail}"}}]}}}}}}"#),
            1 => format!(r#"{{"statusUpdate":{{"taskId":"{task}","status":{{"state":"TASK_STATE_{tail}"}}}}}}"#),
            4 => format!(
                r#"{{"statusUpdate":{{"taskId":"{task}","status":{{"state":"TASK_STATE_WORKING","x":"{tail}"}}}}}}"#
            ),
            2 => format!(
                r#"{{"task":{{"status":{{"state":"working","message":{{"parts":["{tail}"]}}}},"id":"{task}é"}}}}"#
            ),
            _ => format!(r#"{{"artifactUpdate":{{"taskId":"{task}","contextId":"{tail}","artifact":{{}}}}}}"#),
        };
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
    }

    /// The next event of a stream; `is_plain` says whether it comes in the usual form. If it repeats an earlier one, gives that one's news.
    fn next(memo: &mut Memo<usize>, judge: &mut Judge, json: &str, is_plain: bool) -> Option<usize> {
        let raw = format!("data: {json}\n\nmore");
        if is_plain && let Some((length, news)) = memo.repeated(raw.as_bytes()) {
            assert_eq!(&raw[length..], "more");
            return Some(news);
        }
        memo.begin(judge, json.as_bytes(), is_plain);
        memo.repeats(judge)
    }

    #[test]
    fn events_that_differ_in_nothing_told_repeat() {
        let id = JsonRpcId::Number(1);
        let mut memo = Memo::default();
        let mut judge = Judge::new(EXPECTED);
        for round in 0..12 {
            let repeated = next(&mut memo, &mut judge, &event(1, 0, &round.to_string()), round % 4 != 0);
            assert_eq!(repeated, (round >= 3).then_some(2), "{round}");
            if repeated.is_none() {
                assert_eq!(judge.finish(&id), Verdict::Valid);
                memo.judged(&judge, round);
            }
        }
    }

    #[test]
    fn a_text_that_nobody_asks_about_is_passed_over_unread() {
        let id = JsonRpcId::Number(1);
        let mut memo = Memo::default();
        let mut judge = Judge::new(EXPECTED);
        for round in 0..4 {
            if next(&mut memo, &mut judge, &event(1, 0, &round.to_string()), true).is_none() {
                assert_eq!(judge.finish(&id), Verdict::Valid);
                memo.judged(&judge, round);
            }
        }
        let raw = |text: &str| format!("data: {}\n\n", event(1, 0, text));
        for text in ["", "more, and longer", "é \\\" \\u00e9"] {
            let raw = raw(text);
            let found = memo.repeated(format!("{raw}data: next").as_bytes());
            assert_eq!(found, Some((raw.len(), 2)), "{text}");
        }
        // One that goes on with members of its own, that is no text, or that is not there whole has to be read.
        for text in [r#"","x":""#, "\\x", "\n", "\u{1}"] {
            assert_eq!(memo.repeated(raw(text).as_bytes()), None, "{text}");
        }
        let raw = raw("more");
        for end in 0..raw.len() {
            assert_eq!(memo.repeated(&raw.as_bytes()[..end]), None, "{end}");
        }
    }

    #[test]
    fn texts_of_kinds_that_take_turns_are_passed_over_too() {
        let id = JsonRpcId::Number(1);
        let mut memo = Memo::default();
        let mut judge = Judge::new(EXPECTED);
        for round in 0..4 {
            for kind in [0, 4] {
                if next(&mut memo, &mut judge, &event(1, kind, &round.to_string()), true).is_none() {
                    assert_eq!(judge.finish(&id), Verdict::Valid);
                    memo.judged(&judge, kind);
                }
            }
        }
        for kind in [0, 4, 4, 0, 0, 4, 0] {
            let raw = format!("data: {}\n\n", event(1, kind, "more"));
            assert_eq!(memo.repeated(raw.as_bytes()), Some((raw.len(), kind)));
        }
    }

    /// What an event tells is judged by what stands in it, whatever those before it told.
    #[test]
    fn an_event_that_tells_something_is_judged_as_if_it_came_alone() {
        const TEXTS: [&str; 3] = ["WORKING", r#""}|,"id":3"#, r#"a"}]}},"task":{"x":{"y":[{"z":""#];
        let id = JsonRpcId::Number(1);
        let any: Vec<_> = [0, 4].into_iter().flat_map(|kind| TEXTS.map(|text| (kind, text))).collect();
        for (first, second, third) in
            any.iter().flat_map(|a| any.iter().flat_map(|b| any.iter().map(|c| (*a, *b, *c))).collect::<Vec<_>>())
        {
            let mut memo = Memo::default();
            let mut judge = Judge::new(EXPECTED);
            let taught = ["1", "2", "3", "4"].into_iter().flat_map(|text| [(0, text), (4, text)]);
            for (kind, text) in taught.chain([first, second, third]) {
                let json = event(1, kind, text);
                let mut fresh = Judge::new(EXPECTED);
                fresh.feed(json.as_bytes());
                let verdict = fresh.finish(&id);
                if next(&mut memo, &mut judge, &json, false).is_none() {
                    assert_eq!((judge.finish(&id), judge.facts()), (verdict, fresh.facts()), "{first:?} {json}");
                    if verdict == Verdict::Valid {
                        memo.judged(&judge, kind);
                    }
                } else {
                    assert_eq!(verdict, Verdict::Valid, "{first:?} {json}");
                }
            }
        }
    }

    /// How an event ends is learnt of whole ones alone: one that was cut must not vouch for one that is cut for good.
    #[test]
    fn the_end_of_a_piece_is_not_that_of_its_event() {
        let id = JsonRpcId::Number(1);
        let json = event(1, 0, "text");
        for cut in json.find("text").unwrap()..json.len() {
            let mut memo = Memo::default();
            let mut judge = Judge::new(EXPECTED);
            for round in 0..5 {
                let json = event(1, 0, &round.to_string().repeat(4));
                memo.begin(&mut judge, &json.as_bytes()[..cut], false);
                judge.feed(&json.as_bytes()[cut..]);
                if memo.repeats(&mut judge).is_none() {
                    assert_eq!(judge.finish(&id), Verdict::Valid);
                    memo.judged(&judge, round);
                }
            }
            let cut_for_good = format!("data: {}\n\n", &json[..cut]);
            assert_eq!(memo.repeated(cut_for_good.as_bytes()), None, "{cut}");
        }
    }

    #[test]
    fn kinds_that_take_turns_repeat_each_for_itself() {
        let id = JsonRpcId::Number(1);
        let mut memo = Memo::default();
        let mut judge = Judge::new(EXPECTED);
        for round in 0..12 {
            for kind in [0, 4] {
                let repeated = next(&mut memo, &mut judge, &event(1, kind, &round.to_string()), round % 2 == 0);
                assert_eq!(repeated, (round >= 3).then_some(kind), "{round}");
                if repeated.is_none() {
                    assert_eq!(judge.finish(&id), Verdict::Valid);
                    memo.judged(&judge, kind);
                }
            }
        }
    }

    #[test]
    fn kinds_that_alternate_are_both_remembered() {
        let mut memo = Memo::<()>::default();
        let mut judge = Judge::new(EXPECTED);
        for round in 0..8 {
            for kind in 0..2 {
                let json = event(1, kind, &round.to_string());
                let known = memo.find(json.as_bytes()).is_some();
                assert_eq!(known, round >= 2, "{round} {kind}");
                memo.begin(&mut judge, json.as_bytes(), false);
            }
        }
        assert_eq!(memo.kinds.len(), KINDS);
    }

    proptest! {
        #[test]
        fn what_repeats_need_not_be_judged(
            events in prop::collection::vec((1u32..3, 0usize..5, TAILS, any::<bool>()), 0..40)
        ) {
            let id = JsonRpcId::Number(1);
            let mut memo = Memo::default();
            let mut judge = Judge::new(EXPECTED);
            let mut earlier = Vec::new();
            for (number, kind, tail, is_plain) in events {
                let json = event(number, kind, &tail);
                let mut fresh = Judge::new(EXPECTED);
                fresh.feed(json.as_bytes());
                let verdict = fresh.finish(&id);
                if let Some(news) = next(&mut memo, &mut judge, &json, is_plain) {
                    prop_assert_eq!((verdict, fresh.facts()), (Verdict::Valid, &earlier[news]), "{}", json);
                } else {
                    prop_assert_eq!(judge.finish(&id), verdict, "{}", json);
                    prop_assert_eq!(judge.facts(), fresh.facts());
                    if verdict == Verdict::Valid {
                        memo.judged(&judge, earlier.len());
                    }
                    earlier.push(fresh.facts().clone());
                }
            }
        }

        #[test]
        fn judging_with_a_memo_is_judging(
            events in prop::collection::vec((1u32..3, 0usize..5, "[A-C0é]{0,3}|WORKING|COMPLETED|\\\\\\\\[nx\"]", any::<prop::sample::Index>()), 0..40)
        ) {
            let id = JsonRpcId::Number(1);
            let mut memo = Memo::<()>::default();
            let mut judge = Judge::new(EXPECTED);
            for (number, kind, tail, cut) in events {
                let json = event(number, kind, &tail);
                // The first piece may end anywhere.
                let (one, two) = json.as_bytes().split_at(json.len() - cut.index(json.len()) / 2);
                memo.begin(&mut judge, one, false);
                judge.feed(two);
                let mut fresh = Judge::new(EXPECTED);
                fresh.feed(json.as_bytes());
                prop_assert_eq!(judge.finish(&id), fresh.finish(&id), "{}", json);
                prop_assert_eq!(judge.facts(), fresh.facts());
            }
        }
    }
}
