//! The fields of a small message that lies in memory whole.

use super::varint::Varint;
use super::walk::behind_group;

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Eight bytes: a `double`.
    Fixed64([u8; 8]),
    /// Of four bytes, or a group, which nothing here asks for.
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

/// The field that a message begins with, which is gone from it then. `None`: it is not understood.
pub(super) fn field<'a>(rest: &mut &'a [u8]) -> Option<(u32, Value<'a>)> {
    let tag = u32::try_from(number(rest)?).ok()?;
    let value = match tag & 7 {
        0 => Value::Number(number(rest)?),
        1 => {
            let (bytes, behind) = rest.split_first_chunk()?;
            *rest = behind;
            Value::Fixed64(*bytes)
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_type_up_to_the_first_that_is_none() {
        let good =
            b"\x08\x96\x01\x11\x01\x02\x03\x04\x05\x06\x07\x08\x1a\x02ab\x25\x01\x02\x03\x04\x2a\x00\x33\x08\x01\x34\x38\x07";
        let read = [
            (1, Value::Number(150)),
            (2, Value::Fixed64([1, 2, 3, 4, 5, 6, 7, 8])),
            (3, Value::Bytes(b"ab")),
            (4, Value::Other),
            (5, Value::Bytes(b"")),
            (6, Value::Other),
            (7, Value::Number(7)),
        ];
        assert_eq!(fields(good).collect::<Vec<_>>(), read);
        for bad in
            [&b"\x0b"[..], b"\x0b\x14", b"\x0c", b"\x00\x01", b"\x11\x01", b"\x1a\x02a", b"\x25\x01\x02\x03", b"\x80"]
        {
            assert_eq!(fields(&[&good[..], bad].concat()).collect::<Vec<_>>(), read, "{bad:?}");
        }
        // What stands behind it is not guessed at.
        for bad in [&b"\x0b"[..], b"\x00\x01"] {
            assert_eq!(fields(&[&good[..], bad, good].concat()).collect::<Vec<_>>(), read, "{bad:?}");
        }
    }
}
