//! Walks the fields of one message as its bytes come, without generated code and without keeping them.
//!
//! A [`Reader`] says of each field whether to walk into it, to read it, or to pass it over. What it never walks into is
//! passed over as bytes, so that the depth of a message is that of the reader, not of the peer.

use super::group::{CLOSED, Groups};
use super::varint::{Malformed, Varint};

/// So deep do readers go: request, message, metadata, entry, value.
const DEPTH: usize = 6;

/// A message within the message, as its reader numbers them. `0` is the outermost.
pub(super) type Scope = u8;
/// A value that is read, as its reader numbers them.
pub(super) type Slot = u8;

/// What to do with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Take {
    /// Nobody asks about it.
    Skip,
    /// It is a message: walk into it.
    Into(Scope),
    /// It is a string.
    Text(Slot),
    /// It is a varint.
    Number(Slot),
}

/// What fields mean.
pub(super) trait Reader {
    /// A field stands in `scope`. What is taken must be of the type that the field is told to have.
    fn field(&mut self, scope: Scope, number: u32) -> Take;
    /// The value of a [`Take::Number`].
    fn number(&mut self, slot: Slot, value: u64);
    /// A piece of a [`Take::Text`], which is `first`, or `last`, or both. There is at least one, if an empty one.
    fn text(&mut self, slot: Slot, piece: &[u8], first: bool, last: bool) -> Result<(), Malformed>;
    /// A message that was walked into is at its end.
    fn leave(&mut self, _scope: Scope) {}
}

const WIRE_TYPE: Malformed = "a wire type that there is not";
const TYPE: Malformed = "a field of another type than its own";
const NUMBER: Malformed = "a field number out of range";
const PAST_END: Malformed = "a field that goes on behind the end of its message";
pub(super) const CUT: Malformed = "a message that ends within a field";
pub(super) const DEEP: Malformed = "messages nested too deep";

#[derive(Clone, Copy, Debug, Default)]
struct Level {
    end: u32,
    scope: Scope,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Tag,
    Number(Option<Slot>),
    Length(Take),
    Bytes { left: u32, slot: Option<Slot>, first: bool },
}

/// Walks one message. Its memory is fixed, and bounded where there are groups.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// Bytes taken so far.
    at: u32,
    level: Level,
    outer: [Level; DEPTH],
    depth: u8,
    varint: Varint,
    step: Step,
    groups: Groups,
}

impl Walk {
    /// Before the first byte of a message of `len` bytes.
    pub(super) const fn new(len: u32) -> Self {
        Self {
            at: 0,
            level: Level { end: len, scope: 0 },
            outer: [Level { end: 0, scope: 0 }; DEPTH],
            depth: 0,
            varint: Varint { value: 0, shift: 0 },
            step: Step::Tag,
            groups: Groups::new(),
        }
    }

    /// Begins anew, with a message of `len` bytes.
    pub(super) fn begin(&mut self, len: u32) {
        self.at = 0;
        self.level = Level { end: len, scope: 0 };
        self.depth = 0;
        self.varint = Varint::default();
        self.step = Step::Tag;
        self.groups.clear();
    }

