//! What the events of a stream begin with, read once.
//!
//! Events of one kind in one stream share their first bytes: the envelope, the wrapper, the ids. A judge can stop and go on at any byte, so its state
//! behind such a prefix can be kept and restored; only what follows is read. That is exact by construction: the state is that of a judge
//! that was fed these very bytes.

use crate::wire::judge::{Judge, PayloadKind};

/// How much of an event is compared.
const LONGEST: usize = 256;
/// Less in common is no prefix of one kind of event; the JSON-RPC envelope alone has about 40 bytes.
const SHORTEST: usize = 64;
/// A longer end than this is not remembered.
const TAIL: usize = 64;
/// How many kinds of events are remembered: updates of status and artifact often alternate.
const KINDS: usize = 2;

/// The prefixes seen.
#[derive(Debug, Default)]
pub(super) struct Memo {
    kinds: Vec<Kind>,
    /// The kind of the last event.
    last: usize,
    /// How much the judge still holds of that.
    standing: Standing,
}

/// Most events of a kind differ only in what nobody asks about: then not just their beginning is known but all that is told of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    #[default]
    Unknown,
    /// The event going on has the prefix of `last`.
    Known,
    /// The last event was valid, and all that was told of it stood in the prefix of `last`: there the judge still stands.
    Judged,
    /// The event going on has the same prefix as one of which that is true.
    Repeating,
    /// And what it ends with is the same as well; only a text in between differs.
    Repeated,
}

#[derive(Debug)]
struct Kind {
    /// The beginning of an event of this kind …
    sample: Vec<u8>,
    /// … as much of it as the others shared, if two have been seen …
    shared: usize,
    /// … and the judge behind that.
    behind: Judge,
    /// What the last event of this kind ended with, behind the string that the prefix ends in; nothing in it was told. Empty if that is not known.
    tail: Vec<u8>,
}

impl Memo {
    /// Begins an event with the first piece of its data, or with all of it.
    pub(super) fn begin(&mut self, judge: &mut Judge, piece: &[u8], is_all: bool) {
        let judged = (self.standing == Standing::Judged).then_some(self.last);
        let read = match self.find(piece) {
            Some((index, kind)) => {
                let read = kind.shared;
                if judged == Some(index) {
                    if is_all && kind.ends_alike(piece) {
                        self.standing = Standing::Repeated;
                        return;
                    }
                    judge.restore_untold(&kind.behind);
                    self.standing = Standing::Repeating;
                } else {
                    judge.restore(&kind.behind);
                    judge.listen();
                    self.standing = Standing::Known;
                }
                read
            }
            None => {
                self.standing = Standing::Unknown;
                judge.reset();
                self.learn(judge, piece)
            }
        };
        judge.feed(piece.get(read..).unwrap_or_default());
    }

    /// The event is at its end: is it known to be valid, since all that was told of it is what was told of the last one?
    pub(super) fn repeats(&mut self, judge: &mut Judge) -> bool {
        let repeats = match self.standing {
            Standing::Repeated => true,
            Standing::Repeating => !judge.was_told() && judge.is_whole(),
            _ => false,
        };
        if repeats {
            self.standing = Standing::Judged;
        } else if let Some(kind) = self.kinds.get_mut(self.last) {
            kind.tail.clear();
        }
        repeats
    }

    /// The event was judged, and is valid.
    pub(super) fn judged(&mut self, judge: &Judge) {
        // A message ends its stream, and what is noted of it is not all told.
        let is_known = self.standing != Standing::Unknown && judge.facts().kind != PayloadKind::Message;
        self.standing = if is_known && !judge.was_told() { Standing::Judged } else { Standing::Unknown };
    }

    /// The kind whose prefix the piece begins with.
    fn find(&mut self, piece: &[u8]) -> Option<(usize, &mut Kind)> {
        let fits = |index: &usize| self.kinds.get(*index).is_some_and(|kind| kind.fits(piece));
        let index = (0..KINDS).map(|step| (self.last + step) % KINDS).find(fits)?;
        self.last = index;
        Some((index, self.kinds.get_mut(index)?))
    }

