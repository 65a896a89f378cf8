//! Documents that are like one before, and need not be read.
//!
//! What a client or a server writes differs in ids, times and texts, and seldom in how it is written. So a document
//! that was read becomes a [template](super::template), and of what is like it the same is known, but for the few
//! values that are [told](Told).

mod answers;
mod requests;

use std::ops::Range;

pub(crate) use self::{
    answers::KnownAnswers,
    requests::{KnownRequests, OwnWords},
};
use super::template::{Lesson, Read, Template, Value};
use super::text::SmallText;

/// How many kinds of documents are remembered.
const KINDS: usize = 4;
/// How many values of one may differ.
const HOLES: usize = 32;
/// How often documents must have been like one, for that to have been worth learning.
const WORTHWHILE: u8 = 4;
/// The most bytes of a document that is looked for.
pub(crate) const LONGEST: usize = 16 << 10;

/// What documents look like that were read: those that answer the same `Q`, and what is known of each kind.
#[derive(Debug)]
struct Known<Q, F> {
    /// No more than [`KINDS`].
    kinds: Vec<Kind<Q, F>>,
    /// The one that the last document was like.
    last: usize,
    /// The next one to be learnt anew.
    next: usize,
    /// How many more are passed over before one is learnt again.
    pause: u8,
    /// How long the last such pause was.
    patience: u8,
}

impl<Q, F> Default for Known<Q, F> {
    fn default() -> Self {
        Self { kinds: Vec::new(), last: 0, next: 0, pause: 0, patience: 0 }
    }
}

/// Documents that look alike.
#[derive(Debug)]
struct Kind<Q, F> {
    question: Q,
    template: Template<F, HOLES>,
}

impl<Q: Copy + PartialEq, F> Known<Q, F> {
    /// Is the whole of `document` like one before that answered the same question, and is what it tells accepted? Then
    /// it says that, and else what is given.
    #[inline(always)]
    fn find(&mut self, question: Q, document: &[u8], accept: impl Fn(&Told) -> bool) -> Option<(&F, Told)> {
        let told = match self.kinds.get_mut(self.last)?.find(question, document) {
            Some(told) if accept(&told) => told,
            // Nor is any other kind's id the one that is due.
            Some(_) => return None,
            None => self.find_otherwise(question, document).filter(accept)?,
        };
        Some((self.kinds.get(self.last)?.template.news()?, told))
    }

    #[inline(never)]
    fn find_otherwise(&mut self, question: Q, document: &[u8]) -> Option<Told> {
        let last = self.last;
        let mut kinds = self.kinds.iter_mut().enumerate().filter(|(at, _)| *at != last);
        let found = kinds.find_map(|(at, kind)| Some((at, kind.find(question, document)?)));
        let (at, told) = found.or_else(|| {
            let mut kinds = self.kinds.iter_mut().enumerate();
            kinds.find_map(|(at, kind)| Some((at, kind.find_widely(question, document)?)))
        })?;
        self.last = at;
        Some(told)
    }

    /// The kind that a document is to be learnt as which is like no other, if that promises to be worth it.
    fn next_to_learn(&mut self, question: Q, document: &[u8]) -> Option<&mut Kind<Q, F>> {
        if self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        // Who did not find it may not have looked, since another call did; and of one that was found, what it tells may
        // not have been accepted.
        if self.find(question, document, |_| true).is_some() {
            return None;
        }
        let at = self.next;
        self.next = (at + 1) % KINDS;
        self.patience = match self.kinds.get(at) {
            // It was learnt, and few documents were like it.
            Some(kind) if kind.template.uses() < WORTHWHILE => self.patience.saturating_mul(2).saturating_add(1),
            _ => 0,
        };
        self.pause = self.patience;
        if at == self.kinds.len() {
            self.kinds.push(Kind { question, template: Template::default() });
        }
        let kind = self.kinds.get_mut(at)?;
        kind.question = question;
        Some(kind)
    }
}

impl<Q: Copy + PartialEq, F> Kind<Q, F> {
    #[inline(always)]
    fn find(&mut self, question: Q, document: &[u8]) -> Option<Told> {
        if self.question != question {
            return None;
        }
        let mut told = Told::default();
        let length = self.template.find_telling(document, |value, place| told.note(value, place, document))?;
        (length == document.len()).then_some(told)
    }

    /// The same for a document that differs from all before where they did not differ from each other. From then on
    /// others may.
    fn find_widely(&mut self, question: Q, document: &[u8]) -> Option<Told> {
        if self.question != question {
            return None;
        }
        self.template.find_widely(document)?;
        self.find(question, document)
    }

    /// Has `reader`, which is new, read a document and learns what it looks like.
    fn learn(&mut self, reader: &mut impl Read, document: &[u8]) {
        let length = document.len();
        self.template.learn(reader, document, &Lesson { document: 0..length, line: None, length, tells: true });
    }

    /// What is known of the document that was learnt of. Nothing is learnt after all if what it tells is not what was
    /// noted: a document may have members of one name in more than one place.
    fn settle(&mut self, document: &[u8], says: F, is_sound: impl FnOnce(&Told) -> bool) {
        self.template.tell(says);
        if !self.find(self.question, document).is_some_and(|told| is_sound(&told)) {
            self.template.forget();
        }
    }
}

/// Where in a document the values lie that it may say otherwise than those which it is like.
#[derive(Debug, Default)]
struct Told {
    id: Option<Range<usize>>,
    task_id: Option<Range<usize>>,
    context_id: Option<Range<usize>>,
}

impl Told {
    /// False of what needs a closer look: two of one name, or a text that is not what it spells.
    #[inline]
    fn note(&mut self, value: Value, place: Range<usize>, document: &[u8]) -> bool {
        let (held, may_be_empty) = match value {
            Value::Id => (&mut self.id, true),
            Value::TaskId => (&mut self.task_id, false),
            Value::ContextId => (&mut self.context_id, true),
            Value::Ignored | Value::Minded => return true,
        };
        let text = document.get(place.clone()).unwrap_or_default();
        let is_plain = text.len() <= SmallText::MAX && memchr::memchr(b'\\', text).is_none();
        is_plain && (may_be_empty || !text.is_empty()) && held.replace(place).is_none()
    }
}

/// Is the value at this place a string?
fn is_quoted(document: &[u8], place: &Range<usize>) -> bool {
    document.get(place.end) == Some(&b'"')
}

/// Is what was told, if anything was, the text that was noted?
fn is_noted(document: &[u8], place: Option<&Range<usize>>, noted: &SmallText) -> bool {
    place.is_none_or(|place| document.get(place.clone()) == Some(noted.as_bytes()))
}

/// Notes what was told, if anything was.
fn note(document: &[u8], place: Option<&Range<usize>>, text: &mut SmallText) {
    if let Some(told) = place.and_then(|place| document.get(place.clone())) {
        text.set(told, false);
    }
}