    /// Reads on. All bytes belong to the message.
    pub(super) fn feed<R>(&mut self, bytes: &[u8], reader: &mut R) -> Result<(), Malformed>
    where
        R: Reader,
    {
        let mut rest = bytes;
        loop {
            match self.step {
                Step::Tag => {
                    while self.at == self.level.end && self.depth > 0 && !self.groups.is_open() {
                        self.leave(reader)?;
                    }
                    if rest.is_empty() {
                        return Ok(());
                    }
                    let Some(tag) = self.varint(&mut rest)? else { return Ok(()) };
                    self.step = match tag & 7 {
                        3 | 4 => self.group(tag, reader)?,
                        _ if self.groups.is_open() => self.in_group(tag)?,
                        _ => step_of(tag, self.level.scope, reader)?,
                    };
                    if let Step::Bytes { left, .. } = self.step
                        && left > self.room()
                    {
                        return Err(PAST_END);
                    }
                }
                Step::Number(slot) => {
                    let Some(value) = self.varint(&mut rest)? else { return Ok(()) };
                    if let Some(slot) = slot {
                        reader.number(slot, value);
                    }
                    self.step = Step::Tag;
                }
                Step::Length(take) => {
                    let Some(len) = self.varint(&mut rest)? else { return Ok(()) };
                    let len = u32::try_from(len).ok().filter(|len| *len <= self.room()).ok_or(PAST_END)?;
                    self.step = match take {
                        Take::Into(scope) => {
                            self.enter(Level { end: self.at + len, scope })?;
                            Step::Tag
                        }
                        Take::Text(slot) => Step::Bytes { left: len, slot: Some(slot), first: true },
                        Take::Skip | Take::Number(_) => Step::Bytes { left: len, slot: None, first: true },
                    };
                }
                Step::Bytes { left, slot, first } => {
                    let (piece, behind) =
                        usize::try_from(left).ok().and_then(|left| rest.split_at_checked(left)).unwrap_or((rest, &[]));
                    rest = behind;
                    // No longer than what is left, which has 32 bits.
                    let taken = piece.len() as u32;
                    let last = taken == left;
                    self.at = self.at.saturating_add(taken);
                    if let Some(slot) = slot {
                        reader.text(slot, piece, first, last)?;
                    }
                    if !last {
                        self.step = Step::Bytes { left: left - taken, slot, first: false };
                        return Ok(());
                    }
                    self.step = Step::Tag;
                }
            }
        }
    }

    /// All bytes of the message came.
    pub(super) fn finish<R>(&mut self, reader: &mut R) -> Result<(), Malformed>
    where
        R: Reader,
    {
        // A message that ends in an empty one, or in an empty string, has a step to go.
        self.feed(&[], reader)?;
        let is_whole = self.varint.shift == 0 && self.at == self.level.end && self.depth == 0;
        if matches!(self.step, Step::Tag) && is_whole && !self.groups.is_open() { Ok(()) } else { Err(CUT) }
    }

    /// What is left of the message that is being walked.
    fn room(&self) -> u32 {
        self.level.end.saturating_sub(self.at)
    }

    /// A varint, which ends within the message that it stands in.
    fn varint(&mut self, rest: &mut &[u8]) -> Result<Option<u64>, Malformed> {
        let room = usize::try_from(self.room()).unwrap_or(usize::MAX);
        let mut within = rest.get(..room).unwrap_or(rest);
        let before = within.len();
        let value = self.varint.read(&mut within)?;
        let taken = before - within.len();
        *rest = rest.get(taken..).unwrap_or_default();
        // No more than there is room for, which has 32 bits.
        self.at = self.at.saturating_add(taken as u32);
        if value.is_none() && before == room {
            return Err(CUT);
        }
        Ok(value)
    }

    /// A group begins or ends.
    #[cold]
    fn group<R>(&mut self, tag: u64, reader: &mut R) -> Result<Step, Malformed>
    where
        R: Reader,
    {
        let number = number_of(tag)?;
        let take = if self.groups.is_open() { Take::Skip } else { reader.field(self.level.scope, number) };
        match (tag & 7, take) {
            (4, _) => self.groups.end(number)?,
            (_, Take::Skip) => self.groups.begin(number, self.depth.into())?,
            _ => return Err(TYPE),
        }
        Ok(Step::Tag)
    }

    /// A field in a group: nobody asks about it.
    #[cold]
    fn in_group(&self, tag: u64) -> Result<Step, Malformed> {
        number_of(tag)?;
        self.groups.field(self.depth.into())?;
        Ok(match tag & 7 {
            0 => Step::Number(None),
            2 => Step::Length(Take::Skip),
            wire => Step::Bytes { left: fixed(wire, Take::Skip)?, slot: None, first: true },
        })
    }

    fn enter(&mut self, level: Level) -> Result<(), Malformed> {
        *self.outer.get_mut(usize::from(self.depth)).ok_or(DEEP)? = self.level;
        self.depth += 1;
        self.level = level;
        Ok(())
    }

