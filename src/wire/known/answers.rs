//! Answers that are like a valid one, and need not be judged.

#[cfg(test)]
mod tests;

use super::{Known, Told, is_noted, is_quoted, note};
use crate::wire::id::JsonRpcId;
use crate::wire::judge::{Envelope, Expected, Facts, Judge, Verdict};

/// What answers look like that are valid.
#[derive(Debug, Default)]
pub(crate) struct KnownAnswers(Known<Expected, Facts>);

/// An answer that is known to be valid.
#[derive(Debug)]
pub(crate) struct KnownAnswer<'a> {
    document: &'a [u8],
    facts: &'a Facts,
    told: Told,
}

impl KnownAnswer<'_> {
    /// What a judge would say of it.
    pub(crate) fn facts(&self) -> Facts {
        let mut facts = self.facts.clone();
        note(self.document, self.told.task_id.as_ref(), &mut facts.task_id);
        note(self.document, self.told.context_id.as_ref(), &mut facts.context_id);
        facts
    }
}

impl KnownAnswers {
    /// Is the whole of `document` like an answer before, and an answer to the request with this `id`? Then it is valid.
    #[inline]
    pub(crate) fn find<'a>(
        &'a mut self,
        expected: Expected,
        document: &'a [u8],
        id: &JsonRpcId,
    ) -> Option<KnownAnswer<'a>> {
        let (facts, told) = self.0.find(expected, document, |told| is_due(expected, told, document, id))?;
        Some(KnownAnswer { document, facts, told })
    }

    /// Learns of a valid answer that is like no other, if that promises to be worth it.
    pub(crate) fn learn(&mut self, expected: Expected, document: &[u8], id: &JsonRpcId) {
        let Some(kind) = self.0.next_to_learn(expected, document) else { return };
        let mut judge = Judge::new(expected);
        kind.learn(&mut judge, document);
        let is_valid = judge.finish(id) == Verdict::Valid && judge.facts().tolerated.is_empty();
        let facts = judge.facts();
        kind.settle(document, facts.clone(), |told| {
            is_valid
                && is_due(expected, told, document, id)
                && is_noted(document, told.task_id.as_ref(), &facts.task_id)
                && is_noted(document, told.context_id.as_ref(), &facts.context_id)
                // Of an empty one nobody can tell whether it was noted, or stands where none is asked for.
                && told.context_id.as_ref().is_none_or(|place| !place.is_empty())
        });
    }
}

/// Does the answer name the request, where it has to, and as nearly everybody does?
fn is_due(expected: Expected, told: &Told, document: &[u8], id: &JsonRpcId) -> bool {
    match &told.id {
        None => expected.envelope == Envelope::Bare,
        Some(place) => {
            let text = document.get(place.clone()).unwrap_or_default();
            id.is_spelled_plainly(text, is_quoted(document, place))
        }
    }
}
