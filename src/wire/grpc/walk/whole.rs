//! Walks a message that is there whole.

use super::{CUT, DEEP, DEPTH, PAST_END, Reader, Scope, TYPE, Take, fixed, number_of};
use crate::wire::grpc::group::Groups;
use crate::wire::grpc::varint::{Malformed, Varint};

/// Walks one message that is there whole, as [`Walk`](super::Walk) would: the usual case, and the fast one.
#[inline]
pub(in crate::wire::grpc) fn walk_whole<R>(message: &[u8], reader: &mut R) -> Result<(), Malformed>
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
pub(in crate::wire::grpc) fn behind_group(number: u32, rest: &[u8], depth: usize) -> Result<&[u8], Malformed> {
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