    fn leave<R>(&mut self, reader: &mut R) -> Result<(), Malformed>
    where
        R: Reader,
    {
        reader.leave(self.level.scope);
        self.depth -= 1;
        self.level = *self.outer.get(usize::from(self.depth)).ok_or(DEEP)?;
        Ok(())
    }
}

/// Walks one message that is there whole, as [`Walk`] would: the usual case, and the fast one.
#[inline]
pub(super) fn walk_whole<R>(message: &[u8], reader: &mut R) -> Result<(), Malformed>
where
    R: Reader,
{
    let mut outer: [(&[u8], Scope); DEPTH] = [(&[], 0); DEPTH];
    let mut depth = 0_usize;
    let (mut rest, mut scope) = (message, 0);
    loop {
        while rest.is_empty() {
            let Some(below) = depth.checked_sub(1) else { return Ok(()) };
            reader.leave(scope);
            depth = below;
            (rest, scope) = *outer.get(depth).ok_or(DEEP)?;
        }
        let (tag, behind) = varint(rest)?;
        let number = number_of(tag)?;
        let take = reader.field(scope, number);
        match (tag & 7, take) {
            (2, Take::Number(_)) => return Err(TYPE),
            (2, take) => {
                let (len, behind) = varint(behind)?;
                let (value, behind) = split(behind, len)?;
                rest = behind;
                match take {
                    Take::Into(inner) => {
                        *outer.get_mut(depth).ok_or(DEEP)? = (behind, scope);
                        depth += 1;
                        (rest, scope) = (value, inner);
                    }
                    Take::Text(slot) => reader.text(slot, value, true, true)?,
                    Take::Skip | Take::Number(_) => {}
                }
            }
            (0, Take::Number(slot)) => {
                let (value, behind) = varint(behind)?;
                rest = behind;
                reader.number(slot, value);
            }
            (0, Take::Skip) => (_, rest) = varint(behind)?,
            (3, Take::Skip) => rest = behind_group(number, behind, depth)?,
            (wire, take) => (_, rest) = split(behind, u64::from(fixed(wire, take)?))?,
        }
    }
}

/// What is behind a group that began, `depth` messages deep.
#[cold]
pub(super) fn behind_group(number: u32, rest: &[u8], depth: usize) -> Result<&[u8], Malformed> {
    let mut groups = Groups::new();
    groups.begin(number, depth)?;
    let mut rest = rest;
    while groups.is_open() {
        let (tag, behind) = varint(rest)?;
        let number = number_of(tag)?;
        rest = behind;
        match tag & 7 {
            3 => groups.begin(number, depth)?,
            4 => groups.end(number)?,
            wire => {
                groups.field(depth)?;
                rest = match wire {
                    0 => varint(rest)?.1,
                    2 => {
                        let (len, behind) = varint(rest)?;
                        split(behind, len)?.1
                    }
                    wire => split(rest, u64::from(fixed(wire, Take::Skip)?))?.1,
                };
            }
        }
    }
    Ok(rest)
}

/// A value of this length, and what is behind it.
#[inline(always)]
fn split(rest: &[u8], len: u64) -> Result<(&[u8], &[u8]), Malformed> {
    usize::try_from(len).ok().and_then(|len| rest.split_at_checked(len)).ok_or(PAST_END)
}

/// A varint, and what is behind it. By value, so that the place in the message can stay in registers.
#[inline(always)]
fn varint(rest: &[u8]) -> Result<(u64, &[u8]), Malformed> {
    match *rest {
        [byte, ref behind @ ..] if byte < 0x80 => Ok((u64::from(byte), behind)),
        [first, second, ref behind @ ..] if second < 0x80 => {
            Ok((u64::from(first & 0x7f) | u64::from(second) << 7, behind))
        }
        _ => long_varint(rest),
    }
}

#[cold]
fn long_varint(mut rest: &[u8]) -> Result<(u64, &[u8]), Malformed> {
    let value = Varint::default().read(&mut rest)?.ok_or(CUT)?;
    Ok((value, rest))
}

