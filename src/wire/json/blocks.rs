//! Where strings end: 64 bytes at a glance.
//!
//! Nearly all of a document is string content, and strings are short. So what matters is not how fast one byte follows another but how soon the next quote is
//! known: each block of 64 bytes is turned into a mask of its special bytes once, a window of blocks at a time, and finding the next one is a shift.

use wide::i8x16;

/// Bytes in a block: as many as a mask has bits.
const SIZE: usize = 64;
/// Blocks whose masks are at hand.
const WINDOW: usize = 16;

/// A document's bytes, with the masks of the blocks that are being read.
pub(super) struct Blocks<'a> {
    bytes: &'a [u8],
    /// The number of the block that the first mask is of.
    first: usize,
    /// The masks up to that of the last block. It is not whole, and its missing bytes are special, so that every search ends there.
    masks: [u64; WINDOW],
}

impl<'a> Blocks<'a> {
    #[inline]
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut blocks = Self { bytes, first: 0, masks: [0; WINDOW] };
        blocks.fill(0);
        blocks
    }

    /// The place of the next `"`, `\`, control character or byte that is no ASCII, at `at` or behind it; or the end.
    #[inline(always)]
    pub(super) fn next_special(&mut self, at: usize) -> usize {
        match self.masks.get((at / SIZE).wrapping_sub(self.first)) {
            Some(mask) if mask >> (at % SIZE) != 0 => at + (mask >> (at % SIZE)).trailing_zeros() as usize,
            _ => self.search(at),
        }
    }

    /// The block of `at` has no more, or is not in the window.
    #[inline(never)]
    fn search(&mut self, at: usize) -> usize {
        let mut from = at;
        loop {
            let block = from / SIZE;
            match self.masks.get(block.wrapping_sub(self.first)) {
                Some(mask) => {
                    let ahead = mask >> (from % SIZE);
                    if ahead != 0 {
                        return from + ahead.trailing_zeros() as usize;
                    }
                    from = (block + 1) * SIZE;
                }
                None => self.fill(block),
            }
        }
    }

    /// Moves the window to a block.
    #[inline(never)]
    fn fill(&mut self, first: usize) {
        self.first = first;
        let rest = self.bytes.get(first * SIZE..).unwrap_or_default();
        let (whole, tail) = rest.as_chunks();
        for (mask, block) in self.masks.iter_mut().zip(whole) {
            *mask = special(block);
        }
        if let Some(last) = self.masks.get_mut(whole.len()) {
            *last = special_of_tail(self.bytes, tail);
        }
    }
}

/// The last block, which is not whole.
fn special_of_tail(bytes: &[u8], tail: &[u8]) -> u64 {
    let missing = u64::MAX << tail.len();
    if let Some(last) = bytes.last_chunk() {
        // The last 64 bytes, without those that lie before this block.
        return special(last) >> (SIZE - 1 - tail.len()) >> 1 | missing;
    }
    let mut whole = [0; SIZE];
    if let Some(start) = whole.get_mut(..tail.len()) {
        start.copy_from_slice(tail);
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
        for length in [0, 1, 63, 64, 65, 128, 200, 1023, 1024, 1025, 2100] {
            for place in (0..length.min(200)).chain(length.saturating_sub(70).max(200)..length) {
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
