//! How far a stretch of string content goes: eight bytes at a glance.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// How many bytes from the start are neither `"`, `\` nor a control character, and whether all of them are ASCII.
pub(super) fn content(bytes: &[u8]) -> (usize, bool) {
    let mut at = 0;
    let mut seen = 0;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let block = u64::from_le_bytes(*block);
        if delimiters(block) != 0 {
            break;
        }
        seen |= block;
        at += 8;
    }
    let mut is_ascii = seen & HIGHS == 0;
    for &byte in bytes.get(at..).unwrap_or_default() {
        if is_delimiter(byte) {
            break;
        }
        is_ascii &= byte.is_ascii();
        at += 1;
    }
    (at, is_ascii)
}

fn is_delimiter(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// Marks the high bit of each byte that is `"`, `\` or a control character. A mark above the lowest one may be false: a
/// borrow runs upwards.
fn delimiters(block: u64) -> u64 {
    let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    let quote = zero(block ^ (ONES * b'"' as u64));
    let backslash = zero(block ^ (ONES * b'\\' as u64));
    let control = block.wrapping_sub(ONES * 0x20) & !block;
    (quote | backslash | control) & HIGHS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_is_seen() {
        for place in 0..70 {
            for byte in 0..=255u8 {
                let mut bytes = [b'a'; 70];
                bytes[place] = byte;
                let expected = if is_delimiter(byte) { (place, true) } else { (70, byte.is_ascii()) };
                assert_eq!(content(&bytes), expected, "{byte}");
            }
        }
    }
}
