//! Walks the fields of one message as its bytes come, without generated code and without keeping them.
//!
//! A [`Reader`] says of each field whether to walk into it, to read it, or to pass it over. What it never walks into is
//! passed over as bytes, so that the depth of a message is that of the reader, not of the peer.

mod pieces;
mod whole;

#[cfg(test)]
mod tests;

pub(super) use self::{
    pieces::Walk,
    whole::{behind_group, walk_whole},
};
use super::group::CLOSED;
use super::varint::Malformed;

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

#[inline(always)]
fn number_of(tag: u64) -> Result<u32, Malformed> {
    match u32::try_from(tag) {
        Ok(tag) if tag >> 3 > 0 => Ok(tag >> 3),
        _ => Err(NUMBER),
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
