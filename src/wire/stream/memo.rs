//! What the events of a stream look like, so that one that is like another need not be judged.

#[cfg(test)]
mod tests;

use crate::wire::judge::{Judge, PayloadKind};
use crate::wire::sse::PlainEvent;
use crate::wire::template::{Lesson, Template};

/// How many kinds of events are remembered.
const KINDS: usize = 4;
/// How many texts of one may differ.
const HOLES: usize = 8;
/// Of an event that is cut, so much is kept at most.
const CARRY: usize = 2048;
/// An event in more pieces than these is read as they come: to look at all of it with each of many pieces would be
/// slow.
const PIECES: u8 = 8;
/// Of an event's data, so much tells what kind it is of: an envelope with an id of 36 bytes, and the name of what is in
/// it.
const START: usize = 80;
/// Of so many that were like none before, one is learnt of whatever it begins with.
const STRANGERS: u8 = 8;
/// How often events must have been like one, for that to have been worth learning.
const WORTHWHILE: u8 = 4;
/// After so many events that were like no other, the next is learnt again, however little came of it before.
const PATIENCE: u8 = 64;

/// The templates of a stream, each with the news of its events: whatever a valid event says that its stream's judge
/// acts on.
#[derive(Debug)]
pub(super) struct Memo<N> {
    templates: [Template<N, HOLES>; KINDS],
    /// The one that the last event was like.
    last: usize,
    /// The one that is being learnt.
    learning: Option<usize>,
    /// The next one to be learnt anew.
    next: usize,
    /// How the last few events that were like no other began: those of a kind that comes once are not worth learning.
    starts: [u64; KINDS],
    strangers: u8,
    /// How many more are passed over before one is learnt again.
    pause: u8,
    /// How long the last such pause was.
    patience: u8,
    /// The beginning of an event that a cut goes through, and that may be like another.
    carry: Vec<u8>,
    /// In how many pieces that came.
    pieces: u8,
}

impl<N> Default for Memo<N> {
    fn default() -> Self {
        Self {
            templates: Default::default(),
            last: 0,
            learning: None,
            next: 0,
            starts: [0; KINDS],
            strangers: 0,
            pause: 0,
            patience: 0,
            carry: Vec::new(),
            pieces: 0,
        }
    }
}

impl<N: Copy> Memo<N> {
    /// Is there an event at the start of `bytes` that is like one before? Then it is as valid. Gives its length; its
    /// news are the [last](Self::last_news) ones then.
    #[inline]
    pub(super) fn repeated(&mut self, bytes: &[u8]) -> Option<usize> {
        if let Some(length) = self.templates.get_mut(self.last % KINDS)?.find(bytes) {
            return Some(length);
        }
        self.repeated_otherwise(bytes)
    }

    /// What the event says that was found last. Whoever found it reads that where it lies: handed on from place to
    /// place, so few bytes are slow.
    #[inline]
    pub(super) fn last_news(&self) -> Option<N> {
        self.templates.get(self.last % KINDS)?.news().copied()
    }

    #[inline(never)]
    fn repeated_otherwise(&mut self, bytes: &[u8]) -> Option<usize> {
        // An event that is not valid is never said to be judged: the next one that is must not be taken for it.
        self.learning = None;
        let last = self.last;
        let mut others = (1..KINDS).map(|step| (last + step) % KINDS);
        let (last, length) = others.find_map(|at| Some((at, self.templates.get_mut(at)?.find_apart(bytes)?)))?;
        self.last = last;
        Some(length)
    }

    /// The same for an event that differs from all before where they did not differ from each other. From then on
    /// others may.
    pub(super) fn repeated_widely(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut templates = self.templates.iter_mut().enumerate();
        let (last, length) = templates.find_map(|(at, one)| Some((at, one.find_widely(bytes)?)))?;
        self.last = last;
        Some(length)
    }

