//! Where strings end: 64 bytes at a glance.
//!
//! Nearly all of a document is string content, and strings are short. So what matters is not how fast one byte follows
//! another but how soon the next quote is known: each block of 64 bytes is turned into a mask of its special bytes
//! once, and from then on they are taken off the mask one by one. Whoever reads that way need not wait for one string's
//! end to be found before it looks for the next.

use wide::i8x16;

/// Bytes in a block: as many as a mask has bits.
const SIZE: usize = 64;

/// The special bytes of a document, one after the other: `"`, `\`, control characters, all that is no ASCII, and the
/// end.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    bytes: &'a [u8],
    /// Where the block at hand begins.
    base: usize,
    /// Those of its special bytes that nobody took yet.
    ahead: u64,
}

impl<'a> Blocks<'a> {
    #[inline]
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        // The first one to be asked for is that of the block behind.
        Self { bytes, base: 0_usize.wrapping_sub(SIZE), ahead: 0 }
    }

    /// Those from `at` on.
    #[inline]
    pub(super) fn from(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, base: at.wrapping_sub(SIZE), ahead: 0 }
    }

    /// Takes the next special byte: its place, or the end.
    #[inline(always)]
    pub(super) fn take(&mut self) -> usize {
        self.take_with(load_apart)
    }

    /// The same, for a loop that does little else.
    #[inline(always)]
    pub(super) fn take_in_place(&mut self) -> usize {
        self.take_with(load)
    }

    #[inline(always)]
    fn take_with(&mut self, load: impl Fn(&[u8], usize) -> (usize, u64)) -> usize {
        if self.ahead == 0 {
            (self.base, self.ahead) = load(self.bytes, self.base.wrapping_add(SIZE));
        }
        let place = self.base + self.ahead.trailing_zeros() as usize;
        self.ahead &= self.ahead.wrapping_sub(1);
        place
    }

    /// Takes special bytes up to the first one at `at` or behind it. None of those behind `at` may have been taken yet.
    #[inline(always)]
    pub(super) fn next_special(&mut self, at: usize) -> usize {
        loop {
            let place = self.take();
            if place >= at {
                return place;
            }
        }
    }

    /// [`next_special`](Self::next_special) for a loop that does little else.
    #[inline(always)]
    pub(super) fn next_special_in_place(&mut self, at: usize) -> usize {
        loop {
            let place = self.take_in_place();
            if place >= at {
                return place;
            }
        }
    }

    /// The same, whatever was taken before. Of use where so much was passed over that nobody wants to take it one by
    /// one.
    #[inline(never)]
    pub(super) fn seek(&mut self, at: usize) -> usize {
        let base = at / SIZE * SIZE;
        (self.base, self.ahead) = load(self.bytes, base);
        if self.base == base {
            self.ahead &= u64::MAX << (at % SIZE);
        }
        self.take()
    }
}

/// The first block at `base` or behind it that has special bytes, and the mask of these.
#[inline(always)]
fn load(bytes: &[u8], mut base: usize) -> (usize, u64) {
    loop {
        let rest = bytes.get(base..).unwrap_or_default();
        let Some(whole) = rest.first_chunk() else {
            return (base.min(bytes.len()), special_of_tail(bytes, rest));
        };
        let mask = special(whole);
        if mask != 0 {
            return (base, mask);
        }
        base += SIZE;
    }
}

/// The same, once for all who read tokens: copies of it in each place that takes one would crowd out, of the
/// instruction cache, what else a call runs through.
#[inline(never)]
fn load_apart(bytes: &[u8], base: usize) -> (usize, u64) {
    load(bytes, base)
}

/// The last block, which is not whole. The end counts as special, so that every search ends there.
fn special_of_tail(bytes: &[u8], tail: &[u8]) -> u64 {
    let end = 1 << tail.len();
    if let Some(last) = bytes.last_chunk() {
        // The last 64 bytes, without those that lie before this block.
        return special(last) >> (SIZE - 1 - tail.len()) >> 1 | end;
    }
    let mut whole = [b' '; SIZE];
    if let Some(start) = whole.get_mut(..tail.len()) {
        start.copy_from_slice(tail);
    }
    special(&whole) | end
}

/// One bit for each byte that is special.
#[inline(always)]
fn special(block: &[u8; SIZE]) -> u64 {
    let marks = marks(block);
    // In long texts most blocks have none: whether they do is known sooner than where.
    let [a, b, c, d] = marks;
    if (a | b | (c | d)).to_bitmask() == 0 {
        return 0;
    }
    marks.iter().enumerate().fold(0, |mask, (place, marks)| mask | u64::from(marks.to_bitmask()) << (16 * place))
}

/// All bits set where a byte is special, and none where it is not.
#[inline(always)]
fn marks(block: &[u8; SIZE]) -> [i8x16; SIZE / 16] {
    let mut marks = [i8x16::splat(0); SIZE / 16];
    let (sixteens, _) = block.as_chunks::<16>();
    for (marks, sixteen) in marks.iter_mut().zip(sixteens) {
        let bytes = i8x16::new(sixteen.map(|byte| byte as i8));
        // As signed numbers the bytes that are no ASCII are negative, and so less than a space, like the control
        // characters. One bit turned changes quote and space for one another, and leaves all that is less below
        // them.
        let turned = bytes ^ i8x16::splat((b'"' ^ b' ') as i8);
        *marks = turned.simd_lt(i8x16::splat(b' ' as i8 + 1)) | bytes.simd_eq(i8x16::splat(b'\\' as i8));
    }
    marks
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
                    for from in [0, place / 2, place] {
                        let mut blocks = Blocks::new(&bytes);
                        assert_eq!(blocks.next_special(from), expected, "{byte} at {place}");
                        assert_eq!(blocks.next_special(place + 1), length);
                        assert_eq!(blocks.seek(from), expected, "{byte} at {place}");
                    }
                }
            }
        }
    }

    #[test]
    fn any_two_of_a_block_are_seen() {
        for first in 0..SIZE {
            for second in first + 1..SIZE {
                let mut bytes = [b'a'; 2 * SIZE];
                (bytes[first], bytes[second]) = (b'"', b'"');
                let mut blocks = Blocks::new(&bytes);
                assert_eq!([blocks.take(), blocks.take(), blocks.take()], [first, second, bytes.len()]);
            }
        }
    }

    #[test]
    fn all_are_taken_in_order_and_the_end_again_and_again() {
        for length in [0, 1, 63, 64, 65, 127, 128, 129, 300] {
            for step in [1, 3, 64, 100] {
                let bytes: Vec<u8> = (0..length).map(|place| if place % step == 0 { b'"' } else { b'a' }).collect();
                let mut blocks = Blocks::new(&bytes);
                for place in (0..length).step_by(step) {
                    assert_eq!(blocks.take(), place);
                }
                for _ in 0..3 {
                    assert_eq!(blocks.take(), length);
                }
            }
        }
    }
}
