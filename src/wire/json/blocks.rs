//! Where strings end: 64 bytes at a glance.
//!
//! Nearly all of a document is string content, and strings are short. So what matters is not how fast one byte follows another but how soon the next quote is
//! known: each block of 64 bytes is turned into a mask of its special bytes once, and finding the next one is a shift.

use wide::i8x16;

/// A document's bytes, with the mask of the block last looked at.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    bytes: &'a [u8],
    /// The number of the block that `mask` is of.
    block: usize,
    mask: u64,
}

const SIZE: usize = 64;

impl<'a> Blocks<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, block: usize::MAX, mask: 0 }
    }

    /// The place of the next `"`, `\`, control character or byte that is no ASCII, at `at` or behind it; or the end.
    #[inline(always)]
    pub(super) fn next_special(&mut self, at: usize) -> usize {
        if at / SIZE != self.block {
            self.load(at / SIZE);
        }
        let mask = self.mask >> (at % SIZE);
        if mask != 0 {
            return at + mask.trailing_zeros() as usize;
        }
        loop {
            if (self.block + 1) * SIZE >= self.bytes.len() {
                return self.bytes.len();
            }
            self.load(self.block + 1);
            if self.mask != 0 {
                return self.block * SIZE + self.mask.trailing_zeros() as usize;
            }
        }
    }

    #[inline(always)]
    fn load(&mut self, block: usize) {
        self.block = block;
        let rest = self.bytes.get(block * SIZE..).unwrap_or_default();
        self.mask = match rest.first_chunk() {
            Some(whole) => special(whole),
            None => special_of_tail(self.bytes, rest),
        };
    }
}

/// The last block, which is not whole. Its missing bytes are special, so that every search ends there.
#[inline(never)]
fn special_of_tail(bytes: &[u8], rest: &[u8]) -> u64 {
    let missing = u64::MAX << rest.len();
    if let Some(last) = bytes.last_chunk() {
        // The last 64 bytes, without those that lie before this block.
        return special(last) >> (SIZE - 1 - rest.len()) >> 1 | missing;
    }
    let mut whole = [0; SIZE];
    if let Some(start) = whole.get_mut(..rest.len()) {
        start.copy_from_slice(rest);
    }
    special(&whole) | missing
}

/// One bit for each byte that is special.
#[inline(always)]
fn special(block: &[u8; SIZE]) -> u64 {
    let (sixteens, _) = block.as_chunks::<16>();
    let mut mask = 0;
    for (place, sixteen) in sixteens.iter().enumerate() {
        let bytes = i8x16::new(sixteen.map(|byte| byte as i8));
        // As signed numbers the bytes that are no ASCII are negative, and so less than a space, like the control characters.
        let marks = bytes.simd_eq(i8x16::splat(b'"' as i8))
            | bytes.simd_eq(i8x16::splat(b'\\' as i8))
            | bytes.simd_lt(i8x16::splat(b' ' as i8));
        mask |= u64::from(marks.to_bitmask()) << (16 * place);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_is_seen() {
        for length in [0, 1, 63, 64, 65, 128, 200] {
            for place in 0..length {
                for byte in 0..=255u8 {
                    let mut bytes = vec![b'a'; length];
                    bytes[place] = byte;
                    let is_content = (0x20..0x80).contains(&byte) && byte != b'"' && byte != b'\\';
                    let expected = if is_content { length } else { place };
                    let mut blocks = Blocks::new(&bytes);
                    for from in [0, place / 2, place] {
                        assert_eq!(blocks.next_special(from), expected, "{byte} at {place}");
                    }
                    assert_eq!(blocks.next_special(place + 1), length);
                }
            }
        }
    }
}