    /// Reads an event that is like no other, and learns of it if that promises to be worth it.
    pub(super) fn read(&mut self, judge: &mut Judge, raw: &[u8], event: &PlainEvent) {
        judge.reset();
        let data = raw.get(event.data.clone()).unwrap_or_default();
        self.learning = self.is_worth_learning(data).then_some(self.next);
        let Some(template) = self.learning.and_then(|next| self.templates.get_mut(next)) else {
            return judge.feed(data);
        };
        if template.news().is_some() && template.uses() < WORTHWHILE {
            self.patience = (self.patience * 2 + 1).min(PATIENCE);
            self.pause = self.patience;
        } else {
            self.patience = 0;
        }
        let PlainEvent { length, data, id, .. } = event.clone();
        template.learn(judge, raw, &Lesson { document: data, line: id, length, tells: false });
        self.next = (self.next + 1) % KINDS;
    }

    fn is_worth_learning(&mut self, data: &[u8]) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        self.strangers = (self.strangers + 1) % STRANGERS;
        let start = start_of(data);
        let is_known = self.starts.contains(&start);
        if !is_known {
            self.starts.rotate_right(1);
            self.starts[0] = start;
        }
        is_known || self.strangers == 0
    }

    /// The event that was read is valid.
    pub(super) fn judged(&mut self, judge: &Judge, news: N) {
        // A message ends its stream, and what is noted of it is not all told.
        if let Some(learnt) = self.learning.take()
            && judge.facts().kind != PayloadKind::Message
            && let Some(template) = self.templates.get_mut(learnt)
        {
            template.tell(news);
            self.last = learnt;
        }
    }

    /// Keeps the beginning of an event that may be like another, and is not there whole. False if it is none, or too
    /// long.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> bool {
        let is_kept = bytes.len() <= CARRY && self.may_begin_with(bytes);
        if is_kept {
            self.carry.extend_from_slice(bytes);
            self.pieces = 1;
        }
        is_kept
    }

    fn may_begin_with(&self, bytes: &[u8]) -> bool {
        self.templates.iter().any(|one| one.may_begin_with(bytes))
    }

    #[inline]
    pub(super) fn has_kept(&self) -> bool {
        !self.carry.is_empty()
    }

    /// `bytes` come behind what was kept. An event that is found is [passed over](Self::forget_kept), or read after
    /// all.
    pub(super) fn go_on(&mut self, bytes: &[u8]) -> GoneOn {
        let mut carry = std::mem::take(&mut self.carry);
        let kept = carry.len();
        let room = CARRY.saturating_sub(kept);
        carry.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.pieces = self.pieces.saturating_add(1);
        let may_go_on = self.pieces < PIECES && bytes.len() <= room;
        let found = self.repeated(&carry).or_else(|| self.repeated_widely(&carry));
        let gone_on = match found {
            // It does not end within what was kept, for then that had not been a beginning only.
            Some(length) => GoneOn::Repeated(length.saturating_sub(kept)),
            None if may_go_on && self.may_begin_with(&carry) => GoneOn::Kept,
            None => GoneOn::Other,
        };
        if !matches!(gone_on, GoneOn::Kept) {
            carry.truncate(kept);
        }
        self.carry = carry;
        gone_on
    }

    pub(super) fn forget_kept(&mut self) {
        self.carry.clear();
    }

    /// What was kept, which is to be read after all. Its memory is to be [given back](Self::give_back).
    pub(super) fn take_kept(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.carry)
    }

    pub(super) fn give_back(&mut self, mut memory: Vec<u8>) {
        memory.clear();
        self.carry = memory;
    }
}

/// A hash of how an event's data begins. Two starts that share one cost an event that is learnt of in vain.
fn start_of(data: &[u8]) -> u64 {
    let (words, rest) = data.get(..START).unwrap_or(data).as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let rest = rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    words.chain([rest]).fold(0, |hash: u64, word| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95))
}

/// What an event turned out to be with the bytes that came next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoneOn {
    /// One like another, with so many of these bytes.
    Repeated(usize),
    /// Still not there whole.
    Kept,
    /// Like no other.
    Other,
}
