//! A document that others are like: all of its bytes but some values that make no difference.
//!
//! What a judge makes of a document depends on these bytes alone. A text that it only passes over may be any other:
//! where that one ends, the judge stands as it stood behind the first. So a document that differs from a valid one in
//! such texts is as valid, and says the same. That is exact by construction, and needs no judge. A value that it does
//! read, but that decides nothing, is [told](Template::find_telling) to who looks for it.
//!
//! A document may be an event's data. Its template has the lines of the event, too.

use std::fmt;
use std::ops::Range;

use super::json::{end_of_number, end_of_string};

/// A text that is longer than this is taken to differ from document to document, and not kept.
pub(super) const SHORT: usize = 40;
/// What is kept of a document is no longer than this.
const LONGEST: usize = 1024;

/// Who reads documents.
pub(super) trait Read {
    /// Reads on.
    fn feed(&mut self, bytes: &[u8]);

    /// What the value is that begins with the next byte, or, of a string, behind its opening quote.
    fn value_here(&self) -> Value;
}

/// What a string or a number is to who reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Value {
    /// Any other would do as well.
    #[default]
    Ignored,
    /// The id of a JSON-RPC request or answer: any other would be noted in its place.
    Id,
    /// The id of a task: any other that is not empty would be noted in its place.
    TaskId,
    /// The id of a context: any other would be noted in its place.
    ContextId,
    /// It counts, in some other way.
    Minded,
}

/// A document of which at most `HOLES` values may differ.
pub(super) struct Template<N, const HOLES: usize> {
    /// The document, without its long texts. Empty if nothing is known.
    sample: Vec<u8>,
    /// Where in it the values lie that may differ.
    holes: [Hole; HOLES],
    /// Those of them that are there …
    all: Mask,
    /// … those that did differ: all that lies between these is compared as one …
    open: Mask,
    /// … those that are no text in quotes …
    unquoted: Mask,
    /// … and those that are told.
    told: Mask,
    /// How many bytes follow the document in its event.
    behind: u8,
    /// How many documents were like it.
    uses: u8,
    /// Whatever a valid document says that somebody acts on.
    news: Option<N>,
}

/// A bit for each hole.
type Mask = u32;

#[derive(Clone, Copy, Debug, Default)]
struct Hole {
    from: u16,
    to: u16,
    kind: HoleKind,
    value: Value,
}

/// How the end of a hole is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum HoleKind {
    /// A text, without its quotes.
    #[default]
    Text,
    Number,
    /// The rest of a line.
    Line,
}

/// What there is to learn of, within some bytes.
#[derive(Clone, Debug)]
pub(super) struct Lesson {
    /// Where the document lies.
    pub(super) document: Range<usize>,
    /// What may differ in a line before it.
    pub(super) line: Option<Range<usize>>,
    /// Where all of it ends, the lines behind the document too.
    pub(super) length: usize,
    /// Values may be told, and numbers may differ.
    pub(super) tells: bool,
}

/// Shows nothing of the document: it is somebody's, and a layer that remembers it is printed by others.
impl<N, const HOLES: usize> fmt::Debug for Template<N, HOLES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template").field("uses", &self.uses).finish_non_exhaustive()
    }
}

impl<N, const HOLES: usize> Default for Template<N, HOLES> {
    fn default() -> Self {
        Self {
            sample: Vec::new(),
            holes: [Hole::default(); HOLES],
            all: 0,
            open: 0,
            unquoted: 0,
            told: 0,
            behind: 0,
            uses: 0,
            news: None,
        }
    }
}

