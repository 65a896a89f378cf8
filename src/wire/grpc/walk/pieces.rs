//! Walks a message whose bytes come in pieces.

use super::{CUT, DEEP, DEPTH, PAST_END, Reader, Scope, Slot, TYPE, Take, fixed, number_of};
use crate::wire::grpc::group::Groups;
use crate::wire::grpc::varint::{Malformed, Varint};

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
pub(in crate::wire::grpc) struct Walk {
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
    pub(in crate::wire::grpc) const fn new(len: u32) -> Self {
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
    pub(in crate::wire::grpc) fn begin(&mut self, len: u32) {
        self.at = 0;
        self.level = Level { end: len, scope: 0 };
        self.depth = 0;
        self.varint = Varint::default();
        self.step = Step::Tag;
        self.groups.clear();
    }

    /// Reads on. All bytes belong to the message.
    pub(in crate::wire::grpc) fn feed<R>(&mut self, bytes: &[u8], reader: &mut R) -> Result<(), Malformed>
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
    pub(in crate::wire::grpc) fn finish<R>(&mut self, reader: &mut R) -> Result<(), Malformed>
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
