//! How far content in any alphabet goes.

use wide::u8x16;

/// Bytes looked at together.
const SIZE: usize = 64;

/// How many bytes from the start are neither `"`, `\` nor a control character, and whether all of them are ASCII.
pub(super) fn content(bytes: &[u8]) -> (usize, bool) {
    let mut at = 0;
    let mut is_ascii = true;
    let (whole, tail) = bytes.as_chunks::<SIZE>();
    for block in whole {
        let (delimiters, other) = marks(block);
        let length = delimiters.trailing_zeros() as usize;
        at += length;
        // What lies behind the first delimiter does not count.
        is_ascii &= other & before(length) == 0;
        if delimiters != 0 {
            return (at, is_ascii);
        }
    }
    let mut last = [b'"'; SIZE];
    if let Some(start) = last.get_mut(..tail.len()) {
        start.copy_from_slice(tail);
    }
    let (delimiters, other) = marks(&last);
    let length = (delimiters.trailing_zeros() as usize).min(tail.len());
    (at + length, is_ascii && other & before(length) == 0)
}

/// Is it UTF-8?
pub(super) fn is_utf8(bytes: &[u8]) -> bool {
    simdutf8::basic::from_utf8(bytes).is_ok()
}

/// The lowest bits, so many.
#[inline(always)]
fn before(length: usize) -> u64 {
    if length < SIZE { !(u64::MAX << length) } else { u64::MAX }
}

/// One bit for each byte that is a delimiter, and one for each that is no ASCII.
#[inline(always)]
fn marks(block: &[u8; SIZE]) -> (u64, u64) {
    let (sixteens, _) = block.as_chunks::<16>();
    let (mut delimiters, mut other) = (0, 0);
    for (place, &sixteen) in sixteens.iter().enumerate() {
        let bytes = u8x16::new(sixteen);
        let found =
            bytes.simd_eq(u8x16::splat(b'"')) | bytes.simd_eq(u8x16::splat(b'\\')) | bytes.simd_lt(u8x16::splat(b' '));
        delimiters |= u64::from(found.to_bitmask()) << (16 * place);
        other |= u64::from(bytes.simd_gt(u8x16::splat(0x7f)).to_bitmask()) << (16 * place);
    }
    (delimiters, other)
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
                let expected = if is_delimiter(byte) { (place, true) } else { (70, byte.is_ascii()) };
                assert_eq!(content(&bytes), expected, "{byte}");
            }
        }
    }
}
