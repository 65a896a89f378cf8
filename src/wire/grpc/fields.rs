//! The fields of a small message that lies in memory whole.

use super::varint::Varint;
use super::walk::behind_group;

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Of a fixed size, or a group, which nothing here asks for.
    Other,
}

/// Number and value of each field, up to the first that is not understood.
pub(super) fn fields(message: &[u8]) -> impl Iterator<Item = (u32, Value<'_>)> {
    let mut rest = message;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let next = field(&mut rest);
        if next.is_none() {
            rest = &[];
        }
        next
    })
}

fn field<'a>(rest: &mut &'a [u8]) -> Option<(u32, Value<'a>)> {
    let tag = u32::try_from(number(rest)?).ok()?;
    let value = match tag & 7 {
        0 => Value::Number(number(rest)?),
        1 => skip(rest, 8)?,
        2 => {
            let len = usize::try_from(number(rest)?).ok()?;
            let (bytes, behind) = rest.split_at_checked(len)?;
            *rest = behind;
            Value::Bytes(bytes)
        }
        3 => {
            *rest = behind_group(tag >> 3, rest, 0).ok()?;
            Value::Other
        }
        5 => skip(rest, 4)?,
        _ => return None,
    };
    Some((tag >> 3, value)).filter(|(number, _)| *number > 0)
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    Varint::default().read(rest).ok().flatten()
}

fn skip<'a>(rest: &mut &'a [u8], len: usize) -> Option<Value<'a>> {
    *rest = rest.get(len..)?;
    Some(Value::Other)
}