impl<N, const HOLES: usize> Template<N, HOLES> {
    /// Is there a document at the start of `bytes` that differs from the sample only where others did? Gives its
    /// length.
    #[inline(always)]
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        self.find_telling(bytes, |_, _| true)
    }

    /// The same. Values that are told are shown to `tell`, a text as it is spelled. There is none such document where
    /// that says no.
    #[inline(always)]
    pub(super) fn find_telling(
        &mut self,
        bytes: &[u8],
        mut tell: impl FnMut(Value, Range<usize>) -> bool,
    ) -> Option<usize> {
        self.news.as_ref()?;
        let (mut at, mut from) = (0, 0);
        let mut open = self.open;
        while open != 0 {
            let hole = self.holes.get(open.trailing_zeros() as usize % HOLES)?;
            let before = self.sample.get(from..usize::from(hole.from))?;
            if !bytes.get(at..)?.starts_with(before) {
                return None;
            }
            let bit = open & open.wrapping_neg();
            let start = at + before.len();
            at = match self.unquoted & bit {
                0 => end_of_text(bytes, start)?,
                _ => end_of_apart(bytes, start, hole.kind)?,
            };
            if self.told & bit != 0 && !tell(hole.value, start..at) {
                return None;
            }
            from = usize::from(hole.to);
            open &= open - 1;
        }
        let last = self.sample.get(from..)?;
        if !bytes.get(at..)?.starts_with(last) {
            return None;
        }
        self.uses = self.uses.saturating_add(1);
        Some(at + last.len())
    }

    /// The same, where it need not be done with each event.
    #[inline(never)]
    pub(super) fn find_apart(&mut self, bytes: &[u8]) -> Option<usize> {
        self.find(bytes)
    }

    /// The same, wherever it differs in what makes no difference. From then on it may differ there.
    pub(super) fn find_widely(&mut self, bytes: &[u8]) -> Option<usize> {
        let open = std::mem::replace(&mut self.open, self.all);
        let found = self.find_apart(bytes);
        self.open = open;
        if found.is_some() {
            self.open |= self.differing(bytes);
        }
        found
    }

    /// The holes in which a document that was found differs from the sample.
    fn differing(&self, bytes: &[u8]) -> Mask {
        let (mut at, mut from, mut differing) = (0, 0, 0);
        for (bit, hole) in self.holes_there() {
            at += usize::from(hole.from) - from;
            let end = end_of_apart(bytes, at, hole.kind).unwrap_or(at);
            from = usize::from(hole.to);
            if bytes.get(at..end) != self.sample.get(usize::from(hole.from)..from) {
                differing |= bit;
            }
            at = end;
        }
        differing
    }

    /// May `bytes` be the beginning of such an event, and lack more than the end of its last line?
    pub(super) fn may_begin_with(&self, bytes: &[u8]) -> bool {
        if self.news.is_none() {
            return false;
        }
        let (mut at, mut from) = (0, 0);
        for (_, hole) in self.holes_there() {
            let before = self.sample.get(from..usize::from(hole.from)).unwrap_or_default();
            let rest = bytes.get(at..).unwrap_or_default();
            if !rest.starts_with(before) {
                return before.starts_with(rest);
            }
            let text = at + before.len();
            let Some(end) = end_of_apart(bytes, text, hole.kind) else {
                // Its end is not there yet, or there is something wrong before. With its line the event ends, whatever
                // it is.
                return memchr::memchr2(b'\n', b'\r', bytes.get(text..).unwrap_or_default()).is_none();
            };
            (at, from) = (end, usize::from(hole.to));
        }
        let (rest, last) = (bytes.get(at..).unwrap_or_default(), self.sample.get(from..).unwrap_or_default());
        rest.len() + usize::from(self.behind) <= last.len() && last.starts_with(rest)
    }

    /// The holes, with their bits.
    fn holes_there(&self) -> impl Iterator<Item = (Mask, Hole)> {
        let there = self.holes.iter().take(self.all.count_ones() as usize).enumerate();
        there.map(|(index, hole)| (1 << index, *hole))
    }

    /// Makes it that of a document which is read here for the first time: `reader` is fed it. What it says is still to
    /// be told.
    pub(super) fn learn(&mut self, reader: &mut impl Read, raw: &[u8], lesson: &Lesson) {
        self.forget();
        let mut learning = Learning { template: self, raw, kept: 0, has_room: true };
        if let Some(line) = &lesson.line {
            learning.hole(line.clone(), HoleKind::Line, Value::Ignored);
        }
        let document = raw.get(..lesson.document.end).unwrap_or_default();
        let (mut at, mut fed) = (lesson.document.start, lesson.document.start);
        while learning.has_room
            && let Some(quote) = memchr::memchr(b'"', document.get(at..).unwrap_or_default()).map(|found| at + found)
            && let Some(end) = end_of_apart(document, quote + 1, HoleKind::Text)
        {
            at = end + 1;
            let (start, kind) = match is_value(document, quote) {
                true => (quote + 1, HoleKind::Text),
                false if lesson.tells => (value_behind(document, at), HoleKind::Number),
                false => continue,
            };
            let Some(end) = end_of_apart(document, start, kind) else { continue };
            reader.feed(document.get(fed..start).unwrap_or_default());
            fed = start;
            let value = reader.value_here();
            if value == Value::Ignored || (lesson.tells && value != Value::Minded) {
                learning.hole(start..end, kind, value);
            }
        }
        reader.feed(document.get(fed..).unwrap_or_default());
        if learning.template.told != 0 && !learning.has_room {
            // What is told stands perhaps once more in what was not looked at.
            return self.forget();
        }
        // All holes may be taken, and the rest is short all the same.
        learning.has_room = true;
        if learning.keep(lesson.length).is_none() {
            return self.forget();
        }
        self.behind = u8::try_from(lesson.length - lesson.document.end).unwrap_or(u8::MAX);
    }

    /// How many documents were like it, as far as that was counted.
    pub(super) fn uses(&self) -> u8 {
        self.uses
    }

    /// What all such documents say, once it is known.
    #[inline]
    pub(super) fn news(&self) -> Option<&N> {
        self.news.as_ref()
    }

    /// What the document says that was learnt of, which was judged and is valid.
    pub(super) fn tell(&mut self, news: N) {
        if !self.sample.is_empty() {
            self.news = Some(news);
        }
    }

    /// Keeps its memory.
    pub(super) fn forget(&mut self) {
        self.sample.clear();
        (self.all, self.open, self.unquoted, self.told, self.uses, self.news) = (0, 0, 0, 0, 0, None);
    }
}

