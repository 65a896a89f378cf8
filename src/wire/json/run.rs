//! How far content in any alphabet goes.

use wide::u8x16;

/// Bytes looked at together.
const SIZE: usize = 64;

/// How many bytes from the start are neither `"`, `\` nor a control character.
pub(super) fn content(bytes: &[u8]) -> usize {
    let (whole, tail) = bytes.as_chunks::<SIZE>();
    for (number, block) in whole.iter().enumerate() {
        if let Some(length) = before_delimiter(block) {
            return SIZE * number + length;
        }
    }
    let mut last = [b'"'; SIZE];
    if let Some(start) = last.get_mut(..tail.len()) {
        start.copy_from_slice(tail);
    }
    let length = before_delimiter(&last).unwrap_or(SIZE);
    bytes.len() - tail.len() + length.min(tail.len())
}

/// Is it UTF-8?
pub(super) fn is_utf8(bytes: &[u8]) -> bool {
    simdutf8::basic::from_utf8(bytes).is_ok()
}

/// How many bytes of a block stand before its first delimiter, if it has one. Only then is it asked where.
#[inline(always)]
fn before_delimiter(block: &[u8; SIZE]) -> Option<usize> {
    let (sixteens, _) = block.as_chunks::<16>();
    let found = sixteens.iter().map(delimiters).fold(u8x16::ZERO, |found, marks| found | marks);
    if !found.any() {
        return None;
    }
    let marks = sixteens.iter().map(|sixteen| delimiters(sixteen).to_bitmask());
    let (number, mask) = marks.enumerate().find(|(_, mask)| *mask != 0)?;
    Some(16 * number + mask.trailing_zeros() as usize)
}

/// All bits set in each byte that is a delimiter.
#[inline(always)]
fn delimiters(sixteen: &[u8; 16]) -> u8x16 {
    let bytes = u8x16::new(*sixteen);
    bytes.simd_eq(u8x16::splat(b'"')) | bytes.simd_eq(u8x16::splat(b'\\')) | bytes.simd_lt(u8x16::splat(b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_delimiter(byte: u8) -> bool {
        byte == b'"' || byte == b'\\' || byte < 0x20
    }

    #[test]
    fn every_byte_at_every_place_is_seen() {
        for place in 0..70 {
            for byte in 0..=255u8 {
                let mut bytes = [b'a'; 70];
                bytes[place] = byte;
                let expected = if is_delimiter(byte) { place } else { 70 };
                assert_eq!(content(&bytes), expected, "{byte}");
            }
        }
    }
}
