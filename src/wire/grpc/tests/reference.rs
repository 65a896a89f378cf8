//! A reader of the same messages that goes about it recursively, on the whole of them.

use crate::wire::judge::PayloadKind;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Read {
    pub(super) kind: PayloadKind,
    pub(super) task_id: String,
    pub(super) context_id: String,
    pub(super) state: Option<u32>,
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Other,
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u128;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        value |= u128::from(byte & 0x7f) << (7 * at);
        if *byte < 0x80 {
            *bytes = &bytes[at + 1..];
            return u64::try_from(value).ok();
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], len: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(len).ok()?)?;
    *bytes = rest;
    Some(taken)
}

/// The next field; `Err` with the number of a group that ends.
fn field<'a>(bytes: &mut &'a [u8]) -> Option<Result<(u32, Value<'a>), u32>> {
    let tag = u32::try_from(varint(bytes)?).ok()?;
    let number = Some(tag >> 3).filter(|number| *number > 0)?;
    let value = match tag & 7 {
        0 => Value::Number(varint(bytes)?),
        1 => take(bytes, 8).map(|_| Value::Other)?,
        2 => {
            let len = varint(bytes)?;
            Value::Bytes(take(bytes, len)?)
        }
        3 => loop {
            match field(bytes)? {
                Ok(_) => {}
                Err(end) if end == number => break Value::Other,
                Err(_) => return None,
            }
        },
        4 => return Some(Err(number)),
        5 => take(bytes, 4).map(|_| Value::Other)?,
        _ => return None,
    };
    Some(Ok((number, value)))
}

fn fields(mut bytes: &[u8]) -> Option<Vec<(u32, Value<'_>)>> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        all.push(field(&mut bytes)?.ok()?);
    }
    Some(all)
}

fn text(value: Value<'_>) -> Option<String> {
    match value {
        Value::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok(),
        _ => None,
    }
}

fn bytes(value: Value<'_>) -> Option<&[u8]> {
    match value {
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

fn status(message: &[u8], read: &mut Read) -> Option<()> {
    read.state.get_or_insert(0);
    for (number, value) in fields(message)? {
        match (number, value) {
            (1, Value::Number(state)) => read.state = Some(state as u32),
            (1, _) => return None,
            _ => {}
        }
    }
    Some(())
}

fn payload(message: &[u8], ids: (u32, u32), has_status: bool, read: &mut Read) -> Option<()> {
    for (number, value) in fields(message)? {
        match number {
            n if n == ids.0 => read.task_id = text(value)?,
            n if n == ids.1 => read.context_id = text(value)?,
            3 if has_status => status(bytes(value)?, read)?,
            _ => {}
        }
    }
    Some(())
}

/// `None` if the bytes are no `StreamResponse`.
pub(super) fn stream_response(message: &[u8]) -> Option<Read> {
    let mut read = Read::default();
    for (number, value) in fields(message)? {
        let (kind, ids, has_status) = match number {
            1 => (PayloadKind::Task, (1, 2), true),
            2 => (PayloadKind::Message, (3, 2), false),
            3 => (PayloadKind::StatusUpdate, (1, 2), true),
            4 => (PayloadKind::ArtifactUpdate, (1, 2), false),
            _ => continue,
        };
        if read.kind != kind {
            read = Read { kind, ..Read::default() };
        }
        payload(bytes(value)?, ids, has_status, &mut read)?;
    }
    Some(read)
}
