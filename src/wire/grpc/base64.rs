//! Base64 as binary metadata has it (RFC 4648 §4), padded or not.

/// Decodes a text; `None` if it is none. Bits behind the last whole byte are not looked at.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let text = match text {
        [text @ .., b'=', b'='] | [text @ .., b'='] => text,
        text => text,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let mut bits = 0_u32;
        for &character in group {
            bits = bits << 6 | u32::from(value_of(character)?);
        }
        let [_, a, b, c] = (bits << (6 * (4 - group.len()))).to_be_bytes();
        match group.len() {
            4 => bytes.extend([a, b, c]),
            3 => bytes.extend([a, b]),
            2 => bytes.push(a),
            _ => return None,
        }
    }
    Some(bytes)
}

/// Whether even a strict reader can decode a text: nothing in it stands for no byte, and padding, if there is any, is
/// whole.
pub(super) fn is_canonical(text: &[u8]) -> bool {
    let bare = match text {
        [bare @ .., b'=', b'='] if text.len().is_multiple_of(4) => bare,
        [bare @ .., b'='] if text.len().is_multiple_of(4) => bare,
        _ => text,
    };
    let mut bits = Some(0);
    for character in bare {
        bits = bits.and(value_of(*character));
    }
    match (bits, bare.len() % 4) {
        (Some(_), 0) => true,
        (Some(last), 2) => last & 0b1111 == 0,
        (Some(last), 3) => last & 0b11 == 0,
        _ => false,
    }
}

fn value_of(character: u8) -> Option<u8> {
    Some(match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{decode, is_canonical};

    #[test]
    fn padded_and_not() {
        // RFC 4648 §10
        for (text, bytes) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmE=", "fooba")]
        {
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes.as_bytes()), "{text}");
            assert_eq!(decode(text.trim_end_matches('=').as_bytes()).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        assert_eq!(decode(b"/+8="), Some(vec![0xff, 0xef]));
        for bad in ["Z", "Zm9vY", "Zm=v", "Zg===", "Z g=", "Zm9-"] {
            assert_eq!(decode(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn what_a_strict_reader_takes() {
        for good in ["", "Zg==", "Zg", "Zm8=", "Zm8", "Zm9v", "Zm9vYg==", "Zm9vYmE", "/+8="] {
            assert!(is_canonical(good.as_bytes()), "{good}");
        }
        for bad in [
            "Z", "Zh", "Zh==", "Zm9=", "Zg=", "Zm8==", "Zm9v=", "Zm9v====", "=", "====", "Zm9vY", "Zm=v", "Zg===",
            "Zm9-",
        ] {
            assert!(!is_canonical(bad.as_bytes()), "{bad}");
        }
    }
}
