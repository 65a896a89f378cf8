//! Answers that are like one before, and need not be judged.
//!
//! The answers of a server differ in ids, times and texts, and seldom in how they are written. So an answer that was judged and is valid becomes a
//! [template](super::template), and what is like it is as valid, if its id is the request's.

use std::ops::Range;

use super::id::JsonRpcId;
use super::judge::{Envelope, Expected, Facts, Judge, Value, Verdict};
use super::template::{Lesson, Template};
use super::text::SmallText;

/// How many kinds of answers are remembered.
const KINDS: usize = 4;
/// How many values of one may differ.
const HOLES: usize = 32;
/// How often answers must have been like one, for that to have been worth learning.
const WORTHWHILE: u8 = 4;

/// What answers look like that are valid.
#[derive(Debug, Default)]
pub(crate) struct KnownAnswers {
    kinds: [Kind; KINDS],
    /// The one that the last answer was like.
    last: usize,
    /// The next one to be learnt anew.
    next: usize,
    /// So many answers are not learnt of …
    pause: u8,
    /// … since so many were not, the last time.
    patience: u8,
}

/// Valid answers to the same question that look alike, with what they say but for the texts that are told of each.
#[derive(Debug, Default)]
struct Kind {
    expected: Option<Expected>,
    template: Template<Facts, HOLES>,
}

/// An answer that is known to be valid.
#[derive(Debug)]
pub(crate) struct Known<'a> {
    document: &'a [u8],
    facts: &'a Facts,
    told: Told,
}

impl Known<'_> {
    /// What a judge would say of it.
    pub(crate) fn facts(&self) -> Facts {
        let mut facts = self.facts.clone();
        let text = |place: &Range<usize>| self.document.get(place.clone()).unwrap_or_default();
        if let Some(place) = &self.told.task_id {
            facts.task_id.set(text(place), false);
        }
        if let Some(place) = &self.told.context_id {
            facts.context_id.set(text(place), false);
        }
        facts
    }
}

impl KnownAnswers {
    /// The most bytes of an answer that is looked for.
    pub(crate) const LONGEST: usize = 16 << 10;

    /// Is the whole of `document` like an answer before, and an answer to the request with this `id`? Then it is valid.
    #[inline]
    pub(crate) fn find<'a>(&'a mut self, expected: Expected, document: &'a [u8], id: &JsonRpcId) -> Option<Known<'a>> {
        let last = self.last % KINDS;
        let told = match self.kinds.get_mut(last)?.find(expected, document, id) {
            Some(told) => told,
            None => self.find_otherwise(expected, document, id)?,
        };
        let facts = self.kinds.get(self.last % KINDS)?.template.news()?;
        Some(Known { document, facts, told })
    }

    #[inline(never)]
    fn find_otherwise(&mut self, expected: Expected, document: &[u8], id: &JsonRpcId) -> Option<Told> {
        let last = self.last;
        let mut others = (1..KINDS).map(|step| (last + step) % KINDS);
        let found = others.find_map(|at| Some((at, self.kinds.get_mut(at)?.find(expected, document, id)?)));
        let (at, told) = match found {
            Some(found) => found,
            None => {
                let mut kinds = self.kinds.iter_mut().enumerate();
                kinds.find_map(|(at, kind)| Some((at, kind.find_widely(expected, document, id)?)))?
            }
        };
        self.last = at;
        Some(told)
    }

    /// Learns of a valid answer that is like no other, if that promises to be worth it.
    pub(crate) fn learn(&mut self, expected: Expected, document: &[u8], id: &JsonRpcId) {
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        let Some(kind) = self.kinds.get_mut(self.next) else { return };
        self.patience = match kind.is_in_vain() {
            true => self.patience.saturating_mul(2).saturating_add(1),
            false => 0,
        };
        self.pause = self.patience;
        kind.learn(expected, document, id);
        self.next = (self.next + 1) % KINDS;
    }
}

impl Kind {
    #[inline(always)]
    fn find(&mut self, expected: Expected, document: &[u8], id: &JsonRpcId) -> Option<Told> {
        if self.expected != Some(expected) {
            return None;
        }
        let mut told = Told::default();
        let length = self.template.find_telling(document, |value, place| told.note(value, place, document, id))?;
        (length == document.len()).then_some(told)
    }

    /// The same for an answer that differs from all before where they did not differ from each other. From then on others may.
    fn find_widely(&mut self, expected: Expected, document: &[u8], id: &JsonRpcId) -> Option<Told> {
        if self.expected != Some(expected) {
            return None;
        }
        self.template.find_widely(document)?;
        self.find(expected, document, id)
    }

    /// It was learnt, and few answers were like it.
    fn is_in_vain(&self) -> bool {
        self.expected.is_some() && self.template.uses() < WORTHWHILE
    }

    fn learn(&mut self, expected: Expected, document: &[u8], id: &JsonRpcId) {
        self.expected = Some(expected);
        let mut judge = Judge::new(expected);
        let length = document.len();
        self.template.learn(&mut judge, document, &Lesson { document: 0..length, line: None, length, tells: true });
        let verdict = judge.finish(id);
        let facts = judge.facts();
        if verdict != Verdict::Valid || !facts.tolerated.is_empty() {
            return self.template.forget();
        }
        self.template.tell(facts.clone());
        // What is told has to be what was noted: a document may have members of one name in more than one place.
        let is_told = |place: Option<Range<usize>>, noted: &SmallText| {
            place.is_none_or(|place| document.get(place) == Some(noted.as_bytes()))
        };
        let is_sound = self.find(expected, document, id).is_some_and(|told| {
            is_told(told.task_id, &facts.task_id)
                && is_told(told.context_id, &facts.context_id)
                && told.id == (expected.envelope == Envelope::JsonRpc)
        });
        if !is_sound {
            self.template.forget();
        }
    }
}

/// What an answer says that the one which it is like does not say as well.
#[derive(Debug, Default)]
struct Told {
    /// It has the request's id.
    id: bool,
    task_id: Option<Range<usize>>,
    context_id: Option<Range<usize>>,
}

impl Told {
    /// False of what would make another answer of it, or needs a closer look.
    fn note(&mut self, value: Value, place: Range<usize>, document: &[u8], id: &JsonRpcId) -> bool {
        let text = document.get(place.clone()).unwrap_or_default();
        match value {
            Value::Id => {
                let is_quoted = document.get(place.end) == Some(&b'"');
                !std::mem::replace(&mut self.id, true) && id.is_spelled_plainly(text, is_quoted)
            }
            Value::TaskId => is_plain(text) && !text.is_empty() && self.task_id.replace(place).is_none(),
            Value::ContextId => is_plain(text) && self.context_id.replace(place).is_none(),
            Value::Ignored | Value::Minded => true,
        }
    }
}

/// Is it what it spells, and kept whole?
fn is_plain(text: &[u8]) -> bool {
    text.len() <= SmallText::MAX && memchr::memchr(b'\\', text).is_none()
}

#[cfg(test)]
mod tests;
