//! An event that others are like: all of its bytes but some texts that nobody asks about.
//!
//! What a judge makes of an event depends on these bytes alone. A text that it only passes over may be any other: where that one ends, the judge stands
//! as it stood behind the first. So an event that differs from a valid one in such texts is as valid, and says the same. That is exact by
//! construction, and needs no judge.

use std::ops::Range;

use crate::wire::json::end_of_string;
use crate::wire::judge::Judge;
use crate::wire::sse::PlainEvent;

/// How many texts may differ.
const HOLES: usize = 8;
/// A text that is longer than this is taken to differ from event to event, and not kept.
pub(super) const SHORT: usize = 40;
/// What is kept of an event is no longer than this.
const LONGEST: usize = 1024;

#[derive(Debug)]
pub(super) struct Template<N> {
    /// The event, without its long texts. Empty if nothing is known.
    sample: Vec<u8>,
    /// Where in it the texts lie that may differ.
    holes: [Hole; HOLES],
    /// Those of them that are there …
    all: Mask,
    /// … those that did differ: all that lies between these is compared as one …
    open: Mask,
    /// … and those that are no text in quotes, but the rest of a line.
    lines: Mask,
    /// How many bytes follow the event's data.
    behind: u8,
    /// How many events were like it.
    uses: u8,
    /// Whatever a valid event says that its stream's judge acts on.
    news: Option<N>,
}

/// A bit for each hole.
type Mask = u8;

#[derive(Clone, Copy, Debug, Default)]
struct Hole {
    from: u16,
    to: u16,
}

impl<N> Default for Template<N> {
    fn default() -> Self {
        Self {
            sample: Vec::new(),
            holes: [Hole::default(); HOLES],
            all: 0,
            open: 0,
            lines: 0,
            behind: 0,
            uses: 0,
            news: None,
        }
    }
}