/// A template in the making.
struct Learning<'a, N, const HOLES: usize> {
    template: &'a mut Template<N, HOLES>,
    raw: &'a [u8],
    /// How much of the document it has.
    kept: usize,
    /// Is there room for one more hole?
    has_room: bool,
}

impl<N, const HOLES: usize> Learning<'_, N, HOLES> {
    /// A value that may differ. Those for which there is no room have to be the same.
    fn hole(&mut self, text: Range<usize>, kind: HoleKind, value: Value) {
        let index = self.template.all.count_ones() as usize;
        let Some(from) = self.keep(text.start) else { return };
        let bit = 1 << index;
        if text.len() > SHORT {
            self.kept = text.end;
            self.template.open |= bit;
        }
        let Some(to) = self.keep(text.end) else { return };
        if let Some(place) = self.template.holes.get_mut(index) {
            *place = Hole { from, to, kind, value };
            self.template.all |= bit;
            if kind != HoleKind::Text {
                self.template.unquoted |= bit;
            }
            if value != Value::Ignored {
                self.template.told |= bit;
                self.template.open |= bit;
            }
        }
        self.has_room = index + 1 < HOLES;
    }

    /// Keeps what comes before `end`, and gives its place in the sample, if there is room for it.
    fn keep(&mut self, end: usize) -> Option<u16> {
        let text = self.raw.get(self.kept..end)?;
        self.has_room &= self.template.sample.len() + text.len() <= LONGEST;
        if !self.has_room {
            return None;
        }
        self.template.sample.extend_from_slice(text);
        self.kept = end;
        u16::try_from(self.template.sample.len()).ok()
    }
}

/// Where the text ends that begins at `at`.
#[inline(always)]
fn end_of_text(bytes: &[u8], at: usize) -> Option<usize> {
    // The search goes by all of the bytes: where few are left, it looks back.
    end_of_string(bytes, at).map(|behind| behind - 1)
}

/// Where what fills a hole ends.
#[inline(never)]
fn end_of_apart(bytes: &[u8], at: usize, kind: HoleKind) -> Option<usize> {
    match kind {
        HoleKind::Text => end_of_text(bytes, at),
        HoleKind::Number => end_of_number(bytes, at),
        HoleKind::Line => memchr::memchr2(b'\n', b'\r', bytes.get(at..)?).map(|length| at + length),
    }
}

/// Is the string whose opening quote is at `quote` a member's value, or the first of an array?
fn is_value(document: &[u8], quote: usize) -> bool {
    let before = document.get(..quote).unwrap_or_default().trim_ascii_end();
    matches!(before.last(), Some(b':' | b'['))
}

/// Where the value of the member begins whose key ends before `at`.
fn value_behind(document: &[u8], at: usize) -> usize {
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || *byte == b':';
    let between = document.get(at..).unwrap_or_default().iter().take_while(|byte| is_between(byte));
    at + between.count()
}
