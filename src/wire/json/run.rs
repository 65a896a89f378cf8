//! How far content in any alphabet goes.

/// Bytes looked at together. Written so that compilers turn the comparisons into vector instructions.
const SIZE: usize = 32;

/// How many bytes from the start are neither `"`, `\` nor a control character, and whether all of them are ASCII.
pub(super) fn content(bytes: &[u8]) -> (usize, bool) {
    let mut at = 0;
    let mut seen = 0;
    for block in bytes.chunks_exact(SIZE) {
        let mut delimiters = 0;
        let mut here = 0;
        for &byte in block {
            delimiters |= u8::from(is_delimiter(byte));
            here |= byte;
        }
        if delimiters != 0 {
            break;
        }
        seen |= here;
        at += SIZE;
    }
    for &byte in bytes.get(at..).unwrap_or_default() {
        if is_delimiter(byte) {
            break;
        }
        seen |= byte;
        at += 1;
    }
    (at, seen.is_ascii())
}

fn is_delimiter(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
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