    /// Learns from an event that began otherwise. Gives the number of bytes that were fed on the way.
    fn learn(&mut self, judge: &mut Judge, piece: &[u8]) -> usize {
        let start = piece.get(..LONGEST).unwrap_or(piece);
        if start.len() < SHORTEST {
            return 0;
        }
        for (index, kind) in self.kinds.iter_mut().enumerate() {
            let shared = common(&kind.sample, start);
            if shared >= SHORTEST {
                self.last = index;
                judge.feed(start.get(..shared).unwrap_or_default());
                kind.behind.restore(judge);
                kind.shared = shared;
                kind.tail.clear();
                return shared;
            }
        }
        let kind = Kind { sample: start.to_vec(), shared: 0, behind: judge.clone(), tail: Vec::new() };
        if self.kinds.len() < KINDS {
            self.last = self.kinds.len();
            self.kinds.push(kind);
        } else {
            self.last = (self.last + 1) % KINDS;
            if let Some(oldest) = self.kinds.get_mut(self.last) {
                oldest.sample.clear();
                oldest.sample.extend_from_slice(start);
                oldest.shared = 0;
                oldest.tail.clear();
            }
        }
        0
    }
}

impl Kind {
    fn fits(&self, piece: &[u8]) -> bool {
        let prefix = self.sample.get(..self.shared).unwrap_or_default();
        self.shared > 0 && piece.starts_with(prefix)
    }

    /// Does an event that begins like the others differ from the last one in nothing but the string that the prefix ends in? If not, its own end is
    /// noted for the next one; who finds it told of anything, or no valid one, has to forget that.
    fn ends_alike(&mut self, event: &[u8]) -> bool {
        let rest = event.get(self.shared..).unwrap_or_default();
        let Some(tail) = self.behind.end_of_ignored_string(rest).and_then(|end| rest.get(end..)) else {
            return false;
        };
        if !self.tail.is_empty() && self.tail == tail {
            return true;
        }
        self.tail.clear();
        if tail.len() <= TAIL {
            self.tail.extend_from_slice(tail);
        }
        false
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
            2 => format!(
                r#"{{"task":{{"status":{{"state":"working","message":{{"parts":["{tail}"]}}}},"id":"{task}é"}}}}"#
            ),
            _ => format!(r#"{{"artifactUpdate":{{"taskId":"{task}","contextId":"{tail}","artifact":{{}}}}}}"#),
        };
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
    }

    #[test]
    fn events_that_differ_in_nothing_told_repeat() {
        let id = JsonRpcId::Number(1);
        let mut memo = Memo::default();
        let mut judge = Judge::new(EXPECTED);
        for round in 0..12 {
            memo.begin(&mut judge, event(1, 0, &round.to_string()).as_bytes(), round % 4 != 0);
            let repeats = memo.repeats(&mut judge);
            assert_eq!(repeats, round >= 3, "{round}");
            if !repeats {
                assert_eq!(judge.finish(&id), Verdict::Valid);
                memo.judged(&judge);
            }
        }
    }

    #[test]
    fn kinds_that_alternate_are_both_remembered() {
        let mut memo = Memo::default();
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
            events in prop::collection::vec((1u32..3, 0usize..4, TAILS), 0..40)
        ) {
            let id = JsonRpcId::Number(1);
            let mut memo = Memo::default();
            let mut judge = Judge::new(EXPECTED);
            let mut last = None;
            for (number, kind, tail) in events {
                let json = event(number, kind, &tail);
                let mut fresh = Judge::new(EXPECTED);
                fresh.feed(json.as_bytes());
                let verdict = fresh.finish(&id);
                memo.begin(&mut judge, json.as_bytes(), true);
                if memo.repeats(&mut judge) {
                    prop_assert_eq!((verdict, Some(fresh.facts())), (Verdict::Valid, last.as_ref()), "{}", json);
                } else {
                    prop_assert_eq!(judge.finish(&id), verdict, "{}", json);
                    prop_assert_eq!(judge.facts(), fresh.facts());
                    if verdict == Verdict::Valid {
                        memo.judged(&judge);
                    }
                    last = Some(fresh.facts().clone());
                }
            }
        }

        #[test]
        fn judging_with_a_memo_is_judging(
            events in prop::collection::vec((1u32..3, 0usize..4, "[A-C0é]{0,3}|WORKING|COMPLETED|\\\\\\\\[nx\"]", any::<prop::sample::Index>()), 0..40)
        ) {
            let id = JsonRpcId::Number(1);
            let mut memo = Memo::default();
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