impl<N: Copy> Template<N> {
    /// Is there an event at the start of `bytes` that differs from the sample only where others did? Gives its length.
    #[inline(always)]
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        self.news?;
        let (mut at, mut from) = (0, 0);
        let mut open = self.open;
        while open != 0 {
            let hole = self.holes.get(open.trailing_zeros() as usize % HOLES)?;
            let before = self.sample.get(from..usize::from(hole.from))?;
            if !bytes.get(at..)?.starts_with(before) {
                return None;
            }
            let is_line = open & self.lines & open.wrapping_neg() != 0;
            at = end_of(bytes, at + before.len(), is_line)?;
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

    /// The same, wherever it differs in what nobody asks about. From then on it may differ there.
    pub(super) fn find_widely(&mut self, bytes: &[u8]) -> Option<usize> {
        let open = std::mem::replace(&mut self.open, self.all);
        let found = self.find_apart(bytes);
        self.open = open;
        if found.is_some() {
            self.open |= self.differing(bytes);
        }
        found
    }

    /// The holes in which an event that was found differs from the sample.
    fn differing(&self, bytes: &[u8]) -> Mask {
        let (mut at, mut from, mut differing) = (0, 0, 0);
        for (bit, hole) in self.holes_there() {
            at += hole.start - from;
            let end = end_of_apart(bytes, at, self.lines & bit != 0).unwrap_or(at);
            from = hole.end;
            if bytes.get(at..end) != self.sample.get(hole) {
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
        for (bit, hole) in self.holes_there() {
            let before = self.sample.get(from..hole.start).unwrap_or_default();
            let rest = bytes.get(at..).unwrap_or_default();
            if !rest.starts_with(before) {
                return before.starts_with(rest);
            }
            let text = at + before.len();
            let Some(end) = end_of_apart(bytes, text, self.lines & bit != 0) else {
                // Its end is not there yet, or there is something wrong before. With its line the event ends, whatever it is.
                return memchr::memchr2(b'\n', b'\r', bytes.get(text..).unwrap_or_default()).is_none();
            };
            (at, from) = (end, hole.end);
        }
        let (rest, last) = (bytes.get(at..).unwrap_or_default(), self.sample.get(from..).unwrap_or_default());
        rest.len() + usize::from(self.behind) <= last.len() && last.starts_with(rest)
    }

    /// The holes with their bits, and where they are in the sample.
    fn holes_there(&self) -> impl Iterator<Item = (Mask, Range<usize>)> {
        let there = self.holes.iter().take(self.all.count_ones() as usize).enumerate();
        there.map(|(index, hole)| (1 << index, usize::from(hole.from)..usize::from(hole.to)))
    }

    /// Makes it that of an event which is read here for the first time: `judge` is fed its data. What it says is still to be told.
    pub(super) fn learn(&mut self, judge: &mut Judge, raw: &[u8], event: &PlainEvent) {
        self.forget();
        let mut learning = Learning { template: self, raw, kept: 0, has_room: true };
        if let Some(id) = &event.id {
            learning.hole(id.clone(), true);
        }
        let data = raw.get(..event.data.end).unwrap_or_default();
        let (mut at, mut fed) = (event.data.start, event.data.start);
        while learning.has_room
            && let Some(quote) = memchr::memchr(b'"', data.get(at..).unwrap_or_default()).map(|found| at + found)
            && let Some(end) = end_of_apart(data, quote + 1, false)
        {
            at = end + 1;
            if !is_value(data, quote) {
                continue;
            }
            judge.feed(data.get(fed..=quote).unwrap_or_default());
            fed = quote + 1;
            if judge.ignores_this_string() {
                learning.hole(fed..end, false);
            }
        }
        judge.feed(data.get(fed..).unwrap_or_default());
        // All holes may be taken, and the rest is short all the same.
        learning.has_room = true;
        if learning.keep(event.length).is_none() {
            return self.forget();
        }
        self.behind = u8::try_from(event.length - event.data.end).unwrap_or(u8::MAX);
    }

    /// How many events were like it, as far as that was counted.
    pub(super) fn uses(&self) -> u8 {
        self.uses
    }

    /// What all such events say, once it is known.
    #[inline]
    pub(super) fn news(&self) -> Option<N> {
        self.news
    }

    /// What the event says that was learnt of, which was judged and is valid.
    pub(super) fn tell(&mut self, news: N) {
        if !self.sample.is_empty() {
            self.news = Some(news);
        }
    }

    /// Keeps its memory.
    pub(super) fn forget(&mut self) {
        self.sample.clear();
        (self.all, self.open, self.lines, self.uses, self.news) = (0, 0, 0, 0, None);
    }
}

/// A template in the making.
struct Learning<'a, N> {
    template: &'a mut Template<N>,
    raw: &'a [u8],
    /// How much of the event it has.
    kept: usize,
    /// Is there room for one more hole?
    has_room: bool,
}

impl<N> Learning<'_, N> {
    /// A text that may differ. Those for which there is no room have to be the same.
    fn hole(&mut self, text: Range<usize>, is_line: bool) {
        let index = self.template.all.count_ones() as usize;
        let Some(from) = self.keep(text.start) else { return };
        let bit = 1 << index;
        if text.len() > SHORT {
            self.kept = text.end;
            self.template.open |= bit;
        }
        let Some(to) = self.keep(text.end) else { return };
        if let Some(place) = self.template.holes.get_mut(index) {
            *place = Hole { from, to };
            self.template.all |= bit;
            self.template.lines |= if is_line { bit } else { 0 };
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
fn end_of(bytes: &[u8], at: usize, is_line: bool) -> Option<usize> {
    if is_line {
        return memchr::memchr2(b'\n', b'\r', bytes.get(at..)?).map(|length| at + length);
    }
    // The search goes by all of the bytes: where few are left, it looks back.
    end_of_string(bytes, at).map(|behind| behind - 1)
}

#[inline(never)]
fn end_of_apart(bytes: &[u8], at: usize, is_line: bool) -> Option<usize> {
    end_of(bytes, at, is_line)
}

/// Is the string whose opening quote is at `quote` a member's value, or the first of an array?
fn is_value(data: &[u8], quote: usize) -> bool {
    let before = data.get(..quote).unwrap_or_default().trim_ascii_end();
    matches!(before.last(), Some(b':' | b'['))
}
