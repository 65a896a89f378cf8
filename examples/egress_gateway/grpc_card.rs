//! The card as a gRPC message: its interfaces are rewritten where they lie, and all else is copied as it is.

use super::door::Door;

/// Whose `AgentCard` it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `lf.a2a.v1`.
    V1,
    /// `a2a.v1`.
    V03,
}

/// `AgentInterface`, in both.
const URL: u64 = 1;
const BINDING: u64 = 2;

/// Flag and length in front of a message.
const PREFIX: usize = 5;

/// The body of an answer with the card as it is shown here; `None` if it is not one message that can be read, with no
/// coding.
pub(crate) fn shown(door: &Door, layout: Layout, body: &[u8]) -> Option<Vec<u8>> {
    let (prefix, message) = body.split_first_chunk::<PREFIX>()?;
    let [0, length @ ..] = prefix else { return None };
    if u32::from_be_bytes(*length) as usize != message.len() {
        return None;
    }
    let card = rewritten(door, layout, message)?;
    let length = u32::try_from(card.len()).ok()?.to_be_bytes();
    Some([&[0][..], &length, &card].concat())
}

fn rewritten(door: &Door, layout: Layout, card: &[u8]) -> Option<Vec<u8>> {
    let preferred = match layout {
        Layout::V1 => None,
        Layout::V03 => last_text(card, 14)?,
    };
    let mut shown = Vec::with_capacity(card.len());
    each(card, |field| {
        match (layout, field.number, field.value) {
            // A signature is of the card as it was.
            (Layout::V1, 13, Some(_)) | (Layout::V03, 17, Some(_)) => {}
            (Layout::V1, 3, Some(interface)) | (Layout::V03, 15, Some(interface)) => {
                if let Some(interface) = listed(door, interface)? {
                    put(&mut shown, field.number, &interface);
                }
            }
            (Layout::V03, 3, Some(url)) => match door.interface(std::str::from_utf8(url).ok()?, preferred) {
                Some(url) => put(&mut shown, field.number, url.as_bytes()),
                None => shown.extend_from_slice(field.whole),
            },
            _ => shown.extend_from_slice(field.whole),
        }
        Some(())
    })?;
    Some(shown)
}

/// An interface as the card lists it here, if it does.
fn listed(door: &Door, interface: &[u8]) -> Option<Option<Vec<u8>>> {
    let binding = last_text(interface, BINDING)?;
    let mut shown = Vec::with_capacity(interface.len());
    let mut is_listed = true;
    each(interface, |field| {
        match (field.number, field.value) {
            (URL, Some(url)) => match door.listed(std::str::from_utf8(url).ok()?, binding) {
                Some(url) => put(&mut shown, URL, url.as_bytes()),
                None => is_listed = false,
            },
            _ => shown.extend_from_slice(field.whole),
        }
        Some(())
    })?;
    Some(is_listed.then_some(shown))
}

/// A field as it was written, and its value if it is a string or a message.
struct Field<'a> {
    number: u64,
    whole: &'a [u8],
    value: Option<&'a [u8]>,
}

/// Hands over every field; `None` if they are not well formed.
fn each<'a>(mut rest: &'a [u8], mut take: impl FnMut(Field<'a>) -> Option<()>) -> Option<()> {
    while !rest.is_empty() {
        let from = rest;
        let tag = varint(&mut rest)?;
        let value = match tag & 7 {
            0 => varint(&mut rest).map(|_| None)?,
            1 => split(&mut rest, 8).map(|_| None)?,
            2 => {
                let length = usize::try_from(varint(&mut rest)?).ok()?;
                Some(split(&mut rest, length)?)
            }
            5 => split(&mut rest, 4).map(|_| None)?,
            // Groups: no message of the protocol has any.
            _ => return None,
        };
        let whole = from.get(..from.len() - rest.len())?;
        take(Field { number: tag >> 3, whole, value })?;
    }
    Some(())
}

/// Of a field that is there more than once, the last counts.
fn last_text(message: &[u8], number: u64) -> Option<Option<&str>> {
    let mut found = None;
    each(message, |field| {
        if field.number == number
            && let Some(value) = field.value
        {
            found = Some(std::str::from_utf8(value).ok()?);
        }
        Some(())
    })?;
    Some(found)
}

