//! What the events of a stream begin with, read once.
//!
//! Events of one kind in one stream share their first bytes: the envelope, the wrapper, the ids. A judge can stop and go on at any byte, so its state
//! behind such a prefix can be kept and restored; only what follows is read. That is exact by construction: the state is that of a judge
//! that was fed these very bytes.

use crate::wire::judge::Judge;

/// How much of an event is compared.
const LONGEST: usize = 256;
/// Less in common is no prefix of one kind of event; the JSON-RPC envelope alone has about 40 bytes.
const SHORTEST: usize = 64;
/// How many kinds of events are remembered: updates of status and artifact often alternate.
const KINDS: usize = 2;

/// The prefixes seen.
#[derive(Debug, Default)]
pub(super) struct Memo {
    kinds: Vec<Kind>,
    /// The kind of the last event.
    last: usize,
}

#[derive(Debug)]
struct Kind {
    /// The beginning of an event of this kind …
    sample: Vec<u8>,
    /// … as much of it as the others shared, if two have been seen …
    shared: usize,
    /// … and the judge behind that.
    behind: Judge,
}

impl Memo {
    /// Begins an event with the first piece of its data.
    pub(super) fn begin(&mut self, judge: &mut Judge, piece: &[u8]) {
        let rest = match self.find(piece) {
            Some(kind) => {
                judge.restore(&kind.behind);
                piece.get(kind.shared..).unwrap_or_default()
            }
            None => {
                judge.reset();
                let read = self.learn(judge, piece);
                piece.get(read..).unwrap_or_default()
            }
        };
        judge.feed(rest);
    }

    /// The kind whose prefix the piece begins with.
    fn find(&mut self, piece: &[u8]) -> Option<&Kind> {
        for step in 0..self.kinds.len() {
            let index = (self.last + step) % KINDS;
            if self.kinds.get(index).is_some_and(|kind| kind.fits(piece)) {
                self.last = index;
                return self.kinds.get(index);
            }
        }
        None
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
                return shared;
            }
        }
        let kind = Kind { sample: start.to_vec(), shared: 0, behind: judge.clone() };
        if self.kinds.len() < KINDS {
            self.last = self.kinds.len();
            self.kinds.push(kind);
        } else {
            self.last = (self.last + 1) % KINDS;
            if let Some(oldest) = self.kinds.get_mut(self.last) {
                oldest.sample.clear();
                oldest.sample.extend_from_slice(start);
                oldest.shared = 0;
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
    use crate::wire::judge::{Envelope, Expected, Payload, Wrapping};

    const EXPECTED: Expected =
        Expected { envelope: Envelope::JsonRpc, wrapping: Wrapping::Member, payload: Payload::StreamEvent };

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
    fn kinds_that_alternate_are_both_remembered() {
        let mut memo = Memo::default();
        let mut judge = Judge::new(EXPECTED);
        for round in 0..8 {
            for kind in 0..2 {
                let json = event(1, kind, &round.to_string());
                let known = memo.find(json.as_bytes()).is_some();
                assert_eq!(known, round >= 2, "{round} {kind}");
                memo.begin(&mut judge, json.as_bytes());
            }
        }
        assert_eq!(memo.kinds.len(), KINDS);
    }

    proptest! {
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
                memo.begin(&mut judge, one);
                judge.feed(two);
                let mut fresh = Judge::new(EXPECTED);
                fresh.feed(json.as_bytes());
                prop_assert_eq!(judge.finish(&id), fresh.finish(&id), "{}", json);
                prop_assert_eq!(judge.facts(), fresh.facts());
            }
        }
    }
}
