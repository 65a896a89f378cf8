//! Walks the fields of one message as its bytes come, without generated code and without keeping them.
//!
//! A [`Reader`] says of each field whether to walk into it, to read it, or to pass it over. What it never walks into is
//! passed over as bytes, so that the depth of a message is that of the reader, not of the peer.

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

const GROUP: Malformed = "a group, which proto3 has not";
const WIRE_TYPE: Malformed = "a wire type that there is not";
const TYPE: Malformed = "a field of another type than its own";
const NUMBER: Malformed = "a field number out of range";
const PAST_END: Malformed = "a field that goes on behind the end of its message";
const CUT: Malformed = "a message that ends within a field";
const DEEP: Malformed = "messages nested too deep";

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

/// Walks one message. Its memory is fixed.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// Bytes taken so far.
    at: u32,
    level: Level,
    outer: [Level; DEPTH],
    depth: u8,
    varint: Varint,
    step: Step,
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
        }
    }

    /// Begins anew, with a message of `len` bytes.
    pub(super) fn begin(&mut self, len: u32) {
        self.at = 0;
        self.level = Level { end: len, scope: 0 };
        self.depth = 0;
        self.varint = Varint::default();
        self.step = Step::Tag;
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
                    while self.at >= self.level.end && self.depth > 0 {
                        self.leave(reader)?;
                    }
                    if rest.is_empty() {
                        return Ok(());
                    }
                    let Some(tag) = self.varint(&mut rest)? else { return Ok(()) };
                    self.step = step_of(tag, self.level.scope, reader)?;
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
                    let room = self.level.end.checked_sub(self.at).ok_or(PAST_END)?;
                    let len = u32::try_from(len).ok().filter(|len| *len <= room).ok_or(PAST_END)?;
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
        if matches!(self.step, Step::Tag) && self.varint.shift == 0 && self.at == self.level.end && self.depth == 0 {
            Ok(())
        } else {
            Err(CUT)
        }
    }

    #[inline(always)]
    fn varint(&mut self, rest: &mut &[u8]) -> Result<Option<u64>, Malformed> {
        let before = rest.len();
        let value = self.varint.read(rest)?;
        // Pieces are no longer than their message, whose length has 32 bits.
        self.at = self.at.saturating_add((before - rest.len()) as u32);
        Ok(value)
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
        if self.at > self.level.end {
            return Err(PAST_END);
        }
        reader.leave(self.level.scope);
        self.depth -= 1;
        self.level = *self.outer.get(usize::from(self.depth)).ok_or(DEEP)?;
        Ok(())
    }
}

/// What a tag says is to come.
#[inline(always)]
fn step_of<R>(tag: u64, scope: Scope, reader: &mut R) -> Result<Step, Malformed>
where
    R: Reader,
{
    let tag = u32::try_from(tag).map_err(|_| NUMBER)?;
    let number = tag >> 3;
    if number == 0 {
        return Err(NUMBER);
    }
    let take = reader.field(scope, number);
    match (tag & 7, take) {
        (0, Take::Number(slot)) => Ok(Step::Number(Some(slot))),
        (0, Take::Skip) => Ok(Step::Number(None)),
        (2, Take::Number(_)) | (0 | 1 | 5, Take::Into(_) | Take::Text(_)) | (1 | 5, Take::Number(_)) => Err(TYPE),
        (2, take) => Ok(Step::Length(take)),
        (1, Take::Skip) => Ok(Step::Bytes { left: 8, slot: None, first: true }),
        (5, Take::Skip) => Ok(Step::Bytes { left: 4, slot: None, first: true }),
        (3 | 4, _) => Err(GROUP),
        _ => Err(WIRE_TYPE),
    }
}