fn split<'a>(rest: &mut &'a [u8], at: usize) -> Option<&'a [u8]> {
    let (before, behind) = rest.split_at_checked(at)?;
    *rest = behind;
    Some(before)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..10 {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// A string or a message.
fn put(message: &mut Vec<u8>, number: u64, value: &[u8]) {
    for mut number in [number << 3 | 2, value.len() as u64] {
        while number >= 0x80 {
            message.push(number as u8 | 0x80);
            number >>= 7;
        }
        message.push(number as u8);
    }
    message.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use a2a_guard::card::Origin;

    use super::*;

    fn door(prefix: &str) -> Door {
        let upstream = Arc::new(Origin::parse("http://agent.test:9000").unwrap());
        Door { upstream, authority: "gate:1".into(), prefix: prefix.into() }
    }

    fn message(fields: &[(u64, &[u8])]) -> Vec<u8> {
        let mut message = Vec::new();
        fields.iter().for_each(|(number, value)| put(&mut message, *number, value));
        message
    }

    fn framed(message: &[u8]) -> Vec<u8> {
        [&[0][..], &(message.len() as u32).to_be_bytes(), message].concat()
    }

    fn interface(url: &str, binding: &str) -> Vec<u8> {
        message(&[(1, url.as_bytes()), (2, binding.as_bytes()), (4, b"1.0")])
    }

    /// A varint, eight bytes and four, of fields that nobody knows.
    const UNKNOWN: &[u8] = &[0xf8, 0x07, 0x96, 0x01, 0xf9, 0x07, 1, 2, 3, 4, 5, 6, 7, 8, 0xfd, 0x07, 1, 2, 3, 4];

    #[test]
    fn the_agents_own_places_lead_through_the_gateway_and_all_else_stays() {
        let long = "x".repeat(300);
        let of = |rpc: &str, grpc: &[&str], signed: bool| {
            let mut card = message(&[(1, b"a"), (2, long.as_bytes()), (3, &interface(rpc, "JSONRPC"))]);
            for grpc in grpc {
                put(&mut card, 3, &interface(grpc, "GRPC"));
            }
            card.extend_from_slice(UNKNOWN);
            put(&mut card, 3, &interface("https://elsewhere.test/", "HTTP+JSON"));
            if signed {
                put(&mut card, 13, b"\x0a\x01e");
            }
            framed(&card)
        };
        let card = of("http://agent.test:9000/a2a", &["agent.test:9000"], true);
        let shown = |prefix: &str| shown(&door(prefix), Layout::V1, &card).unwrap();
        assert_eq!(shown(""), of("http://gate:1/a2a", &["gate:1"], false));
        // A tenant's has no interface that does not lead to the tenant.
        assert_eq!(shown("/tenants/x"), of("http://gate:1/tenants/x/a2a", &[], false));
    }

    #[test]
    fn so_does_a_card_of_0_3() {
        let of = |url: &str, grpc: &str, signed: bool| {
            let additional = message(&[(1, grpc.as_bytes()), (2, b"GRPC")]);
            let mut card = message(&[(1, b"a"), (3, url.as_bytes()), (14, b"JSONRPC"), (15, &additional)]);
            if signed {
                put(&mut card, 17, b"\x0a\x01e");
            }
            // Whether there is an extended card.
            card.extend_from_slice(&[13 << 3, 1]);
            framed(&card)
        };
        let card = of("http://agent.test:9000/", "agent.test:9000", true);
        assert_eq!(shown(&door(""), Layout::V03, &card).unwrap(), of("http://gate:1/", "gate:1", false));
        // Host and port are a URL over gRPC alone.
        let preferred = |url: &str| framed(&message(&[(14, b"GRPC"), (3, url.as_bytes())]));
        assert_eq!(shown(&door(""), Layout::V03, &preferred("agent.test:9000")).unwrap(), preferred("gate:1"));
    }

    #[test]
    fn what_cannot_be_read_is_not_shown() {
        let card = framed(&message(&[(1, b"a"), (3, &interface("http://agent.test:9000/", "JSONRPC"))]));
        for length in 0..card.len() {
            assert!(shown(&door(""), Layout::V1, &card[..length]).is_none(), "{length}");
            // Whole by its prefix, and cut in a field. What ends between two fields is a card.
            let cut = framed(&card[PREFIX..card.len().min(PREFIX + length)]);
            assert_eq!(shown(&door(""), Layout::V1, &cut).is_some(), [0, 3].contains(&length) || cut == card);
        }
        let mut coded = card.clone();
        coded[0] = 1;
        let more = [&card[..], &card].concat();
        let group = framed(&[1 << 3 | 3, 1 << 3 | 4]);
        let endless = framed(&[0x80; 11]);
        let no_text = framed(&message(&[(3, &message(&[(1, b"\xff")]))]));
        let too_long = framed(&[1 << 3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0]);
        for bad in [coded, more, group, endless, no_text, too_long] {
            assert!(shown(&door(""), Layout::V1, &bad).is_none(), "{bad:?}");
        }
    }
}