#[inline(always)]
fn number_of(tag: u64) -> Result<u32, Malformed> {
    match u32::try_from(tag) {
        Ok(tag) if tag >> 3 > 0 => Ok(tag >> 3),
        _ => Err(NUMBER),
    }
}

/// What a tag says is to come.
fn step_of<R>(tag: u64, scope: Scope, reader: &mut R) -> Result<Step, Malformed>
where
    R: Reader,
{
    let take = reader.field(scope, number_of(tag)?);
    match (tag & 7, take) {
        (2, Take::Number(_)) => Err(TYPE),
        (2, take) => Ok(Step::Length(take)),
        (0, Take::Number(slot)) => Ok(Step::Number(Some(slot))),
        (0, Take::Skip) => Ok(Step::Number(None)),
        (wire, take) => Ok(Step::Bytes { left: fixed(wire, take)?, slot: None, first: true }),
    }
}

/// The length of a value of a fixed size, which nobody asks about.
#[cold]
fn fixed(wire: u64, take: Take) -> Result<u32, Malformed> {
    match (wire, take) {
        (1, Take::Skip) => Ok(8),
        (5, Take::Skip) => Ok(4),
        (0 | 1 | 3 | 5, _) => Err(TYPE),
        (4, _) => Err(CLOSED),
        _ => Err(WIRE_TYPE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wants a text, a message with one in it, and a number.
    #[derive(Debug, Default, PartialEq)]
    struct Notes(Vec<u8>);

    impl Reader for Notes {
        fn field(&mut self, scope: Scope, number: u32) -> Take {
            match number {
                1 => Take::Text(scope),
                2 => Take::Into(scope + 1),
                3 => Take::Number(0),
                _ => Take::Skip,
            }
        }

        fn number(&mut self, _: Slot, value: u64) {
            self.0.extend_from_slice(&value.to_le_bytes());
        }

        fn text(&mut self, slot: Slot, piece: &[u8], _: bool, last: bool) -> Result<(), Malformed> {
            self.0.extend_from_slice(piece);
            self.0.extend(last.then_some(slot));
            Ok(())
        }

        fn leave(&mut self, scope: Scope) {
            self.0.push(scope);
        }
    }

    #[test]
    fn a_walk_that_was_given_up_begins_anew() {
        let message = b"\x0a\x02ab\x12\x04\x0a\x02cd\x18\x05";
        let mut whole = Notes::default();
        walk_whole(message, &mut whole).unwrap();
        // Within a group, a message, a text, a number, a tag.
        for begun in [&b"\x7b\x08"[..], b"\x12\x20\x0a", b"\x12\x20\x0a\x10abc", b"\x18\x80", b"\x80"] {
            let mut walk = Walk::new(100);
            walk.feed(begun, &mut Notes::default()).unwrap();
            let mut again = Notes::default();
            walk.begin(message.len() as u32);
            assert_eq!(walk.feed(message, &mut again).and_then(|()| walk.finish(&mut again)), Ok(()), "{begun:?}");
            assert_eq!(again, whole, "{begun:?}");
        }
    }

    #[test]
    fn a_message_is_over_when_all_of_it_came() {
        let message = b"\x0a\x03abc\x12\x07\x0a\x01d\x12\x02\x0a\x00\x18\x96\x01\x22\x00\x25\x01\x02\x03\x04\x12\x00";
        let mut whole = Notes::default();
        walk_whole(message, &mut whole).unwrap();
        for cut in 0..=message.len() {
            let (one, two) = message.split_at(cut);
            let mut notes = Notes::default();
            let mut walk = Walk::new(message.len() as u32);
            walk.feed(one, &mut notes).unwrap();
            if !two.is_empty() {
                assert_eq!(walk.clone().finish(&mut Notes::default()), Err(CUT), "{cut}");
            }
            walk.feed(two, &mut notes).unwrap();
            assert_eq!((walk.finish(&mut notes), &notes), (Ok(()), &whole), "{cut}");
        }
    }
}
