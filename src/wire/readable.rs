//! Makes JSON that a tree cannot be built of into JSON of which it can: what is odd in one member must not hide what
//! stands in another, the reason behind a message, say.

/// How deep containers may be: `serde_json` takes 127.
const DEPTH_MAX: usize = 100;

/// The same document without what `serde_json` does not take. Escapes of half a character become the replacement
/// character, as do bytes that are no UTF-8 (a server that cuts a message may cut through a character); numbers beyond
/// those of a double, and containers that are too deep, become `null`; a byte order mark is left out (RFC 8259 §8.1).
/// What is no JSON stays so.
pub(crate) fn readable(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let mut rest = text.as_bytes();
    let mut written = Vec::with_capacity(rest.len());
    let mut depth = 0_usize;
    while let Some(&first) = rest.first() {
        let (token, behind) = rest.split_at(token_len(rest));
        rest = behind;
        match first {
            b'{' | b'[' => {
                depth += 1;
                if depth == DEPTH_MAX + 1 {
                    written.extend_from_slice(b"null");
                }
            }
            b'"' if depth <= DEPTH_MAX => {
                push_text(token, &mut written);
                continue;
            }
            b'-' | b'0'..=b'9' if depth <= DEPTH_MAX && is_infinite(token) => {
                written.extend_from_slice(b"null");
                continue;
            }
            _ => {}
        }
        if depth <= DEPTH_MAX {
            written.extend_from_slice(token);
        }
        if matches!(first, b'}' | b']') {
            depth = depth.saturating_sub(1);
        }
    }
    written
}

/// How long the string or number is that stands first; anything else goes byte by byte.
fn token_len(text: &[u8]) -> usize {
    match text.first() {
        Some(b'"') => text_len(text),
        Some(b'-' | b'0'..=b'9') => {
            text.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).count()
        }
        _ => text.len().min(1),
    }
}

fn text_len(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    text.len()
}

fn is_infinite(number: &[u8]) -> bool {
    std::str::from_utf8(number).ok().and_then(|number| number.parse().ok()).is_some_and(f64::is_infinite)
}

fn push_text(text: &[u8], written: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(&first) = rest.first() {
        let second = rest.get(6..).and_then(unit);
        let (len, is_half) = match (first, unit(rest)) {
            (b'\\', Some(0xd800..=0xdbff)) if matches!(second, Some(0xdc00..=0xdfff)) => (12, false),
            (b'\\', Some(0xd800..=0xdfff)) => (6, true),
            (b'\\', _) => (2, false),
            _ => (1, false),
        };
        let (piece, behind) = rest.split_at(len.min(rest.len()));
        written.extend_from_slice(if is_half { b"\\ufffd" } else { piece });
        rest = behind;
    }
}

/// The UTF-16 unit that an escape at the beginning stands for.
fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> String {
        String::from_utf8(readable(text)).unwrap()
    }

    #[test]
    fn what_can_be_read_stays_as_it_is() {
        for text in [
            r#"{"a":"x\"\\\u0041\ud83d\ude00\n","b":[-1.5e3,0,{"c":null}],"":true}"#,
            r#"{"cut":"x\"#,
            r#"{"cut":"\ud83"#,
            "{]",
            "",
        ] {
            assert_eq!(read(text.as_bytes()), text);
        }
    }

    #[test]
    fn halves_of_characters_are_replaced() {
        for (text, expected) in [
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\uDE00\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\ud83d\ude00x""#, r#""\ufffd\ud83d\ude00x""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
        ] {
            assert_eq!(read(text.as_bytes()), expected);
        }
        assert_eq!(read(b"\xef\xbb\xbf\"caf\xe9\""), "\"caf\u{fffd}\"");
    }

    #[test]
    fn what_is_too_large_or_too_deep_is_left_out() {
        assert_eq!(read(b"[1e999,-1e999,1e99,\"1e999\"]"), "[null,null,1e99,\"1e999\"]");
        let deep = |depth: usize| format!("{}\"]\",1e999{}", "[".repeat(depth), "]".repeat(depth));
        let kept = |depth: usize, inside: &str| format!("{}{inside}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(read(deep(DEPTH_MAX).as_bytes()), kept(DEPTH_MAX, "\"]\",null"));
        assert_eq!(read(deep(DEPTH_MAX + 1).as_bytes()), kept(DEPTH_MAX, "null"));
        assert_eq!(read(deep(5000).as_bytes()), kept(DEPTH_MAX, "null"));
    }
}
